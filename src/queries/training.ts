/** Queries and actions for training runs. */
import { isDeepStrictEqual } from 'node:util';

import { pushAll } from '../base/many.ts';
import { failureReason, type ListQuery } from '../contract/common.ts';
import type { EvalRun, TrajectoryReward } from '../contract/evaluations.ts';
import { notePage, unreadableIn } from '../contract/lists.ts';
import { hasEnded, isRunning, statusMeaning } from '../contract/status.ts';
import { lastReward, type TrainerCurve } from '../contract/trainer-curve.ts';
import type { TrainerCurveReader } from '../contract/trainer-curve-reader.ts';
import type { Checkpoint, HeldOutReward, TrainingProgress, TrainingRun } from '../contract/training.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { ifThere } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import type { AnswerHead, CallOptions } from '../service/options.ts';
import { readPages } from '../service/pagination.ts';
import { beganIn } from '../store/seen.ts';
import type { ProgressPoint, RememberedStore } from '../store/store.ts';
import { countOf } from '../text/numbers.ts';
import { parseTime } from '../text/time.ts';
import { action } from './action.ts';
import { benchmarkQuery } from './benchmarks.ts';
import { rememberCheckpoints } from './checkpoint-memory.ts';
import { unreadCheckpoints } from './checkpoint-names.ts';
import { readAcross } from './every-benchmark.ts';
import { decidingSplit, evenCurve, failedRounds, hasOutstanding, heldOutMeans, otherSplits } from './held-out.ts';
import { amended } from './lists/amended.ts';
import { type AnnotatedPage, type ListSource, readRows, wholePage } from './lists/list-source.ts';
import { type LiveQuery, shareWhole } from './live-query.ts';
import { activityOfRun, activityOfRuns } from './polling.ts';
import type { QueryContext } from './query-context.ts';
import { readPart, remembering, rememberingOne } from './remembered-fallback.ts';
import type { RunInput } from './run-options.ts';
import type { Observation } from './statuses/known-resource.ts';

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

export function observeTraining(run: ProgressedRun): Observation {
  return {
    kind: 'training',
    id: run.training_run_id,
    label: run.display_name,
    status: run.status,
    done: run.completed_steps,
    total: run.total_steps,
    startedAt: run.created_at,
    endTime: run.completed_at,
    reason: failureReason(run.failure),
    parent: run.bench_id,
    record: run,
  };
}

export const startTraining = action(
  (service, { model, checkpoint, trained: _, ...rest }: RunInput, options) => {
    const body = { base_model_slug: model, parent_checkpoint_id: checkpoint, ...rest };
    return service.call('startTraining', { body }, options);
  },
  {
    touches: [trainingKeys.all],
    keyed: 'startTraining',
    starts: (run, asked) => observeTraining({ ...run, display_name: run.display_name ?? asked.display_name }),
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
        const read = await ifThere(true, () => service.call('getTrainingRun', input, options));
        return read ?? service.call('getTrainingProgress', input, options);
      },
    },
  },
);

const listed = (service: Service, training_run_id: string, query: ListQuery, options?: CallOptions) =>
  service.call('listCheckpoints', { params: { training_run_id }, query }, options);

/** The checkpoints of a run, newest last; `unreadCheckpoints` says why some may be missing. @throws ServiceError */
export async function checkpointsByStep(
  service: Service,
  runId: string,
  options?: CallOptions,
): Promise<readonly Checkpoint[]> {
  const checkpoints: Checkpoint[] = [];
  const readPage = (cursor: string | undefined) =>
    readRows({ cursor }, query => listed(service, runId, query, options));
  let dropped = 0;
  let hasMore = false;
  for await (const page of readPages(readPage)) {
    pushAll(checkpoints, page.items);
    dropped += page.dropped;
    hasMore = page.isCutOff;
  }
  checkpoints.sort((left, right) => (left.step_index ?? 0) - (right.step_index ?? 0));
  notePage(checkpoints, { dropped, cursor: null, hasMore });
  return checkpoints;
}

