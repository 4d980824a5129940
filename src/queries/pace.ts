/** The current speed of a training run, from the times its steps were observed. Pure. */
import { statusMeaning } from '../contract/status.ts';
import type { ProgressPoint } from '../store/store.ts';
import { duration } from '../text/time.ts';

export interface Pace {
  /** Milliseconds per step; undefined before two different counts were observed. */
  readonly stepMs: number | undefined;
  /** When the count last changed; epoch milliseconds. */
  readonly changedAt: number | undefined;
  /** Milliseconds without a new step after which the run counts as silent. The alarms decide whether it has stalled. */
  readonly patienceMs: number;
}

/** The time between two observed counts. */
interface Interval {
  readonly ms: number;
  readonly steps: number;
}

/** The rate covers the last two minutes, or the last ten steps if those took longer. */
const windowMs = 2 * 60_000;
const windowSteps = 10;
/** Beyond this many times the median, an interval counts as an outage, and a pause as a silence. */
const outlier = 3;
/** Shorter silences are never reported: polls without focus are ten seconds apart. */
const shortestPatienceMs = 15_000;
/** Tolerated silence before the pace is known. */
const firstPatienceMs = 60_000;

/** The lower of the two middle values, so that one outage among two intervals does not halve the rate. */
function median(values: readonly number[]): number | undefined {
  return values.toSorted((left, right) => left - right)[Math.floor((values.length - 1) / 2)];
}

/** The intervals of the window, newest first. An interval in which the run was reset to a checkpoint is left out. */
function recentIntervals(points: readonly ProgressPoint[]): Interval[] {
  const intervals: Interval[] = [];
  let [ms, steps] = [0, 0];
  for (let index = points.length - 1; index > 0 && (ms < windowMs || steps < windowSteps); index -= 1) {
    const [from, to] = [points[index - 1], points[index]];
    if (!from || !to) break;
    // Before the first step it may have been in the queue.
    if (from.completed_steps === 0) continue;
    const interval = { ms: to.at - from.at, steps: to.completed_steps - from.completed_steps };
    if (!(interval.steps > 0 && Number.isFinite(interval.steps) && interval.ms > 0)) continue;
    intervals.push(interval);
    ms += interval.ms;
    steps += interval.steps;
  }
  return intervals;
}

/**
 * The pace of the last steps. Ignores intervals that are several times as long as usual: the service, the network or
 * this program was away.
 */
export function paceOf(points: readonly ProgressPoint[]): Pace {
  const changedAt = points.at(-1)?.at;
  const intervals = recentIntervals(points);
  const medianStep = median(intervals.map(({ ms, steps }) => ms / steps));
  if (medianStep === undefined) return { stepMs: undefined, changedAt, patienceMs: firstPatienceMs };
  const usual = intervals.filter(({ ms, steps }) => ms / steps <= outlier * medianStep);
  const ms = usual.reduce((sum, interval) => sum + interval.ms, 0);
  const steps = usual.reduce((sum, interval) => sum + interval.steps, 0);
  const between = median(usual.map(interval => interval.ms)) ?? 0;
  return { stepMs: ms / steps, changedAt, patienceMs: Math.max(shortestPatienceMs, outlier * between) };
}

export interface RunSituation {
  readonly status: string | null | undefined;
  readonly completed: number | null | undefined;
  readonly total: number | null | undefined;
  /** When the run was last observed; epoch milliseconds. An unobserved run does not count as silent. */
  readonly observedAt: number;
  /** When it was created, which for a queued run is before it began; epoch milliseconds. */
  readonly startedAt?: number | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Whether a run is queued, silent or moving. All times are in milliseconds. */
export type Standing =
  /** How long it has waited; undefined if it has finished steps, because the start of the wait is then unknown. */
  | { readonly kind: 'queued'; readonly forMs: number | undefined }
  /** `atLeast` is true if its pace was never known. */
  | { readonly kind: 'silent'; readonly forMs: number; readonly atLeast: boolean }
  | { readonly kind: 'moving'; readonly stepMs: number; readonly leftMs: number | undefined }
  /** Not observed recently, or not long enough. */
  | { readonly kind: 'unknown' };

/**
 * Rate and time left while steps arrive, and the length of the silence once they stop. There is no time left for a run
 * being cancelled, no estimate before the first steps, and no silence for a run that was not observed during it. A run
 * that has not begun is queued rather than silent.
 */
export function standingOf(pace: Pace, situation: RunSituation): Standing {
  const { status, completed, total, observedAt, startedAt, now } = situation;
  if (status != null && statusMeaning(status) === 'waiting') {
    const isKnown = startedAt !== undefined && (completed ?? 0) === 0;
    return { kind: 'queued', forMs: isKnown ? Math.max(0, now - startedAt) : undefined };
  }
  const { stepMs, changedAt, patienceMs } = pace;
  if (now - observedAt > patienceMs) return { kind: 'unknown' };
  const silence = changedAt === undefined ? 0 : observedAt - changedAt;
  if (silence > patienceMs) return { kind: 'silent', forMs: silence, atLeast: stepMs === undefined };
  if (stepMs === undefined) return { kind: 'unknown' };
  const known = total != null && completed != null && completed > 0 && completed < total;
  const hasEstimate = known && !(status != null && statusMeaning(status) === 'stopping');
  return { kind: 'moving', stepMs, leftMs: hasEstimate ? (total - completed) * stepMs : undefined };
}

/** A standing as text; empty if it is unknown. */
export function standingWords(standing: Standing): string {
  switch (standing.kind) {
    case 'queued':
      return standing.forMs === undefined ? 'queued' : `queued ${duration(standing.forMs)}`;
    case 'silent':
      return `no new step for ${standing.atLeast ? 'at least ' : ''}${duration(standing.forMs)}`;
    case 'moving': {
      const rate = rateWords(standing.stepMs);
      return standing.leftMs === undefined ? rate : `${rate}  ETA ${duration(standing.leftMs)}`;
    }
    case 'unknown':
      return '';
  }
}

/** `1.5 steps/s`, or `4.8 s/step` for a slow run. */
export function rateWords(stepMs: number): string {
  if (stepMs < 1_000) return `${(1_000 / stepMs).toFixed(1)} steps/s`;
  return stepMs < 100_000 ? `${Number((stepMs / 1_000).toPrecision(2))} s/step` : `${duration(stepMs)}/step`;
}

export const paceWords = (pace: Pace, situation: RunSituation): string => standingWords(standingOf(pace, situation));
