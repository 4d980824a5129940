/** Queries for react-query: their options, and when they are due. */

import { isDeepStrictEqual } from 'node:util';
import { hashKey, type Query, type QueryFunctionContext, replaceEqualDeep } from '@tanstack/react-query';
import { maxOf } from '../base/many.ts';
import { areReadAlike } from '../contract/lists.ts';
import { cannotBeCopied } from '../contract/proto-field.ts';
import { isGone, isNotOffered } from '../service/errors.ts';
import { type Activity, type Attention, fractionOf, pollDelay, requestedWait } from './polling.ts';
import type { QueryContext, SharedQuery } from './query-context.ts';
import type { QueryHost } from './query-host.ts';
import type { Observation } from './statuses/known-resource.ts';
import type { AnswerMeta, Subject } from './statuses/observe.ts';

/** A query: its key, how to read it, and how active its data is, which determines the poll interval. */
export interface LiveQuery<Data> {
  readonly key: readonly unknown[];
  readonly read: (context: QueryContext) => Promise<Data>;
  /** Merges a result with the previous one; by default, equal parts keep their identity. */
  readonly share?: (previous: Data | undefined, answer: Data) => Data;
  readonly activity: (data: Data | undefined) => Activity;
  /** The minimum poll interval for large data, in milliseconds. */
  readonly leastMs?: (data: Data | undefined) => number;
  /** How long settled data stays fresh when a view opens, in milliseconds; a second by default. */
  readonly settledForMs?: number;
  /** Extracts the observation from the data. Each response reports it, whichever view sent the query. */
  readonly observes?: ((data: Data) => Observation) | undefined;
  /** How to report the observations from the rows, if the data consists of rows. */
  readonly reports?: AnswerMeta | undefined;
  /** The resource that the data belongs to. A 404 means that it has been deleted. */
  readonly about?: Subject | undefined;
  /**
   * The resource that the held-out rewards in the data belong to. If the service does not offer the query, there are
   * none.
   */
  readonly measures?: Subject | undefined;
}

/** A query whose data type is not known. */
export interface AnyQuery extends Omit<LiveQuery<never>, 'read' | 'share'> {
  readonly read: (context: QueryContext) => Promise<unknown>;
  readonly share?: (previous: never, answer: never) => unknown;
}

/** Replaces the result as a whole, unless the new one is equal, including its count of unreadable rows. */
export function shareWhole<Data>(previous: Data | undefined, answer: Data): Data {
  if (previous === undefined || !isDeepStrictEqual(previous, answer)) return answer;
  return Array.isArray(answer) && !areReadAlike(previous as object, answer) ? answer : previous;
}

/** A query in the cache, with data of any type. */
type SentQuery = Pick<Query, 'queryHash'> & {
  readonly state: Pick<Query['state'], 'data' | 'error' | 'dataUpdateCount' | 'errorUpdateCount'>;
};

/** How long a result stays fresh, in milliseconds. */
export const defaultStaleMs = 1_000;

/** The jitter that leaves the poll interval unchanged. */
export const noJitter = 0.5;

/** For queries that were settling when last read: the result, and how many reads have left it unchanged. */
const settlingReads = new WeakMap<
  SentQuery,
  { readonly data: unknown; readonly answers: number; readonly unchanged: number }
>();

/** How many consecutive reads have left settling data unchanged. */
function unchangedReads(sent: SentQuery): number {
  const { data, dataUpdateCount: answers } = sent.state;
  const known = settlingReads.get(sent);
  if (!known || known.data !== data) return 0;
  return known.unchanged + (answers > known.answers ? 1 : 0);
}

/** Called before a query is sent. */
function noteSettling({ activity }: Pick<AnyQuery, 'activity'>, sent: SentQuery | undefined): void {
  if (!sent) return;
  const { data, dataUpdateCount: answers } = sent.state;
  if (activity(data as never) !== 'settling') settlingReads.delete(sent);
  else settlingReads.set(sent, { data, answers, unchanged: unchangedReads(sent) });
}

/** How long to wait before sending the query again, in milliseconds; undefined for never. */
export function delayOf(
  host: QueryHost,
  query: Pick<AnyQuery, 'activity' | 'leastMs'>,
  attention: Attention,
  sent: SentQuery,
  jitter: number,
): number | undefined {
  if (host.paused) return undefined;
  const { data, error } = sent.state;
  // A missing resource or endpoint stays missing. A manual refresh still reads it.
  if (isGone(error)) return undefined;
  if (isNotOffered(error)) return error.retryAfterMs;
  return pollDelay({
    activity: query.activity(data as never),
    attention,
    failures: host.failed.count(sent.queryHash),
    requestedMs: requestedWait(error),
    jitter,
    intervals: host.poll,
    leastMs: query.leastMs?.(data as never),
    unchanged: unchangedReads(sent),
  });
}

