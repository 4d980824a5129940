/** Hooks for Watch, and its background polling: running work is polled until it has ended. */

import type { Query, QueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import { endAll } from '../../base/listeners.ts';
import type { KnownResource } from '../../queries/statuses/known-resource.ts';
import { resourceOfKind } from '../../resources/catalogue.ts';
import { roundsQuery } from '../../resources/rotation.ts';
import type { Frame } from '../../resources/rotation-lists.ts';
import { Counts } from '../../resources/section-counts.ts';
import { lineFinder, type WatchedResource, watchedCount, watchLines } from '../../resources/watch.ts';
import type { InboxEvent } from '../../workbench/inbox.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { useLive } from './use-live.ts';
import { useWorkbench } from './workbench.tsx';

const subscribeTo = ({ statuses, pins, jobs }: Workbench, listener: () => void): (() => void) =>
  endAll([statuses.subscribe(listener), pins.subscribe(listener), jobs.subscribe(listener)]);

/** @param tick changes when the pace has to be recomputed */
export function useWatched(tick: number): readonly WatchedResource[] {
  const workbench = useWorkbench();
  const { statuses, pins, jobs } = workbench;
  const subscribe = useCallback((listener: () => void) => subscribeTo(workbench, listener), [workbench]);
  const all = useSyncExternalStore(subscribe, () => statuses.all());
  const list = useSyncExternalStore(subscribe, () => pins.list());
  const uploads = useSyncExternalStore(subscribe, jobs.list);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines are built from these
  return useMemo(() => watchLines(workbench), [workbench, all, list, uploads, tick]);
}

/** Returns a function that finds one resource's line, see `lineFinder`. @param tick as in {@link useWatched} */
export function useLineFinder(tick: number): ReturnType<typeof lineFinder> {
  const workbench = useWorkbench();
  const { statuses, pins } = workbench;
  const all = useSyncExternalStore(statuses.subscribe, () => statuses.all());
  const list = useSyncExternalStore(pins.subscribe, () => pins.list());
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines are built from these
  return useMemo(() => lineFinder(workbench), [workbench, all, list, tick]);
}

/** The count for a section that is not a list. */
export interface SectionCount {
  readonly subscribe: (workbench: Workbench, listener: () => void) => () => void;
  readonly read: (workbench: Workbench) => number;
}

const countsNothing: SectionCount = { subscribe: () => () => {}, read: () => 0 };

/** The count as text; undefined if it is 0. */
export function useSectionCount({ subscribe, read }: SectionCount = countsNothing): string | undefined {
  const workbench = useWorkbench();
  const follow = useCallback((listener: () => void) => subscribe(workbench, listener), [workbench, subscribe]);
  const count = useSyncExternalStore(follow, () => read(workbench));
  return count === 0 ? undefined : String(count);
}

/** The number of lines in Watch. */
export const watchCount: SectionCount = { subscribe: subscribeTo, read: watchedCount };

export function useInbox(): readonly InboxEvent[] {
  const { inbox } = useWorkbench();
  return useSyncExternalStore(inbox.subscribe, () => inbox.list());
}

/** The number of events in the inbox. */
export const inboxCount: SectionCount = {
  subscribe: ({ inbox }, listener) => inbox.subscribe(listener),
  read: ({ inbox }) => inbox.list().length,
};

/** Refreshes data on screen that was read before a resource ended. Other data is read when shown. */
function refreshAfterEnd(cache: QueryClient, { kind, id, endedAt = 0 }: KnownResource): void {
  for (const queryKey of resourceOfKind(kind)?.watch?.shownIn?.(id) ?? []) {
    const isOld = (query: Query): boolean => query.state.dataUpdatedAt < endedAt;
    void cache.invalidateQueries({ queryKey, type: 'active', predicate: isOld });
  }
}

/** How long to wait before pruning the remembered store: well past the first frame. */
const pruneAfterMs = 10_000;

/** Mounted once, by the frame. */
export function useBackgroundPolling({ counted, atHome }: Frame): void {
  const workbench = useWorkbench();
  const { cache, statuses } = workbench;
  useLive(
    useMemo(() => roundsQuery(workbench, { counted, atHome }), [workbench, counted, atHome]),
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
