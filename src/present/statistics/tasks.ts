/**
 * What a mean is of: tasks. Several rollouts of a task are no independent values, so that they count as their mean. A
 * rollout without a reward is not left out: its task is worth something between the lowest and the highest reward.
 */
import { mean } from '../../text/statistics.ts';
import { type Tally, tallyMean, tallyOf, withMore } from './tally.ts';

/** Rewards are between them. */
export type Range = readonly [low: number, high: number];

/** What is done about rollouts without a reward: `bound` counts them as the lowest and as the highest reward. */
export type Missing = 'bound' | 'ignore';

/** How far a run got by its service: it is complete, more is to come, it was stopped or failed, or nobody says. */
export type RunEnd = 'complete' | 'running' | 'stopped' | 'unsaid';

/** The rewards of a task's rollouts that are listed; undefined where one has none. */
export type TaskRewards = readonly (number | undefined)[];

/** The tasks of one run. */
export interface RunTasks {
  /** Those that are known by name, also by the other run of a pair. */
  readonly tasks: readonly TaskRewards[];
  /** Its rollouts once it is complete, with those that are not listed; undefined if nobody says. */
  readonly total?: number | undefined;
  readonly end: RunEnd;
}

/** The lowest and the highest value that the missing rewards allow. */
type Bounds = readonly [low: number, high: number];

/** The rewards that are there. */
export const rated = (rewards: TaskRewards): number[] => rewards.filter(reward => reward !== undefined);

const lengthOf = (tasks: readonly TaskRewards[]): number => tasks.reduce((sum, { length }) => sum + length, 0);

/** How rollouts that are not listed are spread over tasks. */
interface Plan {
  /** Rollouts that a task has at most; 0 where it has those that are listed. */
  readonly each: number;
  /** Tasks, at most, that are not known by name. */
  readonly unknown: number;
  /** Every task has as many rollouts. */
  readonly isEven: boolean;
}

/** The smallest and the largest divisor of `total` between two bounds. */
function divisors(total: number, low: number, high: number): readonly [number, number] | undefined {
  const found: number[] = [];
  for (let one = 1; one * one <= total; one++) if (total % one === 0) found.push(one, total / one);
  const fit = found.filter(each => each >= low && each <= high);
  return fit.length === 0 ? undefined : [Math.min(...fit), Math.max(...fit)];
}

/**
 * Every task has as many rollouts, where that is possible. Where more than one number is possible, the largest counts for
 * tasks that are known and the smallest for the number of those that are not: nothing else leaves as much open.
 */
function planOf({ tasks, total = 0 }: RunTasks): Plan {
  const unlisted = total - lengthOf(tasks);
  if (unlisted <= 0) return { each: 0, unknown: 0, isEven: false };
  const most = Math.max(1, ...tasks.map(({ length }) => length));
  const own = tasks.filter(({ length }) => length > 0).length;
  // A task that only the other run lists may be none of this run.
  for (const known of [tasks.length, own]) {
    const fit = divisors(total, most, total / known);
    if (fit) return { each: fit[1], unknown: Math.max(0, total / fit[0] - tasks.length), isEven: true };
  }
  // A task without a rollout lacks one at least.
  return { each: 0, unknown: Math.max(0, unlisted - (tasks.length - own)), isEven: false };
}

/**
 * Whether nobody can say how much is missing: more rewards will come, or should have come, and it is not known how many
 * of which tasks.
 */
export function isOpen(run: RunTasks): boolean {
  if (run.end === 'complete' || run.end === 'unsaid') return false;
  return run.total === undefined || (run.total > lengthOf(run.tasks) && !planOf(run).isEven);
}

/** A task with every missing reward at the lowest, and at the highest. */
function boundsOf(rewards: TaskRewards, { each }: Plan, { missing, range: [low, high] }: Filling): Bounds | undefined {
  const values = rated(rewards);
  const average = mean(values);
  if (missing === 'ignore') return average === undefined ? undefined : [average, average];
  if (average === undefined) return [low, high];
  const share = 1 - values.length / Math.max(rewards.length, each);
  return [average + (low - average) * share, average + (high - average) * share];
}

