/** Axes with ticks at round numbers, each in the cell where its value is drawn. Pure. */
import { largestOf } from '../../../base/many.ts';
import { decimalsOf, multipleOf, type Range, roundStep } from '../../../base/scale.ts';
import { dotsAcross, dotsDown } from './plot.ts';

export type { Range };

interface Tick {
  readonly value: number;
  /** Row from the top, or column from the left. */
  readonly cell: number;
  readonly label: string;
}

export interface Axis {
  /** The dot for a value, counted from the top or the left; within the plot for every value in range. */
  readonly dotOf: (value: number) => number;
  readonly ticks: readonly Tick[];
}

/** Tolerance for values that are meant to be whole numbers. */
const tolerance = 1e-9;
/** Rows between ticks. */
const pleasantDistance = (height: number): number => Math.max(3, Math.round(height / 8));
const quarters = { quarters: true };

/** A tick's label; all labels have the same number of decimals. */
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

/** The round numbers in a range, about `distance` rows apart. */
function roundNumbers({ low, high }: Range, height: number, distance: number): Omit<Tick, 'cell'>[] {
  const step = roundStep(((high - low) / height) * distance, quarters);
  return multiplesIn(low / step, high / step, height).map(index => {
    const value = multipleOf(step, index);
    return { value, label: labelOf(value, step) };
  });
}

/** Powers of ten; also 2 and 5 times these if there are few. */
function logNumbers({ low, high }: Range, height: number): Omit<Tick, 'cell'>[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const every = Math.max(1, Math.ceil((last - first) / Math.max(1, height / 2)));
  const mantissas = (last - first) * 3 <= height ? [1, 2, 5] : [1];
  const values = Array.from({ length: Math.floor((last - first) / every) + 1 }, (_, index) => first + index * every)
    .flatMap(power => mantissas.map(each => Number(`${each}e${power}`)))
    .filter(value => value >= low * (1 - tolerance) && value <= high * (1 + tolerance));
  return values.map(value => ({ value, label: String(value) }));
}

/**
 * The y axis for a non-empty range, which fills the height. Ticks are at round numbers, each in its value's row.
 *
 * @param log whether the scale is logarithmic; the range must then be above 0
 */
export function verticalAxis(range: Range, height: number, log = false): Axis {
  const scaled = log ? Math.log10 : (value: number): number => value;
  const [bottom, top] = [scaled(range.low), scaled(range.high)];
  const dots = height * dotsDown - 1;
  const dotOf = (value: number): number =>
    Math.max(0, Math.min(dots, Math.round(((top - scaled(value)) / (top - bottom)) * dots)));
  let numbers = log ? logNumbers(range, height) : [];
  for (let distance = pleasantDistance(height); numbers.length < 2 && distance >= 1; distance -= 1) {
    numbers = roundNumbers(range, height, distance);
  }
  const ticks = numbers.map(each => ({ ...each, cell: Math.floor(dotOf(each.value) / dotsDown) }));
  return { dotOf, ticks: ticks.filter(({ cell }, index) => cell !== ticks[index - 1]?.cell) };
}

/** The x axis for a non-empty range, with as many ticks as there is room for labels. */
export function horizontalAxis({ low, high }: Range, width: number, whole: boolean): Axis {
  const dots = width * dotsAcross - 1;
  const dotOf = (value: number): number =>
    Math.max(0, Math.min(dots, Math.round(((value - low) / (high - low)) * dots)));
  let step = roundStep(Math.max(whole ? 1 : 0, (high - low) / Math.max(1, width)));
  for (;;) {
    const ticks = multiplesIn(low / step, high / step, width).map(index => {
      const value = multipleOf(step, index);
      return { value, cell: Math.floor(dotOf(value) / dotsAcross), label: labelOf(value, step) };
    });
    const longest = largestOf(ticks, ({ label }) => label.length);
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
