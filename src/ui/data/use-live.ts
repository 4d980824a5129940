import { hashKey, type Query, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useReducer, useState, useSyncExternalStore } from 'react';
import { type Freshness, freshnessOf } from '../../queries/freshness.ts';
import { cachedQuery, delayOf, jitterFor, type LiveQuery, noJitter, optionsOf } from '../../queries/live-query.ts';
import type { Attention } from '../../queries/polling.ts';
import { isGone, isNotOffered } from '../../service/errors.ts';
import { rememberedAt } from '../../store/seen.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { usePaused, useWorkbench } from './workbench.tsx';

export interface Live<Data> {
  readonly data: Data | undefined;
  readonly freshness: Freshness;
  readonly error: Error | undefined;
  readonly refresh: () => void;
}

/** On a manual refresh, requests without progress for this long are sent again; in milliseconds. */
const patienceMs = 5_000;

/** Cancels the hanging requests, and resends those that are on screen. */
async function giveUpHanging({ waitingSince, cache }: Workbench): Promise<void> {
  const since = performance.now() - patienceMs;
  const isHanging = ({ queryHash, state }: Query): boolean =>
    state.fetchStatus === 'fetching' && (waitingSince.get(queryHash) ?? Number.POSITIVE_INFINITY) <= since;
  const hanging = new Set(cache.getQueryCache().findAll({ predicate: isHanging }));
  const predicate = (query: Query): boolean => hanging.has(query);
  await cache.cancelQueries({ predicate });
  // Some of them are not polled, nor refreshed by the view.
  void cache.refetchQueries({ type: 'active', predicate }, { cancelRefetch: false });
}

/** Keeps the answer to `query` current while the caller is on screen. */
export function useLive<Data>(query: LiveQuery<Data>, attention: Attention): Live<Data> {
  const workbench = useWorkbench();
  const paused = usePaused();
  const gate = useSyncExternalStore(workbench.gate.subscribe, workbench.gate.state);
  const { data, error, dataUpdatedAt, errorUpdatedAt, refetch } = useQuery<Data>({
    ...optionsOf(workbench, query),
    enabled: attention !== 'hidden',
    refetchInterval: sent => delayOf(workbench, query, attention, sent, jitterFor(sent)) ?? false,
  });
  const sent = cachedQuery(workbench, query.key);
  const seenAt = typeof data === 'object' && data !== null ? rememberedAt(data) : undefined;
  const freshness = freshnessOf({
    dataAt: seenAt ?? (dataUpdatedAt || undefined),
    isRestored: dataUpdatedAt < workbench.openedAt,
    failedAt: error ? errorUpdatedAt : undefined,
    // The time of the next attempt must be exact; the interval of live data must not change.
    intervalMs: sent && delayOf(workbench, query, attention, sent, error ? jitterFor(sent) : noJitter),
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

/** Returns a function that reads the last answer to a query; the caller is redrawn when one that it has read changes. */
export function useLastAnswer(): <Data>(query: LiveQuery<Data>) => Data | undefined {
  const { cache } = useWorkbench();
  const [read] = useState(() => new Set<string>());
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(
    () =>
      cache.getQueryCache().subscribe(event => {
        if (event.type === 'updated' && event.action.type === 'success' && read.has(event.query.queryHash)) redraw();
      }),
    [cache, read],
  );
  return useCallback(
    ({ key }) => {
      read.add(hashKey(key));
      return cache.getQueryData(key);
    },
    [cache, read],
  );
}
