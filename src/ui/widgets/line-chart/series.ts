/** Curves in typed arrays: a million points take 16 MB and are drawn in milliseconds. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { lastAt } from '../../../base/binary-search.ts';
import type { Curve } from '../../../base/curve.ts';
import { maxOf, minOf } from '../../../base/many.ts';
import { perObject } from '../../../base/memo.ts';
import type { Range } from './axis.ts';

export interface ChartSeries {
  readonly name: string;
  /** The run's name, if the chart has several runs. */
  readonly of?: string | undefined;
  readonly curve: Curve;
  /** Whether it is drawn faint, behind the others. */
  readonly isFaint?: boolean | undefined;
  /** The values before smoothing, drawn faint behind the curve. */
  readonly raw?: Curve | undefined;
  /** Confidence limits, drawn faint around the curve. */
  readonly band?: { readonly low: Curve; readonly high: Curve } | undefined;
}

/** A curve's value at a point; undefined in a gap. */
export interface Reading {
  readonly x: number;
  readonly y: number | undefined;
}

/**
 * Exponential moving average without its initial bias (as in TensorBoard). `weight` is at least 0, which changes
 * nothing, and below 1. A gap stays a gap, and the average continues after it.
 */
export function smooth({ xs, ys }: Curve, weight: number): Curve {
  let mean = 0;
  let share = 0;
  const smoothed = ys.map(y => {
    if (Number.isNaN(y)) return y;
    mean = mean * weight + y * (1 - weight);
    share = share * weight + (1 - weight);
    return mean / share;
  });
  return { xs, ys: smoothed };
}

/** The number of points without a value. */
export const gapsIn = perObject(({ ys }: Curve): number => {
  let gaps = 0;
  for (let index = 0; index < ys.length; index += 1) if (Number.isNaN(ys[index])) gaps += 1;
  return gaps;
});

/** Caches the last result for each curve: most keys leave a curve of a million points unchanged. */
function lastResult<Args extends readonly unknown[], Result>(
  make: (curve: Curve, ...args: Args) => Result,
): (curve: Curve, ...args: Args) => Result {
  const lastOf = perObject((_: Curve): { args?: Args; result?: Result } => ({}));
  return (curve, ...args) => {
    const last = lastOf(curve);
    const isSame = last.args?.every((arg, index) => isDeepStrictEqual(arg, args[index])) ?? false;
    if (!isSame) Object.assign(last, { args, result: make(curve, ...args) });
    return last.result as Result;
  };
}

/** Smaller values are gaps on a logarithmic scale: a range around them cannot be widened. */
export const minPositive = 1e-300;

/** Which part of a curve to draw. */
interface Shown extends Range {
  /** Whether the scale is logarithmic, so that values up to 0 are gaps. */
  readonly positive: boolean;
}

/** The indices of the points with x from `low` to `high`; `to` is exclusive. */
function indicesIn(xs: Float64Array, { low, high }: Range): readonly [from: number, to: number] {
  let to = indexAt(xs, high);
  while (xs[to] === high) to += 1;
  return [indexAt(xs, low), to];
}

/** A curve's points with x from `low` to `high`. */
export function visible({ xs, ys }: Curve, { positive, ...range }: Shown): Curve {
  const [from, to] = indicesIn(xs, range);
  const shown = ys.subarray(from, to);
  return { xs: xs.subarray(from, to), ys: positive ? shown.map(y => (y >= minPositive ? y : Number.NaN)) : shown };
}

/** Summarises part of a curve. If it has no values, `low` is above `high`. */
interface Summary extends Range {
  readonly sum: number;
  readonly count: number;
}

