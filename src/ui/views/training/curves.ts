/** A training run's curves as chart series. Pure. */

import { type Curve, curveOf, curveOfColumns, withGaps } from '../../../base/curve.ts';
import { perObject } from '../../../base/memo.ts';
import { multipleOf, roundStep } from '../../../base/scale.ts';
import type { TrainerCurve } from '../../../contract/trainer-curve.ts';
import type { Checkpoint, HeldOutReward, TrainingProgress } from '../../../contract/training.ts';
import type { Range } from '../../../present/statistics/tasks.ts';
import { otherSplits } from '../../../queries/held-out.ts';
import { stepsIn } from '../../../queries/step-rewards.ts';
import { curveName, heldOutLimits } from '../../../resources/describe-held-out.ts';
import { diagnosticsOf } from '../../../resources/diagnostics.ts';
import type { ProgressPoint } from '../../../store/store.ts';
import { countOf } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import type { Range as XRange } from '../../widgets/line-chart/axis.ts';
import { smoothings } from '../../widgets/line-chart/chart-state.ts';
import { type ChartSeries, smooth } from '../../widgets/line-chart/series.ts';

export interface RunCurves {
  readonly trainer: TrainerCurve;
  readonly heldOut: readonly HeldOutReward[];
}

/** The kinds of curves to draw. */
export const curveKinds = ['both', 'held-out', 'trainer', 'diagnostics'] as const;
export type CurveKinds = (typeof curveKinds)[number];

// A missing reward is a gap, not 0, and so is a step that the service leaves out.
const trainerCurve = perObject(({ steps, rewards }: TrainerCurve) => withGaps(curveOfColumns(steps, rewards)));
const heldOutCurve = perObject((rows: readonly HeldOutReward[]) =>
  withGaps(
    curveOf(
      rows,
      row => row.step,
      row => row.held_out_reward,
    ),
  ),
);
const smoothedBy = smoothings.map(weight =>
  perObject((curve: Curve) => (weight === 0 ? curve : smooth(curve, weight))),
);

/** The limits of the held-out means, from their samples; undefined if the service does not report samples. */
function bandOf(rows: readonly HeldOutReward[], range: Range): ChartSeries['band'] {
  const limits = heldOutLimits(rows, range);
  if (limits.length === 0) return undefined;
  const limit = (side: 'low' | 'high'): Curve =>
    curveOf(
      limits,
      ({ step }) => step,
      each => each[side],
    );
  return { low: limit('low'), high: limit('high') };
}
const bands = perObject((rows: readonly HeldOutReward[]) => perObject((range: Range) => bandOf(rows, range)));

export interface SeriesOptions {
  /** Index into {@link smoothings}. */
  readonly smoothing: number;
  /** The reward range in the settings. */
  readonly range: Range;
  /** Distinguishes the run from others on the chart. */
  readonly name?: string | undefined;
  readonly kinds?: CurveKinds | undefined;
  /** Maps a curve's steps to x values; by default, x is the step. */
  readonly align?: ((curve: Curve) => Curve) | undefined;
}

/** A run's series. Held-out means are never smoothed, because there are few of them; their 95% limits surround them. */
export function curveSeries(curves: RunCurves, options: SeriesOptions): ChartSeries[] {
  const { smoothing, range, name, kinds = 'both', align = curve => curve } = options;
  const of = name === undefined ? undefined : sanitiseLine(name);
  const trained = trainerCurve(curves.trainer);
  const band = bands(curves.heldOut)(range);
  const others = otherSplits(curves.heldOut);
  const heldOut: ChartSeries = {
    ...{ name: others.length > 0 ? curveName('held-out', curves.heldOut) : 'held-out', of },
    curve: align(heldOutCurve(curves.heldOut)),
    band: band && { low: align(band.low), high: align(band.high) },
  };
  const trainer: ChartSeries = {
    ...{ name: 'trainer', of },
    curve: align(smoothedBy[smoothing]?.(trained) ?? trained),
    raw: smoothing === 0 ? undefined : align(trained),
  };
  // With other runs on the chart, only each run's deciding split is drawn.
  const apart = (of === undefined ? others : []).map((rows): ChartSeries => {
    return { name: curveName('held-out', rows), curve: align(heldOutCurve(rows)), isFaint: true };
  });
  const chosen = [
    ...(kinds === 'trainer' ? [] : [heldOut]),
    ...(kinds === 'held-out' ? [] : [trainer]),
    ...(kinds === 'trainer' ? [] : apart),
  ];
  return chosen.filter(({ curve }) => curve.xs.length > 0);
}

const diagnosticCurves = perObject(({ steps }: TrainerCurve) =>
  perObject((values: Float64Array) => withGaps(curveOfColumns(steps, values))),
);

