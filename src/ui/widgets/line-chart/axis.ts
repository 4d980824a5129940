/** Axes with round, evenly spaced ticks, each at the exact cell of its value. Pure. */
import { decimalsOf, multipleOf, roundStep } from '../../../base/scale.ts';
import { dotsAcross, dotsDown } from './plot.ts';

export interface Range {
  readonly low: number;
  readonly high: number;
}

export interface Tick {
  /** Row from the top, or column from the left. */
  readonly cell: number;
  readonly label: string;
}

export interface Axis {
  /** The dot of a value, from the top or from the left; within the plot for every value in range. */
  readonly dotOf: (value: number) => number;
  readonly ticks: readonly Tick[];
}

/** Tolerance for values that should be whole numbers. */
const tolerance = 1e-9;
/** Distance in rows from the middle of a row to its outermost dot. */
const reach = (dotsDown - 1) / 2 / dotsDown;
/** Tick distances to try in rows, and the preferred one. */
const tickDistances = [1, 2, 3, 4, 5, 6, 8, 10];
const pleasantDistance = (height: number): number => Math.max(3, Math.round(height / 8));
const quarters = { quarters: true };

/** The label of a tick, with the same number of decimals on all. */
function labelOf(value: number, step: number): string {
  const decimals = decimalsOf(step);
  if (decimals > 6 || Math.abs(value) >= 1e7) return value.toPrecision(3);
  return value.toFixed(decimals);
}

/** The whole numbers between two bounds, at most one more than `most`. */
function multiplesIn(low: number, high: number, most: number): number[] {
  const first = Math.ceil(low - tolerance);
  const last = Math.floor(high + tolerance);
  return Array.from({ length: Math.max(0, Math.min(most, last - first) + 1) }, (_, index) => first + index);
}

/** A mapping of values to rows: a tick every `distance` rows, `step` apart. */
interface Rows {
  readonly step: number;
  readonly distance: number;
  /** The rows of the lowest and the highest value, counted upwards from 0. */
  readonly bottom: number;
  readonly top: number;
}

function rowsFor({ low, high }: Range, step: number, distance: number): Rows {
  const perRow = step / distance;
  return { step, distance, bottom: Math.floor(low / perRow + reach), top: Math.ceil(high / perRow - reach) };
}

/** How much height is lost, and how far the tick distance is from the preferred one. */
function costOf({ bottom, top, distance }: Rows, height: number): number {
  const ticks = Math.floor(top / distance) - Math.ceil(bottom / distance) + 1;
  const few = ticks < 2 ? 1 : 0;
  return few + 1 - (top - bottom + 1) / height + Math.abs(distance - pleasantDistance(height)) * 0.05;
}

/** The rows of a non-empty range. */
export function verticalAxis(range: Range, height: number): Axis {
  let best: Rows | undefined;
  for (const distance of tickDistances) {
    let step = roundStep(((range.high - range.low) / Math.max(1, height)) * distance, quarters);
    let rows = rowsFor(range, step, distance);
    while (rows.top - rows.bottom >= height) {
      step = roundStep(step * 1.1, quarters);
      rows = rowsFor(range, step, distance);
    }
    if (!best || costOf(rows, height) < costOf(best, height)) best = rows;
  }
  const { step, distance, bottom, top } = best ?? rowsFor(range, roundStep(range.high - range.low), 1);
  // Remaining rows are above the highest value.
  const highest = bottom + height - 1;
  const ticks = multiplesIn(bottom / distance, top / distance, height).map(index => ({
    cell: highest - index * distance,
    label: labelOf(multipleOf(step, index), step),
  }));
  const dotOf = (value: number): number => {
    const dot = Math.round((highest - (value / step) * distance) * dotsDown + (dotsDown - 1) / 2);
    return Math.max(0, Math.min(height * dotsDown - 1, dot));
  };
  return { dotOf, ticks };
}

/** The columns of a non-empty range, with as many ticks as have room for their labels. */
export function horizontalAxis({ low, high }: Range, width: number, whole: boolean): Axis {
  const dots = width * dotsAcross - 1;
  const dotOf = (value: number): number =>
    Math.max(0, Math.min(dots, Math.round(((value - low) / (high - low)) * dots)));
  let step = roundStep(Math.max(whole ? 1 : 0, (high - low) / Math.max(1, width)));
  for (;;) {
    const ticks = multiplesIn(low / step, high / step, width).map(index => {
      const value = multipleOf(step, index);
      return { cell: Math.floor(dotOf(value) / dotsAcross), label: labelOf(value, step) };
    });
    const longest = Math.max(0, ...ticks.map(({ label }) => label.length));
    const distance = (step / (high - low)) * width;
    if (ticks.length < 2 || distance >= longest + 3) return { dotOf, ticks };
    step = roundStep(step * 1.5);
  }
}

/** Labels below the plot, centred on their columns without overlap. */
export function tickLine(ticks: readonly Tick[], width: number): string {
  let line = '';
  for (const { cell, label } of ticks) {
    const start = Math.max(0, Math.min(width - label.length, cell - Math.floor(label.length / 2)));
    if (start < line.length + (line === '' ? 0 : 1)) continue;
    line = line.padEnd(start) + label;
  }
  return line;
}
