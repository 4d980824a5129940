/** Confidence intervals for means over tasks, for the screen, the commands and the gate. */

import { greatestChance, lowerLimit } from './bounded-mean.ts';
import { type FillOptions, filled, meansOf, missingOf, type WorstCase } from './filled.ts';
import { repeatTally } from './tally.ts';
import { isOpen, isOutside, type Range, type RunTasks, ratedRewards, withEach, withExactEnds } from './tasks.ts';

/**
 * How an interval is computed. If a reward is outside the range, the true range is unknown, and there is no interval: a
 * rare, unseen reward may be large enough to produce any mean.
 */
export interface IntervalOptions extends FillOptions {
  /** Between 0 and 1. */
  readonly confidence: number;
}

export const defaultRange: Range = [0, 1];
export const intervalDefaults: IntervalOptions = { confidence: 0.95, range: defaultRange, missing: 'bound' };

/**
 * The version of the method and its assumptions. Increase it with any change that gives different intervals for the
 * same rewards, or changes the type of what is remembered with them, so that they are computed again.
 */
export const intervalMethod = 3;

export interface Interval {
  readonly low: number;
  readonly high: number;
  readonly confidence: number;
}

/** The data behind an interval. */
export interface Evidence {
  readonly interval: () => Interval | undefined;
  /** Why there is no interval: no shared task with a reward, a reward out of range, or uncounted missing rewards. */
  readonly reason: 'nothing' | 'outside' | 'open' | undefined;
  /** The lowest and the highest mean over all possible missing rewards. */
  readonly bounds: () => Range;
  /** Whether `times` as much of the same data would show that the mean is above or below `point`. */
  readonly shows: (direction: 'above' | 'below', point: number, times: number) => boolean;
}

/**
 * The interval for one run's mean reward over its tasks, or for the mean difference (second minus first) between two
 * runs with tasks in the same order: Gaffke's bound, with missing rewards at their worst for each limit. The interval
 * stays valid even if looked at after every rollout, in any order. A pending reward counts as the lowest for the lower
 * limit, so this limit only rises as rollouts end: if it is too high at some look, it is too high at the last one.
 */
export function evidenceFor(given: readonly [RunTasks, RunTasks?], options: IntervalOptions): Evidence {
  const { confidence, range } = options;
  const runs = withExactEnds(withEach(given), range);
  const present = runs.filter(run => run !== undefined);
  const isRated = (index: number): boolean => present.every(({ tasks }) => ratedRewards(tasks[index] ?? []).length > 0);
  if (!runs[0].tasks.some((_, index) => isRated(index))) return none('nothing');
  if (present.some(run => isOpen(run) && missingOf(run, options) === 'bound')) return none('open');
  const { low: values, mirrored } = filled(runs, options);
  const risk = (1 - confidence) / 2;
  if (isOutside(present, range)) return none('outside');
  const [low, high] = present.length === 1 ? range : [range[0] - range[1], range[1] - range[0]];
  const limit = ({ certain, optional }: WorstCase, floor: number): number => lowerLimit(certain, floor, risk, optional);
  const exceeds = ({ certain, optional }: WorstCase, floor: number, point: number, times: number): boolean =>
    greatestChance(repeatTally(certain, times), repeatTally(optional, times), floor, point) < risk;
  return {
    interval: () => ({
      low: limit(values, low),
      high: -limit(mirrored, -high),
      confidence,
    }),
    reason: undefined,
    bounds: () => meansOf({ low: values, mirrored }),
    shows: (direction, point, times) =>
      direction === 'above' ? exceeds(values, low, point, times) : exceeds(mirrored, -high, -point, times),
  };
}

const none = (reason: Evidence['reason']): Evidence => ({
  interval: () => undefined,
  reason,
  bounds: () => [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
  shows: () => false,
});

/** A verdict that needs more than this many times the present data counts as out of reach. */
const maxFactor = 1_024;

/**
 * How many times the present data `isShown` needs, assuming that further data is similar: 1 if it is already shown,
 * undefined if out of reach.
 */
export function timesUntil(isShown: (times: number) => boolean): number | undefined {
  let [low, high] = [1, 1];
  while (!isShown(high)) {
    low = high;
    high *= 2;
    if (high > maxFactor) return undefined;
  }
  for (let round = 0; round < 7 && high > 1; round++) {
    const middle = (low + high) / 2;
    if (isShown(middle)) high = middle;
    else low = middle;
  }
  return high;
}
