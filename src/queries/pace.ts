/** The current speed of a training run, from the times its steps were observed. Pure. */
import { statusMeaning } from '../contract/status.ts';
import type { ProgressPoint } from '../store/store.ts';
import { duration } from '../text/time.ts';

export interface Pace {
  /** Milliseconds per step; undefined before two different counts were observed. */
  readonly stepMs: number | undefined;
  /** When the count last changed; epoch milliseconds. */
  readonly changedAt: number | undefined;
  /** Milliseconds without a new step after which the run counts as stalled. */
  readonly stallMs: number;
}

/** The time between two observed counts. */
interface Interval {
  readonly ms: number;
  readonly steps: number;
}

/** The rate covers the last two minutes, or the last ten steps if those took longer. */
const windowMs = 2 * 60_000;
const windowSteps = 10;
/** Beyond this many times the median, an interval counts as an outage, and a silence as a stall. */
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
  if (medianStep === undefined) return { stepMs: undefined, changedAt, stallMs: firstPatienceMs };
  const usual = intervals.filter(({ ms, steps }) => ms / steps <= outlier * medianStep);
  const ms = usual.reduce((sum, interval) => sum + interval.ms, 0);
  const steps = usual.reduce((sum, interval) => sum + interval.steps, 0);
  const between = median(usual.map(interval => interval.ms)) ?? 0;
  return { stepMs: ms / steps, changedAt, stallMs: Math.max(shortestPatienceMs, outlier * between) };
}

export interface RunSituation {
  readonly status: string | null | undefined;
  readonly completed: number | null | undefined;
  readonly total: number | null | undefined;
  /** When the run was last observed; epoch milliseconds. An unobserved run does not count as stalled. */
  readonly observedAt: number;
  /** When it was created, which for a queued run is before it began; epoch milliseconds. */
  readonly startedAt?: number | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** How long a run has been queued; undefined if it is not. */
function queuedWords({ status, completed, startedAt, now }: RunSituation): string | undefined {
  if (status == null || statusMeaning(status) !== 'waiting') return undefined;
  // A run with finished steps is waiting to continue; since when is unknown.
  if (startedAt === undefined || (completed ?? 0) > 0) return 'queued';
  return `queued ${duration(Math.max(0, now - startedAt))}`;
}

/**
 * Rate and time left while steps arrive, and the length of the silence once they stop. There is no time left for a run
 * being cancelled, no estimate before the first steps, and no silence for a run that was not observed during it. A run
 * that has not begun is queued rather than silent.
 */
export function paceWords(pace: Pace, situation: RunSituation): string {
  const { status, completed, total, observedAt, now } = situation;
  const queued = queuedWords(situation);
  if (queued !== undefined) return queued;
  const { stepMs, changedAt, stallMs } = pace;
  if (now - observedAt > stallMs) return '';
  const silence = changedAt === undefined ? 0 : observedAt - changedAt;
  if (silence > stallMs) return `no new step for ${stepMs === undefined ? 'at least ' : ''}${duration(silence)}`;
  if (stepMs === undefined) return '';
  const rate = stepMs < 1_000 ? `${(1_000 / stepMs).toFixed(1)} steps/s` : `${duration(stepMs)} a step`;
  const known = total != null && completed != null && completed > 0 && completed < total;
  if (!known || (status != null && statusMeaning(status) === 'stopping')) return rate;
  return `${rate}  about ${duration((total - completed) * stepMs)} left`;
}
