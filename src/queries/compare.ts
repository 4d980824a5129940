/** Two evaluation runs, task by task. */
import { unreadableIn } from '../contract/common.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { counted, reward } from '../text/numbers.ts';
import { mean, type PairedDifference, pairedDifference } from '../text/statistics.ts';
import { evaluationKeys } from './evaluations.ts';
import { type AnnotatedPage, type ListSource, wholePage } from './lists/list.ts';
import type { QueryContext } from './query-context.ts';

/** The rewards of a task in two runs. Several rollouts of a task count as their mean. */
export interface ComparedTask {
  readonly task_id: string;
  readonly first: number | undefined;
  readonly second: number | undefined;
  /** Second minus first; missing if either is. */
  readonly difference: number | undefined;
  /** A trajectory of the task in the second run, else in the first. */
  readonly trajectory_id: string | undefined;
}

interface TaskRewards {
  readonly rewards: number[];
  trajectory: string | undefined;
}

function byTask(rewards: readonly TrajectoryReward[]): Map<string, TaskRewards> {
  const tasks = new Map<string, TaskRewards>();
  for (const { task_id, reward, trajectory_id } of rewards) {
    if (!task_id) continue;
    const task = tasks.get(task_id) ?? { rewards: [], trajectory: undefined };
    if (typeof reward === 'number') task.rewards.push(reward);
    task.trajectory ??= trajectory_id ?? undefined;
    tasks.set(task_id, task);
  }
  return tasks;
}

/** Every task of either run. Trajectories without a task cannot be compared and are left out. */
export function compareTasks(
  firstRewards: readonly TrajectoryReward[],
  secondRewards: readonly TrajectoryReward[],
): ComparedTask[] {
  const [before, after] = [byTask(firstRewards), byTask(secondRewards)];
  return [...new Set([...before.keys(), ...after.keys()])].map(task_id => {
    const first = mean(before.get(task_id)?.rewards ?? []);
    const second = mean(after.get(task_id)?.rewards ?? []);
    const difference = first === undefined || second === undefined ? undefined : second - first;
    const trajectory_id = after.get(task_id)?.trajectory ?? before.get(task_id)?.trajectory;
    return { task_id, first, second, difference, trajectory_id };
  });
}

/** The mean of a run's numeric rewards, and their number. */
export interface RewardMean {
  readonly mean: number | undefined;
  readonly rewards: number;
}

function meanOf(rewards: readonly TrajectoryReward[]): RewardMean {
  const values = rewards.flatMap(({ reward: value }) => value ?? []);
  return { mean: mean(values), rewards: values.length };
}

/** The tasks of two runs, and notes about what they leave out. */
type Comparison = AnnotatedPage<ComparedTask> & { readonly first: RewardMean; readonly second: RewardMean };

export function comparison(
  firstRun: string,
  secondRun: string,
): Omit<ListSource<ComparedTask>, 'readPage'> & {
  readonly readPage: (context: QueryContext & { readonly query: object }) => Promise<Comparison>;
} {
  return {
    key: [...evaluationKeys.all, 'compared', firstRun, secondRun],
    id: row => row.task_id,
    readPage: async ({ service, signal }) => {
      const answers = await Promise.all(
        [firstRun, secondRun].map(run =>
          service.call('getTrajectoryRewards', { params: { eval_run_id: run } }, { signal }),
        ),
      );
      const [first = [], second = []] = answers.map(answer => answer.trajectory_rewards);
      const nameless = [...first, ...second].filter(({ task_id }) => !task_id).length;
      const [base, fresh] = [meanOf(first), meanOf(second)];
      const note =
        nameless > 0
          ? `${counted(nameless, 'reward names', 'rewards name')} no task: not compared. The means of all rewards are ${meanText(base)} and ${meanText(fresh)}`
          : undefined;
      const dropped = unreadableIn(first) + unreadableIn(second);
      return { ...wholePage(compareTasks(first, second), note), dropped, first: base, second: fresh };
    },
  };
}

const meanText = ({ mean, rewards }: RewardMean): string => `${reward(mean)} of ${rewards}`;

/** The summary of a comparison. */
export interface ComparedRuns {
  /** Mean reward of the tasks of each run, and their number; undefined if none has a reward. */
  readonly first: { readonly mean: number | undefined; readonly tasks: number };
  readonly second: { readonly mean: number | undefined; readonly tasks: number };
  /** Over the tasks with a reward in both; undefined if there is none. */
  readonly paired: PairedDifference | undefined;
  /** How many of those are higher, lower and equal in the second run. */
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

const given = (values: readonly (number | undefined)[]): number[] => values.filter(value => value !== undefined);

/** @param confidence of the interval, between 0 and 1 */
export function summariseComparison(tasks: readonly ComparedTask[], confidence?: number): ComparedRuns {
  const [first, second] = [given(tasks.map(task => task.first)), given(tasks.map(task => task.second))];
  const differences = given(tasks.map(task => task.difference));
  const pairs = tasks.flatMap(task =>
    task.first === undefined || task.second === undefined ? [] : [[task.first, task.second] as const],
  );
  const count = (test: (value: number) => boolean): number => differences.filter(test).length;
  return {
    first: { mean: mean(first), tasks: first.length },
    second: { mean: mean(second), tasks: second.length },
    paired: pairedDifference(pairs, confidence),
    wins: count(value => value > 0),
    losses: count(value => value < 0),
    ties: count(value => value === 0),
  };
}
