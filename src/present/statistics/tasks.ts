/**
 * Means are computed over tasks. Several rollouts of a task are not independent, so they count as their mean. A
 * rollout without a reward is included: it counts as a value between the lowest and the highest reward.
 */
import { maxOf, minOf } from '../../base/many.ts';
import { mean, withoutRounding } from '../../base/statistics.ts';
import { type Tally, tallyMean, tallyOf, withMore } from './tally.ts';

/** The range of rewards. */
export type Range = readonly [low: number, high: number];

/** Graders that add weighted parts overshoot: .2 + .4 + .3 + .1 is 1.0000000000000002. As a share of the range. */
const roundingShare = 1e-9;

/** The reward, or the end of the range if it is beyond that by rounding only. */
export function withinRange(reward: number, [low, high]: Range): number {
  const slack = (high - low) * roundingShare;
  if (reward > high && reward <= high + slack) return high;
  return reward < low && reward >= low - slack ? low : reward;
}

/** Whether a reward is outside the range by more than rounding. */
export function isBeyond(reward: number, range: Range): boolean {
  const value = withinRange(reward, range);
  return value < range[0] || value > range[1];
}

/**
 * How to treat rollouts without a reward: `bound` counts them as the lowest for one limit and as the highest for the
 * other.
 */
export type Missing = 'bound' | 'ignore';

/** The state of a run: complete, running, stopped or failed, or not reported by the service. */
export type RunEnd = 'complete' | 'running' | 'stopped' | 'unreported';

/** The rewards of a task's listed rollouts; undefined for a rollout without one. */
export type TaskRewards = readonly (number | undefined)[];

/** The tasks of one run. */
export interface RunTasks {
  /** The tasks named by this run or by the other run of a pair. */
  readonly tasks: readonly TaskRewards[];
  /** The number of rollouts of the complete run, listed or not; undefined if the service does not report it. */
  readonly total?: number | undefined;
  /** The number of rollouts seen so far, including those with an unknown reward or task. */
  readonly least?: number | undefined;
  /** How many rollouts have a reward but no readable task, or are unreadable. They are not in `tasks`. */
  readonly nameless?: number | undefined;
  /** Rollouts of each task, if the options of the run say so. */
  readonly samplesPerTask?: number | undefined;
  /** Rollouts that each listed task counts with, if the service does not report the total. Set by `withEach`. */
  readonly each?: number | undefined;
  readonly end: RunEnd;
  /** The checkpoint may have been chosen by a held-out curve on the same tasks. */
  readonly isMeasuredAsChosen?: boolean | undefined;
}

/** The lowest and the highest value, over all possible missing rewards. */
type Bounds = readonly [low: number, high: number];

export const rated = (rewards: TaskRewards): number[] => rewards.filter(reward => reward !== undefined);

const lengthOf = (tasks: readonly TaskRewards[]): number => tasks.reduce((sum, { length }) => sum + length, 0);

/**
 * The number of rollouts of a run. If the service does not report it: the number seen, or that of the tasks if
 * higher.
 */
const totalOf = ({ tasks, total, least = 0 }: RunTasks): number | undefined =>
  total ?? (least > lengthOf(tasks) ? least : undefined);

/**
 * Whether the service lists the rewards of a run that may have ended, but does not report how many rollouts it has. It
 * may leave failed ones out.
 */
export const isUncounted = ({ end, total }: Pick<RunTasks, 'end' | 'total'>): boolean =>
  total === undefined && (end === 'complete' || end === 'unreported');

/** The number of rollouts of the task with the most, listed or certainly not. */
function mostOf(run: RunTasks): number {
  const { each, isEven, tasks } = planOf(run);
  const planned = isEven && tasks !== undefined ? each : 0;
  return run.tasks.reduce((most, { length }) => Math.max(most, length), Math.max(planned, run.samplesPerTask ?? 0));
}

/**
 * Rollouts are missing at least where a task of an uncounted run lists fewer than its options say, or without options,
 * fewer than another task of either run.
 */
export function withEach<Runs extends readonly (RunTasks | undefined)[]>(runs: Runs): Runs {
  const most = maxOf(runs.map(run => (run ? mostOf(run) : 0)));
  const of = (run: RunTasks | undefined): RunTasks | undefined =>
    run === undefined || run.each !== undefined || !isUncounted(run)
      ? run
      : { ...run, each: run.samplesPerTask === undefined ? most : mostOf(run) };
  return runs.map(of) as readonly (RunTasks | undefined)[] as Runs;
}

/** How many rollouts the listed tasks of an uncounted run lack to have the same number each. */
const lackOf = ({ tasks, each = 0 }: RunTasks): number =>
  tasks.reduce((sum, { length }) => sum + (length === 0 ? 0 : Math.max(0, each - length)), 0);

