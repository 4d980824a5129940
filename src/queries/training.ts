/** Queries and actions for training runs. */
import { own } from '../base/own-property.ts';
import { failureReason, type ListQuery } from '../contract/common.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { unreadableIn } from '../contract/lists.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import type { TrainingProgress, TrainingRun } from '../contract/training.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { ifThere } from '../service/errors.ts';
import { atStatus } from '../store/seen.ts';
import type { RememberedResource, RememberedStore } from '../store/store.ts';
import { countOf } from '../text/numbers.ts';
import { action } from './action.ts';
import { runLists } from './every-benchmark.ts';
import { amendRows } from './lists/amended.ts';
import { type AnnotatedPage, type ListSource, wholePage } from './lists/list-source.ts';
import type { LiveQuery } from './live-query.ts';
import { activityOfRun } from './polling.ts';
import type { QueryContext } from './query-context.ts';
import { rememberedKind } from './remembered-fallback.ts';
import type { RunInput } from './run-options.ts';

export const trainingKeys = {
  all: ['training'],
  everyRun: ['training', 'runs'],
  runsOf: (benchId: string) => ['training', 'runs', benchId],
  one: (runId: string) => ['training', 'one', runId],
  progress: (runId: string) => ['training', 'progress', runId],
  checkpoints: (runId: string) => ['training', 'checkpoints', runId],
  trainerRewards: (runId: string) => ['training', 'trainer-rewards', runId],
  heldOutRewards: (runId: string) => ['training', 'held-out-rewards', runId],
  stepsRead: (runId: string) => ['training', 'steps-read', runId],
  stepRewards: (runId: string, step: number) => ['training', 'step-rewards', runId, step],
} as const;

/** A training run with its progress, which the record lacks. */
export type ProgressedRun = TrainingRun &
  Partial<Pick<TrainingProgress, 'completed_steps' | 'total_steps'>> & {
    /** When it was seen leaving the queue, in epoch milliseconds; null if that was not seen. */
    readonly began_at?: number | null;
  };

/** Adds to an ended run when it was seen leaving the queue. */
export const withBegin = (run: ProgressedRun, { beganAt }: Partial<RememberedResource> = {}): ProgressedRun =>
  hasEnded(run.status) && beganAt !== undefined ? { ...run, began_at: beganAt } : run;

const remembered = rememberedKind<ProgressedRun>({
  kind: 'training',
  idName: 'training_run_id',
  words: 'training runs',
  observe: ({ began_at: _, ...run }) => ({
    record: run,
    label: run.display_name,
    status: run.status,
    done: run.completed_steps,
    total: run.total_steps,
    startedAt: run.created_at,
    endTime: run.completed_at,
    reason: failureReason(run.failure),
    waits: run.waits_because,
    parent: run.bench_id,
    roundSteps: numberIn(run.options, 'held_out_every'),
  }),
  recall: withBegin,
});

export const { observe: observeTraining } = remembered;

function numberIn(options: TrainingRun['options'], name: string): number | undefined {
  const value = own(options ?? {}, name);
  return typeof value === 'number' && Number.isFinite(value) ? countOf(value) : undefined;
}

export const startTraining = action(
  (service, { model, checkpoint, trained: _, ...rest }: RunInput, options) => {
    const body = { base_model_slug: model, parent_checkpoint_id: checkpoint, ...rest };
    return service.call('startTraining', { body }, options);
  },
  {
    touches: [trainingKeys.all],
    keyed: 'startTraining',
    starts: (run, input) => observeTraining({ ...run, display_name: run.display_name ?? input.display_name }),
  },
);

/** Cancels a run, which ends after the current step. */
export const cancelTraining = action(
  (service, { training_run_id }: Pick<TrainingRun, 'training_run_id'>, options) =>
    service.call('cancelTraining', { params: { training_run_id } }, options),
  { touches: [trainingKeys.all] },
);

