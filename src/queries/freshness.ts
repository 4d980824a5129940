/** How far what is on screen can be trusted to be now. All times are epoch milliseconds. */

export type Freshness =
  /** Nothing has arrived yet. */
  | { readonly kind: 'loading' }
  /** Arrived, and asked for again every `intervalMs`; without an interval it will not change any more. */
  | { readonly kind: 'fresh'; readonly at: number; readonly intervalMs: number | undefined }
  /** Arrived, but the next answer is overdue. */
  | { readonly kind: 'stale'; readonly at: number }
  /** The last attempt failed. `at` is the age of what is still shown, if anything is. */
  | { readonly kind: 'failing'; readonly at: number | undefined; readonly retryAt: number | undefined }
  /** The user stopped the polling. */
  | { readonly kind: 'paused'; readonly at: number | undefined };

export interface FreshnessFacts {
  readonly dataAt: number | undefined;
  readonly failedAt: number | undefined;
  readonly intervalMs: number | undefined;
  readonly paused: boolean;
}

export function freshnessOf({ dataAt, failedAt, intervalMs, paused }: FreshnessFacts): Freshness {
  if (paused) return { kind: 'paused', at: dataAt };
  if (failedAt !== undefined) {
    return { kind: 'failing', at: dataAt, retryAt: intervalMs === undefined ? undefined : failedAt + intervalMs };
  }
  if (dataAt === undefined) return { kind: 'loading' };
  return { kind: 'fresh', at: dataAt, intervalMs };
}

/** An answer is overdue after this many intervals. */
const overdueIntervals = 2.5;

/** The freshness as it stands at `now`: what was fresh grows stale when the next answer is overdue. */
export function freshnessAt(freshness: Freshness, now: number): Freshness {
  if (freshness.kind !== 'fresh' || freshness.intervalMs === undefined) return freshness;
  const overdue = now - freshness.at > freshness.intervalMs * overdueIntervals;
  return overdue ? { kind: 'stale', at: freshness.at } : freshness;
}
