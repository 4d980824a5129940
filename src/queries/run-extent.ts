/** An evaluation run's rewards, and whether they are complete. */

import * as z from 'zod/mini';
import { asError } from '../base/errors.ts';
import { maxOf, pushAll } from '../base/many.ts';
import { number, readWith, spelledId } from '../contract/common.ts';
import type { EvalRun, TrajectoryReward } from '../contract/evaluations.ts';
import { unreadableIn } from '../contract/lists.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { isNotOffered } from '../service/errors.ts';
import { readPages } from '../service/pagination.ts';
import { sentOptionsIn } from '../store/seen.ts';
import { countOf } from '../text/numbers.ts';
import { endInstant } from '../text/time.ts';
import { evalProgressQuery, evalRunQuery } from './evaluations.ts';
import type { RunExtent, SamplesPerTask } from './extent-of.ts';
import { pageSize } from './lists/list-source.ts';
import { failedOf, ownRows } from './own-rows.ts';
import { type QueryContext, readShared } from './query-context.ts';
import { type Certainty, certaintyOf, readAfterEndOf, rememberedCertainty } from './run-mean.ts';
import { joinedRewards, readTrajectoryRewards, valuesOf } from './run-rewards.ts';

/** A run's rewards and, if some are missing, its listed rollouts without a reward. */
export interface ReadRewards extends RunExtent {
  readonly rewards: readonly TrajectoryReward[];
  /** The certainty of the mean, if the run had ended before its rewards were read. */
  readonly certainty?: Certainty | undefined;
}

/**
 * Reads a run's status and total before its rewards, because rewards read after the end are complete. Remembers how
 * certain an ended run's mean is.
 *
 * @param known facts about the run that have just been read
 * @param rows its listed rollouts, if they have been read; see `withMissing`
 * @throws ServiceError
 */
export async function readRunRewards(
  eval_run_id: string,
  context: QueryContext,
  known: Partial<RunExtent> = {},
  rows?: readonly Trajectory[],
): Promise<ReadRewards> {
  const extent = known.total === undefined ? await readExtent(eval_run_id, context, known) : known;
  const { status } = extent;
  const { recorded = extent.recorded, endedAt = extent.endedAt } = known;
  const { samplesPerTask = known.samplesPerTask } = extent;
  const rewards = await readTrajectoryRewards(eval_run_id, context, hasEnded(status));
  const read = await withMissing(
    eval_run_id,
    context,
    withExtent(rewards, { ...extent, samplesPerTask, recorded, endedAt }),
    rows,
  );
  if (!hasEnded(status) || read.unread) return read;
  const certainty = certaintyNow(eval_run_id, read, context);
  context.memory.see([{ kind: 'run', id: eval_run_id, status, certainty }]);
  return { ...read, certainty };
}

/** The certainty of a mean from rewards just read; for an ended run, also whether more rewards may arrive. */
export function certaintyNow(eval_run_id: string, read: ReadRewards, { memory, compare }: QueryContext): Certainty {
  const before = rememberedCertainty(memory, eval_run_id, read)?.readAfterEnd;
  const seen = memory.seen.find('run', eval_run_id)?.record as EvalRun | undefined;
  const { recorded, endedAt } = { ...(seen && extentOfRecord(seen)), ...read };
  const readAfterEnd = readAfterEndOf(read.rewards, { ...read, recorded, endedAt }, before);
  const known = recorded?.mean === undefined ? read.recorded : recorded;
  return certaintyOf(read.rewards, { ...read, recorded: known, endedAt, range: compare?.rewardRange }, readAfterEnd);
}

/** The totals in a run's record. */
export const extentOfRecord = (run: EvalRun): RunExtent => ({
  status: run.status,
  total: countOf(run.total_rollouts),
  samplesPerTask: samplesPerTaskOf(run),
  recorded: { mean: run.reward_mean ?? undefined, graded: countOf(run.reward_count) },
  endedAt: endInstant({ startedAt: run.created_at, endTime: run.completed_at }),
});

