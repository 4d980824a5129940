/** Asks before the program is left, or shows another service, while something would be lost. */
import { Text } from 'ink';
import { sanitiseLine } from '../../text/sanitise.ts';
import { wrap } from '../../text/wrap.ts';
import { confirmCommands } from '../keys/general.ts';
import { KeyScope } from '../keys/router.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { useShell } from './shell-context.tsx';

export interface LeaveWindowProps {
  /** What leaving is, e.g. `quit` or `show prod`. */
  readonly verb: string;
  /** What would be lost, in words. */
  readonly lost: readonly string[];
  readonly onLeave: () => void;
  readonly onClose: () => void;
}

export function LeaveWindow({ verb, lost, onLeave, onClose }: LeaveWindowProps) {
  const { layout } = useShell();
  const { styles } = useTheme();
  const width = Math.min(layout.columns - 4, 64);
  const inner = width - windowMargin.columns;
  const lines = [
    ...lost.flatMap(words => wrap(sanitiseLine(`- ${words}`), inner)),
    '',
    ...wrap('Files that were sent are kept, and an upload can be resumed. What runs on the service continues.', inner),
  ];
  const leave = (): void => {
    onClose();
    onLeave();
  };
  return (
    <KeyScope
      modal
      bindings={[
        { command: confirmCommands.yes, run: leave },
        { command: confirmCommands.no, run: onClose },
      ]}
    >
      <Window title="This would be cut short" width={width} height={lines.length + 2 + windowMargin.lines} danger>
        {lines.map((line, index) => (
          <Text key={index}>{line === '' ? ' ' : line}</Text>
        ))}
        <Text> </Text>
        <Text>{`${styles.key('<esc>')} stay   ${styles.key('<y>')} ${styles.danger(verb)}`}</Text>
      </Window>
    </KeyScope>
  );
}
