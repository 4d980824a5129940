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
  readonly base: number | undefined;
  readonly new: number | undefined;
  /** New minus base; missing if either is. */
  readonly difference: number | undefined;
  /** A trajectory of the task in the new run, else in the base. */
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
  baseRewards: readonly TrajectoryReward[],
  newRewards: readonly TrajectoryReward[],
): ComparedTask[] {
  const [before, after] = [byTask(baseRewards), byTask(newRewards)];
  return [...new Set([...before.keys(), ...after.keys()])].map(task_id => {
    const base = mean(before.get(task_id)?.rewards ?? []);
    const fresh = mean(after.get(task_id)?.rewards ?? []);
    const difference = base === undefined || fresh === undefined ? undefined : fresh - base;
    const trajectory_id = after.get(task_id)?.trajectory ?? before.get(task_id)?.trajectory;
    return { task_id, base, new: fresh, difference, trajectory_id };
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
type Comparison = AnnotatedPage<ComparedTask> & { readonly base: RewardMean; readonly new: RewardMean };

/** @param ended whether both runs are over: their rewards are final then */
export function comparison(
  baseRun: string,
  newRun: string,
  ended = false,
): Omit<ListSource<ComparedTask>, 'readPage'> & {
  readonly readPage: (context: QueryContext & { readonly query: object }) => Promise<Comparison>;
} {
  return {
    key: [...evaluationKeys.all, 'compared', baseRun, newRun, ended],
    id: row => row.task_id,
    activity: () => (ended ? 'settled' : 'open'),
    readPage: async ({ service, signal }) => {
      const answers = await Promise.all(
        [baseRun, newRun].map(run =>
          service.call('getTrajectoryRewards', { params: { eval_run_id: run } }, { signal }),
        ),
      );
      const [before = [], after = []] = answers.map(answer => answer.trajectory_rewards);
      const nameless = [...before, ...after].filter(({ task_id }) => !task_id).length;
      const [base, fresh] = [meanOf(before), meanOf(after)];
      const note =
        nameless > 0
          ? `${counted(nameless, 'reward names', 'rewards name')} no task: not compared. The means of all rewards are ${meanText(base)} and ${meanText(fresh)}`
          : undefined;
      const dropped = unreadableIn(before) + unreadableIn(after);
      return { ...wholePage(compareTasks(before, after), note), dropped, base, new: fresh };
    },
  };
}

const meanText = ({ mean, rewards }: RewardMean): string => `${reward(mean)} of ${rewards}`;

/** The summary of a comparison. */
export interface ComparedRuns {
  /** Mean reward of the tasks of each run, and of how many: undefined if none has a reward. */
  readonly base: { readonly mean: number | undefined; readonly tasks: number };
  readonly new: { readonly mean: number | undefined; readonly tasks: number };
  /** Of the tasks that have a reward in both; undefined if there is none. */
  readonly paired: PairedDifference | undefined;
  /** Of those, how many are higher, lower and the same in the new run. */
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

const given = (values: readonly (number | undefined)[]): number[] => values.filter(value => value !== undefined);

/** Which run is better, in words. An interval that holds zero leaves it open. */
export function verdictOf({ paired }: Pick<ComparedRuns, 'paired'>): {
  readonly better: 'base' | 'new' | undefined;
  readonly words: string;
} {
  const [low, high] = paired?.interval ?? [];
  if (low !== undefined && low > 0) return { better: 'new', words: 'the new run is better' };
  if (high !== undefined && high < 0) return { better: 'base', words: 'the base is better' };
  return { better: undefined, words: 'no clear difference' };
}

/** @param confidence of the interval, between 0 and 1 */
export function summariseComparison(tasks: readonly ComparedTask[], confidence?: number): ComparedRuns {
  const [base, fresh] = [given(tasks.map(task => task.base)), given(tasks.map(task => task.new))];
  const differences = given(tasks.map(task => task.difference));
  const pairs = tasks.flatMap(task =>
    task.base === undefined || task.new === undefined ? [] : [[task.base, task.new] as const],
  );
  const count = (test: (value: number) => boolean): number => differences.filter(test).length;
  return {
    base: { mean: mean(base), tasks: base.length },
    new: { mean: mean(fresh), tasks: fresh.length },
    paired: pairedDifference(pairs, confidence),
    wins: count(value => value > 0),
    losses: count(value => value < 0),
    ties: count(value => value === 0),
  };
}