/** Summarises the values of at least `least` between two indices. */
function scan(ys: Float64Array, from: number, to: number, least = Number.NEGATIVE_INFINITY): Summary {
  let [low, high, sum, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
  for (let index = from; index < to; index += 1) {
    const y = ys[index] as number;
    // A gap is NaN, and every comparison with NaN is false.
    if (!(y >= least)) continue;
    if (y < low) low = y;
    if (y > high) high = y;
    sum += y;
    count += 1;
  }
  return { low, high, sum, count };
}

const blockSize = 128;

/** Summaries of equal blocks of points, made once per curve: a zoom then scans only the ends of its columns. */
const blocksOf = perObject(({ ys }: Curve): readonly Summary[] =>
  Array.from({ length: Math.floor(ys.length / blockSize) }, (_, block) =>
    scan(ys, block * blockSize, (block + 1) * blockSize),
  ),
);

/** Summarises the points between two indices. @param positive leaves out values up to 0 */
function summaryOf(curve: Curve, from: number, to: number, positive: boolean): Summary {
  if (positive) return scan(curve.ys, from, to, minPositive);
  const [first, last] = [Math.ceil(from / blockSize), Math.floor(to / blockSize)];
  if (first >= last) return scan(curve.ys, from, to);
  const blocks = blocksOf(curve);
  let all = scan(curve.ys, from, first * blockSize);
  const add = ({ low, high, sum, count }: Summary): void => {
    all = {
      low: Math.min(all.low, low),
      high: Math.max(all.high, high),
      sum: all.sum + sum,
      count: all.count + count,
    };
  };
  for (let block = first; block < last; block += 1) add(blocks[block] as Summary);
  add(scan(curve.ys, last * blockSize, to));
  return all;
}

/** The least and the greatest value; undefined if there are none. */
export const valueRange = lastResult((curve, { positive, ...range }: Shown): Range | undefined => {
  const { low, high, count } = summaryOf(curve, ...indicesIn(curve.xs, range), positive);
  return count === 0 ? undefined : { low, high };
});

/** The index of the first x that is at least `x`; the length if there is none. */
export function indexAt(xs: Float64Array, x: number): number {
  let [low, high] = [0, xs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((xs[middle] ?? 0) < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The point nearest to x: one with a value, unless there is a gap at x itself. */
export function readingAt({ xs, ys }: Curve, x: number): Reading | undefined {
  const at = indexAt(xs, x);
  if (xs[at] === x) return { x, y: valueAt(ys, at) };
  let [before, after] = [at - 1, at];
  while (before >= 0 && Number.isNaN(ys[before])) before -= 1;
  while (after < ys.length && Number.isNaN(ys[after])) after += 1;
  const [left, right] = [xs[before], xs[after]];
  if (left === undefined && right === undefined) return undefined;
  const isLeft = left !== undefined && (right === undefined || x - left <= right - x);
  return isLeft ? { x: left, y: ys[before] } : { x: right as number, y: ys[after] };
}

function valueAt(ys: Float64Array, index: number): number | undefined {
  const y = ys[index];
  return y === undefined || Number.isNaN(y) ? undefined : y;
}

/** The x range of some curves; undefined if they have no points. */
export function extentOf(curves: readonly Curve[]): Range | undefined {
  const ends = curves.flatMap(({ xs }) => (xs.length === 0 ? [] : [xs[0] ?? 0, xs.at(-1) ?? 0]));
  return ends.length === 0 ? undefined : { low: minOf(ends), high: maxOf(ends) };
}

/** Points in equally wide columns: the least, greatest and mean value of each; NaN for a column without values. */
export interface Columns {
  readonly lows: Float64Array;
  readonly highs: Float64Array;
  readonly means: Float64Array;
  /** 1 for columns that have points; if those have no value, the column is a gap. */
  readonly read: Uint8Array;
}

/**
 * Summarises a curve in `count` columns between `low` and `high`. Each keeps its least and greatest value, so that no
 * peak is lost (U. Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014).
 */
export const columnsOf = lastResult((curve, { low, high, positive }: Shown, count: number): Columns => {
  const { xs } = curve;
  const lows = new Float64Array(count).fill(Number.NaN);
  const highs = new Float64Array(count).fill(Number.NaN);
  const means = new Float64Array(count).fill(Number.NaN);
  const read = new Uint8Array(count);
  const scale = (count - 1) / (high - low || 1);
  const columnAt = (index: number): number => Math.round(((xs[index] as number) - low) * scale);
  const [first, end] = indicesIn(xs, { low, high });
  let index = first;
  while (index < end) {
    const column = columnAt(index);
    const next = index + 1 + lastAt(end - index - 1, at => columnAt(index + 1 + at), column) + 1;
    const { sum, count: valued, ...range } = summaryOf(curve, index, next, positive);
    read[column] = 1;
    if (valued > 0) [lows[column], highs[column], means[column]] = [range.low, range.high, sum / valued];
    index = next;
  }
  return { lows, highs, means, read };
});
