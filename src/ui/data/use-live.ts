import { type Query, useQuery } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { type Freshness, freshnessOf } from '../../queries/freshness.ts';
import { delayOf, jitterFor, type LiveQuery, noJitter, queryOptions } from '../../queries/live-query.ts';
import type { Attention } from '../../queries/polling.ts';
import { rememberedAt } from '../../queries/remembered/seen.ts';
import type { Workbench } from '../../queries/workbench.ts';
import { isGone, isNotOffered } from '../../service/errors.ts';
import { usePaused, useWorkbench } from './workbench.tsx';

export interface Live<Data> {
  readonly data: Data | undefined;
  readonly freshness: Freshness;
  readonly error: Error | undefined;
  /** Refreshes now. */
  readonly refresh: () => void;
}

/** A query without any part of its answer for this long is given up when the user asks again; in milliseconds. */
const patienceMs = 5_000;

/** Gives up the requests that hang, and sends those again whose answers are on screen. */
async function giveUpHanging({ asked, cache }: Workbench): Promise<void> {
  const since = performance.now() - patienceMs;
  const isHanging = ({ queryHash, state }: Query): boolean =>
    state.fetchStatus === 'fetching' && (asked.get(queryHash) ?? Number.POSITIVE_INFINITY) <= since;
  const hanging = new Set(cache.getQueryCache().findAll({ predicate: isHanging }));
  const predicate = (query: Query): boolean => hanging.has(query);
  await cache.cancelQueries({ predicate });
  // Not all of them are polled, or refreshed by the view that asked.
  void cache.refetchQueries({ type: 'active', predicate }, { cancelRefetch: false });
}

/** Keeps the answer to `query` current while the caller is on screen. */
export function useLive<Data>(query: LiveQuery<Data>, attention: Attention): Live<Data> {
  const workbench = useWorkbench();
  const paused = usePaused();
  const gate = useSyncExternalStore(workbench.gate.subscribe, workbench.gate.state);
  const { data, error, dataUpdatedAt, errorUpdatedAt, refetch } = useQuery<Data>({
    ...queryOptions(workbench, query),
    enabled: attention !== 'hidden',
    refetchInterval: asked => {
      const polled = asked as unknown as Query;
      return delayOf(workbench, query, attention, polled, jitterFor(polled)) ?? false;
    },
  });
  const asked = workbench.cache.getQueryCache().find({ queryKey: query.key }) as unknown as Query | undefined;
  const seenAt = typeof data === 'object' && data !== null ? rememberedAt(data) : undefined;
  const freshness = freshnessOf({
    dataAt: seenAt ?? (dataUpdatedAt || undefined),
    isRestored: dataUpdatedAt < workbench.openedAt,
    failedAt: error ? errorUpdatedAt : undefined,
    // The time of the next attempt must be exact; the interval of what is live must not change.
    intervalMs: asked && delayOf(workbench, query, attention, asked, error ? jitterFor(asked) : noJitter),
    paused,
    gate,
    ended: isGone(error) ? 'gone' : isNotOffered(error) || seenAt !== undefined ? 'unlisted' : undefined,
  });
  const refresh = useCallback(() => {
    workbench.connection.retry();
    void workbench
      .retryMissing()
      .then(() => giveUpHanging(workbench))
      .then(() => refetch({ cancelRefetch: false }));
  }, [workbench, refetch]);
  return { data, freshness, error: error ?? undefined, refresh };
}
