/**
 * Line charts for a terminal: braille patterns of two by four dots per cell, axes with round numbers, and a crosshair.
 * For fonts without braille, one mark per cell. Pure.
 */
import type { Curve } from '../../../base/curve.ts';
import { largestOf, maxOf, minOf } from '../../../base/many.ts';
import { perInputs } from '../../../base/memo.ts';
import { minSpan, widened } from '../../../base/scale.ts';
import { fitCells, padStart } from '../../../text/width.ts';
import type { Style, Theme } from '../theme/theme.tsx';
import { type Axis, horizontalAxis, type Range, tickLine, verticalAxis } from './axis.ts';
import { dotsAcross, Plot } from './plot.ts';
import { type ChartSeries, type Columns, columnsOf, extentOf, indexAt, valueRange, visible } from './series.ts';

export interface ChartOptions {
  /** Total size, including the axes. */
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  /** The visible x range; everything by default. */
  readonly xRange?: Range | undefined;
  /** The x at which values are read. */
  readonly crosshair?: number | undefined;
  /** The y range, for drawing several charts on one scale; by default, the range of the values. */
  readonly yRange?: Range | undefined;
  /** Whether the y scale is logarithmic; only values above 0 can then be drawn. */
  readonly log?: boolean | undefined;
  /** Whether to draw points without lines between them; cells with few points are faint. */
  readonly isScatter?: boolean;
}

interface Chart {
  /** Exactly `height` lines of exactly `width` cells. */
  readonly lines: readonly string[];
  /**
   * The x span of a column, if some columns hold several points. Such a column shows their mean, with their range
   * behind it.
   */
  readonly perColumn: number | undefined;
  /** The plot's width, in cells. */
  readonly plotWidth: number;
  /** The cell for an x, from the left of the plot; undefined if x is out of view or there are no points. */
  readonly columnOf: (x: number) => number | undefined;
}

const smallest = { width: 16, height: 2 } as const;
/** Minimum height at which the x axis has a line of its own and labels below it. */
const withAxis = 4;

/** Joins neighbouring cells that share a style into one escape sequence. */
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

/** A curve on the chart; faint if it shows unsmoothed values or a band's limits, or if its series is faint. */
interface DrawnCurve {
  readonly curve: Curve;
  readonly series: number;
  readonly isFaint: boolean;
  /** Whether it is a limit of a band. */
  readonly isLimit: boolean;
}

const drawnCurves = (series: readonly ChartSeries[]): DrawnCurve[] =>
  series.flatMap(({ curve, isFaint = false, raw, band }, index) =>
    [raw, band?.low, band?.high, curve].flatMap(each =>
      each
        ? { curve: each, series: index, isFaint: isFaint || each !== curve, isLimit: each !== curve && each !== raw }
        : [],
    ),
  );

/** The range of the values that a chart would draw. */
export function valueRangeOf(series: readonly ChartSeries[], xRange: Range | undefined, positive: boolean) {
  const range = xRange ?? extentOf(series.map(({ curve }) => curve));
  if (!range) return undefined;
  const ranges = drawnCurves(series).flatMap(({ curve }) => valueRange(curve, { ...range, positive }) ?? []);
  if (ranges.length === 0) return undefined;
  return { low: minOf(ranges.map(({ low }) => low)), high: maxOf(ranges.map(({ high }) => high)) };
}

/** Draws each column's mean in front of the range of its values; for a limit, only the mean. */
function drawColumns(plot: Plot, { means, lows, highs, read }: Columns, yAxis: Axis, of: DrawnCurve): void {
  const draw = (part: readonly (readonly [number, number])[]): void => {
    if (of.isLimit) plot.limit(part, of.series);
    else if (!of.isFaint) plot.curve(part, of.series);
  };
  let part: (readonly [number, number])[] = [];
  for (const [x, mean] of means.entries()) {
    if (Number.isNaN(mean)) {
      if (read[x] === 0) continue;
      draw(part);
      part = [];
      continue;
    }
    part.push([x, yAxis.dotOf(mean)]);
    const [top, bottom] = [yAxis.dotOf(highs[x] as number), yAxis.dotOf(lows[x] as number)];
    if (!of.isLimit && (of.isFaint || top !== bottom)) plot.shade(x, top, bottom, of.series);
  }
  draw(part);
}

