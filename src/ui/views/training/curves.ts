/** The curves of a training run as chart series, and the values at the crosshair. Pure. */
import type { Checkpoint, HeldOutReward, TrainerReward, TrainingProgress } from '../../../contract/training.ts';
import type { Range } from '../../../present/statistics/tasks.ts';
import { heldOutMeans, samplesOf } from '../../../queries/held-out.ts';
import { heldOutInterval, optimismWords } from '../../../resources/training.ts';
import type { ProgressPoint } from '../../../store/store.ts';
import { counted, none, reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, truncate } from '../../../text/width.ts';
import { sparkline } from '../../widgets/bars.ts';
import { sampleWidth, seriesSample } from '../../widgets/line-chart/plot.ts';
import {
  binned,
  type ChartPoint,
  type ChartSeries,
  hasValue,
  readingAt,
  smooth,
} from '../../widgets/line-chart/series.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';

export interface RunCurves {
  readonly trainer: readonly TrainerReward[];
  readonly heldOut: readonly HeldOutReward[];
}

function pointsOf(rows: readonly { readonly step: number; readonly y: number | null | undefined }[]): ChartPoint[] {
  // A missing reward is a gap, not 0.
  return rows.map(({ step, y }) => ({ x: step, y: y ?? undefined })).sort((left, right) => left.x - right.x);
}

/**
 * The series of a run; `name` distinguishes it from others in the chart. Held-out means are never smoothed, because
 * there are few.
 */
export function curveSeries({ trainer, heldOut }: RunCurves, weight: number, name = ''): ChartSeries[] {
  const of = name === '' ? '' : ` of ${sanitiseLine(name)}`;
  const trained = pointsOf(trainer.map(({ step, trainer_reward }) => ({ step, y: trainer_reward })));
  const held = pointsOf(heldOut.map(({ step, held_out_reward }) => ({ step, y: held_out_reward })));
  return [
    { name: `held-out${of}`, points: held },
    { name: `trainer${of}`, points: smooth(trained, weight) },
  ].filter(({ points }) => points.length > 0);
}

/** Completed steps over time, as observed by this program: for services without curves. */
export function progressSeries(points: readonly ProgressPoint[]): ChartSeries[] {
  const [first] = points;
  if (!first) return [];
  const minutes = points.map(({ at, completed_steps }) => ({ x: (at - first.at) / 60_000, y: completed_steps }));
  return [{ name: 'completed steps by minute, as observed here', points: minutes }];
}

/**
 * Completed steps, by the newer of two answers: the progress, and the number of steps with a trainer metric. They are
 * separate requests, and a curve ahead of the count would look like an error.
 */
export function completedSteps(
  progress: TrainingProgress | undefined,
  trainer: readonly TrainerReward[],
  checkpoints: readonly Pick<Checkpoint, 'step_index'>[] = [],
): number | undefined {
  const counted = progress?.completed_steps;
  if (counted == null) return undefined;
  const committed = checkpoints
    .map(({ step_index }) => step_index ?? 0)
    .filter(step => step <= (progress?.total_steps ?? 0));
  return Math.max(counted, new Set(trainer.map(({ step }) => step)).size, ...committed);
}

/**
 * The last step of a curve that ends before the completed steps, which may be counted from 0; undefined if the curve is
 * complete.
 */
export function lastStepRead(trainer: readonly TrainerReward[], completed: number | undefined): number | undefined {
  const last = trainer.reduce((most, { step }) => Math.max(most, step), Number.NEGATIVE_INFINITY);
  return Number.isFinite(last) && completed !== undefined && last < completed - 1 ? last : undefined;
}

/** Every x of the series, once, in order. */
export function xsOf(series: readonly ChartSeries[]): number[] {
  return [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))].sort((left, right) => left - right);
}

/**
 * Each series with its mark, its colour, and its value at the crosshair or the end: on one line if everything fits,
 * otherwise on one line each, values first.
 */
