/** Series of points, and their transformations before drawing. Pure. */
import type { Range } from './axis.ts';

/** A point of a curve. Without a value it is a gap, which no line crosses. */
export interface ChartPoint {
  readonly x: number;
  readonly y: number | undefined;
}

export interface ValuedPoint extends ChartPoint {
  readonly y: number;
}

export const hasValue = (point: ChartPoint): point is ValuedPoint => point.y !== undefined;

export interface ChartSeries {
  readonly name: string;
  /** In order of x. */
  readonly points: readonly ChartPoint[];
}

/**
 * Exponential moving average without the bias of its start (as in TensorBoard). `weight` is from 0, which changes
 * nothing, to below 1. A gap stays a gap, and the average continues after it.
 */
export function smooth(points: readonly ChartPoint[], weight: number): ChartPoint[] {
  let mean = 0;
  let share = 0;
  return points.map(({ x, y }) => {
    if (y === undefined) return { x, y };
    mean = mean * weight + y * (1 - weight);
    share = share * weight + (1 - weight);
    return { x, y: mean / share };
  });
}

/** The point of each series nearest to x: one with a value, unless there is a gap at x itself. */
export function readingAt(series: readonly ChartSeries[], x: number): readonly (ChartPoint | undefined)[] {
  return series.map(({ points }) => {
    let low = 0;
    let high = points.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((points[middle]?.x ?? 0) < x) low = middle + 1;
      else high = middle;
    }
    if (points[low]?.x === x) return points[low];
    const after = valued(points, low, 1);
    const before = valued(points, low - 1, -1);
    return before && (!after || x - before.x <= after.x - x) ? before : after;
  });
}

/** The first point with a value, starting at an index, in steps of `by`. */
function valued(points: readonly ChartPoint[], from: number, by: 1 | -1): ChartPoint | undefined {
  for (let index = from; index >= 0 && index < points.length; index += by) {
    const point = points[index];
    if (point && hasValue(point)) return point;
  }
  return undefined;
}

/** The difference of two numbers up to this size is finite. */
const largest = Number.MAX_VALUE / 4;

/** The points within the zoomed range. A value that cannot be drawn is a gap. */
export function visiblePoints(points: readonly ChartPoint[], zoom: Range | undefined): ChartPoint[] {
  const inside = points.filter(({ x }) => Math.abs(x) <= largest && (!zoom || (x >= zoom.low && x <= zoom.high)));
  return inside.map(point =>
    point.y === undefined || Math.abs(point.y) <= largest ? point : { x: point.x, y: undefined },
  );
}

/** The parts of a curve between its gaps. */
export function unbroken(points: readonly ChartPoint[]): ValuedPoint[][] {
  const parts: ValuedPoint[][] = [[]];
  for (const point of points) {
    if (hasValue(point)) parts.at(-1)?.push(point);
    else if (parts.at(-1)?.length !== 0) parts.push([]);
  }
  return parts.filter(part => part.length > 0);
}

export function rangeOf(values: Iterable<number>): Range | undefined {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? undefined : { low, high };
}

/**
 * Averages the points in every `width` of x; bins begin at multiples of `width`, so that a growing curve keeps its
 * shape. A bin whose points have no value is a gap.
 */
export function binned(points: readonly ChartPoint[], width: number): ChartPoint[] {
  const means: ChartPoint[] = [];
  let [bin, count, sumX, sumY, gap] = [Number.NaN, 0, 0, 0, undefined as number | undefined];
  const flush = (): void => {
    if (count > 0) means.push({ x: sumX / count, y: sumY / count });
    else if (gap !== undefined) means.push({ x: gap, y: undefined });
    [count, sumX, sumY, gap] = [0, 0, 0, undefined];
  };
  for (const { x, y } of points) {
    const own = Math.floor(x / width);
    if (own !== bin) flush();
    bin = own;
    gap ??= x;
    if (y === undefined) continue;
    count += 1;
    sumX += x;
    sumY += y;
  }
  flush();
  return means;
}
