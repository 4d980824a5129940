/**
 * Curves in a terminal: braille patterns of two by four dots a cell, axes with round numbers, and a crosshair. Where the
 * font has no braille, one mark a cell. Pure.
 */
import { fitCells, padStart } from '../../../text/width.ts';
import type { Style, Theme } from '../theme/theme.tsx';
import { ticks } from './ticks.ts';

export interface ChartPoint {
  readonly x: number;
  readonly y: number;
}

export interface ChartSeries {
  readonly name: string;
  /** In the order of x. */
  readonly points: readonly ChartPoint[];
}

export interface Range {
  readonly low: number;
  readonly high: number;
}

export interface ChartOptions {
  /** Whole size, with the axes. */
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  /** What of x is shown; everything where it is missing. */
  readonly xRange?: Range | undefined;
  /** The x at which values are read. */
  readonly crosshair?: number | undefined;
  readonly formatX?: (value: number) => string;
  readonly formatY?: (value: number) => string;
}

const dotsAcross = 2;
const dotsDown = 4;
/** Bit of each dot of a braille pattern, by column and row (Unicode, block U+2800). */
const dotBits = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;
const asciiMarks = ['*', '+', 'o', 'x', '#', '%'];

/**
 * Exponential moving average without the pull of its start (as TensorBoard smooths). `weight` from 0, which changes
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

/** Of each series the point nearest to x. */
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

function isFinitePoint({ x, y }: ChartPoint): boolean {
  return Number.isFinite(x) && Number.isFinite(y);
}

function rangeOf(values: readonly number[]): Range | undefined {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? undefined : { low, high };
}

/** A range around a single value, so that it stands in the middle. */
function widened({ low, high }: Range): Range {
  if (high > low) return { low, high };
  const margin = Math.abs(low) * 0.1 || 1;
  return { low: low - margin, high: high + margin };
}

/** Dots of a plot by cell, each with the first series that set one. */
class Plot {
  readonly width: number;
  readonly height: number;
  readonly #bits: Uint8Array;
  readonly #owners: Int16Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.#bits = new Uint8Array(width * height);
    this.#owners = new Int16Array(width * height).fill(-1);
  }

  set(column: number, row: number, owner: number): void {
    const cellX = Math.floor(column / dotsAcross);
    const cellY = Math.floor(row / dotsDown);
    if (cellX < 0 || cellY < 0 || cellX >= this.width || cellY >= this.height) return;
    const cell = cellY * this.width + cellX;
    const bit = dotBits[column % dotsAcross === 0 ? 0 : 1][(row % dotsDown) as 0 | 1 | 2 | 3];
    this.#bits[cell] = (this.#bits[cell] ?? 0) | bit;
    if (this.#owners[cell] === -1) this.#owners[cell] = owner;
  }

  /** Bresenham's line. */
  line(fromX: number, fromY: number, toX: number, toY: number, owner: number): void {
    const across = Math.abs(toX - fromX);
    const down = -Math.abs(toY - fromY);
    const stepX = fromX < toX ? 1 : -1;
    const stepY = fromY < toY ? 1 : -1;
    let error = across + down;
    let [x, y] = [fromX, fromY];
    for (;;) {
      this.set(x, y, owner);
      if (x === toX && y === toY) return;
      const doubled = 2 * error;
      if (doubled >= down) {
        error += down;
        x += stepX;
      }
      if (doubled <= across) {
        error += across;
        y += stepY;
      }
    }
  }

  /** The character and the series of a cell; undefined where it is empty. */
  at(x: number, y: number, braille: boolean): { readonly text: string; readonly owner: number } | undefined {
    const cell = y * this.width + x;
    const bits = this.#bits[cell] ?? 0;
    if (bits === 0) return undefined;
    const owner = this.#owners[cell] ?? 0;
    const text = braille ? String.fromCodePoint(0x2800 + bits) : (asciiMarks[owner % asciiMarks.length] ?? '*');
    return { text, owner };
  }
}

/** Neighbouring cells of one style in one run of escape sequences. */
class StyledLine {
  #done = '';
  #run = '';
  #style: Style | undefined;

  add(text: string, style: Style | undefined): void {
    if (style !== this.#style) this.#flush();
    this.#style = style;
    this.#run += text;
  }

  #flush(): void {
    this.#done += this.#style ? this.#style(this.#run) : this.#run;
    this.#run = '';
  }

