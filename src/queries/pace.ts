/** How fast a training run advances now, from when its steps were seen. Pure. */
import { statusMeaning } from '../contract/status.ts';
import { duration } from '../text/time.ts';
import type { ProgressPoint } from './remembered/store.ts';

export interface Pace {
  /** Milliseconds of a step; undefined before two different counts were seen. */
  readonly stepMs: number | undefined;
  /** When the count changed last; epoch milliseconds. */
  readonly changedAt: number | undefined;
  /** Milliseconds without a new step after which it has stopped advancing. */
  readonly stallMs: number;
}

/** The time from one count that was seen to the next. */
interface Interval {
  readonly ms: number;
  readonly steps: number;
}

/** The rate is that of the last two minutes, or of the last ten steps where those took longer. */
const windowMs = 2 * 60_000;
const windowSteps = 10;
/** So many times the usual, an interval was an outage, and a silence is no longer a slow step. */
const outlier = 3;
/** Silences that are never worth a word: the polls of what has no focus are ten seconds apart. */
const shortestPatienceMs = 15_000;
/** How long a silence is before anything is known of the pace. */
const firstPatienceMs = 60_000;

/** The lower one of the two in the middle, so that one outage among two intervals is not half of the rate. */
function median(values: readonly number[]): number | undefined {
  return values.toSorted((left, right) => left - right)[Math.floor((values.length - 1) / 2)];
}

/** The intervals of the window, the newest first. A run that was set back to a checkpoint did no steps in that interval. */
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
 * The pace of the last steps. Intervals in which a step took several times as long as usual count for nothing: the service,
 * the line or this program was away.
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

/**
 * Says that a run was seen further than it is: its service was killed and resumed it from a checkpoint. Undefined once it has
 * come past where it was.
 */
export function setBackWords(points: readonly ProgressPoint[]): string | undefined {
  const steps = points.map(({ completed_steps }) => completed_steps);
  const at = steps.findLastIndex((step, index) => step < (steps[index - 1] ?? 0));
  const [to, now] = [steps[at], steps.at(-1)];
  if (to === undefined || now === undefined) return undefined;
  const furthest = steps.slice(0, at).reduce((most, step) => Math.max(most, step), 0);
  if (now >= furthest) return undefined;
  return `set back from step ${furthest} to ${to}: the steps between are done again`;
}

export interface RunSituation {
  readonly status: string | null | undefined;
  readonly completed: number | null | undefined;
  readonly total: number | null | undefined;
  /** When the run was last observed; epoch milliseconds. What was not observed is not known to have stopped. */
  readonly now: number;
}

/**
 * Rate and time left while steps come; how long none came once they have stopped. No time is given for a run that is
 * being cancelled, and nothing is guessed before the first steps.
 */
export function paceWords(pace: Pace, { status, completed, total, now }: RunSituation): string {
  const { stepMs, changedAt, stallMs } = pace;
  const silence = changedAt === undefined ? 0 : now - changedAt;
  if (silence > stallMs) return `no new step for ${stepMs === undefined ? 'at least ' : ''}${duration(silence)}`;
  if (stepMs === undefined) return '';
  const rate = stepMs < 1_000 ? `${(1_000 / stepMs).toFixed(1)} steps/s` : `${duration(stepMs)} a step`;
  const known = total != null && completed != null && completed > 0 && completed < total;
  if (!known || (status != null && statusMeaning(status) === 'stopping')) return rate;
  return `${rate}  about ${duration((total - completed) * stepMs)} left`;
}