/** Several runs' diagnostics, each with one series per run, which is empty if the run lacks it. */
export function diagnosticSeries(
  runs: readonly { readonly curves: RunCurves; readonly options: SeriesOptions }[],
): readonly { readonly name: string; readonly series: readonly ChartSeries[] }[] {
  const labels = new Set(runs.flatMap(({ curves }) => diagnosticsOf(curves.trainer).map(({ label }) => label)));
  return [...labels].map(label => {
    const series = runs.map(({ curves, options: { smoothing, name, align = curve => curve } }): ChartSeries => {
      const diagnostic = diagnosticsOf(curves.trainer).find(each => each.label === label);
      const curve = diagnostic ? diagnosticCurves(curves.trainer)(diagnostic.values) : curveOf([], Number, Number);
      return {
        ...{ name: label, of: name === undefined ? undefined : sanitiseLine(name) },
        curve: align(smoothedBy[smoothing]?.(curve) ?? curve),
        raw: smoothing === 0 ? undefined : align(curve),
      };
    });
    return { name: label, series };
  });
}

/** Completed steps over time as this program observed them, for services without curves. */
export function progressSeries(points: readonly ProgressPoint[]): ChartSeries[] {
  const [first] = points;
  // A chart of a single point would be an empty one with an arbitrary axis.
  if (!first || points.length === 1) return [];
  const curve = curveOf(
    points,
    ({ at }) => (at - first.at) / 60_000,
    row => row.completed_steps,
  );
  return [{ name: 'completed steps over time (min), as observed by benchtop', curve }];
}

/**
 * Completed steps, from the newer of two responses: the progress, and the number of steps with a trainer metric. These
 * are separate requests, and a curve ahead of the count would look like an error.
 */
export function completedSteps(
  progress: TrainingProgress | undefined,
  trainer: TrainerCurve,
  checkpoints: readonly Pick<Checkpoint, 'step_index'>[] = [],
): number | undefined {
  const counted = countOf(progress?.completed_steps);
  if (counted === undefined) return undefined;
  const committed = checkpoints
    .map(({ step_index }) => step_index ?? 0)
    .filter(step => step <= (progress?.total_steps ?? 0));
  return committed.reduce((most, step) => Math.max(most, step), Math.max(counted, stepsIn(trainer).length));
}

/**
 * The last step of a curve that falls short of the completed steps (these may be counted from 0); undefined if the
 * curve is complete.
 */
export function lastStepRead(trainer: TrainerCurve, completed: number | undefined): number | undefined {
  const last = stepsIn(trainer).at(-1);
  return last !== undefined && completed !== undefined && last < completed - 1 ? last : undefined;
}

/** When a run reached a step. */
export interface StepTime {
  readonly step: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/**
 * Returns a function that plots a curve by minutes since the run started instead of by step. Times in between are
 * interpolated; steps outside the known times are left out.
 */
export function byMinutes(times: readonly StepTime[]): (curve: Curve) => Curve {
  // In time order: a run that went back to a checkpoint repeats the steps after it, and their last time counts.
  const known: StepTime[] = [];
  for (const time of times.toSorted((left, right) => left.at - right.at || left.step - right.step)) {
    while (known.length > 0 && (known.at(-1)?.step ?? 0) >= time.step) known.pop();
    known.push(time);
  }
  // The run may have waited in the queue: its first steps show when it began.
  const [created, first, second] = known;
  if (created?.step === 0 && first && second) {
    const stepMs = (second.at - first.at) / (second.step - first.step);
    known[0] = { step: 0, at: Math.max(created.at, Math.min(first.at, first.at - first.step * stepMs)) };
  }
  const start = known[0]?.at ?? 0;
  return ({ xs, ys }) => {
    let index = 0;
    const minutes = xs.map(step => {
      while (known[index + 1] && (known[index + 1]?.step ?? 0) < step) index += 1;
      const [from, to] = [known[index], known[index + 1]];
      if (!from || step < from.step) return Number.NaN;
      if (step === from.step) return (from.at - start) / 60_000;
      if (!to) return Number.NaN;
      const share = (step - from.step) / (to.step - from.step);
      return (from.at + share * (to.at - from.at) - start) / 60_000;
    });
    const firstKnown = minutes.findIndex(each => !Number.isNaN(each));
    const lastKnown = minutes.findLastIndex(each => !Number.isNaN(each));
    return firstKnown < 0
      ? { xs: new Float64Array(), ys: new Float64Array() }
      : { xs: minutes.subarray(firstKnown, lastKnown + 1), ys: ys.subarray(firstKnown, lastKnown + 1) };
  };
}

/**
 * A range that grows in round steps of up to an eighth of its size, so that most new points leave the scale unchanged.
 */
export function growingRange({ low, high }: XRange): XRange {
  if (!(high > low)) return { low, high };
  const step = roundStep((high - low) / 8);
  return { low, high: multipleOf(step, Math.ceil(high / step - 1e-9)) };
}