  text(): string {
    this.#flush();
    return this.#done;
  }
}

/** Exactly `height` lines of exactly `width` cells. */
export function chartLines(series: readonly ChartSeries[], options: ChartOptions): string[] {
  const { width, height, theme, xRange, crosshair } = options;
  const { formatX = String, formatY = String } = options;
  const { styles } = theme;
  const blank = (text = ''): string => fitCells(text, Math.max(0, width));
  const shown = series.map(({ name, points }) => ({
    name,
    points: points.filter(
      point => isFinitePoint(point) && (!xRange || (point.x >= xRange.low && point.x <= xRange.high)),
    ),
  }));
  const all = shown.flatMap(({ points }) => points);
  const x = xRange ?? rangeOf(all.map(point => point.x));
  const y = rangeOf(all.map(point => point.y));
  if (!x || !y || width < 16 || height < 4) {
    const words = height > 0 && width >= 16 ? '  no points yet' : '';
    return Array.from({ length: Math.max(0, height) }, (_, row) => (row === 0 ? styles.muted(blank(words)) : blank()));
  }
  const plotHeight = height - 2;
  const yWide = widened(y);
  const yTicks = ticks(yWide, Math.max(2, Math.floor(plotHeight / 3)));
  const axis: Range = { low: Math.min(yWide.low, ...yTicks), high: Math.max(yWide.high, ...yTicks) };
  const labels = yTicks.map(formatY);
  const labelWidth = Math.max(...labels.map(label => label.length));
  const plotWidth = width - labelWidth - 1;
  const xWide = widened(x);
  const dots = { across: plotWidth * dotsAcross - 1, down: plotHeight * dotsDown - 1 };
  const columnOf = (value: number): number =>
    Math.round(((value - xWide.low) / (xWide.high - xWide.low)) * dots.across);
  const rowOf = (value: number): number => Math.round(((axis.high - value) / (axis.high - axis.low)) * dots.down);

  const plot = new Plot(plotWidth, plotHeight);
  for (const [owner, { points }] of shown.entries()) {
    let last: { readonly column: number; readonly row: number } | undefined;
    for (const point of points) {
      const here = { column: columnOf(point.x), row: rowOf(point.y) };
      plot.line(last?.column ?? here.column, last?.row ?? here.row, here.column, here.row, owner);
      last = here;
    }
  }
  const crossColumn = crosshair === undefined ? -1 : Math.floor(columnOf(crosshair) / dotsAcross);
  const labelOfRow = new Map(yTicks.map((value, index) => [Math.floor(rowOf(value) / dotsDown), labels[index] ?? '']));
  const lines = Array.from({ length: plotHeight }, (_, row) => {
    const label = labelOfRow.get(row);
    const line = new StyledLine();
    const edge = label === undefined ? theme.glyphs.vertical : theme.glyphs.teeLeft;
    line.add(padStart(label ?? '', labelWidth) + edge, styles.muted);
    for (let column = 0; column < plotWidth; column += 1) {
      const cell = plot.at(column, row, theme.glyphs.braille);
      if (cell) line.add(cell.text, theme.series(cell.owner));
      else if (column === crossColumn) line.add(theme.glyphs.vertical, styles.muted);
      else line.add(' ', undefined);
    }
    return line.text();
  });
  const foot = `${' '.repeat(labelWidth)}${theme.glyphs.bottomLeft}${theme.glyphs.horizontal.repeat(plotWidth)}`;
  const marks = xTickLine(xWide, plotWidth, formatX, value => Math.floor(columnOf(value) / dotsAcross));
  return [...lines, styles.muted(foot), styles.muted(blank(' '.repeat(labelWidth + 1) + marks))];
}

/** Round numbers below the plot, each under its place, none over another. */
function xTickLine(
  range: Range,
  width: number,
  format: (value: number) => string,
  columnOf: (value: number) => number,
) {
  let line = '';
  for (const value of ticks(range, Math.max(2, Math.floor(width / 12)))) {
    if (value < range.low || value > range.high) continue;
    const label = format(value);
    const start = Math.max(0, Math.min(width - label.length, columnOf(value) - Math.floor(label.length / 2)));
    if (start < line.length + (line === '' ? 0 : 1)) continue;
    line = line.padEnd(start) + label;
  }
  return line;
}
