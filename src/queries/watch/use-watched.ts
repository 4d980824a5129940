/** The lines of Watch, made of what is known: they change with it, whichever part of the program read it. */
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { useWorkbench } from '../workbench.tsx';
import { type WatchedThing, watchedOf } from './watch.ts';

function useKnown() {
  const { statuses, pins } = useWorkbench();
  const all = useSyncExternalStore(
    statuses.subscribe,
    useCallback(() => statuses.all(), [statuses]),
  );
  const list = useSyncExternalStore(
    pins.subscribe,
    useCallback(() => pins.list(), [pins]),
  );
  return { all, list };
}

/** `tick` is a time that changes as often as the words of the pace are to be made again. */
export function useWatched(tick: number): readonly WatchedThing[] {
  const workbench = useWorkbench();
  const { all, list } = useKnown();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines are made of what these say
  return useMemo(() => watchedOf(workbench), [workbench, all, list, tick]);
}

/** How many lines Watch has. */
export function useWatchedCount(): string | undefined {
  const lines = useWatched(0).length;
  return lines === 0 ? undefined : String(lines);
}