export function legendLines(
  series: readonly ChartSeries[],
  crosshair: number | undefined,
  width: number,
  theme: Theme,
): string[] {
  const readings = readingAt(series, crosshair ?? Number.POSITIVE_INFINITY);
  const values = series.map(({ points }, index) => readingText(readings[index], crosshair ?? points.at(-1)?.x));
  const missing = series.map(missingIn);
  const gaps = missing.map(gapWords);
  const samples = series.map((_, index) => seriesSample(index, theme));
  const at = crosshair === undefined ? '' : `at ${Math.round(crosshair * 10) / 10}  `;
  const lead = at === '' ? '' : theme.styles.strong(at);
  const texts = series.map(
    ({ name }, index) => ` ${[`${name} ${values[index] ?? none}`, gaps[index]].filter(Boolean).join(', ')}`,
  );
  const length = texts.reduce((sum, text) => sum + sampleWidth + displayWidth(text) + gap.length, at.length);
  if (length - gap.length <= width) {
    return [lead + texts.map((text, index) => `${samples[index] ?? ''}${text}`).join(gap)];
  }
  const longest = Math.max(...values.map(value => value.length));
  return series.map(({ name }, index) => {
    const begin = index === 0 ? lead : ' '.repeat(at.length);
    const value = (values[index] ?? none).padStart(longest);
    const room = width - at.length - sampleWidth - 1 - gap.length;
    // A name is cut, a number never.
    const facts = [gaps[index], missing[index] === 0 ? '' : `${missing[index]} none`].map(words =>
      [value, words].filter(Boolean).join(', '),
    );
    const [words = value] = facts.filter(each => room - displayWidth(each) >= Math.min(leastName, displayWidth(name)));
    return `${begin}${samples[index] ?? ''} ${words}${gap}${truncate(name, Math.max(0, room - displayWidth(words)))}`.trimEnd();
  });
}

/** Cells of a name that stay beside its numbers. */
const leastName = 12;

/** The number of steps without a value. */
const missingIn = ({ points }: ChartSeries): number => points.length - points.filter(hasValue).length;

function gapWords(missing: number): string {
  return missing === 0 ? '' : `no value at ${counted(missing, 'step')}`;
}

const gap = '  ';

/** The value, with its x if the series has no point at the requested x: the crosshair, or the end. */
function readingText(reading: ChartPoint | undefined, x: number | undefined): string {
  if (reading?.y === undefined) return none;
  const elsewhere = x !== undefined && reading.x !== x;
  return `${reward(reading.y)}${elsewhere ? ` at ${Math.round(reading.x * 10) / 10}` : ''}`;
}

/**
 * One curve with its name on one line, for when there is no room for a chart: the first that has several values.
 *
 * @param series of the open run: the curve of an overlaid one would be mistaken for its own
 */
export function smallCurve(series: readonly ChartSeries[], width: number, theme: Theme): string[] {
  const shown = series.find(({ points }) => points.filter(hasValue).length > 1);
  if (!shown) return [];
  const { points } = shown;
  const [kind = '', ofRun] = shown.name.split(' of ');
  const label = ofRun === undefined ? kind : `${kind}, this run`;
  const room = width - displayWidth(label) - 1;
  if (room < 1) return [];
  const span = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
  const levels = points.length > room ? binned(points, (span + 1) / Math.max(1, room - 1)) : points;
  const line = sparkline(
    levels.map(({ y }) => y),
    room,
    theme,
  );
  return [`${theme.styles.muted(label)} ${theme.styles.accent(line)}`];
}

/** Why a held-out mean is less certain than it should be: fewer samples than expected. */
export function heldOutNote(heldOut: readonly HeldOutReward[]): string | undefined {
  const short = heldOut.flatMap(point => {
    const { samples: of, expected } = samplesOf(point);
    return of !== undefined && expected !== undefined && of < expected ? [{ point, of, expected }] : [];
  });
  const last = short.at(-1);
  if (!last) return undefined;
  const { step, failed_samples: failed, cancelled_samples: cancelled } = last.point;
  const earlier = short.length - 1;
  return [
    `held-out at step ${step}: ${last.of} of ${last.expected} samples`,
    failed ? `${failed} failed` : '',
    cancelled ? `${cancelled} cancelled` : '',
    earlier > 0 ? `incomplete at ${earlier} earlier step${earlier === 1 ? '' : 's'} too` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/** From this pane height on, lines about the newest held-out mean are above the chart. */
const tallPane = 20;

/**
 * How certain the newest held-out mean is, and that selecting a checkpoint by it is biased; nothing if there is little
 * room.
 */
export function heldOutLines(
  heldOut: readonly HeldOutReward[],
  range: Range,
  { width, height }: { readonly width: number; readonly height: number },
): string[] {
  const last = heldOutMeans(heldOut)?.last;
  if (height < tallPane || last === undefined) return [];
  // If the held-out tasks are a split of their own, selecting by them does not bias an evaluation.
  const isApart = heldOut.every(({ split }) => split === 'validation');
  const lines = [heldOutInterval(last, range), isApart ? undefined : optimismWords];
  return lines.filter(line => line !== undefined).map(line => truncate(line, width));
}
