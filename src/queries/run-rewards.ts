/** An evaluation run's rewards, by task. */

import { maxOf, minOf } from '../base/many.ts';
import { mean } from '../base/statistics.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { joinedRows, rowsMadeOf } from '../contract/lists.ts';
import { counted } from '../text/numbers.ts';
import { type QueryContext, readShared, type SharedQuery } from './query-context.ts';

interface Rollout {
  readonly reward: number | undefined;
  readonly trajectory_id: string | undefined;
}

export interface Rollouts {
  readonly listed: readonly Rollout[];
  /** The run's rollouts that the service does not list. */
  readonly unlisted: number;
}

/** The rewards of the listed rollouts. */
export const ratedRewards = ({ listed }: Rollouts): number[] => listed.flatMap(each => each.reward ?? []);

interface RunRewards {
  readonly tasks: ReadonlyMap<string, Rollouts>;
  /** Rollouts whose task is unknown. */
  readonly nameless: Rollouts;
}

/** The mean of a run's numeric rewards, and their number. */
export interface RewardMean {
  readonly mean: number | undefined;
  readonly rewards: number;
}

export const valuesOf = (rewards: readonly TrajectoryReward[]): number[] =>
  rewards.flatMap(({ reward: value }) => value ?? []);

export function meanOfRewards(rewards: readonly TrajectoryReward[]): RewardMean {
  const values = valuesOf(rewards);
  return { mean: mean(values), rewards: values.length };
}

/** The lowest and the highest reward; undefined without rewards. */
export function extremesOf(rewards: readonly TrajectoryReward[]): {
  readonly lowest?: number;
  readonly highest?: number;
} {
  const values = valuesOf(rewards);
  return values.length === 0 ? {} : { lowest: minOf(values), highest: maxOf(values) };
}

/**
 * Groups rewards by task. Services may leave out failed rollouts. If the total allows the same number of rollouts for
 * every task, the missing ones belong to the tasks with fewer; otherwise to unknown tasks.
 *
 * @param more ids of other tasks that the run may include
 */
export function rewardsByTask(
  {
    rewards,
    total = rewards.length,
  }: { readonly rewards: readonly TrajectoryReward[]; readonly total?: number | undefined },
  more: Iterable<string> = [],
): RunRewards {
  const tasks = new Map<string, Rollout[]>();
  const nameless: Rollout[] = [];
  for (const { task_id, reward, trajectory_id } of rewards) {
    const rollout = { reward: reward ?? undefined, trajectory_id: trajectory_id ?? undefined };
    if (!task_id) nameless.push(rollout);
    else if (tasks.has(task_id)) tasks.get(task_id)?.push(rollout);
    else tasks.set(task_id, [rollout]);
  }
  for (const task_id of more) if (!tasks.has(task_id)) tasks.set(task_id, []);
  const unlisted = Math.max(0, total - rewards.length);
  const each = total / tasks.size;
  const lengths = [...tasks.values()].map(({ length }) => length);
  const isEven = nameless.length === 0 && maxOf(lengths, 0) === each;
  return {
    tasks: new Map([...tasks].map(([id, listed]) => [id, { listed, unlisted: isEven ? each - listed.length : 0 }])),
    nameless: { listed: nameless, unlisted: isEven ? 0 : unlisted },
  };
}

export const taskIds = (rewards: readonly TrajectoryReward[]): string[] =>
  rewards.flatMap(({ task_id }) => task_id || []);

/** How many trajectories in a list have several rewards. */
const contradictionCounts = new WeakMap<object, number>();

/** The note about trajectories with several rewards; empty if there are none. */
export function describeContradictions(...lists: readonly (readonly TrajectoryReward[])[]): string {
  const count = lists.reduce((sum, list) => sum + (contradictionCounts.get(list) ?? 0), 0);
  const subject = counted(count, 'trajectory has', 'trajectories have');
  return count === 0 ? '' : `${subject} several rewards in the service's response: the last one counts`;
}

/**
 * Removes duplicate trajectories. A repeated row is not a second rollout: if a list shifts while its pages are read,
 * two of them may contain the same row. The later row wins, because its reward may have been added or corrected; fields
 * that it lacks come from the earlier one. Rows with the same id but different tasks are two rollouts. Rows without a
 * trajectory cannot be compared, so all of them count.
 */
export function eachOnce(rewards: readonly TrajectoryReward[]): readonly TrajectoryReward[] {
  const rows = new Map<string | object, TrajectoryReward>();
  const changed = new Set<string | object>();
  for (const row of rewards) {
    const present = Object.entries(row).filter(([, value]) => value != null);
    const first = row.trajectory_id || row;
    const task = rows.get(first)?.task_id;
    const key = task && row.task_id && task !== row.task_id ? JSON.stringify([first, row.task_id]) : first;
    const before = rows.get(key);
    if (before?.reward != null && row.reward != null && before.reward !== row.reward) changed.add(key);
    rows.set(key, before ? { ...before, ...Object.fromEntries(present) } : row);
  }
  if (rows.size === rewards.length) return rewards;
  const once = rowsMadeOf(rewards, [...rows.values()]);
  contradictionCounts.set(once, changed.size);
  return once;
}

/** Concatenates the rewards of several runs, along with the notes about their lists. */
export function joinedRewards(lists: readonly (readonly TrajectoryReward[])[]): readonly TrajectoryReward[] {
  const all = joinedRows(lists);
  contradictionCounts.set(
    all,
    lists.reduce((sum, list) => sum + (contradictionCounts.get(list) ?? 0), 0),
  );
  return all;
}

const rewardsQuery = (eval_run_id: string, isOver: boolean): SharedQuery<readonly TrajectoryReward[]> => ({
  key: ['evaluations', 'listed rewards', eval_run_id, isOver],
  read: async ({ service, signal }) => {
    const answer = await service.call('getTrajectoryRewards', { params: { eval_run_id } }, { signal });
    return eachOnce(answer.trajectory_rewards);
  },
});

/**
 * Reads the rewards for a run's trajectories, without duplicates. A command reads them once, and once more after the
 * end, because earlier ones may be incomplete.
 *
 * @param isOver whether the run is known to have ended
 * @throws ServiceError
 */
export const readTrajectoryRewards = (
  eval_run_id: string,
  context: QueryContext,
  isOver = false,
): Promise<readonly TrajectoryReward[]> => readShared(rewardsQuery(eval_run_id, isOver), context);