/** @throws Error for the user if other checkpoints may be newer */
function requireAll(checkpoints: readonly Checkpoint[]): void {
  const unread = unreadCheckpoints(checkpoints);
  if (unread)
    throw new Error(`The newest checkpoint is not known: ${unread}. Choose one among the checkpoints of the run.`);
}

/** The newest checkpoint of a run. @throws Error for the user if it has none yet, or not all could be read */
export async function lastCheckpoint(service: Service, runId: string): Promise<Checkpoint> {
  const checkpoints = await checkpointsByStep(service, runId);
  requireAll(checkpoints);
  const last = checkpoints.at(-1);
  if (!last) throw new Error('The run has no committed checkpoint yet.');
  return last;
}

/** The newest deployable checkpoint of a run. @throws Error for the user if there is none, or not all could be read */
export async function lastDeployable(service: Service, runId: string): Promise<Checkpoint> {
  const checkpoints = await checkpointsByStep(service, runId);
  requireAll(checkpoints);
  const last = checkpoints.findLast(({ is_deployable }) => is_deployable !== false);
  if (last) return last;
  throw new Error(
    checkpoints.length === 0
      ? 'The run has no committed checkpoint yet.'
      : 'The service says that none of its checkpoints can be deployed.',
  );
}

/** The step budget of a run, from its progress, otherwise its options. */
export function stepsOf({ options, total_steps }: ProgressedRun): number | undefined {
  const steps = countOf(total_steps) ?? options?.['num_steps'];
  return typeof steps === 'number' && Number.isFinite(steps) ? countOf(steps) : undefined;
}

const remembered = {
  kind: 'training',
  idName: 'training_run_id',
  words: 'training runs',
  observe: observeTraining,
} as const;

const listRuns = ({ service, signal }: QueryContext, bench_id: string, query: ListQuery) =>
  service.call('listTrainingRuns', { params: { bench_id }, query }, { signal });

/** The training runs of all benchmarks, newest first, without progress. */
export const everyPlainTrainingRun: ListSource<TrainingRun> = remembering(
  {
    key: trainingKeys.everyRun,
    id: row => row.training_run_id,
    costly: true,
    readPage: context =>
      readAcross(context, {
        words: 'training runs',
        operation: 'listTrainingRuns',
        read: (benchId, query) => listRuns(context, benchId, query),
      }),
    activity: activityOfRuns,
  },
  remembered,
);

function runsOf(benchId: string): ListSource<TrainingRun> {
  const listed: ListSource<TrainingRun> = {
    key: trainingKeys.runsOf(benchId),
    id: row => row.training_run_id,
    readPage: context =>
      readPart('listTrainingRuns', benchmarkQuery(benchId), context, () =>
        readRows(context.query, query => listRuns(context, benchId, query)),
      ),
    activity: activityOfRuns,
  };
  return remembering(listed, { ...remembered, parent: benchId });
}

/** A training run with its progress, which its record lacks. */
export type ProgressedRun = TrainingRun &
  Partial<Pick<TrainingProgress, 'completed_steps' | 'total_steps'>> & {
    /** When it was seen leaving the queue, as a time in UTC; null if nobody saw it leave. */
    readonly began_at?: string | null;
  };

/**
 * Adds the progress of each run to a list. It is requested once for runs that ended before their last step, and for
 * unfinished runs that nothing else polls; it is left out if unavailable.
 */
