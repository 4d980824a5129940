/** A query as passed to react-query: its options, and when it is due. */

import { isDeepStrictEqual } from 'node:util';
import { hashKey, type Query, replaceEqualDeep } from '@tanstack/react-query';
import { hasProtoField } from '../contract/proto-field.ts';
import { isGone, isNotOffered } from '../service/errors.ts';
import { type Activity, type Attention, fractionOf, pollDelay } from './polling.ts';
import type { QueryContext } from './query-context.ts';
import type { AnswerMeta, Subject } from './statuses/observe.ts';
import type { Observation } from './statuses/store.ts';
import type { Workbench } from './workbench.ts';

/** A query: a key, how to read it, and what the answer says about reading again. */
export interface LiveQuery<Data> {
  readonly key: readonly unknown[];
  readonly read: (context: QueryContext) => Promise<Data>;
  /** Merges an answer with the previous one; by default, equal parts keep their identity. */
  readonly share?: (previous: Data | undefined, answer: Data) => Data;
  readonly activity: (data: Data | undefined) => Activity;
  /** What the data says about a resource. Every answer is reported, whichever part of the program asked. */
  readonly observes?: ((data: Data) => Observation) | undefined;
  /** The same for each row, if the data holds rows. */
  readonly reports?: AnswerMeta | undefined;
  /** The resource of the whole query: once it is gone, so is the data. */
  readonly about?: Subject | undefined;
}

/** A query whose data only it understands. */
export interface AnyQuery extends Pick<LiveQuery<never>, 'key' | 'activity' | 'observes' | 'reports' | 'about'> {
  readonly read: (context: QueryContext) => Promise<unknown>;
  readonly share?: (previous: never, answer: never) => unknown;
}

/** Replaces the answer as a whole, unless it is equal. */
export function shareWhole<Data>(previous: Data | undefined, answer: Data): Data {
  return previous !== undefined && isDeepStrictEqual(previous, answer) ? previous : answer;
}

/** The jitter that leaves the interval unchanged. */
export const noJitter = 0.5;

/** The delay before the query is sent again, in milliseconds; undefined for never. */
export function delayOf(
  workbench: Workbench,
  query: Pick<AnyQuery, 'activity'>,
  attention: Attention,
  asked: Query,
  jitter: number,
): number | undefined {
  if (workbench.paused) return undefined;
  const { data, error } = asked.state;
  // A missing resource or endpoint will still be missing. A manual refresh asks anyway.
  if (isGone(error)) return undefined;
  if (isNotOffered(error)) return error.retryAfterMs;
  return pollDelay({
    activity: query.activity(data as never),
    attention,
    failures: workbench.failed.count(asked.queryHash),
    jitter,
    intervals: workbench.poll,
  });
}

/** Changes with each answer. */
export function jitterFor({ queryHash, state }: Query): number {
  return fractionOf(`${queryHash} ${state.dataUpdateCount} ${state.errorUpdateCount}`);
}

/** react-query builds the shared objects by assignment: a field called `__proto__` would become their prototype. */
function shareEqualParts(previous: unknown, answer: unknown): unknown {
  return hasProtoField(answer) ? answer : replaceEqualDeep(previous, answer);
}

/** Options for react-query, the same for every caller, so that identical requests in flight are one. */
export function queryOptions<Data>(workbench: Workbench, query: LiveQuery<Data>) {
  return {
    queryKey: query.key,
    structuralSharing: query.share
      ? (previous: unknown, answer: unknown) => query.share?.(previous as Data | undefined, answer as Data)
      : shareEqualParts,
    meta: query.reports ?? { observes: query.observes, about: query.about },
    queryFn: async ({ signal, queryKey }: { signal: AbortSignal; queryKey: readonly unknown[] }): Promise<Data> => {
      const hash = hashKey(queryKey);
      const waitFromNow = (): void => {
        workbench.asked.set(hash, performance.now());
      };
      const progressed = (): void => {
        if (!signal.aborted && workbench.asked.has(hash)) waitFromNow();
      };
      waitFromNow();
      try {
        const { background } = await workbench.service();
        const { remembered: memory } = workbench;
        const answer = await query.read({ service: background, signal, memory, progressed, isFollowed: true });
        workbench.failed.succeeded(hash);
        return answer;
      } catch (failure) {
        if (!signal.aborted) workbench.failed.failed(hash, failure);
        throw failure;
      } finally {
        // A request that was given up may have a successor already.
        if (!signal.aborted) workbench.asked.delete(hash);
      }
    },
  };
}

/** Sends a query once, or joins the request in flight. The answer is reported like any other. */
export function fetchOnce(workbench: Workbench, query: AnyQuery): Promise<unknown> {
  return workbench.cache.fetchQuery({ ...queryOptions(workbench, query as LiveQuery<unknown>), staleTime: 0 });
}

/** When a query without observers is due; epoch milliseconds, undefined for never. */
export function dueAt(workbench: Workbench, query: AnyQuery, attention: Attention): number | undefined {
  const asked = workbench.cache.getQueryCache().find({ queryKey: query.key }) as unknown as Query | undefined;
  const attempts = asked ? [asked.state.dataUpdatedAt, asked.state.errorUpdatedAt].filter(at => at > 0) : [];
  if (!asked || attempts.length === 0) return 0;
  const delay = delayOf(workbench, query, attention, asked, noJitter);
  if (delay === undefined) return undefined;
  // A time in the future is from before the clock was set back: waiting for it would take too long.
  const past = attempts.filter(at => at <= Date.now());
  return past.length === 0 ? 0 : Math.max(...past) + delay;
}