/** Combines rewards with their run's totals. A total below the number of rewards is wrong, and is dropped. */
export function withExtent(
  rewards: readonly TrajectoryReward[],
  { status, total, samplesPerTask, recorded, endedAt, unread }: Partial<RunExtent>,
): ReadRewards {
  const listed = rewards.length + unreadableIn(rewards);
  const all = total === undefined || total < listed ? undefined : total;
  return {
    ...{ rewards, listed, status, total: all },
    ...(samplesPerTask !== undefined && { samplesPerTask }),
    ...(recorded && { recorded }),
    ...(endedAt !== undefined && { endedAt }),
    ...(unread && { unread }),
  };
}

/**
 * Reads a run's status and total. Never fails for a missing run, because reading its rewards will.
 *
 * @param known facts about the run that have just been read, which some services report nowhere else
 */
export async function readExtent(
  eval_run_id: string,
  context: QueryContext,
  known: Partial<RunExtent> = {},
): Promise<Partial<RunExtent>> {
  let total: number | undefined;
  let ended: string | undefined;
  let failure: Error | undefined;
  try {
    const progress = await readShared(evalProgressQuery(eval_run_id, undefined, hasEnded(known.status)), context);
    total = countOf(progress.total_rollouts);
    ended = progress.status ?? undefined;
    if (ended !== undefined && total !== undefined) return { status: ended, total };
  } catch (error) {
    context.signal.throwIfAborted();
    failure = isNotOffered(error) ? undefined : asError(error);
  }
  const record = await readRecord(eval_run_id, context, known);
  const status = record.status ?? known.status;
  const all = total ?? record.total;
  // If reading the progress failed, a successful run's rewards may be incomplete. Without the endpoint, nothing failed.
  const isKnown = failure === undefined || statusMeaning(status ?? '') !== 'success';
  const unread = record.unread ?? (isKnown && all !== undefined ? undefined : failure);
  return { ...record, total: all, status: ended ?? (isKnown ? status : undefined), unread };
}

/** The totals in the record, or the already known totals if the record cannot be read. */
async function readRecord(
  eval_run_id: string,
  context: QueryContext,
  known: Partial<RunExtent>,
): Promise<Partial<RunExtent>> {
  // A service without records has already sent everything in its list.
  if (known.status != null && !context.service.capabilities.has('getEvalRun')) return known;
  try {
    const run = await readShared(evalRunQuery(eval_run_id, undefined, hasEnded(known.status)), context);
    // Remember a record even without options, but not a start response, which has no status and may lack options.
    if (run.status != null)
      context.memory.see([{ kind: 'run', id: eval_run_id, record: { options: run.options ?? null } }]);
    return extentOfRecord(run);
  } catch (error) {
    context.signal.throwIfAborted();
    return { ...known, unread: isNotOffered(error) ? undefined : asError(error) };
  }
}

/**
 * Assigns missing rewards to tasks: adds the listed rollouts without a reward and, if more are missing, the number of
 * rollouts per task. That number is an option, so this reads the record unless an earlier response had the options.
 *
 * @param rows the listed rollouts read so far; read here by default
 */
export async function withMissing(
  eval_run_id: string,
  context: QueryContext,
  read: ReadRewards,
  rows?: readonly Trajectory[],
): Promise<ReadRewards> {
  if (!lacksRollouts(read)) return valuesOf(read.rewards).length === read.total ? { ...read, failed: 0 } : read;
  const placed = await withListed(eval_run_id, context, read, rows);
  if (!lacksRollouts(placed) || placed.samplesPerTask?.isSent === false) return placed;
  const samplesPerTask = await readSamplesPerTask(eval_run_id, context, placed);
  return samplesPerTask ? { ...placed, samplesPerTask } : placed;
}

const lacksRollouts = ({ total = 0, rewards, listed = rewards.length }: ReadRewards): boolean => total > listed;

/** In longer lists, missing rewards are counted but not assigned to tasks, which would take many requests. */
const maxListed = 10 * pageSize;

/**
 * Adds the listed rollouts that ended without a reward, unless the run was stopped: then its total, like the list, may
 * count only rollouts that had begun.
 */