function withProgress(source: ListSource<TrainingRun>): ListSource<ProgressedRun> {
  const { readPage, fallback } = source;
  const progressed = async (
    context: QueryContext,
    page: AnnotatedPage<TrainingRun>,
  ): Promise<AnnotatedPage<ProgressedRun>> => {
    const { service, signal } = context;
    const known: ProgressedRun[] = page.items.map(run =>
      withBegin({ ...run, ...progressOf(run, context.memory) }, context.memory),
    );
    const ask = async (run: ProgressedRun): Promise<ProgressedRun> => {
      const params = { training_run_id: run.training_run_id };
      const { completed_steps, total_steps } = await service.call('getTrainingProgress', { params }, { signal });
      return { ...run, completed_steps, total_steps: total_steps ?? run.total_steps };
    };
    const asks = (run: ProgressedRun): boolean => asksProgress(run) && !(context.isFollowed && isRunning(run.status));
    const items = [...(await amended(known, asks, ask, signal))];
    return { ...page, items };
  };
  return {
    ...source,
    readPage: async context => progressed(context, await readPage(context)),
    fallback: fallback && (async context => progressed(context, await fallback(context))),
  };
}

/** The training runs of all benchmarks, newest first, with their progress. */
export const everyTrainingRun = withProgress(everyPlainTrainingRun);

/** The training runs of a benchmark with their progress. */
export const trainingRunsOf = (benchId: string): ListSource<ProgressedRun> => withProgress(runsOf(benchId));

function asksProgress(run: ProgressedRun): boolean {
  const meaning = run.status && statusMeaning(run.status);
  return run.completed_steps === undefined && meaning !== undefined && meaning !== 'success' && meaning !== 'waiting';
}

/** When a run was seen leaving the queue. */
export function beginOfRun(id: string, memory: Pick<RememberedStore, 'find'>): Pick<ProgressedRun, 'began_at'> {
  const began_at = beganIn(memory.find('training', id)?.record);
  return began_at === undefined ? {} : { began_at };
}

const withBegin = (run: ProgressedRun, memory: RememberedStore): ProgressedRun =>
  hasEnded(run.status) ? { ...run, ...beginOfRun(run.training_run_id, memory) } : run;

/** The remembered progress of a run, if it is still valid. */
function progressOf(run: TrainingRun, memory: RememberedStore): Pick<ProgressedRun, 'completed_steps' | 'total_steps'> {
  // The progress of a run that had ended early is final. A successful run has done all its steps.
  const isFinal = hasEnded(run.status) && statusMeaning(run.status ?? '') !== 'success';
  if (!isFinal && stepsOf(run) !== undefined) return {};
  const { status, completed_steps, total_steps } = memory.find('training', run.training_run_id)?.record ?? {};
  return {
    ...(isFinal && status === run.status && typeof completed_steps === 'number' && { completed_steps }),
    ...(typeof total_steps === 'number' && { total_steps }),
  };
}

export function trainingRunQuery(runId: string): LiveQuery<ProgressedRun> {
  const query: LiveQuery<TrainingRun> = {
    key: trainingKeys.one(runId),
    activity: run => activityOfRun(run?.status),
    read: ({ service, signal }) => service.call('getTrainingRun', { params: { training_run_id: runId } }, { signal }),
  };
  const recorded = rememberingOne(query, runId, remembered, {
    listed: {
      by: 'listTrainingRuns',
      in: parent => (parent === undefined ? everyPlainTrainingRun : runsOf(parent)),
    },
    read: async ({ service, signal }, seen) => {
      const progress = await service.call('getTrainingProgress', { params: { training_run_id: runId } }, { signal });
      // A remembered status is valid only if it is final.
      if (progress.status == null && hasEnded(seen?.status)) {
        return { ...seen, ...progress, status: seen?.status, training_run_id: runId };
      }
      return { ...seen, status: null, ...progress, training_run_id: runId, remembered_at: undefined };
    },
  });
  return {
    ...recorded,
    read: async context => withBegin(await recorded.read(context), context.memory),
  };
}

/** The progress of a run. Every answer is recorded, so that there is a curve even if the service has none. */
export function trainingProgressQuery(runId: string): LiveQuery<TrainingProgress> {
  return {
    key: trainingKeys.progress(runId),
    activity: progress => activityOfRun(progress?.status),
    about: { kind: 'training', id: runId },
    observes: ({ status, completed_steps, total_steps, failure }) => ({
      kind: 'training',
      id: runId,
      status,
      done: completed_steps,
      total: total_steps,
      reason: failureReason(failure),
      // The record may lack it.
      ...(total_steps != null && { record: { ...(status != null && { status }), total_steps } }),
    }),
    read: ({ service, signal }) =>
      service.call('getTrainingProgress', { params: { training_run_id: runId } }, { signal }),
  };
}

