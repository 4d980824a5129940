/** The runs on a chart: their curves, and when their steps ended. */
import { hasEnded, isRunning } from '../../../contract/status.ts';
import { emptyCurve } from '../../../contract/trainer-curve.ts';
import type { TrainingProgress, TrainingRun } from '../../../contract/training.ts';
import { checkpointTimesQuery } from '../../../queries/checkpoints.ts';
import type { Freshness } from '../../../queries/freshness.ts';
import { hasOutstanding } from '../../../queries/held-out.ts';
import type { Attention } from '../../../queries/polling.ts';
import { trainingProgressQuery, trainingRunQuery } from '../../../queries/training.ts';
import { trainerRewardsQuery } from '../../../queries/training-curves.ts';
import { isNotOffered } from '../../../service/errors.ts';
import { parseTime } from '../../../text/time.ts';
import { useHeldOutQuery } from '../../data/use-held-out.ts';
import { type Live, type LivePart, useLive, useLives } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { RunCurves, StepTime } from './curves.ts';

export interface ChartedRun extends RunCurves {
  readonly id: string;
  readonly name: string;
  readonly ended: boolean;
  /** Whether the service has no curves. */
  readonly missing: boolean;
}

export interface LiveCurves extends RunCurves {
  readonly missing: boolean;
  /** The trainer curve's freshness; it has a point for each step. */
  readonly freshness: Freshness;
  /** The curves, for refreshing them; they are not final while a round is incomplete. */
  readonly parts: readonly LivePart[];
}

const none: readonly never[] = [];

/**
 * How many steps a curve should have; undefined while the progress cannot be read, because the curve may grow unseen.
 */
export const stepsWanted = ({ data, error }: Pick<Live<TrainingProgress>, 'data' | 'error'>): number | undefined =>
  error ? undefined : (data?.completed_steps ?? undefined);

/** A run's curves; `missing` if the service has none. */
export function useRunCurves(runId: string, ended: boolean, attention: Attention, steps?: number): LiveCurves {
  const trainer = useLive(trainerRewardsQuery(runId, ended, steps), attention);
  const query = useHeldOutQuery()(runId, ended);
  const heldOut = useLive(query, attention);
  const { data = none, refresh, freshness } = heldOut;
  return {
    trainer: trainer.data ?? emptyCurve,
    heldOut: data,
    missing: isNotOffered(trainer.error) ?? false,
    freshness: trainer.freshness,
    parts: [
      { refresh: trainer.refresh },
      { refresh, ...((hasOutstanding(data) || query.activity(data) === 'settling') && { freshness }) },
    ],
  };
}

/** The fields that identify a run on a chart. */
export type RunToChart = Pick<ChartedRun, 'id' | 'name'> & Partial<Pick<TrainingRun, 'status'>>;

/** The curves of any number of runs. */
export function useChartedRuns(runs: readonly RunToChart[], attention: Attention) {
  const running = runs.filter(({ status }) => isRunning(status));
  const progress = useLives(
    running.map(({ id }) => trainingProgressQuery(id)),
    attention,
  );
  const progressOf = ({ id }: RunToChart) => progress[running.findIndex(each => each.id === id)];
  const ended = runs.map(run => hasEnded(progressOf(run)?.data?.status ?? run.status));
  const trainer = useLives(
    runs.map((run, index) => {
      const read = progressOf(run);
      return trainerRewardsQuery(run.id, ended[index] ?? false, read && stepsWanted(read));
    }),
    attention,
  );
  const heldOutQuery = useHeldOutQuery();
  const heldOut = useLives(
    runs.map(({ id }, index) => heldOutQuery(id, ended[index] ?? false)),
    attention,
  );
  const charted = runs.map(({ id, name }, index) => ({
    ...{ id, name, ended: ended[index] ?? false },
    trainer: trainer[index]?.data ?? emptyCurve,
    heldOut: heldOut[index]?.data ?? none,
    missing: isNotOffered(trainer[index]?.error) ?? false,
  }));
  return { runs: charted, parts: [...progress, ...trainer, ...heldOut] };
}

/**
 * Returns a function that finds a run's known step times: its start, its checkpoints, its progress as observed here,
 * and its end.
 */
export function useStepTimes(runs: readonly ChartedRun[], isWanted: boolean): (run: ChartedRun) => readonly StepTime[] {
  const { remembered } = useWorkbench();
  const runsToTime = isWanted ? runs : [];
  const records = useLives(
    runsToTime.map(({ id }) => trainingRunQuery(id)),
    'visible',
  );
  const checkpoints = useLives(
    runsToTime.map(({ id, ended }) => checkpointTimesQuery(id, ended)),
    'visible',
  );
  return run => {
    const index = runsToTime.findIndex(({ id }) => id === run.id);
    const { created_at, completed_at } = records[index]?.data ?? {};
    const timed = (step: number | null | undefined, at: number | undefined): readonly StepTime[] =>
      step == null || at === undefined ? [] : [{ step, at }];
    return [
      ...timed(0, parseTime(created_at)),
      ...(checkpoints[index]?.data ?? []).flatMap(each => timed(each.step_index, parseTime(each.created_at))),
      ...remembered.progress.of(run.id).flatMap(each => timed(each.completed_steps, each.at)),
      ...timed(run.trainer.steps.at(-1), parseTime(completed_at)),
    ];
  };
}
