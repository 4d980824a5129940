/**
 * When to send a query again: one pure policy for all queries, based on the activity of the resource, the attention it
 * gets on screen, and its recent failures. The service layer's gate handles rate limits and failures of the whole host.
 * The backoff here, and the wait that a failing endpoint requests, are for a query that fails while others succeed,
 * which the gate cannot see. All times are in milliseconds.
 */

import { hashOf } from '../base/hash.ts';
import { maxRetryAfterMs } from '../base/retry-waits.ts';
import { hasEnded, isRunning } from '../contract/status.ts';
import { ServiceError } from '../service/errors.ts';

/** How closely the user is looking at a query. Hidden queries are not polled. */
export type Attention = 'focused' | 'visible' | 'hidden';

/**
 * How a resource changes: `running` soon and on its own, `building` slowly and on its own, `open` at any time through
 * others (e.g. a list), `settled` never. A `settling` resource has ended, but its responses still disagree, so some may
 * be late: it is final after several reads without a change.
 */
export type Activity = 'running' | 'building' | 'open' | 'settling' | 'settled';

/** The activity of a run with this status. A run without a status, e.g. an old one, changes only through others. */
export function activityOfRun(status: string | null | undefined): Activity {
  if (hasEnded(status)) return 'settled';
  return isRunning(status) ? 'running' : 'open';
}

/** The activity of a list of runs: more runs may be started. */
export function activityOfRuns(rows: readonly { readonly status?: string | null | undefined }[]): Activity {
  return rows.some(row => isRunning(row.status)) ? 'running' : 'open';
}

/** Poll intervals for running resources, in milliseconds: with focus, and without. */
export interface PollIntervals {
  readonly focusedMs: number;
  readonly visibleMs: number;
}

export const defaultIntervals: PollIntervals = { focusedMs: 2_000, visibleMs: 10_000 };
/** The interval for builds and deployments, whether in focus or not. */
const buildingMs = 5_000;

/** Settling data is final after this many reads without a change. The waits double and add up to five minutes. */
const maxUnchangedPolls = 5;

function intervalOf({
  activity,
  attention,
  unchanged = 0,
  intervals: { focusedMs, visibleMs } = defaultIntervals,
}: PollSituation): number | undefined {
  switch (activity) {
    case 'running':
      return attention === 'focused' ? focusedMs : visibleMs;
    case 'building':
      return Math.max(buildingMs, focusedMs);
    case 'open':
      return visibleMs;
    case 'settling':
      return unchanged < maxUnchangedPolls ? visibleMs * 2 ** unchanged : undefined;
    case 'settled':
      return undefined;
  }
}
const backoffBase = 2_000;
const backoffLimit = 60_000;
const jitterShare = 0.15;

export interface PollSituation {
  readonly activity: Activity;
  readonly attention: Attention;
  /** The number of failed attempts since the last success. */
  readonly failures: number;
  /** The wait that the endpoint requested at its last failure, in milliseconds. */
  readonly requestedMs?: number | undefined;
  /** In [0, 1), stable until the next attempt. 0.5 leaves the interval unchanged. */
  readonly jitter: number;
  readonly intervals?: PollIntervals;
  /** The shortest interval for a response of this size. */
  readonly leastMs?: number | undefined;
  /** For settling data: how many consecutive reads have found no change. */
  readonly unchanged?: number | undefined;
}

/** Node fires a timer longer than this immediately. */
const longestTimerMs = 2 ** 31 - 1;

/** Milliseconds until the next attempt; undefined for none. */
export function pollDelay(situation: PollSituation): number | undefined {
  const { attention, failures, jitter, requestedMs = 0, leastMs = 0 } = situation;
  if (attention === 'hidden') return undefined;
  const usual = intervalOf(situation) ?? (failures > 0 ? backoffBase : undefined);
  if (usual === undefined) return undefined;
  const interval = Math.max(usual, leastMs);
  const backoff = failures > 0 ? Math.min(backoffLimit, Math.max(interval, backoffBase * 2 ** failures)) : interval;
  const delay = Math.min(longestTimerMs, Math.round(backoff * (1 - jitterShare + 2 * jitterShare * jitter)));
  if (requestedMs === 0) return delay;
  // Jitter keeps queries with the same wait from all being sent at once.
  return Math.max(delay, Math.min(maxRetryAfterMs, requestedMs) + Math.round(backoffBase * jitter));
}

/**
 * The wait that a failing endpoint requested (a 5xx with `Retry-After`), in milliseconds. Only polls of this endpoint
 * wait; a manual refresh is sent at once. The gate handles rate limits.
 */
export function requestedWait(error: unknown): number | undefined {
  return error instanceof ServiceError && error.kind === 'server' ? error.retryAfterMs : undefined;
}

/** Hashes a string to a number in [0, 1). */
export const fractionOf = (text: string): number => hashOf(text) / 2 ** 32;