async function withListed(
  eval_run_id: string,
  context: QueryContext,
  read: ReadRewards,
  known?: readonly Trajectory[],
): Promise<ReadRewards> {
  const { status, total = 0, rewards, listed = rewards.length } = read;
  const isOver = hasEnded(status);
  const isStopped = isOver && statusMeaning(status ?? '') !== 'success';
  // A reward without a trajectory may belong to any row.
  if (isStopped || rewards.filter(({ trajectory_id }) => trajectory_id).length < listed) return read;
  try {
    const rows = known ?? (await readListed(eval_run_id, context, total));
    const { own, unsure, fits } = ownRows(rows, { eval_run_id }, { rewards, isOver, total });
    const others = new Set([...unsure, ...rewards].map(({ trajectory_id }) => spelledId(trajectory_id ?? '')));
    const missing = own.filter(
      ({ trajectory_id, task_id, reward, status }) =>
        task_id && reward == null && (isOver || hasEnded(status)) && !others.has(spelledId(trajectory_id)),
    );
    const without = withRoom([...new Map(missing.map(row => [spelledId(row.trajectory_id), row])).values()], read);
    if (without.length === 0 || !fits || listed + without.length > total) return read;
    const more = without.map(({ trajectory_id, task_id }) => ({ trajectory_id, task_id, reward: null }));
    return {
      ...read,
      rewards: joinedRewards([rewards, more]),
      listed: listed + more.length,
      failed: failedOf(without).length,
    };
  } catch (error) {
    context.signal.throwIfAborted();
    return isNotOffered(error) ? read : { ...read, unread: asError(error) };
  }
}

/**
 * Leaves out rollouts beyond the number per task, i.e. the option or else the most rewards of any task: they failed and
 * were retried, so the missing rewards belong to other tasks.
 */
function withRoom(rows: readonly Trajectory[], { rewards, samplesPerTask }: ReadRewards): readonly Trajectory[] {
  const counts = new Map<string, number>();
  const add = (task: string): number => {
    const count = (counts.get(task) ?? 0) + 1;
    counts.set(task, count);
    return count;
  };
  const rated = maxOf(
    rewards.map(({ task_id }) => (task_id ? add(task_id) : 0)),
    0,
  );
  const each = samplesPerTask?.each ?? (rated || Number.POSITIVE_INFINITY);
  return rows.filter(({ task_id }) => add(task_id ?? '') <= each);
}

async function readListed(
  eval_run_id: string,
  { service, signal }: QueryContext,
  total: number,
): Promise<readonly Trajectory[]> {
  const rows: Trajectory[] = [];
  if (service.capabilities.ignoredFilters.has('eval_run_id') || total > maxListed) return rows;
  const readPage = (cursor: string | undefined) =>
    service.call('listTrajectories', { query: { eval_run_id, limit: pageSize, cursor } }, { signal });
  for await (const { items } of readPages(readPage)) {
    pushAll(rows, items);
    if (rows.length > maxListed) return [];
  }
  return rows;
}

/** Uses a remembered record if there is one, because options cannot change. */
async function readSamplesPerTask(
  eval_run_id: string,
  context: QueryContext,
  known: Partial<RunExtent>,
): Promise<SamplesPerTask | undefined> {
  const before = context.memory.seen.find('run', eval_run_id)?.record as EvalRun | undefined;
  // A list's rows may lack options; a record has them.
  if (before?.options !== undefined) return samplesPerTaskOf(before);
  return (await readRecord(eval_run_id, context, known)).samplesPerTask;
}

const samples = z.object({ each: number });

/** The number of rollouts per task, from the options that the service returns, or else from those sent. */
function samplesPerTaskOf(run: EvalRun): SamplesPerTask | undefined {
  const name = 'evaluation_samples_per_task';
  const own = run.options?.[name];
  const { each } = readWith(samples, { each: own ?? sentOptionsIn(run)?.[name] }).data ?? {};
  return each != null && Number.isInteger(each) && each > 0 ? { each, isSent: own == null } : undefined;
}
