/** Student's t interval, with which the intervals of `src/present/statistics` are compared. */
import { type Tally, tallyMean } from '../../src/present/statistics/tally.ts';

/**
 * The quantile of Student's t distribution with `degrees` (a whole number) of freedom, found by bisection of its
 * exact distribution function. Above 10,000 degrees, it uses 10,000, which is at most 0.02% too wide.
 */
export function tQuantile(probability: number, degrees: number): number {
  if (probability < 0.5) return -tQuantile(1 - probability, degrees);
  const freedom = Math.min(10_000, Math.max(1, Math.floor(degrees)));
  const central = 2 * probability - 1;
  // In the angle θ = atan(t / √ν) the search interval is bounded, however heavy the tails.
  let low = 0;
  let high = Math.PI / 2;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (centralProbability(middle, freedom) < central) low = middle;
    else high = middle;
  }
  return Math.tan((low + high) / 2) * Math.sqrt(freedom);
}

/**
 * The probability that |t| is at most √ν tan θ: the finite series of M. Abramowitz and I. A. Stegun, "Handbook of
 * Mathematical Functions", 26.7.3 (odd ν) and 26.7.4 (even ν).
 */
function centralProbability(angle: number, freedom: number): number {
  const sine = Math.sin(angle);
  const cosine = Math.cos(angle);
  const odd = freedom % 2 === 1;
  let term = odd ? cosine : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let power = odd ? 3 : 2; power <= freedom - 2; power += 2) {
    term *= (cosine * cosine * (power - 1)) / power;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
}

/**
 * x̄ ± t(1 - risk, n - 1) · s / √n, where s is the sample standard deviation (NIST/SEMATECH e-Handbook of Statistical
 * Methods, 1.3.5.2). Undefined for equal values, which would give an interval without width.
 */
export function studentLimits(sample: Tally, risk: number): readonly [low: number, high: number] | undefined {
  const { values, counts, size } = sample;
  if (size < 2 || values.length < 2) return undefined;
  const average = tallyMean(sample);
  let squares = 0;
  for (let index = 0; index < values.length; index++)
    squares += (counts[index] ?? 0) * ((values[index] ?? 0) - average) ** 2;
  const reach = tQuantile(1 - risk, size - 1) * Math.sqrt(squares / (size - 1) / size);
  const [low, high] = [average - reach, average + reach];
  return Number.isFinite(low) && Number.isFinite(high) ? [low, high] : undefined;
}