/** Draws each point, with lines between points that no gap separates. */
function drawPoints(plot: Plot, { curve: { xs, ys }, series, ...of }: DrawnCurve, xAxis: Axis, yAxis: Axis): void {
  const draw = (part: readonly (readonly [number, number])[]): void => {
    if (of.isLimit) plot.limit(part, series);
    else if (of.isFaint) plot.faintCurve(part, series);
    else plot.curve(part, series);
  };
  let part: (readonly [number, number])[] = [];
  for (const [index, y] of ys.entries()) {
    if (!Number.isNaN(y)) part.push([xAxis.dotOf(xs[index] as number), yAxis.dotOf(y)]);
    else if (part.length > 0) {
      draw(part);
      part = [];
    }
  }
  draw(part);
}

interface Axes {
  /** The visible x range, and the axis's range. */
  readonly x: Range;
  readonly wide: Range;
  readonly xAxis: Axis;
  readonly yAxis: Axis;
  readonly positive: boolean;
  readonly isScatter: boolean;
}

/** Draws all series' curves. Returns whether some column of dots holds several points of one curve. */
function drawSeries(plot: Plot, series: readonly ChartSeries[], axes: Axes): boolean {
  const { x, wide, xAxis, yAxis, positive, isScatter } = axes;
  const dots = plot.width * dotsAcross;
  let isCrowded = false;
  for (const drawn of drawnCurves(series)) {
    const shown = { ...x, positive };
    const { xs, ys } = drawn.curve;
    if (isScatter) {
      plot.scatter(
        Array.from(ys, (y, index) => [xAxis.dotOf(xs[index] as number), yAxis.dotOf(y)] as const),
        drawn.series,
      );
    } else if (indexAt(xs, x.high) - indexAt(xs, x.low) >= dots) {
      isCrowded = true;
      drawColumns(plot, columnsOf(drawn.curve, { ...shown, ...wide }, dots), yAxis, drawn);
    } else drawPoints(plot, { ...drawn, curve: visible(drawn.curve, shown) }, xAxis, yAxis);
  }
  return isCrowded;
}

/** A plot's lines, with the y axis on the left and the crosshair. */
function plotLines(
  plot: Plot,
  yAxis: Axis,
  { labelWidth, crossColumn }: { readonly labelWidth: number; readonly crossColumn: number },
  theme: Theme,
): string[] {
  const { styles, glyphs } = theme;
  const labels = new Map(yAxis.ticks.map(({ cell, label }) => [cell, label]));
  return Array.from({ length: plot.height }, (_, row) => {
    const label = labels.get(row);
    const line = new StyledLine();
    line.add(
      padStart(label ?? '', labelWidth) + (label === undefined ? glyphs.vertical : glyphs.teeLeft),
      styles.muted,
    );
    for (let column = 0; column < plot.width; column += 1) {
      const cell = plot.at(column, row);
      if (cell) line.add(cell.text, (cell.faint ? theme.faint : theme.series)(cell.series));
      else if (column === crossColumn) line.add(glyphs.vertical, styles.muted);
      else line.add(' ', undefined);
    }
    return line.text();
  });
}

/** A chart without its crosshair, which is all that most keys move. */
interface Drawing extends Omit<Chart, 'lines'> {
  readonly plot: Plot;
  readonly yAxis: Axis;
  readonly labelWidth: number;
  /** The lines below the plot. */
  readonly below: readonly string[];
}