/** How unlisted rollouts are distributed over tasks. */
interface Plan {
  /** Maximum rollouts of a task; 0 if it has only the listed ones. */
  readonly each: number;
  /** Maximum number of unknown tasks, apart from those of loose rollouts. */
  readonly unknown: number;
  /** Unlisted rollouts that may belong to any task, known or not. */
  readonly loose: number;
  /** Every task has the same number of rollouts. */
  readonly isEven: boolean;
  /** The number of tasks of the run; undefined if uncertain. */
  readonly tasks: number | undefined;
  /** All rollouts are listed, so that a task without any does not belong to this run. */
  readonly isWhole: boolean;
}

/** The smallest and the largest divisor of `total` between two bounds. */
function divisors(total: number, low: number, high: number): readonly [number, number] | undefined {
  const found: number[] = [];
  for (let one = 1; one * one <= total; one++) if (total % one === 0) found.push(one, total / one);
  const fit = found.filter(each => each >= low && each <= high);
  return fit.length === 0 ? undefined : [minOf(fit), maxOf(fit)];
}

/**
 * Assumes the same number of rollouts for every task, if possible: that of the options of the run. Without these, if
 * several numbers are possible, known tasks get the largest, and the smallest determines the number of unknown tasks:
 * this gives the widest bounds.
 */
function planOf(run: RunTasks): Plan {
  const { tasks } = run;
  const [total, listed] = [totalOf(run), lengthOf(tasks)];
  const own = tasks.filter(({ length }) => length > 0).length;
  const isWhole = total === listed;
  const lack = lackOf(run);
  if (lack > 0) {
    const loose = Math.max(0, (total ?? 0) - listed - lack);
    return { each: run.each ?? 0, unknown: 0, loose, isEven: false, isWhole: false, tasks: tasks.length };
  }
  if (total === undefined || total <= listed)
    return { each: 0, unknown: 0, loose: 0, isEven: false, isWhole, tasks: isWhole ? own : tasks.length };
  const most = tasks.reduce((longest, { length }) => Math.max(longest, length), 1);
  // Tasks that only the other run lists may not belong to this run.
  const fits = (each: number): boolean => total % each === 0 && each >= most && each <= total / own;
  // Of an uncounted run, `total` has only the rollouts that were seen.
  const given = run.total === undefined ? undefined : run.samplesPerTask;
  const fit =
    given === undefined ? divisors(total, most, total / own) : fits(given) ? ([given, given] as const) : undefined;
  if (fit) {
    const unknown = Math.max(0, total / fit[0] - tasks.length);
    const all = fit[0] === fit[1] ? total / fit[0] : undefined;
    return { each: fit[1], unknown, loose: 0, isEven: true, isWhole, tasks: all };
  }
  // A task without rollouts lacks at least one.
  const loose = Math.max(0, total - listed - (tasks.length - own));
  return { each: 0, unknown: 0, loose, isEven: false, isWhole, tasks: undefined };
}

/**
 * Whether the missing rewards cannot be counted: the service does not report how many are pending or lost, and for
 * which tasks.
 */
export function isOpen(run: RunTasks): boolean {
  const { tasks, total, end } = run;
  if (end === 'complete' || end === 'unreported') return false;
  const listed = lengthOf(tasks);
  // The total of a stopped run may count only the rollouts before the stop.
  if (total === undefined || total < listed || (end === 'stopped' && total === listed)) return true;
  return total > listed && !planOf(run).isEven;
}

/** Pending rewards are never ignored: those of a run that is or may be running. */
export const missingOf = ({ end }: Pick<RunTasks, 'end'>, { missing }: Pick<Filling, 'missing'>): Missing =>
  end === 'running' || end === 'unreported' ? 'bound' : missing;

/** A task's mean with every missing reward at the lowest, and at the highest. */
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

/** The values of the tasks with every missing reward at its lowest, and at its highest. */
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
  // Tasks that neither run lists are compared only if both have them.
  const unknown = Math.max(one.unknown, other?.unknown ?? 0);
  const loose = one.loose + (other?.loose ?? 0);
  const [least, most] = second === undefined ? [low, high] : [low - high, high - low];
  const lows = bounds.map(([value]) => value).sort((a, b) => b - a);
  const highs = bounds.map(([, value]) => value).sort((a, b) => a - b);
  // A loose rollout moves a limit most if it replaces the whole value of the task that is farthest from the limit. An
  // additional task would move it less.
  return {
    low: withMore(tallyOf(lows.slice(loose)), least, loose + unknown),
    high: withMore(tallyOf(highs.slice(loose)), most, loose + unknown),
  };
}

/** The tasks that both runs should have rewards for, and how many of them lack one in a run; unlisted ones too, if certain. */
export function lackingTasks(runs: readonly [RunTasks, RunTasks]): {
  readonly lacking: number;
  readonly tasks: number;
} {
  const plans = runs.map(planOf);
  const shared = [...runs[0].tasks.keys()].filter(index =>
    runs.every(({ tasks }, run) => !plans[run]?.isWhole || (tasks[index]?.length ?? 0) > 0),
  );
  const lacking = shared.filter(index => runs.some(({ tasks }) => rated(tasks[index] ?? []).length === 0));
  const unlisted = minOf(plans.map(({ isWhole, unknown, tasks }) => (isWhole || !tasks ? 0 : unknown)));
  return { lacking: lacking.length + unlisted, tasks: shared.length + unlisted };
}

