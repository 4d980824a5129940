/** Training runs' curves as lines of text: charts in a grid, small charts, legends and notes. Pure. */

import { maxOf } from '../../../base/many.ts';
import type { HeldOutReward } from '../../../contract/training.ts';
import type { Range } from '../../../present/statistics/tasks.ts';
import { heldOutMeans, isOutstanding, samplesOf } from '../../../queries/held-out.ts';
import { heldOutInterval, optimismNote } from '../../../resources/describe-held-out.ts';
import { cutApart } from '../../../text/apart.ts';
import { counted, none, reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { sparkline } from '../../../text/sparkline.ts';
import { displayWidth, padEnd, truncate } from '../../../text/width.ts';
import type { Range as XRange } from '../../widgets/line-chart/axis.ts';
import { drawChart, valueRangeOf } from '../../widgets/line-chart/chart.ts';
import type { ChartState } from '../../widgets/line-chart/chart-state.ts';
import { sampleWidth, seriesSample } from '../../widgets/line-chart/plot.ts';
import {
  type ChartSeries,
  columnsOf,
  extentOf,
  gapsIn,
  minPositive,
  type Reading,
  readingAt,
} from '../../widgets/line-chart/series.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';
import { growingRange } from './curves.ts';

export function runLegend(runs: readonly { readonly name: string }[], width: number, theme: Theme): string {
  const room = Math.floor((width + gap.length) / Math.max(1, runs.length)) - gap.length - sampleWidth - 1;
  const names = cutApart(
    runs.map(({ name }) => sanitiseLine(name)),
    Math.max(1, room),
    { ellipsis: theme.glyphs.ellipsis },
  );
  const each = runs.map(
    ({ name }, index) => `${seriesSample(index, theme)} ${truncate(names.get(sanitiseLine(name)) ?? '', room)}`,
  );
  return each.join(gap);
}

interface NoteOptions {
  /** The last step of a curve that lags behind. */
  readonly lag: number | undefined;
  readonly perColumn: number | undefined;
  /** The x range of several charts. */
  readonly each?: XRange | undefined;
  /** The unit for x; empty for steps. */
  readonly unit: string;
  readonly byTime: boolean;
  readonly log: boolean;
  /** The smoothing weight; 0 for none. */
  readonly weight: number;
}

/** Notes on how the curves are drawn, most important first, because a narrow pane cuts them. */
export function chartNotes(series: readonly ChartSeries[], options: NoteOptions): string {
  const { lag, perColumn, each, unit, byTime, log, weight } = options;
  const columns = perColumn === undefined ? 0 : tenth(perColumn);
  const hidden = log ? series.reduce((sum, { curve }) => sum + curve.ys.filter(y => y < minPositive).length, 0) : 0;
  const range = each && `each chart from ${unit ? '' : 'step '}${tenth(each.low)} to ${tenth(each.high)}`;
  return [
    lag === undefined ? '' : `trainer curve read up to step ${lag}`,
    [range, byTime ? 'minutes since each run began' : range && unit.trim()].filter(Boolean).join(' '),
    log ? `log scale${hidden > 0 ? `, without ${counted(hidden, 'value')} at or below 0` : ''}` : '',
    weight > 0 ? `smoothed ${weight}` : '',
    series.some(({ band }) => band) ? 'dotted: 95% limits' : '',
    columns > 1 ? `${columns}${unit || ' steps'} per column, their range faint` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

interface GridOptions {
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  /** The x range of all charts, unless they are zoomed. */
  readonly range: XRange | undefined;
  readonly chart: ChartState;
  readonly notes: Pick<NoteOptions, 'unit' | 'byTime' | 'weight'>;
  /** Whether each chart has its own y axis; by default, all share one. */
  readonly ownAxes?: boolean;
}

const formatCrosshair = (x: number | undefined, unit: string): string =>
  x === undefined ? '' : `at ${tenth(x)}${unit}`;

const tenth = (x: number): number => Math.round(x * 10) / 10;

/** A chart's minimum size in the grid, including the line with its name. */
const cellSize = { width: 26, height: 6 } as const;

/** A chart for each name, with its first series' value at the crosshair or the end. */
export function gridLines(
  runs: readonly { readonly name: string }[],
  all: readonly (readonly ChartSeries[])[],
  { width, height: whole, theme, range, chart, notes, ownAxes = false }: GridOptions,
): string[] {
  const { log, zoom } = chart;
  const xRange = zoom ?? range;
  const words = [
    formatCrosshair(chart.crosshair, notes.unit),
    chartNotes(all.flat(), { ...notes, log, each: xRange, lag: undefined, perColumn: undefined }),
  ]
    .filter(Boolean)
    .join(', ');
  const caption = words === '' || whole <= cellSize.height ? [] : [theme.styles.muted(truncate(words, width))];
  const height = whole - caption.length;
  const most = Math.max(1, Math.floor((width + gap.length) / (cellSize.width + gap.length)));
  const fits = Math.max(1, Math.floor(height / cellSize.height));
  const across = Math.min(most, Math.max(1, Math.ceil(Math.sqrt(runs.length)), Math.ceil(runs.length / fits)));
  const down = Math.min(fits, Math.ceil(runs.length / across));
  const cell = { width: Math.floor((width + gap.length) / across) - gap.length, height: Math.floor(height / down) };
  const yRange = ownAxes ? undefined : valueRangeOf(all.flat(), zoom, log);
  const names = cutApart(
    runs.map(({ name }) => sanitiseLine(name)),
    cell.width - 8,
    { ellipsis: theme.glyphs.ellipsis },
  );
  const cells = runs.slice(0, across * down).map(({ name }, index) => {
    const series = all[index] ?? [];
    const [shown] = series;
    const value = shown && readingAt(shown.curve, chart.crosshair ?? Number.POSITIVE_INFINITY);
    const number = readingText(value, chart.crosshair);
    const cut = truncate(names.get(sanitiseLine(name)) ?? '', Math.max(0, cell.width - number.length - 1));
    const head = [cut, number];
    const { lines } = drawChart(series, {
      ...{ width: cell.width, height: cell.height - 1, theme, xRange, yRange },
      crosshair: chart.crosshair,
      log,
    });
    return [theme.styles.strong(padEnd(truncate(head.join(' '), cell.width), cell.width)), ...lines];
  });
  const rows = Array.from({ length: down }, (_, row) => cells.slice(row * across, (row + 1) * across));
  const left = runs.length - across * down;
  const lines = rows.flatMap(row =>
    Array.from({ length: cell.height }, (_, line) => row.map(each => each[line] ?? '').join(gap)),
  );
  const shown = left > 0 ? [...lines.slice(0, height - 1), theme.styles.muted(`${left} more: no room here`)] : lines;
  return [...caption, ...shown];
}

/**
 * Each series with its mark, its colour, and its value at the crosshair or the end: on one line if everything fits,
 * otherwise on one line each, values first.
 *
 * @param unit follows the crosshair's x, if that is not a step
 * @param isDrawn whether the lines that the marks stand for are drawn
 */
export function legendLines(
  series: readonly ChartSeries[],
  crosshair: number | undefined,
  width: number,
  theme: Theme,
  unit = '',
  isDrawn = true,
): string[] {
  const readings = series.map(({ curve }) => readingAt(curve, crosshair ?? Number.POSITIVE_INFINITY));
  const values = series.map(({ curve }, index) => readingText(readings[index], crosshair ?? curve.xs.at(-1)));
  const missing = series.map(({ curve }) => gapsIn(curve));
  const gaps = missing.map(describeGaps);
  const marks = series.map(({ isFaint }, index) => (isDrawn ? `${seriesSample(index, theme, isFaint)} ` : ''));
  const markWidth = isDrawn ? sampleWidth + 1 : 0;
  const at = crosshair === undefined ? '' : `${formatCrosshair(crosshair, unit)}  `;
  const lead = at === '' ? '' : theme.styles.strong(at);
  const texts = series.map((each, index) =>
    [`${fullName(each)} ${values[index] ?? none}`, gaps[index]].filter(Boolean).join(', '),
  );
  const length = texts.reduce((sum, text) => sum + markWidth + displayWidth(text) + gap.length, at.length);
  if (length - gap.length <= width) {
    return [lead + texts.map((text, index) => `${marks[index] ?? ''}${text}`).join(gap)];
  }
  const longest = maxOf(values.map(value => value.length));
  const room = width - at.length - markWidth - gap.length;
  const facts = series.map((each, index) => {
    const value = (values[index] ?? none).padStart(longest);
    const all = [gaps[index], missing[index] === 0 ? '' : `${missing[index]} n/a`].map(words =>
      [value, words].filter(Boolean).join(', '),
    );
    // Names may be cut, numbers never.
    const least = Math.min(minNameWidth, displayWidth(fullName(each)));
    return `${all.find(words => room - displayWidth(words) >= least) ?? value}${gap}${each.name}`;
  });
  const between = ' of ';
  const rooms = facts.map(words => Math.max(0, room - displayWidth(words) - between.length + gap.length));
  const named = series.flatMap(({ of }) => of ?? []);
  return series.map(({ of }, index) => {
    const begin = index === 0 ? lead : ' '.repeat(at.length);
    const cut = of === undefined ? '' : cutApart(named, rooms[index] ?? 0, { ellipsis: theme.glyphs.ellipsis }).get(of);
    return `${begin}${marks[index] ?? ''}${facts[index]}${cut ? between + cut : ''}`.trimEnd();
  });
}

const fullName = ({ name, of }: ChartSeries): string => (of === undefined ? name : `${name} of ${of}`);

/** Minimum cells for a name beside its numbers. */
const minNameWidth = 12;

function describeGaps(missing: number): string {
  return missing === 0 ? '' : `no value at ${counted(missing, 'step')}`;
}

const gap = '  ';

/** The value, with its x if the series has no point at the requested x (the crosshair, or the end). */
function readingText(reading: Reading | undefined, x: number | undefined): string {
  if (reading?.y === undefined) return none;
  const elsewhere = x !== undefined && reading.x !== x;
  return `${reward(reading.y)}${elsewhere ? ` at ${tenth(reading.x)}` : ''}`;
}

const hasSeveralValues = ({ curve }: ChartSeries): boolean => curve.ys.length - gapsIn(curve) > 1;

/**
 * One curve with its name, on one line, for when there is no room for a chart: the first with several values.
 *
 * @param series the open run's series: an overlaid run's curve would be mistaken for its own
 */
export function smallCurve(series: readonly ChartSeries[], width: number, theme: Theme): string[] {
  const shown = series.find(hasSeveralValues);
  if (!shown) return [];
  const label = shown.of === undefined ? shown.name : `${shown.name}, this run`;
  const room = width - displayWidth(label) - 1;
  if (room < 1) return [];
  const { curve } = shown;
  const extent = extentOf([curve]);
  const isLong = extent && curve.ys.length > room;
  const levels = isLong ? columnsOf(curve, { ...extent, positive: false }, room).means : curve.ys;
  return [curveLine(label, levels, theme)];
}

const curveLine = (label: string, levels: Iterable<number>, { styles, glyphs }: Theme): string => {
  const values = Array.from(levels, y => (Number.isNaN(y) ? undefined : y));
  return `${styles.muted(label)} ${styles.accent(sparkline(values, values.length, glyphs.levels))}`;
};

/** Each curve with several values on a line, over the same steps: one that was read earlier ends earlier. */
export function smallCurves(series: readonly ChartSeries[], width: number, theme: Theme): string[] {
  const drawn = series.filter(hasSeveralValues);
  const extent = extentOf(drawn.map(({ curve }) => curve));
  const labelWidth = maxOf(drawn.map(({ name }) => displayWidth(name)));
  const room = width - labelWidth - 1;
  if (!extent || room < 1) return [];
  const distances = drawn.map(({ curve: { xs } }) => ((xs.at(-1) ?? 0) - (xs[0] ?? 0)) / (xs.length - 1));
  // With more columns, the curve with the fewest points would have gaps between them.
  const count = Math.min(room, 1 + Math.round((extent.high - extent.low) / maxOf(distances)));
  return drawn.map(({ name, curve }) =>
    curveLine(padEnd(name, labelWidth), columnsOf(curve, { ...extent, positive: false }, count).means, theme),
  );
}

/** Minimum height of a chart. */
export const smallestChart = 3;

/** Maximum height of a preview: a cell is about twice as high as wide, so this is not much taller than wide. */
const tallestPreview = (width: number): number => Math.max(20, Math.floor(width / 3));

/**
 * One run's curves in a preview: a chart and its legend or, if they do not fit, each curve on a line.
 *
 * @param isGrowing whether to leave room for the next points
 */
export function previewLines(
  series: readonly ChartSeries[],
  options: Pick<GridOptions, 'width' | 'height' | 'theme'> & { readonly isGrowing: boolean },
): string[] {
  const { width, height, theme, isGrowing } = options;
  const legend = legendLines(series, undefined, width, theme);
  const room = Math.min(height, tallestPreview(width)) - legend.length;
  const extent = extentOf(series.map(({ curve }) => curve));
  if (!extent || room < 2 * smallestChart) return smallCurves(series, width, theme);
  const xRange = isGrowing ? growingRange(extent) : extent;
  const words = { lag: undefined, perColumn: undefined, unit: '', byTime: false, log: false, weight: 0 };
  const notes = chartNotes(series, words);
  const caption = notes === '' ? [] : [theme.styles.muted(truncate(notes, width))];
  const { lines } = drawChart(series, { width, height: room - caption.length, theme, xRange });
  return [...caption, ...lines, ...legend];
}

/** A note if held-out means are incomplete, or have fewer samples than expected and so are less certain. */
export function heldOutNote(heldOut: readonly HeldOutReward[]): string | undefined {
  const short = heldOut.flatMap(point => {
    const { samples: of, expected } = samplesOf(point);
    const words = of !== undefined && expected !== undefined && of < expected ? `${of} of ${expected} samples` : '';
    return words !== '' || isOutstanding(point) ? [{ point, words }] : [];
  });
  const last = short.at(-1);
  if (!last) return undefined;
  const { step, failed_samples: failed, cancelled_samples: cancelled } = last.point;
  const earlier = short.length - 1;
  const words = [
    last.words,
    isOutstanding(last.point) ? 'the round is incomplete' : '',
    failed ? `${failed} failed` : '',
    cancelled ? `${cancelled} cancelled` : '',
    earlier > 0 ? `incomplete at ${counted(earlier, 'earlier step')} too` : '',
  ];
  return `held-out at step ${step}: ${words.filter(Boolean).join(', ')}`;
}

/** Minimum pane height at which lines about the newest held-out mean precede the chart. */
const tallPane = 20;

/**
 * How certain the newest held-out mean is, and a warning that selecting a checkpoint by it is biased; empty if there is
 * little room.
 */
export function heldOutLines(
  heldOut: readonly HeldOutReward[],
  range: Range,
  { width, height }: { readonly width: number; readonly height: number },
): string[] {
  const last = heldOutMeans(heldOut)?.last;
  if (height < tallPane || last === undefined) return [];
  // If the held-out tasks are a separate split, selecting by them does not bias an evaluation.
  const isApart = heldOut.every(({ split }) => split === 'validation');
  const lines = [heldOutInterval(last, range), isApart ? undefined : optimismNote];
  return lines.filter(line => line !== undefined).map(line => truncate(line, width));
}
