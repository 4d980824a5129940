/** The rewards of an evaluation run, by task. */
import { rowsMadeOf } from '../contract/common.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { type Call, type Service, type UntypedCall, untypedCall } from '../service/index.ts';
import { mean } from '../text/statistics.ts';
import type { QueryContext } from './query-context.ts';

export interface Rollout {
  readonly reward: number | undefined;
  readonly trajectory_id: string | undefined;
}

/** The rollouts of one task. */
export interface Rollouts {
  /** As listed. */
  readonly listed: readonly Rollout[];
  /** Rollouts of an ended run that the service does not list: they failed. */
  readonly unlisted: number;
}

export interface RunRewards {
  readonly tasks: ReadonlyMap<string, Rollouts>;
  /** Rollouts whose task is not known. */
  readonly nameless: Rollouts;
}

/** The mean of a run's numeric rewards, and their number. */
export interface RewardMean {
  readonly mean: number | undefined;
  readonly rewards: number;
}

export function meanOfRewards(rewards: readonly TrajectoryReward[]): RewardMean {
  const values = rewards.flatMap(({ reward: value }) => value ?? []);
  return { mean: mean(values), rewards: values.length };
}

/**
 * Groups rewards by task. Services may leave failed rollouts out: where the total is as if every task had as many
 * rollouts as the one with the most, the missing ones belong to the tasks that have fewer; otherwise one belongs to
 * each task that has none, and the others to no task that is known.
 *
 * @param more ids of other tasks that the run must have had
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
  const isEven = nameless.length === 0 && lengths.reduce((most, length) => Math.max(most, length), 0) === each;
  // A task without any rollout lacks at least one.
  const empty = lengths.filter(length => length === 0).length;
  return {
    tasks: new Map([...tasks].map(([id, listed]) => [id, { listed, unlisted: isEven ? each - listed.length : 0 }])),
    nameless: { listed: nameless, unlisted: isEven ? 0 : Math.max(0, unlisted - empty) },
  };
}

/** Ids of the tasks that rewards name. */
export const taskIds = (rewards: readonly TrajectoryReward[]): string[] =>
  rewards.flatMap(({ task_id }) => task_id || []);

/**
 * Each trajectory once, where it is listed first. A repeated row is no second rollout: lists that shift between two
 * pages show a row on both. Of what the rows say, the later one counts, because it was read later and a reward may come
 * or be corrected meanwhile; what it lacks is taken from the earlier one. Rows of one id but of two tasks are two
 * rollouts, and rows that name no trajectory cannot be told apart, and count one by one.
 */
export function eachOnce(rewards: readonly TrajectoryReward[]): readonly TrajectoryReward[] {
  const rows = new Map<string | object, TrajectoryReward>();
  for (const row of rewards) {
    const said = Object.entries(row).filter(([, value]) => value != null);
    const first = row.trajectory_id || row;
    const task = rows.get(first)?.task_id;
    const key = task && row.task_id && task !== row.task_id ? JSON.stringify([first, row.task_id]) : first;
    const before = rows.get(key);
    rows.set(key, before ? { ...before, ...Object.fromEntries(said) } : row);
  }
  return rows.size === rewards.length ? rewards : rowsMadeOf(rewards, [...rows.values()]);
}

/** Reads the rewards of a run's trajectories as they are listed, each once. @throws ServiceError */
export async function readTrajectoryRewards(
  eval_run_id: string,
  { service, signal }: Pick<QueryContext, 'service' | 'signal'>,
): Promise<readonly TrajectoryReward[]> {
  const answer = await service.call('getTrajectoryRewards', { params: { eval_run_id } }, { signal });
  return eachOnce(answer.trajectory_rewards);
}

/**
 * The service for a single look at a run: it reads the run's rewards once, however many queries ask for them because
 * nothing else shows that the run exists.
 */
export function readingRewardsOnce(service: Service): Service {
  const read = new Map<string, Promise<unknown>>();
  const ask = untypedCall(service);
  const call: UntypedCall = (operation, input, options) => {
    if (operation !== 'getTrajectoryRewards') return ask(operation, input, options);
    const key = JSON.stringify(input);
    const answer = read.get(key) ?? ask(operation, input, options);
    read.set(key, answer);
    return answer;
  };
  return { ...service, call: call as Call };
}
