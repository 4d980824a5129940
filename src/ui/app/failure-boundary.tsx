/**
 * Contains the failure of a view or window: everything around it stays on screen, and the user can try again or go
 * back.
 */
import { Text, useInput } from 'ink';
import { Component, type ErrorInfo, type ReactNode } from 'react';
import { sanitiseLine } from '../../text/sanitise.ts';
import { wrap } from '../../text/wrap.ts';
import { failureCommands } from '../keys/general.ts';
import { useKeyOf } from '../keys/router.tsx';
import { Lines } from '../widgets/lines.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { type Failure, type Failures, useFailures } from './failures.ts';
import { type Overlay, useShell, useWindowRoom } from './shell-context.tsx';
import { usePane, View } from './view.tsx';

interface BoundaryProps {
  readonly failures: Failures;
  /** Undefined while the report is being written. */
  readonly fallback: (failure: Failure | undefined, again: () => void) => ReactNode;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly failed: boolean;
  readonly failure?: Failure | undefined;
}

/** React supports error boundaries only as class components. */
class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failed: false };

  static getDerivedStateFromError(): BoundaryState {
    return { failed: true };
  }

  override componentDidCatch(error: unknown, { componentStack }: ErrorInfo): void {
    this.setState({ failure: this.props.failures.record(error, componentStack ?? '') });
  }

  readonly #again = (): void => this.setState({ failed: false, failure: undefined });

  override render(): ReactNode {
    const { failed, failure } = this.state;
    if (!failed) return this.props.children;
    return this.props.fallback(failure, this.#again);
  }
}

function failureLines(what: string, { words, report }: Failure, width: number): string[] {
  const sentences = [
    `${what} failed: ${words}.`,
    'Everything else keeps running, here and on the service.',
    report === undefined ? 'No report could be written.' : `The report is in ${sanitiseLine(report)}`,
  ];
  return sentences.flatMap(sentence => wrap(sentence, width));
}

interface FallbackProps {
  readonly failure: Failure;
  readonly onRetry: () => void;
}

function FailedView({ failure, onRetry }: FallbackProps) {
  const { navigate, canGoBack } = useShell();
  const { width } = usePane('main');
  const { styles, glyphs } = useTheme();
  const [first = '', ...rest] = failureLines('This view', failure, width - 3);
  return (
    <View
      bindings={[
        { command: failureCommands.again, run: onRetry },
        { command: failureCommands.back, run: () => navigate({ kind: 'leave' }), enabled: canGoBack },
      ]}
      main={
        <>
          <Text wrap="truncate">{` ${styles.danger(`${glyphs.cross} ${first}`)}`}</Text>
          <Lines lines={rest.map(line => `   ${line}`)} width={width} height={rest.length} />
        </>
      }
    />
  );
}

function FailedWindow({ failure, onRetry, onClose }: FallbackProps & { readonly onClose: () => void }) {
  const { styles } = useTheme();
  const keyOf = useKeyOf();
  const { width, inner } = useWindowRoom(64);
  const lines = failureLines('This window', failure, inner);
  return (
    <Window
      title="Failed"
      width={width}
      height={lines.length + 2 + windowMargin.lines}
      danger
      bindings={[
        { command: failureCommands.again, run: onRetry },
        { command: failureCommands.back, run: onClose },
      ]}
    >
      <Lines lines={lines} width={inner} height={lines.length} />
      <Text> </Text>
      <Text>{`${styles.key(`<${keyOf(failureCommands.again)}>`)} try again   ${styles.key(`<${keyOf(failureCommands.back)}>`)} close`}</Text>
    </Window>
  );
}

/** If the view fails while rendering or in an effect, shows the failure in its pane. */
export function ViewBoundary({ children }: { readonly children: ReactNode }) {
  return (
    <Boundary
      failures={useFailures()}
      fallback={(failure, again) => (failure ? <FailedView failure={failure} onRetry={again} /> : <View main={null} />)}
    >
      {children}
    </Boundary>
  );
}

interface WindowBoundaryProps {
  readonly overlay: Overlay;
  readonly onClose: (id: string) => void;
}

/** A window above the panes. If it fails, shows the failure in a window. */
export function WindowBoundary({ overlay, onClose }: WindowBoundaryProps) {
  const close = (): void => onClose(overlay.id);
  return (
    <Boundary
      failures={useFailures()}
      fallback={(failure, again) => failure && <FailedWindow failure={failure} onRetry={again} onClose={close} />}
    >
      <OverlayContent overlay={overlay} close={close} />
    </Boundary>
  );
}

/** A component, so that the boundary catches failures of `render`. */
function OverlayContent({ overlay, close }: { readonly overlay: Overlay; readonly close: () => void }) {
  return overlay.render(close);
}

interface ProgramBoundaryProps {
  readonly failures: Failures;
  readonly onQuit: () => void;
  readonly children: ReactNode;
}

/** The outermost boundary: Ink's own would print source code. It depends on nothing that may have failed. */
export function ProgramBoundary({ failures, onQuit, children }: ProgramBoundaryProps) {
  return (
    <Boundary
      failures={failures}
      fallback={(failure, again) => failure && <FailedProgram failure={failure} onRetry={again} onQuit={onQuit} />}
    >
      {children}
    </Boundary>
  );
}

function FailedProgram({ failure, onRetry, onQuit }: FallbackProps & { readonly onQuit: () => void }) {
  useInput((input, key) => {
    if (input === 'q' || (key.ctrl && input === 'c')) onQuit();
    else if (input === 'r') onRetry();
  });
  return <Text>{`${failureLines('The screen', failure, 76).join('\n')}\n\nr tries again, q quits.`}</Text>;
}
