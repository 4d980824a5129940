/**
 * Limits for the mean of a variable that is nowhere below `floor`. They assume no more than that and independent
 * values, whatever their distribution, and hold for few values as well as for many.
 */
import { chanceAtMost } from './dirichlet-mean.ts';
import { crossing } from './root.ts';
import { type Tally, tallyMean } from './tally.ts';

/** Precision of a limit, as a share of the distance from the floor to the largest value. */
const precision = 1e-8;

/**
 * The lower limit that is wrong with the probability `risk`, for who looks once: the quantile of the mean with random
 * weights, where one more value, unseen, is at the floor (N. Gaffke, "Three test statistics for a nonparametric one-sided
 * hypothesis on the mean of a nonnegative variable", Mathematical Methods of Statistics 14, 2005; E. Learned-Miller and P.
 * S. Thomas, arXiv 1905.06208, 2019; M. Phan, P. S. Thomas and E. Learned-Miller, arXiv 2106.03163, 2021). For values of 0
 * and 1 it is that of Clopper and Pearson, and with many values it approaches that of the t interval. No counterexample to
 * its promise is known, and no proof for all distributions: `npm run bench -- statistics` looks for one.
 */
export function lowerLimit(sample: Tally, floor: number, risk: number): number {
  const top = sample.values.at(-1);
  if (top === undefined || top <= floor) return floor;
  const depth = top - floor;
  // The weight of the unseen value has a Beta(1, n) distribution.
  if (sample.values.length === 1) return top - depth * (1 - risk ** (1 / sample.size));
  const excess = (point: number): number => Math.log(chanceAtMost(sample, floor, point)) - Math.log(risk);
  return crossing(excess, floor, top, depth * precision);
}

/**
 * The bets of the test below: shares of the most that may be staked, with even steps in the logarithm of their odds. Few
 * values are decided by high stakes, small differences by low ones.
 */
export const stakes: readonly number[] = Array.from({ length: 25 }, (_, index) => 1 / (1 + Math.exp((index - 12) / 2)));

/**
 * The logarithm of the mean wealth of gamblers who bet that the mean is above `point`: each begins with 1 and stakes
 * her share of what she has on every value. If the mean is not above `point`, the game is fair or worse for all of
 * them, and the probability that the mean wealth ever reaches 1 / risk is at most `risk` (J. Ville, 1939).
 */
export function logWealth({ values, counts }: Tally, floor: number, point: number): number {
  const room = point - floor;
  const logs = stakes.map(stake => {
    let log = 0;
    // Logarithms are slow: one for many values that occur once.
    let product = 1;
    for (let index = 0; index < values.length; index++) {
      const count = counts[index] ?? 0;
      const gain = stake * (((values[index] ?? 0) - floor) / room - 1);
      if (count === 1) product *= 1 + gain;
      else log += count * Math.log1p(gain);
      if (product > 1e-200 && product < 1e200) continue;
      log += Math.log(product);
      product = 1;
    }
    return log + Math.log(product);
  });
  const most = Math.max(...logs);
  if (most === Number.POSITIVE_INFINITY) return most;
  return most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0) / stakes.length);
}

/**
 * The lower limit that is ever wrong with the probability `risk` at most, for who looks after every value and stops when
 * it suits: the smallest mean against which a mixture of bets has not yet won (I. Waudby-Smith and A. Ramdas,
 * "Estimating means of bounded random variables by betting", JRSS B 86, 2024; F. Orabona and K.-S. Jun, "Tight
 * concentrations and confidence sequences from the regret of universal portfolio", IEEE Transactions on Information
 * Theory 70, 2024). The wealth falls as the mean rises, so that the means that are left are an interval.
 */
export function lowerLimitAlways(sample: Tally, floor: number, risk: number): number {
  const top = sample.values.at(-1);
  if (top === undefined || top <= floor) return floor;
  const excess = (point: number): number => -Math.log(risk) - logWealth(sample, floor, point);
  const average = tallyMean(sample);
  return crossing(excess, floor, Math.min(top, average), (top - floor) * precision);
}
