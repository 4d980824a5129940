/** Compares evaluation runs: two task by task, or several. */

import { enumerated } from '../base/enumerated.ts';
import { type BySide, type Side, sides } from '../base/sides.ts';
import { mean, meanDifference } from '../base/statistics.ts';
import { unreadableIn } from '../contract/lists.ts';
import { hasEnded } from '../contract/status.ts';
import { naming } from '../service/errors.ts';
import { counted, reward } from '../text/numbers.ts';
import { evaluationKeys } from './evaluations.ts';
import type { RunExtent } from './extent-of.ts';
import { isMeasuredAsChosen } from './held-out.ts';
import { type ListSource, wholePage } from './lists/list-source.ts';
import { poolRewards } from './pooled.ts';
import type { QueryContext } from './query-context.ts';
import { type ReadRewards, readRunRewards } from './run-extent.ts';
import { mayFollow } from './run-mean.ts';
import {
  describeContradictions,
  meanOfRewards,
  type Rollouts,
  ratedRewards,
  rewardsByTask,
  taskIds,
} from './run-rewards.ts';
import { readHeldOutSplit } from './training-curves.ts';

/** A task's rewards in two runs. Several rollouts of a task count as their mean. */
export interface ComparedTask {
  readonly task_id: string;
  readonly base: number | undefined;
  readonly new: number | undefined;
  /** New minus base; missing if either is missing. */
  readonly difference: number | undefined;
  readonly rollouts: BySide<Rollouts>;
  /** The runs' totals when the rewards were read; the same for every task. */
  readonly runs: BySide<RunExtent>;
}

const noRollouts: Rollouts = { listed: [], unlisted: 0 };

/** How many of a task's rollouts have no reward. */
export const withoutReward = (rollouts: Rollouts): number =>
  rollouts.listed.length - ratedRewards(rollouts).length + rollouts.unlisted;

/** The rollout with the lowest reward, or else any. */
export function lowest({ listed }: Rollouts): Rollouts['listed'][number] | undefined {
  const openable = listed.filter(({ trajectory_id }) => trajectory_id !== undefined);
  const [first, ...others] = openable.filter(each => each.reward !== undefined);
  if (!first) return openable[0];
  return others.reduce((least, each) => (Number(each.reward) < Number(least.reward) ? each : least), first);
}

/** The rollout with the highest reward, or else any. */
function highest({ listed }: Rollouts): Rollouts['listed'][number] | undefined {
  const openable = listed.filter(({ trajectory_id }) => trajectory_id !== undefined);
  return openable.toSorted((one, other) => (other.reward ?? -Infinity) - (one.reward ?? -Infinity))[0];
}

/**
 * The run that did worse on a task, by the means or, if these are equal or unknown, by the rollouts without a reward;
 * the new run if both are equal.
 */
export function lostBy({ difference, rollouts }: ComparedTask): Side {
  if (difference) return difference > 0 ? 'base' : 'new';
  return withoutReward(rollouts.base) > withoutReward(rollouts.new) ? 'base' : 'new';
}

/** Whether a task's rewards, or its number of rollouts without one, differ between the runs. */
export function isChanged({ difference, base, new: fresh, rollouts }: ComparedTask): boolean {
  if (difference !== undefined && difference !== 0) return true;
  return (base === undefined) !== (fresh === undefined) || withoutReward(rollouts.base) !== withoutReward(rollouts.new);
}

/**
 * The rollouts to look at first for a task: the worst one from the run that did worse, and the best one from the other.
 * For an unchanged task, the worst ones.
 */
export function rolloutsToShow(task: ComparedTask): BySide<Rollouts['listed'][number] | undefined> {
  const { difference, rollouts } = task;
  const lost = lostBy(task);
  const failed = rollouts[lost].listed.find(({ trajectory_id, reward }) => trajectory_id && reward === undefined);
  const best = isChanged(task) ? highest : lowest;
  const rolloutOf = (side: Side) => {
    if (side !== lost) return best(rollouts[side]);
    return (difference ? undefined : failed) ?? lowest(rollouts[side]);
  };
  return { base: rolloutOf('base'), new: rolloutOf('new') };
}

/** The task id for unlisted rollouts, whose tasks are unknown. */
export const unlistedTask = '';

/** Every task in either run. Trajectories without a task cannot be compared and are left out. */
export function compareTasks(base: ReadRewards, fresh: ReadRewards): ComparedTask[] {
  const ids = [...new Set([...taskIds(base.rewards), ...taskIds(fresh.rewards)])];
  const [baseTasks, newTasks] = [rewardsByTask(base, ids), rewardsByTask(fresh, ids)];
  const extent = ({ rewards, certainty: _, ...run }: ReadRewards): RunExtent => {
    const placed = rewards.filter(({ task_id, reward }) => task_id || reward == null).length;
    const listed = run.listed ?? rewards.length;
    return { ...run, nameless: listed - placed, unreadable: listed - rewards.length };
  };
  const runs = { base: extent(base), new: extent(fresh) };
  const tasks = ids.map(task_id => {
    const rollouts = {
      base: baseTasks.tasks.get(task_id) ?? noRollouts,
      new: newTasks.tasks.get(task_id) ?? noRollouts,
    };
    const [before, after] = [ratedRewards(rollouts.base), ratedRewards(rollouts.new)];
    return { task_id, base: mean(before), new: mean(after), difference: meanDifference(before, after), rollouts, runs };
  });
  const unlisted = { base: baseTasks.nameless.unlisted, new: newTasks.nameless.unlisted };
  if (ids.length === 0 || unlisted.base + unlisted.new === 0) return tasks;
  const none = { base: undefined, new: undefined, difference: undefined };
  const rollouts = {
    base: { listed: [], unlisted: unlisted.base },
    new: { listed: [], unlisted: unlisted.new },
  };
  return [...tasks, { task_id: unlistedTask, ...none, rollouts, runs }];
}

