/** The view of a chart: crosshair, zoom and smoothing. Pure. */
import type { Range } from './axis.ts';

export interface ChartState {
  /** The x at which values are read. */
  readonly crosshair: number | undefined;
  readonly zoom: Range | undefined;
  /** Index into {@link smoothings}. */
  readonly smoothing: number;
}

/** Weights of the moving average. */
export const smoothings = [0, 0.6, 0.9, 0.97] as const;

export const initialChartState: ChartState = { crosshair: undefined, zoom: undefined, smoothing: 0 };

export type ChartAction =
  /** Moves the crosshair by this many points. */
  | { readonly kind: 'move'; readonly by: number; readonly xs: readonly number[] }
  /** Halves or doubles the visible range, around the crosshair, or at the end. */
  | { readonly kind: 'zoom'; readonly factor: number; readonly xs: readonly number[] }
  | { readonly kind: 'smooth' }
  | { readonly kind: 'reset' };

/** Minimum number of points in a zoomed range. */
const fewest = 4;

export function chartReducer(state: ChartState, action: ChartAction): ChartState {
  switch (action.kind) {
    case 'move': {
      const { xs, by } = action;
      if (xs.length === 0) return state;
      // The first move starts at the newest point, in either direction.
      const at = state.crosshair === undefined ? xs.length - 1 : nearestIndex(xs, state.crosshair) + by;
      const crosshair = xs[Math.max(0, Math.min(xs.length - 1, at))];
      return crosshair === state.crosshair ? state : { ...state, crosshair, zoom: containing(state.zoom, crosshair) };
    }
    case 'zoom': {
      const { xs, factor } = action;
      const first = xs[0] ?? 0;
      const last = xs.at(-1) ?? 0;
      const { low, high } = state.zoom ?? { low: first, high: last };
      const width = (high - low) * factor;
      if (width >= last - first) return { ...state, zoom: undefined };
      const middle = state.crosshair ?? last;
      const start = Math.max(first, Math.min(last - width, middle - width / 2));
      const zoom = { low: start, high: start + width };
      const inside = xs.filter(x => x >= zoom.low && x <= zoom.high).length;
      return inside < fewest ? state : { ...state, zoom };
    }
    case 'smooth':
      return { ...state, smoothing: (state.smoothing + 1) % smoothings.length };
    case 'reset':
      return { ...initialChartState, smoothing: state.smoothing };
  }
}

/** Moves the zoomed range so that it contains x. */
function containing(zoom: Range | undefined, x: number | undefined): Range | undefined {
  if (!zoom || x === undefined || (x >= zoom.low && x <= zoom.high)) return zoom;
  const width = zoom.high - zoom.low;
  return x < zoom.low ? { low: x, high: x + width } : { low: x - width, high: x };
}

function nearestIndex(xs: readonly number[], x: number): number {
  let best = 0;
  for (let index = 1; index < xs.length; index += 1) {
    if (Math.abs((xs[index] ?? 0) - x) < Math.abs((xs[best] ?? 0) - x)) best = index;
  }
  return best;
}
