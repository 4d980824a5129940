/** A view whose code is read from disk when it is opened first, so that the first frame need not wait for it. */
import { Text } from 'ink';
import { type ComponentType, useEffect, useLayoutEffect, useState } from 'react';
import { useRouter } from '../keys/router.tsx';
import { Panes } from './panes.tsx';
import type { ViewProps } from './view-definition.ts';

/** Makes a view of the way to its code. A failure to read it is said in its place. */
export function lateView(load: () => Promise<ComponentType<ViewProps>>): ComponentType<ViewProps> {
  let loaded: ComponentType<ViewProps> | undefined;
  // biome-ignore lint/correctness/noComponentHookFactories: made once for each view, when the registry is made
  function LateView(props: ViewProps) {
    const [View, setView] = useState(() => loaded);
    const [failed, setFailed] = useState(false);
    const router = useRouter();
    const waiting = !View && !failed;
    useLayoutEffect(() => {
      if (!waiting) return undefined;
      const release = router.hold();
      // Once the keys of the view are known.
      return () => void setImmediate(release);
    }, [waiting, router]);
    useEffect(() => {
      if (View) return;
      load().then(
        view => {
          loaded = view;
          setView(() => view);
        },
        () => setFailed(true),
      );
    }, [View]);
    if (View) return <View {...props} />;
    const words = failed ? ' This part of the program could not be read from disk. Install benchtop again.' : ' ';
    return <Panes main={<Text>{words}</Text>} />;
  }
  return LateView;
}
