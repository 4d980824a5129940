/** The lines of Watch, made of what is known: they change with it, whichever part of the program read it. */
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { useWorkbench, type Workbench } from '../workbench.tsx';
import { type WatchedThing, watchedCount, watchedOf } from './watch.ts';

function subscribeTo({ statuses, pins }: Workbench, listener: () => void): () => void {
  const stops = [statuses.subscribe(listener), pins.subscribe(listener)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** `tick` is a time that changes as often as the words of the pace are to be made again. */
export function useWatched(tick: number): readonly WatchedThing[] {
  const workbench = useWorkbench();
  const { statuses, pins } = workbench;
  const subscribe = useCallback((listener: () => void) => subscribeTo(workbench, listener), [workbench]);
  const all = useSyncExternalStore(subscribe, () => statuses.all());
  const list = useSyncExternalStore(subscribe, () => pins.list());
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines are made of what these say
  return useMemo(() => watchedOf(workbench), [workbench, all, list, tick]);
}

/** How many lines Watch has; undefined for none. */
export function useWatchedCount(): string | undefined {
  const workbench = useWorkbench();
  const subscribe = useCallback((listener: () => void) => subscribeTo(workbench, listener), [workbench]);
  const count = useSyncExternalStore(subscribe, () => watchedCount(workbench));
  return count === 0 ? undefined : String(count);
}
