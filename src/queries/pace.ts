/** A training run's current speed, from the times at which its steps were observed. Pure. */
import { statusMeaning } from '../contract/status.ts';
import type { ProgressPoint } from '../store/store.ts';
import { age, duration } from '../text/time.ts';

interface Pace {
  /** Milliseconds per step; undefined if unknown. */
  readonly stepMs: number | undefined;
  /** Whether `stepMs` is only the mean since the start, which grows while no step arrives. */
  readonly isRough: boolean;
  /** When the step count last changed, or was first read; in epoch milliseconds. */
  readonly changedAt: number | undefined;
  /** Whether the last step was observed as it arrived; otherwise it may be much older than `changedAt`. */
  readonly isSeen: boolean;
  /** If the last step was not observed: the newest checkpoint, and the number of steps since. */
  readonly checkpoint?: { readonly at: number; readonly stepsSince: number } | undefined;
  /** After this long without a new step, the run counts as silent; in ms. The alarms decide whether it has stalled. */
  readonly patienceMs: number;
}

/** The service's records of the times of steps that were not observed. */
export interface PaceHints {
  /** When the run left the queue or, if it was not seen in the queue, when it was created; in epoch milliseconds. */
  readonly startedAt?: number | undefined;
  /** The times of its newest checkpoints, oldest first. */
  readonly checkpoints?: readonly ProgressPoint[] | undefined;
}

/** The time between two observed counts. */
interface Interval {
  readonly ms: number;
  readonly steps: number;
}

/** The rate covers the last two minutes, or the last ten steps if these took longer. */
const windowMs = 2 * 60_000;
const windowSteps = 10;
/** An interval longer than this many times the median counts as an outage, and a pause that long as a silence. */
const outlier = 3;
/** Shorter silences are never reported: without focus, polls are ten seconds apart. */
const shortestPatienceMs = 15_000;
/** How long a silence is tolerated before the pace is known. */
const firstPatienceMs = 60_000;

/** The lower of the two middle values, so that a single outage among two intervals does not halve the rate. */
function median(values: readonly number[]): number | undefined {
  return values.toSorted((left, right) => left - right)[Math.floor((values.length - 1) / 2)];
}

/**
 * Whether an interval that begins at a count consists of whole steps, because the last step before it was observed.
 * With many steps, part of a step is a small error.
 */
const isWhole = ({ at, since = Number.NEGATIVE_INFINITY }: ProgressPoint, { ms, steps }: Interval): boolean =>
  steps >= windowSteps || at - since <= ms;

/**
 * The intervals in the window, newest first. If a count's last step was not observed, the count begins no interval, and
 * its steps belong to the previous interval. Leaves out intervals in which the run was reset to a checkpoint.
 */
function recentIntervals(points: readonly ProgressPoint[]): Interval[] {
  const intervals: Interval[] = [];
  let [ms, steps] = [0, 0];
  let to = points.at(-1);
  for (let index = points.length - 2; index >= 0 && (ms < windowMs || steps < windowSteps); index -= 1) {
    const from = points[index];
    if (!from || !to) break;
    const interval = { ms: to.at - from.at, steps: to.completed_steps - from.completed_steps };
    const isUsable = interval.steps > 0 && Number.isFinite(interval.steps) && interval.ms > 0;
    // Before its first step, the run may have been queued.
    const counts = isUsable && from.completed_steps > 0;
    if (counts && !isWhole(from, interval)) continue;
    to = from;
    if (!counts) continue;
    intervals.push(interval);
    ms += interval.ms;
    steps += interval.steps;
  }
  return intervals;
}

/** The pace and usual interval of the observed steps. */
function observedPace(points: readonly ProgressPoint[]) {
  const intervals = recentIntervals(points);
  const medianStep = median(intervals.map(({ ms, steps }) => ms / steps));
  if (medianStep === undefined) return undefined;
  const usual = intervals.filter(({ ms, steps }) => ms / steps <= outlier * medianStep);
  const ms = usual.reduce((sum, interval) => sum + interval.ms, 0);
  const steps = usual.reduce((sum, interval) => sum + interval.steps, 0);
  return { stepMs: ms / steps, between: median(usual.map(interval => interval.ms)) ?? 0 };
}

/** The pace before benchtop observed the run: between its checkpoints, or else since its start. */
function earlierPace(points: readonly ProgressPoint[], { startedAt, checkpoints = [] }: PaceHints): number | undefined {
  const between = observedPace(checkpoints);
  if (between) return between.stepMs;
  const { at, completed_steps } = checkpoints.at(-1) ?? points.at(-1) ?? { at: 0, completed_steps: 0 };
  if (startedAt === undefined || completed_steps === 0 || at <= startedAt) return undefined;
  return (at - startedAt) / completed_steps;
}

/**
 * The pace of the last steps. Ignores intervals several times longer than usual, when the service, the network or this
 * program was down.
 */
