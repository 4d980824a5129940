import { hashKey, type Query, type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
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

/** Data of a view besides its list: a refresh reads it too; with a freshness, it counts for the view's. */
export type LivePart = Pick<Live<unknown>, 'refresh'> & Partial<Pick<Live<unknown>, 'freshness'>>;

/** Rows that are made here, which are not final while the work goes on. */
export const workPart = (refresh: () => void, isRunning: boolean): LivePart => ({
  refresh,
  ...(isRunning && { freshness: { kind: 'loading' } }),
});

/** A manual refresh resends requests that have made no progress for this long, in milliseconds. */
const patienceMs = 5_000;

/** Cancels hanging requests, and resends those for data on screen. */
async function giveUpHanging({ waitingSince, cache }: Workbench): Promise<void> {
  const since = performance.now() - patienceMs;
  const isHanging = ({ queryHash, state }: Query): boolean =>
    state.fetchStatus === 'fetching' && (waitingSince.get(queryHash) ?? Number.POSITIVE_INFINITY) <= since;
  const hanging = new Set(cache.getQueryCache().findAll({ predicate: isHanging }));
  const predicate = (query: Query): boolean => hanging.has(query);
  await cache.cancelQueries({ predicate });
  // Some queries are neither polled nor refreshed by the view.
  void cache.refetchQueries({ type: 'active', predicate }, { cancelRefetch: false });
}

/** The program state that polling depends on. */
function usePolling() {
  const workbench = useWorkbench();
  const gate = useSyncExternalStore(workbench.gate.subscribe, workbench.gate.state);
  return { workbench, paused: usePaused(), gate };
}

/** Options that keep a query current while the caller is on screen. */
function liveOptions<Data>(workbench: Workbench, query: LiveQuery<Data>, attention: Attention) {
  return {
    ...optionsOf(workbench, query),
    enabled: attention !== 'hidden',
    refetchInterval: (sent: Query<Data, Error, Data>) =>
      delayOf(workbench, query, attention, sent, jitterFor(sent)) ?? false,
  };
}

type Answer<Data> = Pick<UseQueryResult<Data>, 'data' | 'error' | 'dataUpdatedAt' | 'errorUpdatedAt' | 'refetch'>;

function freshnessNow<Data>(
  { workbench, paused, gate }: ReturnType<typeof usePolling>,
  query: LiveQuery<Data>,
  attention: Attention,
  { data, error, dataUpdatedAt, errorUpdatedAt }: Answer<Data>,
): Freshness {
  const sent = cachedQuery(workbench, query.key);
  const seenAt = typeof data === 'object' && data !== null ? rememberedAt(data) : undefined;
  return freshnessOf({
    dataAt: seenAt ?? (dataUpdatedAt || undefined),
    isRestored: dataUpdatedAt < workbench.openedAt,
    failedAt: error ? errorUpdatedAt : undefined,
    // After an error, this gives the exact time of the next attempt. For live data, it must stay the same.
    intervalMs: sent && delayOf(workbench, query, attention, sent, error ? jitterFor(sent) : noJitter),
    paused,
    gate,
    ended: isGone(error) ? 'gone' : isNotOffered(error) || seenAt !== undefined ? 'unlisted' : undefined,
  });
}

/**
 * react-query redraws the caller when a part of the result that it has read changes. Most polls change only the time,
 * which is read only for the freshness, so a caller that does not ask for the freshness is redrawn only for data and
 * errors.
 */
function liveOf<Data>(
  polling: ReturnType<typeof usePolling>,
  query: LiveQuery<Data>,
  attention: Attention,
  answer: Answer<Data>,
): Omit<Live<Data>, 'refresh'> {
  return {
    data: answer.data,
    error: answer.error ?? undefined,
    get freshness() {
      return freshnessNow(polling, query, attention, answer);
    },
  };
}

function refreshNow(workbench: Workbench, refetch: Answer<unknown>['refetch']): void {
  workbench.connection.retry();
  void workbench
    .retryMissing()
    .then(() => giveUpHanging(workbench))
    .then(() => {
      workbench.gate.tryNow();
      return refetch({ cancelRefetch: false });
    });
}

/** Keeps the response to `query` current while the caller is on screen. */
export function useLive<Data>(query: LiveQuery<Data>, attention: Attention): Live<Data> {
  const polling = usePolling();
  const { workbench } = polling;
  const answer = useQuery<Data>(liveOptions(workbench, query, attention));
  const { refetch } = answer;
  const refresh = useCallback(() => refreshNow(workbench, refetch), [workbench, refetch]);
  return Object.assign(liveOf(polling, query, attention, answer), { refresh });
}

/** Keeps the responses to any number of queries current while the caller is on screen. */
export function useLives<Data>(queries: readonly LiveQuery<Data>[], attention: Attention): readonly Live<Data>[] {
  const polling = usePolling();
  const { workbench } = polling;
  const answers = useQueries({ queries: queries.map(query => liveOptions(workbench, query, attention)) });
  return queries.flatMap((query, index) => {
    const answer = answers[index] as UseQueryResult<Data> | undefined;
    if (!answer) return [];
    return Object.assign(liveOf(polling, query, attention, answer), {
      refresh: () => refreshNow(workbench, answer.refetch),
    });
  });
}

/**
 * Returns a function that reads the last response to a query; the caller is redrawn when a response that it has read
 * changes.
 */
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