/** Draws everything but the crosshair; undefined if there is nothing to draw, or no room. */
function draw(series: readonly ChartSeries[], options: ChartOptions): Drawing | undefined {
  const { width, height, theme, xRange, yRange, log = false, isScatter = false } = options;
  const { styles, glyphs } = theme;
  const x = xRange ?? extentOf(series.map(({ curve }) => curve));
  const own = valueRangeOf(series, x, log);
  const values = own && (yRange ?? own);
  if (!x || !values || width < smallest.width || height < smallest.height) return undefined;
  const plotHeight = height < withAxis ? height : height - 2;
  const around = widened(x, 1e-9);
  // Steps begin at 0, so the range does not extend below it.
  const wide = x.low >= 0 ? { ...around, low: Math.max(0, around.low) } : around;
  const yAxis = verticalAxis(log ? widenedLog(values) : widened(values, minSpan), plotHeight, log);
  const labelWidth = largestOf(yAxis.ticks, ({ label }) => label.length);
  const plotWidth = Math.max(1, width - labelWidth - 1);
  // Steps are whole numbers, times are not; the first points show which the curves have.
  const whole = series.every(({ curve }) => curve.xs.subarray(0, 100).every(Number.isInteger));
  const xAxis = horizontalAxis(wide, plotWidth, whole);

  const plot = new Plot(plotWidth, plotHeight, theme);
  const isCrowded = drawSeries(plot, series, { x, wide, xAxis, yAxis, positive: log, isScatter });
  const columnOf = (at: number): number | undefined =>
    at < wide.low || at > wide.high ? undefined : Math.floor(xAxis.dotOf(at) / dotsAcross);
  const perColumn = isCrowded ? (wide.high - wide.low) / plotWidth : undefined;
  const drawn = { plot, yAxis, labelWidth, perColumn, plotWidth, columnOf };
  if (height < withAxis) return { ...drawn, below: [] };
  const marked = new Set(xAxis.ticks.map(({ cell }) => cell));
  const base = Array.from({ length: plotWidth }, (_, column) =>
    marked.has(column) ? glyphs.teeDown : glyphs.horizontal,
  );
  const foot = ' '.repeat(labelWidth) + glyphs.bottomLeft + base.join('');
  const ticks = fitCells(' '.repeat(labelWidth + 1) + tickLine(xAxis.ticks, plotWidth), width);
  return { ...drawn, below: [styles.muted(foot), styles.muted(ticks)] };
}

const lastDrawing = perInputs<Curve, Drawing | undefined>();

/**
 * Draws the series on top of each other. If a curve has more points than there are columns of dots, each column shows
 * their mean in front of their faint range, so that noise does not fill the plot.
 */
export function drawChart(series: readonly ChartSeries[], options: ChartOptions): Chart {
  const { width, height, theme, xRange, yRange, crosshair, log, isScatter } = options;
  const drawnFrom = [
    ...[series.length, width, height, theme, log, isScatter],
    ...[xRange?.low, xRange?.high, yRange?.low, yRange?.high],
    ...series.flatMap(({ curve, isFaint, raw, band }) => [curve, isFaint, raw, band?.low, band?.high]),
  ];
  const [first] = series;
  const drawing = first && lastDrawing(first.curve, drawnFrom, () => draw(series, options));
  if (!drawing) {
    const isEmpty = extentOf(series.map(({ curve }) => curve)) === undefined;
    return {
      lines: emptyChart(width, height, theme, isEmpty ? '  no points' : '  no points here'),
      perColumn: undefined,
      plotWidth: Math.max(1, width),
      columnOf: () => undefined,
    };
  }
  const { plot, yAxis, labelWidth, below, ...chart } = drawing;
  const crossColumn = crosshair === undefined ? -1 : (chart.columnOf(crosshair) ?? -1);
  return { ...chart, lines: [...plotLines(plot, yAxis, { labelWidth, crossColumn }, theme), ...below] };
}

/** Widens a range to at least a tenth of a decade. */
function widenedLog({ low, high }: Range): Range {
  return high / low > 1.26 ? { low, high } : { low: low / 1.12, high: high * 1.12 };
}

function emptyChart(width: number, height: number, { styles }: Theme, why: string): string[] {
  const blank = (text = ''): string => fitCells(text, Math.max(0, width));
  const words = height > 0 && width >= smallest.width ? why : '';
  return Array.from({ length: Math.max(0, height) }, (_, row) => (row === 0 ? styles.muted(blank(words)) : blank()));
}
