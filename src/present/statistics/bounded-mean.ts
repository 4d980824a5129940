/**
 * Confidence limits for the mean of a variable that is never below `floor`. They assume only that values are
 * independent, and hold for any distribution and any number of values.
 */
import { chanceAtMost } from './dirichlet-mean.ts';
import { crossing } from './root.ts';
import { joinTallies, type Tally, tallyOf, valuesBelow } from './tally.ts';

/** A limit's precision, as a share of the distance from the floor to the largest value. */
const precision = 1e-8;

/**
 * The lower limit that is wrong with probability `risk` in a single look: the quantile of the mean with random weights,
 * including one more, unseen value at the floor (N. Gaffke, "Three test statistics for a nonparametric one-sided
 * hypothesis on the mean of a nonnegative variable", Mathematical Methods of Statistics 14, 2005; E. Learned-Miller and
 * P. S. Thomas, arXiv 1905.06208, 2019; M. Phan, P. S. Thomas and E. Learned-Miller, arXiv 2106.03163, 2021). For
 * values of 0 and 1 it equals the limit of Clopper and Pearson, and with many values it approaches that of the t
 * interval. Its coverage is not proven for all distributions, but no counterexample is known: `npm run bench --
 * statistics` searches for one.
 *
 * @param optional values that may or may not belong to the sample: the limit is the lowest over all choices of them
 */
export function lowerLimit(sample: Tally, floor: number, risk: number, optional: Tally = tallyOf([])): number {
  const top = sample.values.at(-1);
  if (top === undefined || top <= floor) return floor;
  const depth = top - floor;
  // The weight of the unseen value has a Beta(1, n) distribution.
  if (sample.values.length === 1 && optional.size === 0) return top - depth * (1 - risk ** (1 / sample.size));
  const excess = (point: number): number => Math.log(greatestChance(sample, optional, floor, point)) - Math.log(risk);
  return crossing(excess, floor, top, depth * precision);
}

/**
 * The greatest probability that the mean with random weights is at most `point`, over all choices of optional values.
 * Each value below the point raises the probability, and each value above lowers it, because the mean including one
 * more value lies between this value and the mean without it.
 */
export const greatestChance = (sample: Tally, optional: Tally, floor: number, point: number): number =>
  chanceAtMost(joinTallies(sample, valuesBelow(optional, point)), floor, point);
