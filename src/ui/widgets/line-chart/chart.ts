/**
 * Line charts for a terminal: braille patterns of two by four dots per cell, axes with round numbers, and a crosshair.
 * Without braille in the font, one mark per cell. Pure.
 */
import { fitCells, padStart } from '../../../text/width.ts';
import type { Style, Theme } from '../theme/theme.tsx';
import { horizontalAxis, type Range, tickLine, verticalAxis } from './axis.ts';
import { dotsAcross, Plot } from './plot.ts';
import { binned, type ChartSeries, hasValue, rangeOf, unbroken, visiblePoints } from './series.ts';

export interface ChartOptions {
  /** Total size, with the axes. */
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  /** The visible x range; everything by default. */
  readonly xRange?: Range | undefined;
  /** The x at which values are read. */
  readonly crosshair?: number | undefined;
}

export interface Chart {
  /** Exactly `height` lines of exactly `width` cells. */
  readonly lines: readonly string[];
  /** The width of x that is averaged into one point; undefined if each point is drawn. */
  readonly binWidth: number | undefined;
}

const smallest = { width: 16, height: 4 } as const;

/** Spans below this, absolute or relative to the values, are too narrow for the axes. */
const narrowest = { span: 1e-200, share: 1e-9 } as const;

/** A range around a single value, which puts it in the middle. */
function widened({ low, high }: Range): Range {
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low > Math.max(narrowest.span, size * narrowest.share)) return { low, high };
  const margin = size > narrowest.span ? size * 0.1 : 1;
  return { low: low - margin, high: high + margin };
}

/** Joins neighbouring cells of one style into one escape sequence. */
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

/**
 * Draws the series on top of each other. More points than columns are averaged, so that noise does not become a blot.
 */
export function drawChart(series: readonly ChartSeries[], options: ChartOptions): Chart {
  const { width, height, theme, xRange, crosshair } = options;
  const { styles, glyphs } = theme;
  const shown = series.map(({ points }) => visiblePoints(points, xRange));
  const x = xRange ?? rangeOf(shown.flatMap(points => points.map(point => point.x)));
  if (!x || !shown.some(points => points.some(hasValue)) || width < smallest.width || height < smallest.height) {
    return { lines: emptyChart(width, height, theme), binWidth: undefined };
  }
  const plotHeight = height - 2;
  const around = widened(x);
  // Steps begin at 0, so the range does not extend below it.
  const wide = x.low >= 0 ? { ...around, low: Math.max(0, around.low) } : around;
  // The labels take some of the width, which is not known before: make bins for the minimum that is left.
  const columns = Math.max(1, width - smallest.width / 2);
  const crowded = shown.some(points => points.length > columns);
  const whole = shown.every(points => points.every(point => Number.isInteger(point.x)));
  const perColumn = (wide.high - wide.low) / columns;
  const binWidth = crowded ? (whole ? Math.ceil(perColumn) : perColumn) : undefined;
  const drawn = binWidth === undefined ? shown : shown.map(points => binned(points, binWidth));
  const values = rangeOf(drawn.flatMap(points => points.flatMap(({ y }) => y ?? []))) ?? { low: 0, high: 0 };
  const yAxis = verticalAxis(widened(values), plotHeight);
  const labelWidth = Math.max(...yAxis.ticks.map(({ label }) => label.length));
  const plotWidth = width - labelWidth - 1;
  const xAxis = horizontalAxis(wide, plotWidth, whole);

  const plot = new Plot(plotWidth, plotHeight, theme);
  for (const [index, points] of drawn.entries()) {
    for (const part of unbroken(points)) {
      plot.curve(
        part.map(point => [xAxis.dotOf(point.x), yAxis.dotOf(point.y)] as const),
        index,
      );
    }
  }
  const crossColumn = crosshair === undefined ? -1 : Math.floor(xAxis.dotOf(crosshair) / dotsAcross);
  const labels = new Map(yAxis.ticks.map(({ cell, label }) => [cell, label]));
  const lines = Array.from({ length: plotHeight }, (_, row) => {
    const label = labels.get(row);
    const line = new StyledLine();
    line.add(
      padStart(label ?? '', labelWidth) + (label === undefined ? glyphs.vertical : glyphs.teeLeft),
      styles.muted,
    );
    for (let column = 0; column < plotWidth; column += 1) {
      const cell = plot.at(column, row);
      if (cell) line.add(cell.text, theme.series(cell.series));
      else if (column === crossColumn) line.add(glyphs.vertical, styles.muted);
      else line.add(' ', undefined);
    }
    return line.text();
  });
  const marked = new Set(xAxis.ticks.map(({ cell }) => cell));
  const base = Array.from({ length: plotWidth }, (_, column) =>
    marked.has(column) ? glyphs.teeDown : glyphs.horizontal,
  );
  const foot = ' '.repeat(labelWidth) + glyphs.bottomLeft + base.join('');
  const below = fitCells(' '.repeat(labelWidth + 1) + tickLine(xAxis.ticks, plotWidth), width);
  return { lines: [...lines, styles.muted(foot), styles.muted(below)], binWidth };
}

function emptyChart(width: number, height: number, { styles }: Theme): string[] {
  const blank = (text = ''): string => fitCells(text, Math.max(0, width));
  const words = height > 0 && width >= smallest.width ? '  no points yet' : '';
  return Array.from({ length: Math.max(0, height) }, (_, row) => (row === 0 ? styles.muted(blank(words)) : blank()));
}
