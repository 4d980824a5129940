/**
 * What a mean is of: tasks. Several rollouts of a task are no independent values, so that they count as their mean. A
 * rollout without a reward is not left out: its task is worth something between the lowest and the highest reward.
 */
import { mean, withoutRounding } from '../../text/statistics.ts';
import { type Tally, tallyMean, tallyOf, withMore } from './tally.ts';

/** Rewards are between them. */
export type Range = readonly [low: number, high: number];

/** What is done about rollouts without a reward: `bound` counts them as the lowest and as the highest reward. */
export type Missing = 'bound' | 'ignore';

/** How far a run got by its service: it is complete, more is to come, it was stopped or failed, or the service does not say. */
export type RunEnd = 'complete' | 'running' | 'stopped' | 'unsaid';

/** The rewards of a task's rollouts that are listed; undefined where one has none. */
export type TaskRewards = readonly (number | undefined)[];

/** The tasks of one run. */
export interface RunTasks {
  /** Those that are known by name, also by the other run of a pair. */
  readonly tasks: readonly TaskRewards[];
  /** Its rollouts once it is complete, with those that are not listed; undefined if the service does not say. */
  readonly total?: number | undefined;
  /** Its rollouts that were seen, also those whose reward or task cannot be told. */
  readonly least?: number | undefined;
  /** Of those, the ones that name no task that can be read: they are none of `tasks`, whatever their reward. */
  readonly nameless?: number | undefined;
  readonly end: RunEnd;
  /** Its tasks are those of the held-out curve that may have chosen its checkpoint. */
  readonly isMeasuredAsChosen?: boolean | undefined;
}

/** The lowest and the highest value that the missing rewards allow. */
type Bounds = readonly [low: number, high: number];

/** The rewards that are there. */
export const rated = (rewards: TaskRewards): number[] => rewards.filter(reward => reward !== undefined);

const lengthOf = (tasks: readonly TaskRewards[]): number => tasks.reduce((sum, { length }) => sum + length, 0);

/** The rollouts of a run: where the service does not say how many, those that were seen, if its tasks have fewer. */
const totalOf = ({ tasks, total, least = 0 }: RunTasks): number | undefined =>
  total ?? (least > lengthOf(tasks) ? least : undefined);

