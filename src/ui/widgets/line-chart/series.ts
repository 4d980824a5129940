/** Series of points, and their transformations before drawing. Pure. */
import type { Range } from './axis.ts';

export interface ChartPoint {
  readonly x: number;
  readonly y: number;
}

export interface ChartSeries {
  readonly name: string;
  /** In order of x. */
  readonly points: readonly ChartPoint[];
}

/**
 * Exponential moving average without the bias of its start (as in TensorBoard). `weight` is from 0, which changes
 * nothing, to below 1.
 */
export function smooth(points: readonly ChartPoint[], weight: number): ChartPoint[] {
  let mean = 0;
  let share = 0;
  return points.map(({ x, y }) => {
    mean = mean * weight + y * (1 - weight);
    share = share * weight + (1 - weight);
    return { x, y: mean / share };
  });
}

/** The point of each series nearest to x. */
export function readingAt(series: readonly ChartSeries[], x: number): readonly (ChartPoint | undefined)[] {
  return series.map(({ points }) => {
    let low = 0;
    let high = points.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((points[middle]?.x ?? 0) < x) low = middle + 1;
      else high = middle;
    }
    const after = points[low];
    const before = points[low - 1];
    return before && after && x - before.x <= after.x - x ? before : after;
  });
}

/** The difference of two numbers up to this size is finite. */
const largest = Number.MAX_VALUE / 4;

/** The points that can be drawn: finite numbers within the zoomed range. */
export function visiblePoints(points: readonly ChartPoint[], zoom: Range | undefined): ChartPoint[] {
  return points.filter(
    ({ x, y }) => Math.abs(x) <= largest && Math.abs(y) <= largest && (!zoom || (x >= zoom.low && x <= zoom.high)),
  );
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
 * shape.
 */
export function binned(points: readonly ChartPoint[], width: number): ChartPoint[] {
  const means: ChartPoint[] = [];
  let [bin, count, sumX, sumY] = [Number.NaN, 0, 0, 0];
  const flush = (): void => {
    if (count > 0) means.push({ x: sumX / count, y: sumY / count });
    [count, sumX, sumY] = [0, 0, 0];
  };
  for (const { x, y } of points) {
    const own = Math.floor(x / width);
    if (own !== bin) flush();
    bin = own;
    count += 1;
    sumX += x;
    sumY += y;
  }
  flush();
  return means;
}
