/**
 * When a query is sent again. One pure policy for all of them: by what its subject is doing, by how much attention it has
 * on screen, and by how its own last attempts went. What holds for the whole host, rate limits and failures of everything,
 * is the business of the gate in the service layer; the backoff here is for the one query that fails while others are
 * answered, of which the gate knows nothing. All times are in milliseconds.
 */

import { hasEnded, isRunning } from '../contract/status.ts';
import { hashOf } from '../text/hash.ts';

/** How much of the user's attention a query has. Nothing hidden is polled. */
export type Attention = 'focused' | 'visible' | 'hidden';

/**
 * What the resource is doing: `running` changes by itself and soon, `building` changes by itself slowly, `open` may be
 * changed by others at any time (a list), `settled` will not change any more.
 */
export type Activity = 'running' | 'building' | 'open' | 'settled';

/** What a run with this status is doing. One without a status, e.g. of long ago, may be changed by others only. */
export function activityOfRun(status: string | null | undefined): Activity {
  if (hasEnded(status)) return 'settled';
  return isRunning(status) ? 'running' : 'open';
}

/** Milliseconds between two requests for what runs and has the focus, and for what is only visible. */
export interface PollIntervals {
  readonly focusedMs: number;
  readonly visibleMs: number;
}

export const defaultIntervals: PollIntervals = { focusedMs: 2_000, visibleMs: 10_000 };
/** Builds and deployments are polled this often, whatever has the focus. */
const buildingMs = 5_000;

function intervalOf(activity: Activity, attention: Attention, { focusedMs, visibleMs }: PollIntervals) {
  switch (activity) {
    case 'running':
      return attention === 'focused' ? focusedMs : visibleMs;
    case 'building':
      return Math.max(buildingMs, focusedMs);
    case 'open':
      return visibleMs;
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
  /** Attempts that failed since the last success. */
  readonly failures: number;
  /**
   * A number in [0, 1) that spreads the attempts; it stays the same until the next attempt, so that the interval does
   * too. The middle, 0.5, gives the interval as it is meant.
   */
  readonly jitter: number;
  readonly intervals?: PollIntervals;
}

/** Milliseconds until the next attempt, or `undefined` for none. */
export function pollDelay(situation: PollSituation): number | undefined {
  const { activity, attention, failures, jitter, intervals = defaultIntervals } = situation;
  if (attention === 'hidden') return undefined;
  const interval = intervalOf(activity, attention, intervals) ?? (failures > 0 ? backoffBase : undefined);
  if (interval === undefined) return undefined;
  const backoff = failures > 0 ? Math.min(backoffLimit, Math.max(interval, backoffBase * 2 ** failures)) : interval;
  return Math.round(backoff * (1 - jitterShare + 2 * jitterShare * jitter));
}

/** A number in [0, 1) made from a text: the same text, the same number. */
export const fractionOf = (text: string): number => hashOf(text) / 2 ** 32;
