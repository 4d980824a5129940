/** Statistics for display. They leave out values that are not finite numbers: show `n of total` next to them. */
import { multipleOf, roundStep } from './scale.ts';

export interface Summary {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly minimum: number;
  readonly maximum: number;
}

/** An ascending copy without the values that are not finite. */
function ordered(values: Iterable<number>): Float64Array {
  return Float64Array.from([...values].filter(Number.isFinite)).sort();
}

/** The arithmetic mean; undefined if there are no values. */
export function mean(values: readonly number[]): number | undefined {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return undefined;
  const sum = finite.reduce((total, value) => total + value, 0);
  // The sum of finite values may overflow; their mean cannot.
  if (!Number.isFinite(sum)) return finite.reduce((total, value) => total + value / finite.length, 0);
  return sum / finite.length;
}

/** The rounding error in a sum of hundreds of values, relative to the largest. */
const roundingShare = 1e-13;

/**
 * 0 if a difference between means of `values` is within the rounding error: (.1 + .2 + .3) / 3 is not (.3 + .2 + .1) /
 * 3.
 */
export function withoutRounding(difference: number, values: readonly number[]): number {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return Math.abs(difference) <= largest * roundingShare ? 0 : difference;
}

/** The mean of `after` minus that of `before`; undefined if either has no values. */
export function meanDifference(before: readonly number[], after: readonly number[]): number | undefined {
  const [one, other] = [mean(before), mean(after)];
  return one === undefined || other === undefined ? undefined : withoutRounding(other - one, [...before, ...after]);
}

/**
 * The quantile of `share` (0 to 1) by linear interpolation between order statistics at h = (n - 1)p: definition 7 of R.
 * J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996), the default
 * of R and NumPy. Undefined if there are no values.
 */
function quantileOf(sorted: Float64Array, share: number): number | undefined {
  const position = (sorted.length - 1) * share;
  const lower = sorted[Math.floor(position)];
  const upper = sorted[Math.ceil(position)];
  if (lower === undefined || upper === undefined) return undefined;
  return lower + (upper - lower) * (position - Math.floor(position));
}

/** Count, mean, median, 95th percentile and range; undefined if there are no values. */
export function summarise(values: readonly number[]): Summary | undefined {
  const sorted = ordered(values);
  const average = mean(values);
  const minimum = sorted[0];
  const maximum = sorted.at(-1);
  const p50 = quantileOf(sorted, 0.5);
  const p95 = quantileOf(sorted, 0.95);
  if (average === undefined || minimum === undefined || maximum === undefined) return undefined;
  if (p50 === undefined || p95 === undefined) return undefined;
  return { count: sorted.length, mean: average, p50, p95, minimum, maximum };
}

export interface Bin {
  readonly low: number;
  /** Exclusive, except in the last bin and in a bin of width 0. */
  readonly high: number;
  readonly count: number;
}

/** If there are only a few distinct values, such as 0 and 1, one bin for each is easier to read. */
const fewValues = 4;

/**
 * At most `most` (2 or more) bins of equal width with round bounds; one bin of width 0 per value if there are few
 * distinct values. Every finite value is in exactly one bin. Empty if there are no values.
 */
export function histogram(values: readonly number[], most: number): Bin[] {
  const sorted = ordered(values);
  const [low] = sorted;
  if (low === undefined) return [];
  const high = sorted.at(-1) ?? low;
  // 0 is a multiple of every step, so values above and below it never share a bin.
  const allowed = Math.max(2, most);
  const different = new Set(sorted);
  if (different.size <= Math.min(fewValues, allowed)) {
    return [...different].map(value => ({
      low: value,
      high: value,
      count: sorted.filter(each => each === value).length,
    }));
  }
  let step = roundStep((high - low) / allowed);
  // Round bounds may need one more bin than the span itself would.
  while (binsBetween(low, high, step).count > allowed) step = roundStep(step * 1.5);
  const { first, count } = binsBetween(low, high, step);
  const edges = Array.from({ length: count + 1 }, (_, index) => multipleOf(step, first + index));
  const counts = new Array<number>(count).fill(0);
  let bin = 0;
  for (const value of sorted) {
    while (bin < count - 1 && value >= (edges[bin + 1] ?? Number.POSITIVE_INFINITY)) bin += 1;
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((each, index) => ({ low: edges[index] ?? low, high: edges[index + 1] ?? high, count: each }));
}

/** Each bin's value, or its bounds with a round bracket at the excluded one: `[0.1, 0.2)`. */
export const binLabels = (bins: readonly Bin[], words: (bound: number) => string): readonly string[] =>
  bins.map(({ low, high }, index) =>
    low === high ? words(low) : `[${words(low)}, ${words(high)}${index === bins.length - 1 ? ']' : ')'}`,
  );

/** The bins of width `step` that cover `low` to `high`: the index of the first one, and their number. */
function binsBetween(low: number, high: number, step: number): { readonly first: number; readonly count: number } {
  // A bound counts as a multiple of the step if only rounding errors separate them.
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return { first, count: Math.max(1, last - first) };
}
