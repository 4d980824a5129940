/** Curves in typed arrays: a million points take 16 MB and are drawn in milliseconds. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { perObject } from '../../../base/memo.ts';
import type { Range } from './axis.ts';

/** A curve in order of x. A NaN y is a gap, which no line crosses. */
export interface Curve {
  readonly xs: Float64Array;
  readonly ys: Float64Array;
}

export interface ChartSeries {
  readonly name: string;
  /** Its name, if several are in one chart. */
  readonly of?: string | undefined;
  readonly curve: Curve;
  /** The values before smoothing, drawn faint behind the curve. */
  readonly raw?: Curve | undefined;
  /** Limits of the uncertainty, drawn faint around the curve. */
  readonly band?: { readonly low: Curve; readonly high: Curve } | undefined;
}

/** The value of a curve at a point; undefined in a gap. */
export interface Reading {
  readonly x: number;
  readonly y: number | undefined;
}

/** The difference of two numbers up to this size stays finite. */
const largest = Number.MAX_VALUE / 4;

const isDrawable = (value: number | null | undefined): value is number => value != null && Math.abs(value) <= largest;

/** The curve of rows in any order. A missing or infinite y is a gap; rows without a usable x are left out. */
export function curveOf<Row>(
  rows: readonly Row[],
  xOf: (row: Row) => number | undefined,
  yOf: (row: Row) => number | null | undefined,
): Curve {
  const usable = rows.every(row => isDrawable(xOf(row))) ? rows : rows.filter(row => isDrawable(xOf(row)));
  const x = (row: Row): number => xOf(row) ?? 0;
  const isSorted = usable.every((row, index) => index === 0 || x(usable[index - 1] as Row) <= x(row));
  const sorted = isSorted ? usable : usable.toSorted((left, right) => x(left) - x(right));
  const curve = { xs: new Float64Array(sorted.length), ys: new Float64Array(sorted.length) };
  for (const [index, row] of sorted.entries()) {
    const y = yOf(row);
    curve.xs[index] = x(row);
    curve.ys[index] = isDrawable(y) ? y : Number.NaN;
  }
  return curve;
}

/** The curve of columns in order of x, in which NaN is a gap. It shares their memory. */
export function curveOfColumns(xs: Float64Array, ys: Float64Array): Curve {
  if (xs.every(isDrawable) && ys.every(y => Number.isNaN(y) || isDrawable(y))) return { xs, ys };
  return curveOf(
    Array.from(xs.keys()),
    index => xs[index],
    index => ys[index],
  );
}

/**
 * Exponential moving average without the bias of its start (as in TensorBoard). `weight` ranges from 0, which changes
 * nothing, to below 1. A gap stays a gap, and the average continues after it.
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
  for (const y of ys) if (Number.isNaN(y)) gaps += 1;
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

/** On a logarithmic scale, smaller values have no room around them. */
export const leastPositive = 1e-300;

/** The part of a curve to draw. */
export interface Shown extends Range {
  /** On a logarithmic scale, values up to 0 are gaps. */
  readonly positive: boolean;
}

/** The points of a curve from x `low` to `high`. */
export function visible({ xs, ys }: Curve, { low, high, positive }: Shown): Curve {
  const from = indexAt(xs, low);
  let to = indexAt(xs, high);
  while (xs[to] === high) to += 1;
  const shown = ys.subarray(from, to);
  return { xs: xs.subarray(from, to), ys: positive ? shown.map(y => (y >= leastPositive ? y : Number.NaN)) : shown };
}

/** The least and the greatest value; undefined without values. */
export const valueRange = lastResult((curve, shown: Shown): Range | undefined => {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const y of visible(curve, shown).ys) {
    if (y < low) low = y;
    if (y > high) high = y;
  }
  return low > high ? undefined : { low, high };
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

/** The range of x of some curves; undefined without points. */
export function extentOf(curves: readonly Curve[]): Range | undefined {
  const ends = curves.flatMap(({ xs }) => (xs.length === 0 ? [] : [xs[0] ?? 0, xs.at(-1) ?? 0]));
  return ends.length === 0 ? undefined : { low: Math.min(...ends), high: Math.max(...ends) };
}

/** Points in equal columns of x: the least, greatest and mean value of each; NaN for a column without values. */
export interface Columns {
  readonly lows: Float64Array;
  readonly highs: Float64Array;
  readonly means: Float64Array;
  /** 1 for columns with points: without a value, these are gaps. */
  readonly read: Uint8Array;
}

/**
 * Sums up a curve in `count` columns between two x. Each keeps its least and greatest value, so that no peak is lost
 * (U. Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014).
 */
export const columnsOf = lastResult((curve, { low, high, positive }: Shown, count: number): Columns => {
  const { xs, ys } = curve;
  const lows = new Float64Array(count).fill(Number.NaN);
  const highs = new Float64Array(count).fill(Number.NaN);
  const means = new Float64Array(count).fill(Number.NaN);
  const read = new Uint8Array(count);
  const scale = (count - 1) / (high - low || 1);
  let [column, sum, valued] = [-1, 0, 0];
  const flush = (): void => {
    if (valued > 0) means[column] = sum / valued;
    [sum, valued] = [0, 0];
  };
  for (let index = indexAt(xs, low); index < xs.length; index += 1) {
    const x = xs[index] as number;
    if (x > high) break;
    const own = Math.round((x - low) * scale);
    if (own !== column) {
      flush();
      column = own;
      read[own] = 1;
    }
    const y = ys[index] as number;
    if (Number.isNaN(y) || (positive && y < leastPositive)) continue;
    sum += y;
    valued += 1;
    if (!(y >= (lows[own] as number))) lows[own] = y;
    if (!(y <= (highs[own] as number))) highs[own] = y;
  }
  flush();
  return { lows, highs, means, read };
});
