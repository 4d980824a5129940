/** The interval for a mean if only the number of samples is known. */
import { perArguments } from '../../base/memo.ts';
import { lowerLimit } from './bounded-mean.ts';
import { defaultRange, type Interval, intervalDefaults } from './interval.ts';
import type { Tally } from './tally.ts';
import { type Range, withinRange } from './tasks.ts';

/**
 * A lower limit for a mean, assuming that each reward is the lowest or the highest. Cached because tables need the
 * limits for every row after every change.
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
 * The interval for a held-out mean. A service reports only this mean and the number of samples, so the interval is
 * about the sampled tasks only, each sampled equally often. Evaluations' rewards can be read, so their interval is by
 * task and about the larger set of tasks. This one assumes that every reward is the lowest or the highest, which gives
 * the widest interval for this number of samples (Clopper and Pearson). It is also valid for several samples per task,
 * because sums over different tasks vary less than sums with a single probability (W. Hoeffding, "On the distribution
 * of the number of successes in independent trials", Annals of Mathematical Statistics 27, 1956). Undefined without
 * samples, or for a mean outside the range.
 *
 * @param missing samples without a reward, which count as the lowest for one limit and as the highest for the other
 */
export function intervalOfMean(
  shown: number,
  samples: number,
  missing: number = 0,
  range: Range = defaultRange,
  confidence: number = intervalDefaults.confidence,
): Interval | undefined {
  const [low, high] = range;
  const mean = withinRange(shown, range);
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