export function checkpointList(runId: string, ended: boolean): ListSource<Checkpoint> {
  return {
    key: trainingKeys.checkpoints(runId),
    id: row => row.checkpoint_id,
    readPage: async context => {
      const { service, query, signal, memory } = context;
      const page = await readPart('listCheckpoints', trainingRunQuery(runId), context, () =>
        readRows(query, asked => listed(service, runId, asked, { signal })),
      );
      rememberCheckpoints(runId, page.items, memory);
      return page;
    },
    partOf: partOfTraining(runId),
    activity: () => (ended ? 'settled' : 'running'),
  };
}

/** How far the service's clock was behind this machine's when these checkpoints were read, by its answer; milliseconds. */
const behindMs = new WeakMap<readonly Checkpoint[], number>();
/** Less is the time of the answer, or does no harm. */
const leastBehindMs = 60_000;

/**
 * The steps that were saved in checkpoints, by time: a run that was reset saves earlier steps again. A clock that is
 * behind would make a new one old, and a stall of a run that moves.
 */
export const checkpointTimes = (checkpoints: readonly Checkpoint[]): readonly ProgressPoint[] =>
  checkpoints
    .flatMap(({ step_index, created_at }) => {
      const saved = parseTime(created_at);
      if (step_index == null || saved === undefined) return [];
      const at = saved + (behindMs.get(checkpoints) ?? 0);
      return [{ completed_steps: step_index, at, since: at }];
    })
    .toSorted((left, right) => left.at - right.at);

/** As many of the newest checkpoints tell the pace of a run. */
const newestCheckpoints = 12;

/** All checkpoints of a run, oldest first, for the times of its steps. */
export function checkpointTimesQuery(runId: string, ended: boolean): LiveQuery<readonly Checkpoint[]> {
  return {
    key: [...trainingKeys.checkpoints(runId), 'all'],
    activity: () => (ended ? 'settled' : 'building'),
    share: shareWhole,
    observes: rows => ({ kind: 'training', id: runId, checkpoints: checkpointTimes(rows).slice(-newestCheckpoints) }),
    read: async ({ service, signal }) => {
      let behind = 0;
      const onAnswer = ({ headers }: AnswerHead): void => {
        const ms = Date.now() - Date.parse(headers['date'] ?? '');
        behind = ms > leastBehindMs ? ms : 0;
      };
      const checkpoints = await checkpointsByStep(service, runId, { signal, onAnswer });
      behindMs.set(checkpoints, behind);
      return checkpoints;
    },
  };
}

/** The parent declaration of lists that belong to a training run. */
export function partOfTraining(runId: string): NonNullable<ListSource<never>['partOf']> {
  return { kind: 'training', id: runId, read: trainingRunQuery(runId).read };
}

/** The reader of each curve. It keeps the rows, because the next answer mostly repeats them. */
const readers = new WeakMap<TrainerCurve, TrainerCurveReader>();

/**
 * A curve is always read whole, at 35 bytes a point. Far beyond the columns of a chart, a few new points are not worth
 * more than 700 KB a second.
 */
const mostPointsASecond = 20_000;