/** A number from 0 to 1 that changes with each response. */
export function jitterFor({ queryHash, state }: SentQuery): number {
  return fractionOf(`${queryHash} ${state.dataUpdateCount} ${state.errorUpdateCount}`);
}

/** react-query copies objects by assignment. */
function shareEqualParts(previous: unknown, answer: unknown): unknown {
  return cannotBeCopied(answer) ? answer : replaceEqualDeep(previous, answer);
}

/** How long a result stays fresh, in milliseconds. */
const staleTimeOf =
  <Data>({ activity }: LiveQuery<Data>, settledForMs: number) =>
  ({ state }: { readonly state: { readonly data: unknown } }): number =>
    activity(state.data as Data | undefined) === 'settled' ? settledForMs : defaultStaleMs;

/** Options for react-query, the same for every caller, so that identical requests in flight become one. */
export function optionsOf<Data>(host: QueryHost, query: LiveQuery<Data>) {
  return {
    queryKey: query.key,
    ...(query.settledForMs !== undefined && { staleTime: staleTimeOf(query, query.settledForMs) }),
    structuralSharing: query.share
      ? (previous: unknown, answer: unknown) => query.share?.(previous as Data | undefined, answer as Data)
      : shareEqualParts,
    meta: query.reports ?? { observes: query.observes, about: query.about, measures: query.measures },
    queryFn: async ({ client, signal, queryKey }: QueryFunctionContext): Promise<Data> => {
      const hash = hashKey(queryKey);
      noteSettling(query, client.getQueryCache().get(hash));
      const waitFromNow = (): void => {
        host.waitingSince.set(hash, performance.now());
      };
      const progressed = (): void => {
        if (!signal.aborted && host.waitingSince.has(hash)) waitFromNow();
      };
      waitFromNow();
      try {
        const { background } = await host.service();
        const { remembered: memory, compare } = host;
        const shared = <Other>(other: SharedQuery<Other> | LiveQuery<Other>, reading: QueryContext) =>
          'activity' in other
            ? host.cache.fetchQuery<Other>({ ...optionsOf<Other>(host, other), staleTime: defaultStaleMs })
            : other.read(reading);
        const previous = client.getQueryData(queryKey);
        const context = {
          service: background,
          signal,
          memory,
          previous,
          compare,
          progressed,
          shared,
        };
        const answer = await query.read(context);
        host.failed.succeeded(hash);
        return answer;
      } catch (failure) {
        if (!signal.aborted) host.failed.failed(hash, failure);
        throw failure;
      } finally {
        // An aborted request may already have been replaced by another.
        if (!signal.aborted) host.waitingSince.delete(hash);
      }
    },
  };
}

/** Sends a query once, or joins the request in flight. The result is reported like any other. */
export function fetchOnce(host: QueryHost, query: AnyQuery): Promise<unknown> {
  return host.cache.fetchQuery({ ...optionsOf(host, query as LiveQuery<unknown>), staleTime: 0 });
}

/** Sends a query, cancelling the same request in flight, which may be out of date. @throws any error from the query */
export async function fetchAnew<Data>(host: QueryHost, query: LiveQuery<Data>): Promise<Data> {
  await host.cache.cancelQueries({ queryKey: query.key, exact: true });
  return host.cache.fetchQuery<Data>({ ...optionsOf(host, query), staleTime: 0 });
}

/**
 * A key's query, if it has been sent before. Cheaper than the cache's `find`, which hashes the keys of all queries, and
 * than `getQueryState`, which builds options first.
 */
export function cachedQuery({ cache }: Pick<QueryHost, 'cache'>, key: readonly unknown[]): Query | undefined {
  return cache.getQueryCache().get(hashKey(key));
}

/** When a query without observers is due; in epoch milliseconds, undefined for never. */
export function dueAt(host: QueryHost, query: AnyQuery, attention: Attention): number | undefined {
  const sent = cachedQuery(host, query.key);
  const attempts = sent ? [sent.state.dataUpdatedAt, sent.state.errorUpdatedAt].filter(at => at > 0) : [];
  if (!sent || attempts.length === 0) return 0;
  const delay = delayOf(host, query, attention, sent, noJitter);
  if (delay === undefined) return undefined;
  // Ignore times in the future: the clock has been set back since.
  const past = attempts.filter(at => at <= Date.now());
  return past.length === 0 ? 0 : maxOf(past) + delay;
}
