/** Follows a resource's status until the work has ended. */
import { setTimeout as wait } from 'node:timers/promises';
import { hasEnded, isOver, isUnknown } from '../contract/status.ts';
import { type PollIntervals, pollDelay, requestedWait } from '../queries/polling.ts';
import { ServiceError } from '../service/errors.ts';
import type { GateState } from '../service/gate.ts';
import { inSeconds } from '../service/wire-error.ts';
import { clean } from '../text/sanitise.ts';
import { age } from '../text/time.ts';
import { exitCodes } from './exit.ts';
import { exitCodeOf } from './failure.ts';
import { describeFollowedState, type FollowedState } from './followed-state.ts';

export interface Following {
  readonly label: string;
  readonly readState: () => Promise<FollowedState>;
  readonly onChange: (seen: FollowedState) => Promise<void>;
  /** Called after each response until the work has ended. */
  readonly onWait?: () => Promise<void>;
  readonly note: (text: string) => void;
  readonly intervals: PollIntervals;
  /** Whether the host accepts requests. */
  readonly gate: () => GateState;
  readonly signal: AbortSignal;
  /** Sleeps for this many milliseconds; rejects once the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The current time, in milliseconds. */
  readonly now?: () => number;
  /** Whether this status is final; by default, whether the work has ended. */
  readonly isLast?: (status: string | undefined) => boolean;
  /** Set if the end does not depend on the status, which may be missing. */
  readonly needsNoStatus?: boolean;
}

const defaultSleep = (ms: number, signal: AbortSignal): Promise<void> => wait(ms, undefined, { signal });

/** How often a lasting failure is noted, in milliseconds: a log should show that the program is still waiting. */
const notedEveryMs = 60_000;

/** After this many responses without a status, assume that there is none. */
const maxWithoutStatus = 3;

/** Why the last response does not show whether the work has ended; undefined if it does. */
export function openBecause(seen: FollowedState | undefined): string | undefined {
  if (!seen) return undefined;
  if (seen.status === undefined) return 'the service reports no status for it';
  return isUnknown(seen.status) ? clean`benchtop does not know the status ${seen.status}` : undefined;
}

export const describeUnseenEnd = (label: string, reason: string): string =>
  clean`${label}: ${reason}, so its outcome is unknown.`;

/** When the next request is sent. While the gate is closed, retries send nothing. */
function describeRetry(gate: GateState, delayMs: number, now: number): string {
  if (gate.kind === 'open') return `Retrying in ${inSeconds(delayMs)}.`;
  const { until, requestedUntil } = gate;
  const asks = requestedUntil === undefined ? '' : `The service asks to wait ${inSeconds(requestedUntil - now)}. `;
  return `${asks}Retrying in ${inSeconds(Math.max(delayMs, until - now))}.`;
}

/**
 * Reports each change; returns the final status, empty if the service reports none. Temporary errors are retried
 * without limit.
 *
 * @throws ServiceError if the resource cannot be read, AbortError once the signal aborts
 */
export async function follow(following: Following): Promise<string> {
  const { label, readState, onChange, note, intervals, signal } = following;
  const { onWait, sleep = defaultSleep, now = Date.now, isLast = hasEnded, needsNoStatus = false } = following;
  let reported = '';
  let failures = 0;
  let failingSince = 0;
  let notedAt = 0;
  let without = 0;
  let doubted: string | undefined;
  for (;;) {
    let failure: ServiceError | undefined;
    try {
      const seen = await readState();
      failures = 0;
      const words = describeFollowedState(seen);
      if (words !== reported) await onChange(seen);
      reported = words;
      if (isLast(seen.status)) return seen.status ?? '';
      if (isOver(seen)) {
        const status = seen.status === undefined ? 'no status shows' : clean`its status ${seen.status} does not show`;
        note(clean`${label} has an end time, but ${status} how it ended.`);
        return seen.status ?? '';
      }
      const reason = openBecause(seen);
      if (reason !== undefined && seen.status !== undefined && seen.status !== doubted) {
        doubted = seen.status;
        note(clean`${label}: ${reason}: waiting for another status.`);
      }
      without = seen.status === undefined ? without + 1 : 0;
      if (without === maxWithoutStatus && !needsNoStatus && reason !== undefined) {
        note(describeUnseenEnd(label, reason));
        return '';
      }
      await onWait?.();
    } catch (error) {
      const mayPass = error instanceof ServiceError && exitCodeOf(error) === exitCodes.unreachable;
      if (signal.aborted || !mayPass) throw error;
      failures += 1;
      failure = error;
    }
    const situation = {
      activity: 'running',
      attention: 'focused',
      failures,
      requestedMs: requestedWait(failure),
    } as const;
    const delayMs = pollDelay({ ...situation, jitter: Math.random(), intervals }) ?? 0;
    const at = now();
    if (failures === 1) failingSince = at;
    if (failure && (failures === 1 || at - notedAt >= notedEveryMs)) {
      notedAt = at;
      const lasting = failures === 1 ? '' : `still failing after ${age(at - failingSince)}. `;
      note(clean`${label}: ${lasting}${failure.message} ${describeRetry(following.gate(), delayMs, at)}`);
    }
    await sleep(delayMs, signal);
  }
}