export const deleteTraining = action(
  (service, { training_run_id }: Pick<TrainingRun, 'training_run_id'>, options) =>
    service.call('deleteTrainingRun', { params: { training_run_id } }, options),
  {
    touches: [trainingKeys.all],
    removes: {
      resource: ({ training_run_id }) => ({ kind: 'training', id: training_run_id }),
      reread: async (service, { training_run_id }, options): Promise<unknown> => {
        const input = { params: { training_run_id } };
        const read = await ifThere(() => service.call('getTrainingRun', input, options));
        return read ?? service.call('getTrainingProgress', input, options);
      },
    },
  },
);

/** A run's step budget, from its progress or else its options. */
export function stepsOf({ options, total_steps }: ProgressedRun): number | undefined {
  return countOf(total_steps) ?? numberIn(options, 'num_steps');
}

const listRuns = ({ service, signal }: QueryContext, bench_id: string, query: ListQuery) =>
  service.call('listTrainingRuns', { params: { bench_id }, query }, { signal });

/** A benchmark's training runs, and all benchmarks', newest first, without progress. */
export const { ofBenchmark: plainTrainingRunsOf, ofAll: everyPlainTrainingRun } = runLists<TrainingRun>({
  ...{ remembered, keys: trainingKeys, operation: 'listTrainingRuns', noun: 'training runs', read: listRuns },
});

/**
 * Adds each run's remembered progress to a list. A printed list also reads it: once for runs that ended before their
 * last step, and always for unfinished ones. Leaves out progress that cannot be read.
 */
function withProgress(source: ListSource<TrainingRun>): ListSource<ProgressedRun> {
  const { readPage, fallback } = source;
  const progressed = async (
    context: QueryContext,
    page: AnnotatedPage<TrainingRun>,
  ): Promise<AnnotatedPage<ProgressedRun>> => {
    const { service, signal } = context;
    const known: ProgressedRun[] = page.items.map(run => ({ ...run, ...progressOf(run, context.memory) }));
    const ask = async (run: ProgressedRun): Promise<ProgressedRun> => {
      const params = { training_run_id: run.training_run_id };
      const { completed_steps, total_steps } = await service.call('getTrainingProgress', { params }, { signal });
      return { ...run, completed_steps, total_steps: total_steps ?? run.total_steps };
    };
    const items = context.readsProgress ? [...(await amendRows(known, asksProgress, ask, signal))] : known;
    return { ...page, items };
  };
  return {
    ...source,
    readPage: async context => progressed(context, await readPage(context)),
    fallback: fallback && (async context => progressed(context, await fallback(context))),
  };
}

/** All benchmarks' training runs, newest first, with their progress. */
export const everyTrainingRun = withProgress(everyPlainTrainingRun);

/** A benchmark's training runs with their progress. */
export const trainingRunsOf = (benchId: string): ListSource<ProgressedRun> =>
  withProgress(plainTrainingRunsOf(benchId));

function asksProgress(run: ProgressedRun): boolean {
  const meaning = run.status && statusMeaning(run.status);
  return run.completed_steps === undefined && meaning !== undefined && meaning !== 'success' && meaning !== 'waiting';
}

/** A run's remembered progress, if it is still valid. */
function progressOf(run: TrainingRun, memory: RememberedStore): Pick<ProgressedRun, 'completed_steps' | 'total_steps'> {
  // If a run ended early, its progress is final. A successful run has finished all its steps.
  const isFinal = hasEnded(run.status) && statusMeaning(run.status ?? '') !== 'success';
  if (!isFinal && stepsOf(run) !== undefined) return {};
  const { status, completed_steps, total_steps } = memory.seen.find('training', run.training_run_id)?.record ?? {};
  return {
    ...(isFinal && status === run.status && typeof completed_steps === 'number' && { completed_steps }),
    ...(typeof total_steps === 'number' && { total_steps }),
  };
}