/** @param steps the steps done, if known: a curve that has them all is read again only when there are more */
export function trainerRewardsQuery(runId: string, ended: boolean, steps?: number | null): LiveQuery<TrainerCurve> {
  return {
    key: trainingKeys.trainerRewards(runId),
    share: shareWhole,
    observes: curve => ({
      ...{ kind: 'training', id: runId, mean: lastReward(curve) },
      curve: evenCurve(curve.steps, curve.rewards),
    }),
    activity: curve => {
      if (ended) return curve && curve.steps.length < (steps ?? 0) ? 'settling' : 'settled';
      if (!curve || steps == null || curve.steps.length < steps) return 'running';
      return curve.steps.length === steps ? 'settled' : 'open';
    },
    leastMs: curve => ((curve?.steps.length ?? 0) / mostPointsASecond) * 1_000,
    read: async context => {
      const params = { training_run_id: runId };
      const { TrainerCurveReader } = await import('../contract/trainer-curve-reader.ts');
      const previous = context.previous as TrainerCurve | undefined;
      let known = previous && readers.get(previous);
      // A cancelled read and its successor must not share it, and a retry cannot know what a lost answer left in it.
      if (previous) readers.delete(previous);
      let reader = new TrainerCurveReader();
      const begin = (): TrainerCurveReader => {
        reader = known ?? new TrainerCurveReader();
        known = undefined;
        return reader;
      };
      const options = { signal: context.signal, longList: { name: 'trainer_rewards', begin } };
      const answer = await readPart('getTrainerRewards', trainingRunQuery(runId), context, () =>
        context.service.call('getTrainerRewards', { params }, options),
      );
      // Some services wrap the list in another way.
      for (const row of answer.trainer_rewards) reader.add(row);
      const curve = shareWhole(previous, reader.curve(unreadableIn(answer.trainer_rewards)));
      readers.set(curve, reader);
      return curve;
    },
  };
}

/**
 * The held-out rewards of a run on the tasks of one split, see `decidingSplit`.
 *
 * @param isFinal whether those of an ended run are final, apart from incomplete rounds
 */
export function heldOutRewardsQuery(
  runId: string,
  ended: boolean,
  isFinal: () => boolean = () => true,
): LiveQuery<readonly HeldOutReward[]> {
  return {
    key: trainingKeys.heldOutRewards(runId),
    share: (previous, answer) =>
      isDeepStrictEqual(otherSplits(previous ?? []), otherSplits(answer)) ? shareWhole(previous, answer) : answer,
    observes: rewards => ({
      kind: 'training',
      id: runId,
      measured: heldOutMeans(rewards) ?? null,
      failedRounds: failedRounds(rewards),
    }),
    // New rewards arrive only every few steps. The last rounds may be complete only after the end of the run.
    activity: rewards => {
      if (!ended) return 'building';
      if (rewards && hasOutstanding(rewards)) return 'open';
      return rewards && !isFinal() ? 'settling' : 'settled';
    },
    read: async context => {
      const params = { training_run_id: runId };
      const answer = await readPart('getHeldOutRewards', trainingRunQuery(runId), context, () =>
        context.service.call('getHeldOutRewards', { params }, { signal: context.signal }),
      );
      return decidingSplit(answer.held_out_rewards);
    },
  };
}

/** The tasks of the held-out curve of the training run that made the evaluated checkpoint, if they can be read. */
export async function readHeldOutSplit(
  { parent_checkpoint_id, training_run_id, split }: EvalRun,
  context: QueryContext,
): Promise<string | undefined> {
  if (!parent_checkpoint_id || !training_run_id || split == null) return undefined;
  const read = heldOutRewardsQuery(training_run_id, true).read(context);
  const rewards = await read.catch((error: unknown) => {
    if (context.signal.aborted) throw error;
  });
  return heldOutMeans(rewards ?? [])?.best.split;
}

/** The reward of a rollout, with its position in the answer, since not every rollout has an id. */
export type StepRollout = TrajectoryReward & { readonly place: number };

/** The rewards of a completed step's rollouts, which are final. @param task only those of this task */
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

/** The same rollouts as trajectories: their other fields are unknown. Rewards without a trajectory are left out. */
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

export function checkpointQuery(runId: string, step: number): LiveQuery<Checkpoint> {
  return {
    key: [...trainingKeys.checkpoints(runId), step],
    activity: () => 'settled',
    read: ({ service, signal }) =>
      service.call('getCheckpoint', { params: { training_run_id: runId, step_index: step } }, { signal }),
  };
}