export function paceOf(points: readonly ProgressPoint[], hints: PaceHints = {}): Pace {
  const last = points.at(-1);
  const observed = observedPace(points);
  const stepMs = observed?.stepMs ?? earlierPace(points, hints);
  const ordinaryMs = observed ? Math.max(shortestPatienceMs, outlier * observed.between) : firstPatienceMs;
  const patienceMs = observed || stepMs === undefined ? ordinaryMs : Math.max(ordinaryMs, outlier * stepMs);
  const isSeen = last?.since !== undefined && last.at - last.since <= patienceMs;
  const saved = isSeen ? undefined : hints.checkpoints?.at(-1);
  const stepsSince = (last?.completed_steps ?? 0) - (saved?.completed_steps ?? 0);
  // After a reset, it is unknown how many steps were made.
  const isReset = stepsSince < 0;
  const checkpoint = saved && !isReset ? { at: saved.at, stepsSince } : undefined;
  const isRough = !observed && !isSeen && !hints.checkpoints?.length;
  return { stepMs, isRough, changedAt: last?.at, isSeen, checkpoint, patienceMs };
}

/**
 * The minimum time for which a run has made no step. Unobserved steps divide the time from the last checkpoint to the
 * first read of the count into gaps, and the longest gap is at least as long as the mean gap.
 *
 * @param at when its steps were last read, in epoch milliseconds
 */
export function silenceMs({ changedAt, checkpoint }: Pace, at: number): number {
  if (changedAt === undefined) return 0;
  const before = checkpoint ? Math.max(0, changedAt - checkpoint.at) / (checkpoint.stepsSince + 1) : 0;
  return Math.max(0, at - changedAt + before);
}

/** The time since a run's last step. */
export interface Silence {
  readonly forMs: number;
  /** The last step was not observed, so it may have been earlier. */
  readonly atLeast: boolean;
}

/** How long a run has certainly made no step. */
export const silenceAt = (pace: Pace, at: number): Silence => ({ forMs: silenceMs(pace, at), atLeast: !pace.isSeen });

export interface RunSituation {
  readonly status: string | null | undefined;
  readonly completed: number | null | undefined;
  readonly total: number | null | undefined;
  /** When the run was last observed, in epoch milliseconds. An unobserved run does not count as silent. */
  readonly observedAt: number;
  /** When the run began or, for a queued run, was created; in epoch milliseconds. */
  readonly startedAt?: number | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Whether a run is queued, silent or moving. All times are in milliseconds. */
export type PaceState =
  /** How long it has been queued; undefined after the first step, when the start of the wait is unknown. */
  | { readonly kind: 'queued'; readonly forMs: number | undefined }
  /** `checkpointMs` is the last checkpoint's age, if the last step was not observed. */
  | (Silence & { readonly kind: 'silent'; readonly checkpointMs?: number | undefined })
  | { readonly kind: 'moving'; readonly stepMs: number; readonly leftMs: number | undefined }
  /** The run was not observed recently, or not for long enough. */
  | { readonly kind: 'unknown' };

/**
 * The rate and the time left while steps arrive, and the length of the silence once they stop. There is no time left
 * for a run that is being cancelled or has only a rough pace, no estimate before the first steps, and no silence while
 * the run was not observed. A run that has not begun is queued, not silent.
 */
export function paceStateOf(pace: Pace, situation: RunSituation): PaceState {
  const { status, completed, total, observedAt, startedAt, now } = situation;
  if (status != null && statusMeaning(status) === 'waiting') {
    const isKnown = startedAt !== undefined && (completed ?? 0) === 0;
    return { kind: 'queued', forMs: isKnown ? Math.max(0, now - startedAt) : undefined };
  }
  const { stepMs, isRough, checkpoint, patienceMs } = pace;
  if (now - observedAt > patienceMs) return { kind: 'unknown' };
  if (silenceMs(pace, observedAt) > patienceMs) {
    const checkpointMs = checkpoint && observedAt - checkpoint.at;
    return { kind: 'silent', ...silenceAt(pace, observedAt), checkpointMs };
  }
  if (stepMs === undefined) return { kind: 'unknown' };
  const known = total != null && completed != null && completed > 0 && completed < total;
  const hasEstimate = known && !isRough && !(status != null && statusMeaning(status) === 'stopping');
  return { kind: 'moving', stepMs, leftMs: hasEstimate ? (total - completed) * stepMs : undefined };
}

/** @param ms how long ago the last checkpoint was saved */
export const describeCheckpointAge = (ms: number): string => `last checkpoint ${age(ms)} ago`;

/** The state in words; empty if it is unknown. */
export function describePaceState(standing: PaceState): string {
  switch (standing.kind) {
    case 'queued':
      return standing.forMs === undefined ? 'queued' : `queued ${duration(standing.forMs)}`;
    case 'silent':
      if (standing.checkpointMs !== undefined) return describeCheckpointAge(standing.checkpointMs);
      return `no new step for ${standing.atLeast ? 'at least ' : ''}${duration(standing.forMs)}`;
    case 'moving': {
      const rate = formatRate(standing.stepMs);
      return standing.leftMs === undefined ? rate : `${rate}  ETA ${duration(standing.leftMs)}`;
    }
    case 'unknown':
      return '';
  }
}

/** `1.5 steps/s`, `500 steps/s`, or `4.8 s/step` for a slow run. */
export function formatRate(stepMs: number): string {
  const rate = 1_000 / stepMs;
  if (rate > 1) return `${rate < 9.95 ? rate.toFixed(1) : Math.round(rate)} steps/s`;
  return stepMs < 100_000 ? `${Number((stepMs / 1_000).toPrecision(2))} s/step` : `${duration(stepMs)}/step`;
}

export const describePace = (pace: Pace, situation: RunSituation): string =>
  describePaceState(paceStateOf(pace, situation));
