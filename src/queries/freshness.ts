/** How current the data on screen is. All times are in epoch milliseconds. */
import type { GateState } from '../service/gate.ts';

export type Freshness =
  | { readonly kind: 'loading' }
  /**
   * Polled every `intervalMs`; without an interval the data is final. If each poll reads only some of the rows, the
   * oldest row that may change was read at `oldestAt`.
   */
  | {
      readonly kind: 'fresh';
      readonly at: number;
      readonly intervalMs: number | undefined;
      readonly oldestAt?: number | undefined;
    }
  /** The next response is overdue. */
  | { readonly kind: 'stale'; readonly at: number }
  /** The last attempt failed. `at` is when the displayed data was read, if there is any. */
  | { readonly kind: 'failing'; readonly at: number | undefined; readonly retryAt: number | undefined }
  /** The service limits the request rate. Nothing is sent before `until`, even if the service asked for more time. */
  | {
      readonly kind: 'limited';
      readonly at: number | undefined;
      readonly until: number;
      readonly requestedUntil?: number | undefined;
    }
  /** The user paused polling. */
  | { readonly kind: 'paused'; readonly at: number | undefined }
  /** The service no longer has it. Only a manual refresh reads it again. */
  | { readonly kind: 'gone'; readonly at: number | undefined }
  /** The service does not offer it: remembered data is shown, or nothing. Only a manual refresh reads it again. */
  | { readonly kind: 'unlisted'; readonly at: number | undefined };

export interface FreshnessFacts {
  readonly dataAt: number | undefined;
  /** The data was read in an earlier session. */
  readonly isRestored?: boolean;
  readonly failedAt: number | undefined;
  readonly intervalMs: number | undefined;
  readonly paused: boolean;
  readonly gate: GateState;
  /** Why it is no longer polled. */
  readonly ended?: 'gone' | 'unlisted' | undefined;
}

export function freshnessOf(facts: FreshnessFacts): Freshness {
  const { dataAt, isRestored = false, failedAt, intervalMs, paused, gate, ended } = facts;
  if (ended) return { kind: ended, at: dataAt };
  if (paused) return { kind: 'paused', at: dataAt };
  // Without polling, nothing is overdue, except the first response.
  const waits = intervalMs !== undefined || (dataAt === undefined && failedAt === undefined);
  if (waits && gate.kind === 'limited') {
    return gate.reason === 'rate_limit'
      ? { kind: 'limited', at: dataAt, until: gate.until, requestedUntil: gate.requestedUntil }
      : { kind: 'failing', at: dataAt, retryAt: gate.until };
  }
  if (failedAt !== undefined) {
    return { kind: 'failing', at: dataAt, retryAt: intervalMs === undefined ? undefined : failedAt + intervalMs };
  }
  if (dataAt === undefined) return { kind: 'loading' };
  // The next attempt will also fail if the host is still failing.
  if (intervalMs !== undefined && gate.kind === 'open' && gate.failing) {
    return { kind: 'failing', at: dataAt, retryAt: isRestored ? undefined : dataAt + intervalMs };
  }
  if (isRestored) return { kind: 'stale', at: dataAt };
  return { kind: 'fresh', at: dataAt, intervalMs };
}

/** Number of intervals after which a response is overdue. */
export const overdueIntervals = 2.5;

/** The freshness at `now`: fresh data becomes stale when the next response is overdue. */
export function freshnessAt(freshness: Freshness, now: number): Freshness {
  // After a rate limit, the data keeps its age until the next response.
  if (freshness.kind === 'limited' && now >= freshness.until) {
    return freshness.at === undefined ? { kind: 'loading' } : { kind: 'stale', at: freshness.at };
  }
  if (freshness.kind !== 'fresh' || freshness.intervalMs === undefined) return freshness;
  const overdue = now - freshness.at > freshness.intervalMs * overdueIntervals;
  return overdue ? { kind: 'stale', at: freshness.at } : freshness;
}

/** Most urgent first. */
const order: readonly Freshness['kind'][] = [
  'paused',
  'limited',
  'failing',
  'gone',
  'stale',
  'loading',
  'fresh',
  'unlisted',
];

/** When the next response is overdue; infinity if none is expected. */
function overdueAt(freshness: Freshness): number {
  if (freshness.kind !== 'fresh' || freshness.intervalMs === undefined) return Number.POSITIVE_INFINITY;
  return freshness.at + freshness.intervalMs * overdueIntervals;
}

/** The worst freshness of any part. */
export function freshnessOfParts(parts: readonly [Freshness, ...Freshness[]]): Freshness {
  return parts.reduce((first, second) => {
    const [left, right] = [order.indexOf(first.kind), order.indexOf(second.kind)];
    if (left !== right) return left < right ? first : second;
    return overdueAt(second) < overdueAt(first) ? second : first;
  });
}
