/** The interval of a mean whose samples are not known, only their number. */
import { lowerLimit } from './bounded-mean.ts';
import { defaultRange, type Interval, intervalDefaults } from './interval.ts';
import type { Tally } from './tally.ts';
import type { Range } from './tasks.ts';

/** A lower limit for the mean of rewards that are each either the lowest or the highest. */
function lowestMean(mean: number, samples: number, [low, high]: Range, risk: number): number {
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
}

/**
 * The interval for the mean reward on the tasks that were sampled, each as often: that of rewards which are all the
 * lowest or the highest, the widest that a mean of so many can have (Clopper and Pearson). It holds for several samples
 * of a task too, because these tasks are all that it speaks of, and sums over different tasks vary less than those of
 * one chance (W. Hoeffding, "On the distribution of the number of successes in independent trials", Annals of
 * Mathematical Statistics 27, 1956). Undefined without samples, and for a mean outside of the range.
 *
 * @param missing samples without a reward, which count as the lowest and as the highest
 */
export function intervalOfMean(
  mean: number,
  samples: number,
  missing: number = 0,
  range: Range = defaultRange,
): Interval | undefined {
  const [low, high] = range;
  if (!(samples > 0) || !(mean >= low && mean <= high)) return undefined;
  const { confidence } = intervalDefaults;
  const risk = (1 - confidence) / 2;
  const all = samples + missing;
  const filled = (value: number): number => (mean * samples + value * missing) / all;
  return {
    low: lowestMean(filled(low), all, range, risk),
    high: -lowestMean(-filled(high), all, [-high, -low], risk),
    confidence,
  };
}
