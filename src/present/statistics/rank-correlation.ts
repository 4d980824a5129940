/** Spearman's rank correlation with a 95% interval, over independent pairs or within groups of them. */

import { shuffled } from '../../base/prng.ts';
import { mean } from '../../base/statistics.ts';
import { lowerLimit } from './bounded-mean.ts';
import { tallyOf } from './tally.ts';

type Pair = readonly [number, number];

export interface Correlation {
  readonly value: number;
  /** 95%. */
  readonly interval: { readonly low: number; readonly high: number };
  /** The number of pairs, without those of groups where a value does not vary. */
  readonly pairs: number;
}

/** The normal quantile for a 95% interval, and the risk at each of its ends. */
export const z95 = 1.959964;
const risk = 0.025;

/** Ranks from 1; equal values share the mean of their ranks. */
function ranksOf(values: readonly number[]): number[] {
  const order = values.map((value, index) => ({ value, index })).sort((left, right) => left.value - right.value);
  const ranks = new Array<number>(values.length).fill(0);
  let from = 0;
  while (from < order.length) {
    let to = from;
    while (order[to + 1]?.value === order[from]?.value) to += 1;
    for (const { index } of order.slice(from, to + 1)) ranks[index] = (from + to) / 2 + 1;
    from = to + 1;
  }
  return ranks;
}

/** Undefined if a value does not vary. */
function spearman(pairs: readonly Pair[]): number | undefined {
  const [xs, ys] = [ranksOf(pairs.map(([x]) => x)), ranksOf(pairs.map(([, y]) => y))];
  const middle = (pairs.length + 1) / 2;
  const product = (one: readonly number[], other: readonly number[]): number =>
    one.reduce((sum, rank, index) => sum + (rank - middle) * ((other[index] ?? 0) - middle), 0);
  const scale = Math.sqrt(product(xs, xs) * product(ys, ys));
  return scale === 0 ? undefined : Math.max(-1, Math.min(1, product(xs, ys) / scale));
}

/** Fisher's transformation, finite at correlations of 1 and -1. */
const fisher = (value: number): number => Math.atanh(value * (1 - 1e-9));

/** How many parts to leave out, one at a time, for the standard error. */
const parts = 20;

/**
 * The standard error of the transformed correlation: for normal pairs (D. G. Bonett and T. A. Wright, "Sample size
 * requirements for estimating Pearson, Kendall and Spearman correlations", Psychometrika 65, 2000), or the jackknife's,
 * if it is larger. Its parts are random, whatever the order of the pairs: equal parts would hide the variation.
 */
function errorOf(pairs: readonly Pair[], value: number): number {
  const count = Math.min(parts, pairs.length);
  const sorted = pairs.toSorted((one, other) => one[0] - other[0] || one[1] - other[1]);
  const order = shuffled(sorted, pairs.length);
  const without = Array.from({ length: count }, (_, part) =>
    fisher(spearman(order.filter((_pair, index) => index % count !== part)) ?? value),
  );
  const middle = mean(without) ?? 0;
  const jackknife = without.reduce((sum, each) => sum + (each - middle) ** 2, 0) * (1 - 1 / count);
  return Math.sqrt(Math.max(jackknife, (1 + value ** 2 / 2) / (pairs.length - 3)));
}

/** A correlation this strong may be 1. */
const strong = 0.7;

/**
 * The lower limit for independent pairs. The standard error is too small for a few pairs and near a correlation of 1, so
 * exceptions that the pairs may well lack count too: as many as a sample of this size lacks with probability `risk`, all
 * of the worst kind. A strong negative correlation may be -1 for the same reason.
 */
function lowOf(pairs: readonly Pair[], value: number, error: number, among: number): number {
  if (value < -strong) return -1;
  const lacking = Math.ceil(pairs.length * (risk ** (-1 / among) - 1));
  const worst: Pair = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const least = spearman([...pairs, ...new Array<Pair>(lacking).fill(worst)]) ?? -1;
  return Math.min(least, Math.tanh(fisher(value) - z95 * error));
}

const fewestPairs = 5;

/**
 * The correlation of independent pairs; undefined if there are fewer than five, or if a value does not vary.
 *
 * @param among the size of the sample, if these are a part of it
 */
export function rankCorrelation(pairs: readonly Pair[], among = pairs.length): Correlation | undefined {
  const value = pairs.length < fewestPairs ? undefined : spearman(pairs);
  if (value === undefined) return undefined;
  const error = errorOf(pairs, value);
  const mirrored = pairs.map(([x, y]): Pair => [x, -y]);
  const interval = { low: lowOf(pairs, value, error, among), high: -lowOf(mirrored, -value, error, among) };
  return { value, interval, pairs: pairs.length };
}

/** Of fewer groups than this, the pairs count as the independent values; of more, the groups. */
const fewGroups = 20;

/**
 * The 95% interval of the mean of few groups: from their own intervals (G. Y. Zou and A. Donner, "Construction of
 * confidence limits about effect measures", Statistics in Medicine 27, 2008), or from their variance, if that is wider.
 */
function intervalOfFew(each: readonly { readonly value: number; readonly group: readonly Pair[] }[], pairs: number) {
  const middle = mean(each.map(({ value }) => value)) ?? 0;
  const distances = each.map(({ value, group }) => {
    const { low, high } = rankCorrelation(group, pairs)?.interval ?? { low: -1, high: 1 };
    return { below: value - low, above: high - value };
  });
  const norm = (values: readonly number[]): number => Math.sqrt(values.reduce((sum, each) => sum + each ** 2, 0));
  const spread = (z95 * norm(each.map(({ value }) => value - middle))) / Math.sqrt(1 - 1 / each.length);
  const below = Math.max(spread, norm(distances.map(own => own.below))) / each.length;
  const above = Math.max(spread, norm(distances.map(own => own.above))) / each.length;
  return { low: Math.max(-1, middle - below), high: Math.min(1, middle + above) };
}

/**
 * The mean of the groups' rank correlations, so that differences between groups do not count. Its interval is Gaffke's
 * bound, as for means of rewards, because each is an independent value between -1 and 1; for few groups of several pairs
 * it is that of these groups alone. Undefined if there is no group in which both values vary.
 */
export function groupedCorrelation(groups: readonly (readonly Pair[])[]): Correlation | undefined {
  const each = groups.flatMap(group => {
    const value = spearman(group);
    return value === undefined ? [] : [{ value, group }];
  });
  const [first, second] = each;
  if (!second) return first && rankCorrelation(first.group);
  const values = each.map(({ value }) => value);
  const pairs = each.reduce((sum, { group }) => sum + group.length, 0);
  const isFew = each.length < fewGroups && pairs >= fewestPairs * each.length;
  const [below, above] = [values, values.map(value => -value)].map(some => lowerLimit(tallyOf(some), -1, risk));
  const interval = isFew ? intervalOfFew(each, pairs) : { low: below ?? -1, high: -(above ?? -1) };
  return { value: mean(values) ?? 0, interval, pairs };
}