/**
 * Reads a run's rewards, and whether its checkpoint may have been chosen on the same tasks. The latter cannot change,
 * so it is read only once.
 */
function comparedRun(eval_run_id: string): (context: QueryContext) => Promise<ReadRewards> {
  let isChosen: boolean | undefined;
  const readIsChosen = async (context: QueryContext): Promise<boolean | undefined> => {
    const { service, signal } = context;
    try {
      const run = await service.call('getEvalRun', { params: { eval_run_id } }, { signal });
      const split = await readHeldOutSplit(run, context);
      return isMeasuredAsChosen(run, split);
    } catch {
      // The comparison works without it, and the next poll tries again.
      signal.throwIfAborted();
      return undefined;
    }
  };
  return async context => {
    const choosing = isChosen ?? readIsChosen(context);
    const reading = readRunRewards(eval_run_id, context).catch((error: unknown) => {
      throw naming(eval_run_id, error);
    });
    const [read, answer] = await Promise.all([reading, choosing]);
    isChosen = answer;
    return { ...read, isMeasuredAsChosen: isChosen };
  };
}

/** How many rewards have no task, and the means of the runs that include them; empty if all have one. */
function describeNameless(runs: readonly ReadRewards['rewards'][]): string {
  const nameless = runs.flatMap(rewards => rewards.filter(({ task_id }) => !task_id)).length;
  if (nameless === 0) return '';
  const means = runs.map(meanOfRewards).map(of => `${reward(of.mean)} over ${counted(of.rewards, 'reward')}`);
  const words = `${counted(nameless, 'reward has', 'rewards have')} no task and cannot be compared`;
  return `${words}. The means are ${enumerated(means)}`;
}

/** Reads the rewards of the compared runs, and notes about omitted ones. Several ids are pooled as one run. */
function comparedReads(pools: readonly (readonly string[])[]) {
  const runs = pools.map(ids => ids.map(comparedRun));
  return async (context: QueryContext) => {
    const read = await Promise.all(runs.map(pool => Promise.all(pool.map(readRun => readRun(context)))));
    const reads = read.map(poolRewards);
    const rewards = reads.map(each => each.rewards);
    return {
      reads,
      note: [describeNameless(rewards), describeContradictions(...rewards)].filter(Boolean).join('. ') || undefined,
      dropped: rewards.reduce((sum, each) => sum + unreadableIn(each), 0),
      // More may follow even though the runs have ended.
      mayChange: read.flat().some(run => mayFollow(run)),
    };
  };
}

/** @param baseRuns the ids of the runs to pool as the base run, at least one; `newRuns` has the same form */
export function comparison(baseRuns: readonly string[], newRuns: readonly string[]): ListSource<ComparedTask> {
  const readAll = comparedReads([baseRuns, newRuns]);
  return {
    key: [...evaluationKeys.all, 'compared', baseRuns, newRuns],
    id: row => row.task_id,
    derived: true,
    activity: ([row]) => (row && sides.every(side => hasEnded(row.runs[side].status)) ? 'settled' : 'open'),
    readPage: async context => {
      const { reads, ...page } = await readAll(context);
      const [base, fresh] = reads as [ReadRewards, ReadRewards];
      return { ...wholePage(compareTasks(base, fresh)), ...page };
    },
  };
}

/** A run with its rewards. */
export interface ComparedRun {
  readonly id: string;
  readonly name: string;
  /** The evaluated model or checkpoint, in words. */
  readonly model?: string | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** The ids of all pooled runs, if there are several. */
  readonly pool?: readonly string[] | undefined;
  readonly read: ReadRewards;
}

/** The runs' rewards, one row per run. Takes one or a few requests per run. */
export function comparedRuns(runs: readonly Omit<ComparedRun, 'read'>[]): ListSource<ComparedRun> {
  const pools = runs.map(({ id, pool = [id] }) => pool);
  const readAll = comparedReads(pools);
  return {
    key: [...evaluationKeys.all, 'compared', ...pools],
    id: row => row.id,
    derived: true,
    activity: rows => (rows.every(({ read }) => hasEnded(read.status)) ? 'settled' : 'open'),
    readPage: async context => {
      const { reads, ...page } = await readAll(context);
      const rows = runs.map(({ id, name, model, options, pool }, index): ComparedRun => {
        const { certainty: _, ...read } = reads[index] as ReadRewards;
        return { id, name, model, options, pool, read };
      });
      return { ...wholePage(rows), ...page };
    },
  };
}
