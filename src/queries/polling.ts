/**
 * When to send a query again: one pure policy for all queries, based on the activity of the resource, the attention it
 * gets on screen, and its recent failures. The gate of the service layer handles rate limits and failures of the whole
 * host. The backoff here, and the wait that a failing endpoint requests, are for a query that fails while others
 * succeed, which the gate cannot see. All times are in milliseconds.
 */

import { hashOf } from '../base/hash.ts';
import { maxRetryAfterMs } from '../base/retry-waits.ts';
import { hasEnded, isRunning } from '../contract/status.ts';
import { ServiceError } from '../service/errors.ts';

/** The user's attention to a query. Hidden queries are not polled. */
export type Attention = 'focused' | 'visible' | 'hidden';

/**
 * How a resource changes: `running` soon and by itself, `building` slowly and by itself, `open` at any time through
 * others (a list), `settled` never. `settling` has ended, but some answers may be late, because answers disagree: it
 * becomes final after several reads without a change.
 */
export type Activity = 'running' | 'building' | 'open' | 'settling' | 'settled';

/** The activity of a run with this status. A missing status, e.g. of an old run, can only be changed by others. */
export function activityOfRun(status: string | null | undefined): Activity {
  if (hasEnded(status)) return 'settled';
  return isRunning(status) ? 'running' : 'open';
}

/** The activity of a list of runs: more may be started. */
export function activityOfRuns(rows: readonly { readonly status?: string | null | undefined }[]): Activity {
  return rows.some(row => isRunning(row.status)) ? 'running' : 'open';
}

/** Poll intervals of running resources in milliseconds: with focus, and without. */
export interface PollIntervals {
  readonly focusedMs: number;
  readonly visibleMs: number;
}

export const defaultIntervals: PollIntervals = { focusedMs: 2_000, visibleMs: 10_000 };
/** The interval for builds and deployments, regardless of focus. */
const buildingMs = 5_000;

/** Settling data is final after this many reads without a change. The waits double, five minutes in total. */
const mostUnchanged = 5;

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
      return unchanged < mostUnchanged ? visibleMs * 2 ** unchanged : undefined;
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
  /** Failed attempts since the last success. */
  readonly failures: number;
  /** The wait that the endpoint requested with its last failure. */
  readonly requestedMs?: number | undefined;
  /** In [0, 1), stable until the next attempt. 0.5 leaves the interval unchanged. */
  readonly jitter: number;
  readonly intervals?: PollIntervals;
  /** The shortest interval for an answer of this size. */
  readonly leastMs?: number | undefined;
  /** For settling data: the number of consecutive reads without a change. */
  readonly unchanged?: number | undefined;
}

/** Node fires a longer timer at once. */
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
  // Jitter, so that queries with the same wait are not all sent at once.
  return Math.max(delay, Math.min(maxRetryAfterMs, requestedMs) + Math.round(backoffBase * jitter));
}

/**
 * The wait that a failing endpoint requested (`Retry-After` of a 5xx), in milliseconds. Only polls of this endpoint
 * wait; a manual refresh is sent at once. The gate handles rate limits.
 */
export function requestedWait(error: unknown): number | undefined {
  return error instanceof ServiceError && error.kind === 'server' ? error.retryAfterMs : undefined;
}

/** Hashes a text to a number in [0, 1). */
export const fractionOf = (text: string): number => hashOf(text) / 2 ** 32;
