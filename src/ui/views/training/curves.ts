/** The curves of a training run as series of a chart, and what is read at the crosshair. Pure. */
import type { HeldOutReward, TrainerReward, TrainingProgress } from '../../../contract/training.ts';
import type { ProgressPoint } from '../../../queries/remembered/store.ts';
import { reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { type ChartSeries, readingAt, smooth } from '../../widgets/line-chart/chart.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';

export interface RunCurves {
  readonly trainer: readonly TrainerReward[];
  readonly heldOut: readonly HeldOutReward[];
}

function pointsOf(rows: readonly { readonly step: number; readonly y: number | null | undefined }[]) {
  // A missing reward is a gap, and not 0.
  return rows
    .flatMap(({ step, y }) => (typeof y === 'number' ? [{ x: step, y }] : []))
    .sort((left, right) => left.x - right.x);
}

/** The series of a run; `name` tells it from others that are laid over it. Held-out means are never smoothed: they are few. */
export function curveSeries({ trainer, heldOut }: RunCurves, weight: number, name = ''): ChartSeries[] {
  const label = name === '' ? '' : `${sanitiseLine(name)}: `;
  const trained = pointsOf(trainer.map(({ step, trainer_reward }) => ({ step, y: trainer_reward })));
  const held = pointsOf(heldOut.map(({ step, held_out_reward }) => ({ step, y: held_out_reward })));
  return [
    { name: `${label}held-out`, points: held },
    { name: `${label}trainer`, points: smooth(trained, weight) },
  ].filter(({ points }) => points.length > 0);
}

/** Steps over minutes, from what this program has seen itself: for services that have no curves. */
export function progressSeries(points: readonly ProgressPoint[]): ChartSeries[] {
  const [first] = points;
  if (!first) return [];
  const minutes = points.map(({ at, completed_steps }) => ({ x: (at - first.at) / 60_000, y: completed_steps }));
  return [{ name: 'completed steps by minute, as seen here', points: minutes }];
}

/**
 * Steps done, by the newer of two answers: the progress, and the steps that have a trainer metric, which is what the
 * progress counts. They are asked for apart, and a curve that is ahead of the count would look like a mistake.
 */
export function completedSteps(
  progress: TrainingProgress | undefined,
  trainer: readonly TrainerReward[],
): number | undefined {
  const counted = progress?.completed_steps;
  if (counted == null) return undefined;
  return Math.max(counted, new Set(trainer.map(({ step }) => step)).size);
}

/** Every x of the series, once, in their order. */
export function xsOf(series: readonly ChartSeries[]): number[] {
  return [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))].sort((left, right) => left - right);
}

/** A line that names each series in its colour, with its value at the crosshair, or its last. */
export function legend(series: readonly ChartSeries[], crosshair: number | undefined, theme: Theme): string {
  const readings = readingAt(series, crosshair ?? Number.POSITIVE_INFINITY);
  const parts = series.map(({ name }, index) => {
    const reading = readings[index];
    return `${theme.series(index)(`${theme.glyphs.horizontal} ${name}`)} ${reading ? reward(reading.y) : ''}`;
  });
  const at = crosshair === undefined ? '' : theme.styles.strong(`at ${Math.round(crosshair * 10) / 10}  `);
  return at + parts.join('  ');
}

/** Why a held-out mean says less than it should: over fewer samples than were expected. */
export function heldOutNote(heldOut: readonly HeldOutReward[]): string | undefined {
  const last = heldOut.at(-1);
  const { expected_samples: expected, completed_samples: completed, failed_samples: failed } = last ?? {};
  if (expected == null || completed == null || completed >= expected) return undefined;
  return `held-out at step ${last?.step}: ${completed} of ${expected} samples${failed ? `, ${failed} failed` : ''}`;
}
