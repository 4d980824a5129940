/** Confidence intervals for means of tasks. One module for the screen, the commands and the gate. */

import { logWealth, lowerLimit, lowerLimitAlways } from './bounded-mean.ts';
import { chanceAtMost } from './dirichlet-mean.ts';
import { studentLimits } from './student.ts';
import { mirrored, repeated, type Tally, tallyMean } from './tally.ts';
import { type Filled, filledLevels, isOutside, type Missing, type Range, type RunTasks } from './tasks.ts';

export interface IntervalOptions {
  /** Between 0 and 1. */
  readonly confidence: number;
  /** Where rewards may be. If one is outside, the range is not known, and only many tasks have an interval. */
  readonly range: Range;
  readonly missing: Missing;
}

export const defaultRange: Range = [0, 1];
export const intervalDefaults: IntervalOptions = { confidence: 0.95, range: defaultRange, missing: 'bound' };

/**
 * Without a range a rare reward may be of any size, so that no interval holds for all distributions. From so many tasks the
 * t interval holds within a percent or so for the skewed ones that the bench tries (exponential, 5% outliers).
 */
export const manyTasks = 300;

/** A sample of which a lower limit is asked for; for an upper limit it is mirrored. */
interface OneSide {
  readonly levels: readonly Tally[];
  readonly floor: number;
}

/** How an interval was found. `once` and `always`: Gaffke's bound, and bets; `t`: Student's. */
export type Method = 'once' | 'always' | 't';

export interface Interval {
  readonly low: number;
  readonly high: number;
  readonly confidence: number;
  readonly method: Method;
}

/** The data behind an interval, for more questions than its limits. */
export interface Evidence {
  readonly interval: () => Interval | undefined;
  /** Why there is none, or undefined. */
  readonly reason: 'nothing' | 'outside' | undefined;
  /**
   * Whether `times` as much of the same data would show that the mean is above `point` (or below, with `below`).
   */
  readonly shows: (direction: 'above' | 'below', point: number, times: number) => boolean;
}

/** The share of the risk that each level of rollouts takes: 6/π² · (1, 1/4, 1/9, …), which add up to 1. */
export const shareOf = (level: number, levels: number): number => (levels === 1 ? 1 : 6 / (Math.PI * (level + 1)) ** 2);

/**
 * The interval for the mean reward of one run's tasks, or for the mean difference (second minus first) of two runs
 * whose tasks are in the same order.
 *
 * Runs that ended by themselves are looked at once: Gaffke's bound. For a run that goes on, or that somebody stopped, the
 * interval holds at every look, under the assumption that the order in which rollouts end says nothing about their
 * rewards: with several rollouts a task, each number of rollouts (1, 2, 4, …) is a test of its own, and the risk is shared.
 * Missing rewards are at their worst for each limit.
 */
export function evidenceFor(runs: readonly [RunTasks, RunTasks?], options: IntervalOptions): Evidence {
  const { confidence, range, missing } = options;
  const given = runs.filter(run => run !== undefined);
  const levels = filledLevels(runs, missing, range);
  if (levels.every(({ low }) => low.size === 0)) return none('nothing');
  const risk = (1 - confidence) / 2;
  const always = given.some(({ final }) => !final);
  if (isOutside(given, range)) return unbounded(levels, { risk, confidence, always });
  const [low, high] = given.length === 1 ? range : [range[0] - range[1], range[1] - range[0]];
  const below: OneSide = { levels: levels.map(level => level.low), floor: low };
  const above: OneSide = { levels: levels.map(level => mirrored(level.high)), floor: -high };
  const limit = ({ levels: samples, floor }: OneSide): number =>
    always
      ? Math.max(
          ...samples.map((sample, level) => lowerLimitAlways(sample, floor, risk * shareOf(level, samples.length))),
        )
      : Math.max(...samples.map(sample => lowerLimit(sample, floor, risk)));
  const exceeds = ({ levels: samples, floor }: OneSide, point: number, times: number): boolean =>
    samples.some((sample, level) => {
      const more = times === 1 ? sample : repeated(sample, times);
      if (point <= floor) return point < floor;
      return always
        ? logWealth(more, floor, point) > -Math.log(risk * shareOf(level, samples.length))
        : chanceAtMost(more, floor, point) < risk;
    });
  return {
    interval: () => ({ low: limit(below), high: -limit(above), confidence, method: always ? 'always' : 'once' }),
    reason: undefined,
    shows: (direction, point, times) =>
      direction === 'above' ? exceeds(below, point, times) : exceeds(above, -point, times),
  };
}

const none = (reason: 'nothing' | 'outside'): Evidence => ({ interval: () => undefined, reason, shows: () => false });

/** The t interval of many tasks without a known range; none while the run goes on, and where a reward is missing. */
function unbounded(
  [first]: readonly Filled[],
  { risk, confidence, always }: { risk: number; confidence: number; always: boolean },
): Evidence {
  const sample = first?.low;
  const complete = sample !== undefined && first !== undefined && tallyMean(first.low) === tallyMean(first.high);
  if (always || !complete || sample.size < manyTasks) return none('outside');
  const limitsOf = (times: number) => studentLimits(repeated(sample, times), risk);
  const limits = limitsOf(1);
  if (limits === undefined) return none('outside');
  return {
    interval: () => ({ low: limits[0], high: limits[1], confidence, method: 't' }),
    reason: undefined,
    shows: (direction, point, times) => {
      const [low, high] = limitsOf(times) ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
      return direction === 'above' ? low > point : high < point;
    },
  };
}

/** More than so many times the data is no answer. */
const mostTimes = 1_024;

/**
 * How many times the data it would take until `isShown`, if more of it were like what there is; undefined if that is out
 * of reach. 1 if it is shown now.
 */
export function timesUntil(isShown: (times: number) => boolean): number | undefined {
  let [low, high] = [1, 1];
  while (!isShown(high)) {
    low = high;
    high *= 2;
    if (high > mostTimes) return undefined;
  }
  for (let round = 0; round < 7 && high > 1; round++) {
    const middle = (low + high) / 2;
    if (isShown(middle)) high = middle;
    else low = middle;
  }
  return high;
}
