/** How a chart is shown: crosshair, zoom, smoothing and scale. Pure. */
import type { Curve } from '../../../base/curve.ts';
import { maxOf, minOf } from '../../../base/many.ts';
import type { Range } from './axis.ts';
import { extentOf, indexAt } from './series.ts';

export interface ChartState {
  /** The x at which values are read. */
  readonly crosshair: number | undefined;
  readonly zoom: Range | undefined;
  /** Index into {@link smoothings}. */
  readonly smoothing: number;
  /** Whether the y axis is logarithmic. */
  readonly log: boolean;
}

/** Weights of the moving average. */
export const smoothings = [0, 0.6, 0.9, 0.97] as const;

export const initialChartState: ChartState = { crosshair: undefined, zoom: undefined, smoothing: 0, log: false };

/** The drawn curves, and the plot's width in cells. */
export interface DrawnPlot {
  readonly curves: readonly Curve[];
  readonly width: number;
  /** The visible x range when not zoomed; by default, the curves' range. */
  readonly range?: Range | undefined;
}

export type ChartAction =
  /** Moves the crosshair to a point this many columns away. */
  | { readonly kind: 'move'; readonly by: number; readonly plot: DrawnPlot }
  /** Moves the crosshair to the point nearest to x. */
  | { readonly kind: 'go'; readonly x: number; readonly plot: DrawnPlot }
  /** Halves or doubles the visible range, around the crosshair, or at the end. */
  | { readonly kind: 'zoom'; readonly factor: number; readonly plot: DrawnPlot }
  | { readonly kind: 'smooth' }
  | { readonly kind: 'scale' }
  | { readonly kind: 'reset' };

/** Minimum number of points in a zoomed range. */
const fewest = 4;

export function chartReducer(state: ChartState, action: ChartAction): ChartState {
  switch (action.kind) {
    case 'move': {
      const extent = extentOf(action.plot.curves);
      if (!extent) return state;
      // The first move in either direction starts at the newest point.
      if (state.crosshair === undefined) return withCrosshair(state, extent.high);
      const { low, high } = state.zoom ?? action.plot.range ?? extent;
      return withCrosshair(
        state,
        columnAway(action.plot.curves, state.crosshair, action.by, { low, high, count: action.plot.width }),
      );
    }
    case 'go': {
      const { curves } = action.plot;
      const near = curves.flatMap(({ xs }) => {
        const after = indexAt(xs, action.x);
        return [xs[after - 1] ?? [], xs[after] ?? []].flat();
      });
      const nearest = near.toSorted((left, right) => Math.abs(left - action.x) - Math.abs(right - action.x))[0];
      return nearest === undefined ? state : withCrosshair(state, nearest);
    }
    case 'zoom': {
      const { factor, plot } = action;
      const { low: first, high: last } = extentOf(plot.curves) ?? { low: 0, high: 0 };
      const { low, high } = state.zoom ?? { low: first, high: last };
      const width = (high - low) * factor;
      if (width >= last - first) return { ...state, zoom: undefined };
      const middle = state.crosshair ?? last;
      const start = Math.max(first, Math.min(last - width, middle - width / 2));
      const zoom = { low: start, high: start + width };
      const inside = plot.curves.map(({ xs }) => indexAt(xs, zoom.high) - indexAt(xs, zoom.low));
      return maxOf(inside) < fewest ? state : { ...state, zoom };
    }
    case 'smooth':
      return { ...state, smoothing: (state.smoothing + 1) % smoothings.length };
    case 'scale':
      return { ...state, log: !state.log };
    case 'reset':
      return { ...initialChartState, smoothing: state.smoothing };
  }
}

function withCrosshair(state: ChartState, crosshair: number): ChartState {
  return crosshair === state.crosshair ? state : { ...state, crosshair, zoom: containing(state.zoom, crosshair) };
}

/** The point nearest to x that is at least `by` columns away; the outermost point if there is none. */
function columnAway(
  curves: readonly Curve[],
  x: number,
  by: number,
  { low, high, count }: Range & { readonly count: number },
): number {
  const width = (high - low) / Math.max(1, count);
  // The last point is in the last column.
  const columnOf = (value: number): number => (width > 0 ? Math.min(count - 1, Math.floor((value - low) / width)) : 0);
  const target = columnOf(x) + by;
  const found = curves.flatMap(({ xs }) => {
    if (by > 0) {
      // Rounding may put the first point of the column into the previous one.
      let index = indexAt(xs, Math.max(x, low + target * width));
      while (index < xs.length && ((xs[index] as number) <= x || columnOf(xs[index] as number) < target)) index += 1;
      return xs[index] ?? [];
    }
    let index = indexAt(xs, Math.min(x, low + (target + 1) * width)) - 1;
    while (index >= 0 && ((xs[index] as number) >= x || columnOf(xs[index] as number) > target)) index -= 1;
    return xs[index] ?? [];
  });
  const ends = curves.flatMap(({ xs }) => (by > 0 ? xs.at(-1) : xs[0]) ?? []);
  if (found.length > 0) return by > 0 ? minOf(found) : maxOf(found);
  return ends.length === 0 ? x : by > 0 ? maxOf(ends, x) : minOf(ends, x);
}

/** Moves the zoomed range so that it contains x. */
function containing(zoom: Range | undefined, x: number): Range | undefined {
  if (!zoom || (x >= zoom.low && x <= zoom.high)) return zoom;
  const width = zoom.high - zoom.low;
  return x < zoom.low ? { low: x, high: x + width } : { low: x - width, high: x };
}