/** The mean reward of a run's tasks, and the missing rewards. */
export interface TaskMean {
  /** Over the tasks with a reward. */
  readonly mean: number | undefined;
  /** Tasks with a reward. */
  readonly tasks: number;
  /** All tasks of the run; undefined if uncertain. */
  readonly allTasks: number | undefined;
  /** Rollouts with a reward, and all known rollouts that should have one. */
  readonly rated: number;
  readonly rollouts: number;
  /** Whether the service does not report how many rollouts the run has. */
  readonly isUncounted: boolean;
  /** The number of rollouts that each task counts with, and how many more than `rollouts` that makes; 0 if none. */
  readonly each: number;
  readonly unlistedRollouts: number;
  /** Whether only the other run has as many of a task: nothing says that this one should. */
  readonly isEachOfOther: boolean;
  /** Tasks that only the other run lists. The service does not report whether this run has them. */
  readonly unlisted: number;
  /** Rollouts without a readable task, among those that count as missing. */
  readonly nameless: number;
  /** The lowest and the highest mean, over all possible missing rewards; undefined if none is missing. */
  readonly bounds: Bounds | undefined;
  readonly end: RunEnd;
  /** The missing rewards cannot be counted, so there are no bounds. */
  readonly isOpen: boolean;
}

export function taskMean(given: RunTasks, range: Range): TaskMean {
  const [run] = withoutOvershoot(withEach([given] as const), range);
  const { tasks, end } = run;
  const total = totalOf(run);
  const means = tasks.flatMap(rewards => mean(rated(rewards)) ?? []);
  const count = lengthOf(tasks.map(rated));
  const listed = tasks.filter(({ length }) => length > 0);
  const rollouts = Math.max(total ?? 0, lengthOf(tasks));
  const open = isOpen(run);
  const unlistedRollouts = Math.max(0, lengthOf(tasks) + lackOf(run) - rollouts);
  // Without a total, the run may not have the unlisted tasks.
  const bounds = () => meanBounds(total === undefined ? { ...run, tasks: listed } : run, range);
  return {
    mean: mean(means),
    tasks: means.length,
    allTasks: planOf(run).tasks,
    rated: count,
    rollouts,
    isUncounted: isUncounted(run),
    each: run.each ?? 0,
    isEachOfOther: mostOf(run) < (run.each ?? 0),
    unlistedRollouts,
    unlisted: total === undefined ? tasks.length - listed.length : 0,
    nameless: Math.min(run.nameless ?? 0, rollouts - count),
    bounds: (count === rollouts && unlistedRollouts === 0) || open || isOutside([run], range) ? undefined : bounds(),
    end,
    isOpen: open,
  };
}

/** If every task has the same number of rollouts, the mean of the tasks equals the mean of the rollouts. */
function meanBounds(run: RunTasks, range: Range): Bounds {
  const plan = planOf(run);
  if (plan.isEven) {
    const values = run.tasks.flatMap(rated);
    const share = values.length / (totalOf(run) ?? 0);
    const average = mean(values) ?? 0;
    return [average * share + range[0] * (1 - share), average * share + range[1] * (1 - share)];
  }
  if (plan.loose > 0 && plan.each === 0 && plan.loose * run.tasks.length <= mostPlaced) {
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

/** A task's listed rollouts, with the sum of their rewards. */
interface ListedTask {
  readonly sum: number;
  readonly count: number;
}

/**
 * Maximum loose rollouts times tasks to place one by one. Above it, each loose rollout replaces a whole task, which is
 * valid but wider.
 */
const mostPlaced = 100_000;

/**
 * The lowest mean of tasks if `loose` rollouts with the lowest reward, `fill`, belong to these or to other tasks. The
 * ones in these tasks are placed greedily where they lower the sum most. This is optimal, because each further rollout
 * in a task lowers it less.
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

/** Whether a reward is outside the range. */
export function isOutside(runs: readonly RunTasks[], range: Range): boolean {
  return runs.some(({ tasks }) => tasks.some(rewards => rated(rewards).some(reward => isBeyond(reward, range))));
}

/** The runs with each reward {@link withinRange}. */
export function withoutOvershoot<Runs extends readonly (RunTasks | undefined)[]>(runs: Runs, range: Range): Runs {
  const overshoots = (reward: number | undefined): boolean =>
    reward !== undefined && withinRange(reward, range) !== reward;
  const corrected = (run: RunTasks | undefined): RunTasks | undefined =>
    run?.tasks.some(rewards => rewards.some(overshoots))
      ? { ...run, tasks: run.tasks.map(rewards => rewards.map(each => each && withinRange(each, range))) }
      : run;
  return runs.map(corrected) as readonly (RunTasks | undefined)[] as Runs;
}