/** How rollouts that are not listed are spread over tasks. */
interface Plan {
  /** Rollouts that a task has at most; 0 where it has those that are listed. */
  readonly each: number;
  /** Tasks, at most, that are not known by name, beside those that loose rollouts are of. */
  readonly unknown: number;
  /** Rollouts that may be of any task, known or not. */
  readonly loose: number;
  /** Every task has as many rollouts. */
  readonly isEven: boolean;
  /** Tasks of the run; undefined where that is not certain. */
  readonly tasks: number | undefined;
  /** All its rollouts are listed, so that a task without any is none of this run. */
  readonly isWhole: boolean;
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
function planOf(run: RunTasks): Plan {
  const { tasks } = run;
  const [total, listed] = [totalOf(run), lengthOf(tasks)];
  const own = tasks.filter(({ length }) => length > 0).length;
  const isWhole = total === listed;
  if (total === undefined || total <= listed)
    return { each: 0, unknown: 0, loose: 0, isEven: false, isWhole, tasks: isWhole ? own : tasks.length };
  const most = tasks.reduce((longest, { length }) => Math.max(longest, length), 1);
  // Tasks that only the other run lists may be none of this run.
  const fit = divisors(total, most, total / own);
  if (fit) {
    const unknown = Math.max(0, total / fit[0] - tasks.length);
    return {
      each: fit[1],
      unknown,
      loose: 0,
      isEven: true,
      isWhole,
      tasks: fit[0] === fit[1] ? total / fit[0] : undefined,
    };
  }
  // A task without a rollout lacks one at least.
  const loose = Math.max(0, total - listed - (tasks.length - own));
  return { each: 0, unknown: 0, loose, isEven: false, isWhole, tasks: undefined };
}

/**
 * Whether the missing rewards cannot be counted: more will come, or should have come, and the service does not say how many
 * and of which tasks.
 */
export function isOpen(run: RunTasks): boolean {
  const { tasks, total, end } = run;
  if (end === 'complete' || end === 'unsaid') return false;
  const listed = lengthOf(tasks);
  // Of a run that was stopped, the total may be what it came to.
  if (total === undefined || total < listed || (end === 'stopped' && total === listed)) return true;
  return total > listed && !planOf(run).isEven;
}

/** Whether the service says neither that a run has ended, nor how many rollouts it has. */
export const mayGoOn = ({ end, total }: RunTasks): boolean => end === 'unsaid' && total === undefined;

/** What is done about the missing rewards of a run: those that are to come are never ignored. */
export const missingOf = ({ end }: Pick<RunTasks, 'end'>, { missing }: Pick<Filling, 'missing'>): Missing =>
  end === 'running' ? 'bound' : missing;

/** A task with every missing reward at the lowest, and at the highest. */
function boundsOf(
  rewards: TaskRewards,
  { each, isWhole }: Plan,
  missing: Missing,
  [low, high]: Range,
): Bounds | undefined {
  const values = rated(rewards);
  const average = mean(values);
  if (missing === 'ignore') return average === undefined ? undefined : [average, average];
  if (average === undefined) return isWhole && rewards.length === 0 ? undefined : [low, high];
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
  const valuesOf = (run: RunTasks) => {
    const [plan, missing] = [planOf(run), missingOf(run, filling)];
    return {
      bounds: run.tasks.map(rewards => boundsOf(rewards, plan, missing, filling.range)),
      unknown: missing === 'ignore' ? 0 : plan.unknown,
      loose: missing === 'ignore' ? 0 : plan.loose,
    };
  };
  const [one, other] = [valuesOf(first), second && valuesOf(second)];
  const bounds = one.bounds.flatMap((mine, index): readonly Bounds[] => {
    if (second === undefined || other === undefined) return mine ? [mine] : [];
    const its = other.bounds[index];
    if (!mine || !its) return [];
    const rewards = [first, second].flatMap(({ tasks }) => rated(tasks[index] ?? []));
    return [[withoutRounding(its[0] - mine[1], rewards), withoutRounding(its[1] - mine[0], rewards)]];
  });
  // Tasks that are not known may be others in each run.
  const unknown = one.unknown + (other?.unknown ?? 0);
  const loose = one.loose + (other?.loose ?? 0);
  const [least, most] = second === undefined ? [low, high] : [low - high, high - low];
  const lows = bounds.map(([value]) => value).sort((a, b) => b - a);
  const highs = bounds.map(([, value]) => value).sort((a, b) => a - b);
  // A loose rollout moves a limit farthest as one of the task that is farthest from it, and as all that this task has: a
  // task more would move it less.
  return {
    low: withMore(tallyOf(lows.slice(loose)), least, loose + unknown),
    high: withMore(tallyOf(highs.slice(loose)), most, loose + unknown),
  };
}

/** Tasks known by name that both runs should have rewards of, and how many of them have none in one of the runs. */
export function lackingTasks(runs: readonly [RunTasks, RunTasks]): {
  readonly lacking: number;
  readonly tasks: number;
} {
  const whole = runs.map(run => planOf(run).isWhole);
  const shared = [...runs[0].tasks.keys()].filter(index =>
    runs.every(({ tasks }, run) => !whole[run] || (tasks[index]?.length ?? 0) > 0),
  );
  const lacking = shared.filter(index => runs.some(({ tasks }) => rated(tasks[index] ?? []).length === 0));
  return { lacking: lacking.length, tasks: shared.length };
}

/** The mean reward of a run's tasks, and what is missing from it. */
export interface TaskMean {
  /** Of the tasks with a reward. */
  readonly mean: number | undefined;
  /** Tasks with a reward. */
  readonly tasks: number;
  /** All tasks of the run; undefined where that is not certain. */
  readonly allTasks: number | undefined;
  /** Rollouts with a reward, and all that should have one. */
  readonly rated: number;
  readonly rollouts: number;
  /** Tasks of the other run that it does not list, and perhaps was never given: the service does not say. */
  readonly unlisted: number;
  /** Of those without a reward here, the ones that name no task that can be read. */
  readonly nameless: number;
  /** The lowest and the highest mean that the missing rewards allow; undefined if none is missing. */
  readonly bounds: Bounds | undefined;
  readonly end: RunEnd;
  /** What is missing cannot be counted, so that there are no bounds either. */
  readonly isOpen: boolean;
}

export function taskMean(run: RunTasks, range: Range): TaskMean {
  const { tasks, end } = run;
  const total = totalOf(run);
  const means = tasks.flatMap(rewards => mean(rated(rewards)) ?? []);
  const count = lengthOf(tasks.map(rated));
  const given = tasks.filter(({ length }) => length > 0);
  const rollouts = Math.max(total ?? 0, lengthOf(tasks));
  const open = isOpen(run);
  // Without a total, nothing says that it was ever given the other tasks.
  const bounds = () => meanBounds(total === undefined ? { ...run, tasks: given } : run, range);
  return {
    mean: mean(means),
    tasks: means.length,
    allTasks: planOf(run).tasks,
    rated: count,
    rollouts,
    unlisted: total === undefined ? tasks.length - given.length : 0,
    nameless: Math.min(run.nameless ?? 0, rollouts - count),
    bounds: count === rollouts || open || isOutside([run], range) ? undefined : bounds(),
    end,
    isOpen: open,
  };
}

/** Where every task has as many rollouts, the mean of the tasks is that of the rollouts, however these are spread. */
function meanBounds(run: RunTasks, range: Range): Bounds {
  const plan = planOf(run);
  if (plan.isEven) {
    const values = run.tasks.flatMap(rated);
    const share = values.length / (totalOf(run) ?? 0);
    const average = mean(values) ?? 0;
    return [average * share + range[0] * (1 - share), average * share + range[1] * (1 - share)];
  }
  if (plan.loose > 0 && plan.loose * run.tasks.length <= mostPlaced) {
    const filledWith = (fill: number, sign: 1 | -1): ListedTask[] =>
      run.tasks.map(rewards => {
        const all = rewards.length === 0 ? [fill] : rewards.map(reward => reward ?? fill);
        return { sum: all.reduce((sum, value) => sum + sign * value, 0), count: all.length };
      });
    return [
      leastMean(filledWith(range[0], 1), plan.loose, range[0]),
      -leastMean(filledWith(range[1], -1), plan.loose, -range[1]),
    ];
  }
  const { low, high } = filled([run], { missing: 'bound', range });
  return [tallyMean(low), tallyMean(high)];
}

/** A task's rollouts that are listed, with the sum of their rewards. */
interface ListedTask {
  readonly sum: number;
  readonly count: number;
}

/** Loose rollouts times tasks: of more, each loose rollout is taken to be worth its whole task, which is sound and wider. */
const mostPlaced = 100_000;

/**
 * The least mean of tasks that `loose` rollouts allow, each of one of these tasks or of another, and worth `fill`, which no
 * reward is below. Those of these tasks are placed one by one where they lower the sum most: another one of the same task
 * lowers it less, so that no other order ends lower.
 */
function leastMean(tasks: readonly ListedTask[], loose: number, fill: number): number {
  const placed = tasks.map(task => ({ ...task }));
  const meanOf = ({ sum, count }: ListedTask): number => sum / count;
  const dropOf = (task: ListedTask): number => meanOf(task) - (task.sum + fill) / (task.count + 1);
  let sum = placed.reduce((all, task) => all + meanOf(task), 0);
  let least = Number.POSITIVE_INFINITY;
  for (let here = 0; here <= loose; here++) {
    const others = loose - here;
    least = Math.min(least, (sum + others * fill) / (tasks.length + others));
    const [first] = placed;
    if (first === undefined) break;
    const next = placed.reduce((most, task) => (dropOf(task) > dropOf(most) ? task : most), first);
    sum -= dropOf(next);
    next.sum += fill;
    next.count += 1;
  }
  return least;
}

/** Whether a reward is outside of the range. */
export function isOutside(runs: readonly RunTasks[], [low, high]: Range): boolean {
  return runs.some(({ tasks }) => tasks.some(rewards => rated(rewards).some(reward => reward < low || reward > high)));
}