export function trainingRunQuery(runId: string): LiveQuery<ProgressedRun> {
  const query: LiveQuery<ProgressedRun> = {
    key: trainingKeys.one(runId),
    activity: run => activityOfRun(run?.status),
    read: ({ service, signal }) => service.call('getTrainingRun', { params: { training_run_id: runId } }, { signal }),
  };
  return remembered.one(query, runId, {
    listed: {
      by: 'listTrainingRuns',
      in: parent => (parent === undefined ? everyPlainTrainingRun : plainTrainingRunsOf(parent)),
    },
    read: async ({ service, signal }, seen) => {
      const progress = await service.call('getTrainingProgress', { params: { training_run_id: runId } }, { signal });
      // A remembered status is valid only if it is final.
      if (progress.status == null && hasEnded(seen?.status)) {
        return { ...seen, ...progress, status: seen?.status, training_run_id: runId };
      }
      const before = seen && atStatus(seen, progress.status);
      return { ...before, status: null, ...progress, training_run_id: runId, remembered_at: undefined };
    },
  });
}

/** A run's progress. Each response is recorded, so that there is a curve even if the service has none. */
export function trainingProgressQuery(runId: string): LiveQuery<TrainingProgress> {
  return {
    key: trainingKeys.progress(runId),
    activity: progress => activityOfRun(progress?.status),
    about: { kind: 'training', id: runId },
    observes: ({ status, completed_steps, total_steps, failure, waits_because }) => ({
      kind: 'training',
      id: runId,
      status,
      done: completed_steps,
      total: total_steps,
      reason: failureReason(failure),
      waits: waits_because,
      // Remember fields that the record may lack.
      ...((total_steps != null || hasEnded(status)) && {
        record: {
          ...(status != null && { status }),
          ...(total_steps != null && { total_steps }),
          ...(hasEnded(status) && { completed_steps }),
        },
      }),
    }),
    read: ({ service, signal }) =>
      service.call('getTrainingProgress', { params: { training_run_id: runId } }, { signal }),
  };
}

/** Declares a training run as the parent of lists that belong to it. */
export function partOfTraining(runId: string): NonNullable<ListSource<never>['partOf']> {
  return { kind: 'training', id: runId, read: trainingRunQuery(runId).read };
}

/** A rollout's reward, with its position in the response, because some rollouts have no id. */
export type StepRollout = TrajectoryReward & { readonly place: number };

/** The rewards of a finished step's rollouts, which are final. @param task limits them to a task */
export function stepRewardList(runId: string, step: number, task?: string): ListSource<StepRollout> {
  return {
    key: [...trainingKeys.stepRewards(runId, step), ...(task === undefined ? [] : [task])],
    id: row => row.trajectory_id ?? `rollout ${row.place}`,
    readPage: async ({ service, signal }) => {
      const { trajectory_rewards: rewards } = await service.call(
        'getStepTrajectoryRewards',
        { params: { training_run_id: runId, step } },
        { signal },
      );
      const rollouts = rewards
        .map((row, index) => ({ ...row, place: index + 1 }))
        .filter(({ task_id }) => task === undefined || task_id === task);
      return { ...wholePage(rollouts), dropped: unreadableIn(rewards) };
    },
    activity: () => 'settled',
  };
}

/** A finished step's rollouts as trajectories, without other fields. Rewards without a trajectory are left out. */
export function stepTrajectories(runId: string, step: number): ListSource<Trajectory> {
  const list = stepRewardList(runId, step);
  return {
    key: [...list.key, 'trajectories'],
    id: row => row.trajectory_id,
    readPage: async context => {
      const { items, dropped } = await list.readPage(context);
      const rows = items.flatMap(({ trajectory_id, place: _, ...row }): Trajectory | [] =>
        trajectory_id ? { ...row, trajectory_id, policy_step: step } : [],
      );
      return { ...wholePage(rows), ...(dropped !== undefined && { dropped }) };
    },
    activity: () => 'settled',
  };
}
