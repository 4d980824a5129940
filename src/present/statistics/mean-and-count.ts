/** The interval of a mean when only the number of samples is known. */
import { perArguments } from '../../base/memo.ts';
import { lowerLimit } from './bounded-mean.ts';
import { defaultRange, type Interval, intervalDefaults } from './interval.ts';
import type { Tally } from './tally.ts';
import type { Range } from './tasks.ts';

/**
 * A lower limit for a mean, assuming that each reward is either the lowest or the highest. It is kept: tables ask for the
 * limits of every row with every change.
 */
const lowestMean = perArguments((mean: number, samples: number, low: number, high: number, risk: number): number => {
  const share = (mean - low) / (high - low);
  const parts = [
    { value: low, count: samples * (1 - share) },
    { value: high, count: samples * share },
  ].filter(({ count }) => count > 0);
  const tally: Tally = {
    values: Float64Array.from(parts, ({ value }) => value),
    counts: Float64Array.from(parts, ({ count }) => count),
    size: samples,
  };
  return lowerLimit(tally, low, risk);
});

/**
 * The interval for the mean reward on the sampled tasks, each sampled equally often. It assumes that every reward is
 * the lowest or the highest, which gives the widest interval for this number of samples (Clopper and Pearson). It also
 * holds for several samples per task, because it is about these tasks only, and sums over different tasks vary less
 * than those with a single probability (W. Hoeffding, "On the distribution of the number of successes in independent
 * trials", Annals of Mathematical Statistics 27, 1956). Undefined without samples, and for a mean outside the range.
 *
 * @param missing samples without a reward, which count as the lowest and as the highest
 */
export function intervalOfMean(
  mean: number,
  samples: number,
  missing: number = 0,
  range: Range = defaultRange,
  confidence: number = intervalDefaults.confidence,
): Interval | undefined {
  const [low, high] = range;
  if (!(samples > 0) || !(mean >= low && mean <= high)) return undefined;
  const risk = (1 - confidence) / 2;
  const all = samples + missing;
  const filled = (value: number): number => (mean * samples + value * missing) / all;
  return {
    low: lowestMean(filled(low), all, low, high, risk),
    high: -lowestMean(-filled(high), all, -high, -low, risk),
    confidence,
  };
}

/** A mean of unknown rewards. */
export interface CountedMean {
  readonly mean: number | undefined;
  readonly samples: number | undefined;
  readonly missing: number;
}

/**
 * The 95% interval of the difference (second minus first) of two means of unknown rewards, which cannot be paired by
 * task. Each mean gets an interval of 97.5%, and the difference lies between their farthest limits (C. E.
 * Bonferroni): the widest that holds. Undefined without samples.
 */
export function differenceOfMeans(base: CountedMean, fresh: CountedMean, range: Range): Interval | undefined {
  const { confidence } = intervalDefaults;
  const [before, after] = [base, fresh].map(({ mean, samples = 0, missing }) =>
    mean === undefined ? undefined : intervalOfMean(mean, samples, missing, range, (1 + confidence) / 2),
  );
  return before && after && { low: after.low - before.high, high: after.high - before.low, confidence };
}
