/** Hooks for Watch, and its background polling: running work is polled until it has ended. */
import type { Query, QueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { KnownResource } from '../../queries/statuses/store.ts';
import type { Workbench } from '../../queries/workbench.ts';
import { resourceOfKind } from '../../resources/catalogue.ts';
import { Counts } from '../../resources/counts.ts';
import { following } from '../../resources/following.ts';
import { type WatchedResource, watchedCount, watchLines } from '../../resources/watch.ts';
import { useLive } from './use-live.ts';
import { useWorkbench } from './workbench.tsx';

function subscribeTo({ statuses, pins, jobs }: Workbench, listener: () => void): () => void {
  const stops = [statuses.subscribe(listener), pins.subscribe(listener), jobs.subscribe(listener)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** `tick` is a time that changes as often as the pace has to be recomputed. */
export function useWatched(tick: number): readonly WatchedResource[] {
  const workbench = useWorkbench();
  const { statuses, pins, jobs } = workbench;
  const subscribe = useCallback((listener: () => void) => subscribeTo(workbench, listener), [workbench]);
  const all = useSyncExternalStore(subscribe, () => statuses.all());
  const list = useSyncExternalStore(subscribe, () => pins.list());
  const uploads = useSyncExternalStore(subscribe, jobs.list);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines are made of what these say
  return useMemo(() => watchLines(workbench), [workbench, all, list, uploads, tick]);
}

/** How many lines Watch has; undefined for none. */
export function useWatchedCount(): string | undefined {
  const workbench = useWorkbench();
  const subscribe = useCallback((listener: () => void) => subscribeTo(workbench, listener), [workbench]);
  const count = useSyncExternalStore(subscribe, () => watchedCount(workbench));
  return count === 0 ? undefined : String(count);
}

/** Refreshes the data on screen that was read before the end. Other data is read when it is shown. */
function refreshAfterEnd(cache: QueryClient, { kind, id, endedAt = 0 }: KnownResource): void {
  for (const queryKey of resourceOfKind(kind)?.watch?.shownIn?.(id) ?? []) {
    const isOld = (query: Query): boolean => query.state.dataUpdatedAt < endedAt;
    void cache.invalidateQueries({ queryKey, type: 'active', predicate: isOld });
  }
}

/** Delay before the remembered store is pruned: long after the first frame. */
const pruneAfterMs = 10_000;

/** Mounted once, by the frame. `counted` says whether the counts of the sections are on screen. */
export function useBackground(counted: boolean): void {
  const workbench = useWorkbench();
  const { cache, statuses } = workbench;
  useLive(
    useMemo(() => following(workbench, counted), [workbench, counted]),
    'visible',
  );
  useEffect(() => new Counts(workbench).follow(), [workbench]);
  useEffect(
    () =>
      statuses.onTransitions(transitions => {
        for (const { resource, ended } of transitions) if (ended && !resource.gone) refreshAfterEnd(cache, resource);
      }),
    [cache, statuses],
  );
  useEffect(() => {
    const timer = setTimeout(() => workbench.remembered.prune(), pruneAfterMs).unref();
    return () => clearTimeout(timer);
  }, [workbench]);
}
