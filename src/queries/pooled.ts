/** Pools several runs: all their rollouts for a task count together. */
import { maxOf } from '../base/many.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { isOpen, type RunEnd, type TaskRewards } from '../present/statistics/tasks.ts';
import { extentOf, type SamplesPerTask } from './extent-of.ts';
import type { ReadRewards } from './run-extent.ts';
import { joinedRewards, rewardsByTask } from './run-rewards.ts';

/** A pool's end is the first of these that applies to any of its runs. */
const endOrder: readonly RunEnd[] = ['running', 'unreported', 'stopped', 'complete'];

const endOf = ({ status }: ReadRewards): number => endOrder.indexOf(extentOf({ status }).end);

const listedIn = ({ rewards, listed = rewards.length }: ReadRewards): number => listed;

function tasksOf({ rewards }: ReadRewards): readonly TaskRewards[] {
  const { tasks } = rewardsByTask({ rewards });
  return [...tasks.values()].map(({ listed }) => listed.map(({ reward }) => reward));
}

/**
 * A run's number of rollouts per task, if every task lists one: its missing rollouts then belong to these tasks.
 * Computed per run, because a service may choose other tasks for another seed.
 */
function eachIn(run: ReadRewards): number | undefined {
  const tasks = tasksOf(run);
  const { samplesPerTask, total } = extentOf(run);
  const longest = maxOf(
    tasks.map(({ length }) => length),
    0,
  );
  if (total === undefined) return samplesPerTask;
  const each = samplesPerTask ?? (total === listedIn(run) ? longest : undefined);
  return each !== undefined && each >= longest && each * tasks.length === total ? each : undefined;
}

function samplesOf(runs: readonly ReadRewards[]): SamplesPerTask | undefined {
  const each = runs.map(eachIn);
  if (each.includes(undefined)) return undefined;
  return {
    each: each.reduce<number>((sum, samples = 0) => sum + samples, 0),
    isSent: runs.some(({ samplesPerTask }) => samplesPerTask?.isSent === true),
  };
}

/** The rollouts that a run has but does not list. */
const unlistedIn = (run: ReadRewards): TrajectoryReward[] =>
  Array.from({ length: Math.max(0, (run.total ?? 0) - listedIn(run)) }, () => ({
    ...{ reward: null, trajectory_id: null, task_id: null },
  }));

/**
 * Joins the rewards of several runs.
 *
 * @param runs at least one
 */
export function poolRewards(runs: readonly ReadRewards[]): ReadRewards {
  const [first, ...others] = runs.toSorted((one, other) => endOf(one) - endOf(other));
  if (!first || others.length === 0) return first ?? { rewards: [], status: undefined, total: undefined };
  const isCounted = runs.every(({ total }) => total !== undefined);
  const lists = runs.map(({ rewards }) => rewards);
  // If some totals are unknown, the others still show that rollouts are missing.
  const missing = isCounted ? [] : runs.flatMap(unlistedIn);
  const samplesPerTask = samplesOf(runs);
  const failed = runs.reduce((sum, run) => sum + (run.failed ?? 0), 0);
  const unread = runs.find(run => run.unread)?.unread;
  const isMeasuredAsChosen = runs.some(run => run.isMeasuredAsChosen) || undefined;
  return {
    rewards: joinedRewards([...lists, missing]),
    listed: runs.reduce((sum, run) => sum + listedIn(run), missing.length),
    status: first.status,
    total: isCounted ? runs.reduce((sum, { total = 0 }) => sum + total, 0) : undefined,
    isPartOpen: runs.some(run => isOpen({ ...extentOf(run), tasks: tasksOf(run) })),
    ...(failed > 0 && { failed }),
    ...(samplesPerTask && { samplesPerTask }),
    ...(unread && { unread }),
    ...(isMeasuredAsChosen && { isMeasuredAsChosen }),
  };
}
