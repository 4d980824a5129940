/** Views and windows whose code is read from disk when they are opened first, so that the first frame need not wait for it. */
import { Text } from 'ink';
import { type ComponentType, useEffect, useLayoutEffect, useState } from 'react';
import { useRouter } from '../keys/router.tsx';
import { Panes } from './panes.tsx';
import { useShell } from './shell-context.tsx';
import type { ViewProps } from './view-definition.ts';

/** A component that may not be here yet. */
interface Part<Props> {
  readonly load: () => Promise<ComponentType<Props>>;
  loaded?: ComponentType<Props>;
}

const unreadable = 'This part of the program could not be read from disk. Install benchtop again.';

/** Loads the part where that has not happened yet. The keys wait for it: they are meant for what is coming. */
function usePart<Props>(part: Part<Props>): ComponentType<Props> | 'failed' | undefined {
  const [state, setState] = useState(() => ({ content: part.loaded, failed: false }));
  const router = useRouter();
  const waiting = !state.content && !state.failed;
  useLayoutEffect(() => {
    if (!waiting) return undefined;
    const release = router.hold();
    // Once the keys of the part are known.
    return () => void setImmediate(release);
  }, [waiting, router]);
  useEffect(() => {
    if (!waiting) return;
    part.load().then(
      content => {
        part.loaded = content;
        setState({ content, failed: false });
      },
      () => setState({ content: undefined, failed: true }),
    );
  }, [waiting, part]);
  return state.failed ? 'failed' : state.content;
}

/** Makes a view of the way to its code. A failure to read it is said in its place. */
export function lateView(load: () => Promise<ComponentType<ViewProps>>): ComponentType<ViewProps> {
  const part: Part<ViewProps> = { load };
  return function LateView(props: ViewProps) {
    const View = usePart(part);
    if (View && View !== 'failed') return <View {...props} />;
    return <Panes main={<Text>{View === 'failed' ? ` ${unreadable}` : ' '}</Text>} />;
  };
}

/** Makes a window of the way to its code. Where that cannot be read, it closes and says so. */
export function lateWindow<Props extends { readonly onClose: () => void }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  const part: Part<Props> = { load };
  return function LateWindow(props: Props) {
    const Content = usePart(part);
    const { toast } = useShell();
    const { onClose } = props;
    const failed = Content === 'failed';
    useEffect(() => {
      if (!failed) return;
      toast({ kind: 'danger', text: unreadable });
      onClose();
    }, [failed, toast, onClose]);
    return Content && Content !== 'failed' ? <Content {...props} /> : null;
  };
}