export interface Filling {
  readonly missing: Missing;
  readonly range: Range;
}

/** Values of tasks: with every missing reward at its lowest, and at its highest. */
export interface Filled {
  readonly low: Tally;
  readonly high: Tally;
}

/** The values of one run, or the differences (second minus first) of two whose tasks are in the same order. */
export function filled([first, second]: readonly [RunTasks, RunTasks?], filling: Filling): Filled {
  const [low, high] = filling.range;
  const [plan, otherPlan] = [planOf(first), second && planOf(second)];
  const bounds = first.tasks.flatMap((rewards, index): readonly Bounds[] => {
    const one = boundsOf(rewards, plan, filling);
    if (second === undefined || otherPlan === undefined) return one ? [one] : [];
    const other = boundsOf(second.tasks[index] ?? [], otherPlan, filling);
    return one && other ? [[other[0] - one[1], other[1] - one[0]]] : [];
  });
  const unknown = filling.missing === 'ignore' ? 0 : Math.max(plan.unknown, otherPlan?.unknown ?? 0);
  const [least, most] = second === undefined ? [low, high] : [low - high, high - low];
  return {
    low: withMore(tallyOf(bounds.map(([value]) => value)), least, unknown),
    high: withMore(tallyOf(bounds.map(([, value]) => value)), most, unknown),
  };
}

/** How many tasks there are in all, and how many lack a reward that they should have in one of the runs. */
export function lackingTasks(runs: readonly RunTasks[]): { readonly lacking: number; readonly tasks: number } {
  const plans = runs.map(planOf);
  const unknown = Math.max(...plans.map(plan => plan.unknown));
  const known = runs[0]?.tasks.length ?? 0;
  let lacking = unknown;
  for (let index = 0; index < known; index++) {
    const lacks = runs.some(({ tasks }, run) => {
      const rewards = tasks[index] ?? [];
      return rated(rewards).length < Math.max(1, rewards.length, plans[run]?.each ?? 0);
    });
    if (lacks) lacking += 1;
  }
  return { lacking, tasks: known + unknown };
}

/** The mean reward of a run's tasks, and what is missing from it. */
export interface TaskMean {
  /** Of the tasks with a reward. */
  readonly mean: number | undefined;
  /** Tasks with a reward. */
  readonly tasks: number;
  /** Rollouts with a reward, and all that should have one. */
  readonly rated: number;
  readonly rollouts: number;
  /** The lowest and the highest mean that the missing rewards allow; undefined if none is missing. */
  readonly bounds: Bounds | undefined;
  readonly end: RunEnd;
  /** What is missing cannot be counted, so that there are no bounds either. */
  readonly isOpen: boolean;
}

export function taskMean(run: RunTasks, range: Range): TaskMean {
  const { tasks, total = 0, end } = run;
  const means = tasks.flatMap(rewards => mean(rated(rewards)) ?? []);
  const values = tasks.flatMap(rated);
  // A task of which nothing is listed lacks one rollout at least.
  const rollouts = Math.max(total, lengthOf(tasks) + tasks.filter(({ length }) => length === 0).length);
  return {
    mean: mean(means),
    tasks: means.length,
    rated: values.length,
    rollouts,
    bounds: values.length === rollouts || isOpen(run) ? undefined : meanBounds(run, range),
    end,
    isOpen: isOpen(run),
  };
}

/** Where every task has as many rollouts, the mean of the tasks is that of the rollouts, however these are spread. */
function meanBounds(run: RunTasks, range: Range): Bounds {
  const plan = planOf(run);
  if (plan.isEven) {
    const { total = 0 } = run;
    const values = run.tasks.flatMap(rated);
    const share = values.length / total;
    const average = mean(values) ?? 0;
    return [average * share + range[0] * (1 - share), average * share + range[1] * (1 - share)];
  }
  const { low, high } = filled([run], { missing: 'bound', range });
  return [tallyMean(low), tallyMean(high)];
}

/** Whether a reward is outside of the range. */
export function isOutside(runs: readonly RunTasks[], [low, high]: Range): boolean {
  return runs.some(({ tasks }) => tasks.some(rewards => rated(rewards).some(reward => reward < low || reward > high)));
}
