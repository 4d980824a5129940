/**
 * Means are computed over tasks. Several rollouts of a task are not independent, so they count as their mean. A
 * rollout without a reward is included: it counts as a value between the lowest and the highest reward.
 */
import { maxOf, minOf } from '../../base/many.ts';
import { mean, withoutRounding } from '../../base/statistics.ts';
import { joined, lowestIn, lowestMean, type Tally, tallyOf, tallyOfSame } from './tally.ts';

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
  /** Rollouts of each task, if the options of the run say so, or the user. */
  readonly samplesPerTask?: number | undefined;
  /** Whether this number is the user's: the service returns none. */
  readonly isEachGiven?: boolean | undefined;
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

/** The number of rollouts of the task with the most, listed or by the options. */
const mostOf = ({ tasks, samplesPerTask = 0 }: RunTasks): number =>
  tasks.reduce((most, { length }) => Math.max(most, length), samplesPerTask);

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

/** Which tasks the rollouts that a run does not list may belong to. */
interface Plan {
  /** The number of rollouts that each listed task has, if it lists fewer. */
  readonly each: number;
  /** The maximum number of tasks whose value these rollouts may change further, or that only they belong to. */
  readonly reach: number;
  /** Whether these may be listed tasks. */
  readonly isAny: boolean;
  /** The number of tasks of the run; undefined if uncertain. */
  readonly tasks: number | undefined;
}

const isListed = ({ length }: TaskRewards): boolean => length > 0;

/**
 * Only the options that the service returns tell how many rollouts each task has: a total that fits an equal number for
 * every task may do so by chance. Otherwise a missing rollout may belong to any task, and that of a task which only the
 * other run lists need not belong to this run.
 */
function planOf(run: RunTasks): Plan {
  const { tasks, samplesPerTask: given } = run;
  const [total, listed, own] = [totalOf(run), lengthOf(tasks), tasks.filter(isListed).length];
  if (run.total === undefined || run.total < listed) {
    // A row without a task may be one more of any task, unless the tasks lack more than there are such rows: then the
    // condition is that none has more than `each`. It may be of a task of its own in either case.
    const loose = Math.max(0, (total ?? 0) - listed);
    const isAny = loose > 0 && loose >= lackOf(run);
    return { each: run.each ?? 0, reach: tasks.length - own + loose, isAny, tasks: tasks.length };
  }
  if (given !== undefined && run.total % given === 0 && given >= mostOf(run) && given * own <= run.total)
    return { each: given, reach: run.total / given - own, isAny: false, tasks: run.total / given };
  const loose = run.total - listed;
  return { each: 0, reach: loose, isAny: loose > 0, tasks: loose === 0 ? own : undefined };
}

/** Whether the number of rollouts of each task fits the run, and so is used. */
export const isEachUsed = (run: RunTasks): boolean => planOf(run).each === run.samplesPerTask;

/**
 * The runs if each task has as many rollouts as the one with the most; undefined if that tells nothing new, or does not
 * fit the total.
 */
export function evenlyFilled(
  runs: readonly [RunTasks, RunTasks],
): { readonly each: number; readonly runs: readonly [RunTasks, RunTasks] } | undefined {
  const each = maxOf(runs.map(mostOf));
  const isOpenTo = (run: RunTasks): boolean =>
    run.total !== undefined && run.samplesPerTask === undefined && planOf(run).isAny;
  if (!runs.some(isOpenTo)) return undefined;
  const even = (run: RunTasks): RunTasks => (isOpenTo(run) ? { ...run, samplesPerTask: each } : run);
  const filledUp = [even(runs[0]), even(runs[1])] as const;
  return filledUp.some(isOpenTo) || filledUp.some((run, side) => run !== runs[side] && !isEachUsed(run))
    ? undefined
    : { each, runs: filledUp };
}

/**
 * Whether the missing rewards cannot be counted: the service does not report how many are pending or lost.
 */
export function isOpen({ tasks, total = 0, end }: RunTasks): boolean {
  if (end === 'complete' || end === 'unreported') return false;
  const listed = lengthOf(tasks);
  if (total < listed || total === 0) return true;
  // The total may count only the rollouts that have begun: before the stop, or so far. While it runs, those without
  // a reward count as missing in any case.
  return total === (end === 'stopped' ? listed : lengthOf(tasks.map(rated)));
}

/** Pending rewards are never ignored: those of a run that is or may be running. */
export const missingOf = ({ end }: Pick<RunTasks, 'end'>, { missing }: Pick<Filling, 'missing'>): Missing =>
  end === 'running' || end === 'unreported' ? 'bound' : missing;

/** A listed task's mean with every missing reward at the lowest, and at the highest. */
function boundsOf(rewards: TaskRewards, each: number, missing: Missing, [low, high]: Range): Bounds | undefined {
  const values = rated(rewards);
  const average = mean(values);
  if (missing === 'ignore') return average === undefined ? undefined : [average, average];
  if (average === undefined) return isListed(rewards) ? [low, high] : undefined;
  const share = 1 - values.length / Math.max(rewards.length, each);
  return [average + (low - average) * share, average + (high - average) * share];
}

export interface Filling {
  readonly missing: Missing;
  readonly range: Range;
}

/** The values of tasks with every missing reward at its worst for a lower limit. */
export interface Lowest {
  readonly certain: Tally;
  /** Those of tasks that may or may not count: at worst, exactly those below the limit do. */
  readonly optional: Tally;
}

/** The values for the lower limit, and the negated ones, whose negated lower limit is the upper limit. */
export interface Filled {
  readonly low: Lowest;
  readonly mirrored: Lowest;
}

/**
 * The values of one run, or the differences (second minus first) of two whose tasks are in the same order. What follows
 * from them holds for whichever tasks of both the missing rollouts belong to. A task without a reward in both counts only
 * where that is worse: it need not be one of both, and the mean of the others is a possible one, too.
 */
export function filled([first, second]: readonly [RunTasks, RunTasks?], filling: Filling): Filled {
  const { range } = filling;
  const sideOf = (run: RunTasks) => {
    const [{ each, reach, isAny }, missing] = [planOf(run), missingOf(run, filling)];
    return {
      tasks: run.tasks.map(rewards => ({
        bounds: boundsOf(rewards, each, missing, range),
        rewards: rated(rewards),
        count: Math.max(rewards.length, each),
      })),
      reach: missing === 'ignore' ? 0 : reach,
      isAny: missing !== 'ignore' && isAny,
    };
  };
  const [one, other] = [sideOf(first), second && sideOf(second)];
  const certain: Listed[] = [];
  const optional: Listed[] = [];
  // Tasks that only the other run lists, for each run.
  const single: readonly [Listed[], Listed[]] = [[], []];
  for (const [index, mine] of one.tasks.entries()) {
    const its = other ? other.tasks[index] : mine;
    const bounds = (side: typeof mine | undefined): Bounds => side?.bounds ?? range;
    const task: Listed = {
      value: other ? between(bounds(mine), bounds(its), [...mine.rewards, ...(its?.rewards ?? [])]) : bounds(mine),
      parts: [mine, ...(other && its ? [its] : [])].map((side, at) => ({
        bounds: bounds(side),
        count: side.count,
        isAny: (at === 0 ? one : other)?.isAny === true,
      })),
    };
    if (mine.bounds && its?.bounds) (mine.rewards.length > 0 && its.rewards.length > 0 ? certain : optional).push(task);
    else if (other && (mine.bounds ?? its?.bounds)) single[mine.bounds ? 1 : 0].push(task);
  }
  const [least, most] = other ? between(range, range) : range;
  const reaches = [one.reach, other?.reach ?? 0] as const;
  const [inBoth, all] = [other ? minOf(reaches) : one.reach, reaches[0] + reaches[1]];
  const isAny = one.isAny || other?.isAny === true;
  const lowestOf = (sign: 1 | -1, end: number): Lowest => {
    const tally = (tasks: readonly Listed[]): Tally => tallyOf(tasks.map(({ value }) => worstOf(value, sign)));
    // Those that no run lists belong to both.
    const unknown = tallyOfSame(end, inBoth);
    if (!isAny) {
      const open = single.map((tasks, side) => lowestIn(tally(tasks), reaches[side] ?? 0)).reduce(joined, unknown);
      return { certain: tally(certain), optional: joined(tally(optional), lowestIn(open, all)) };
    }
    const falling = (tasks: readonly Listed[], first: number): Falling[] => {
      const steps = Math.min(all, Math.ceil(mostFallen / tasks.length));
      return tasks.map(task => ({ first, values: fallingOf(task, steps, all, sign, range) }));
    };
    // A lower sample than that of any choice has, below each limit, as many values as any choice can bring there. Of more
    // values than the listed tasks have, the lowest make a limit that is no higher.
    const ofBoth: Falling[] = Array.from({ length: Math.min(inBoth, certain.length) }, () => ({
      first: other ? 2 : 1,
      values: [end],
    }));
    const values = lowestOfEvery(
      [...falling(certain, 0), ...falling(single.filter((_, side) => reaches[side]).flat(), 1), ...ofBoth],
      all,
      certain.length,
    );
    return {
      certain: tallyOf(values),
      optional: tallyOf(lowestOfEvery(falling(optional, 0), all, optional.length)),
    };
  };
  return { low: lowestOf(1, least), mirrored: lowestOf(-1, -most) };
}

const worstOf = ([low, high]: Bounds, sign: 1 | -1): number => (sign === 1 ? low : -high);

/** A task: its value, and that of each run. */
interface Listed {
  readonly value: Bounds;
  readonly parts: readonly { readonly bounds: Bounds; readonly count: number; readonly isAny: boolean }[];
}

/** Maximum values of all tasks with loose rollouts. */
const mostFallen = 30_000;

/** The values of a task with `first`, `first + 1`, … loose rollouts in it, descending. */
interface Falling {
  readonly first: number;
  readonly values: readonly number[];
}

/**
 * The lowest values of a task with 0 to `most` loose rollouts, each in the run where it lowers the value most. This is
 * optimal, because each further one in a run lowers it less. If there are more, `all`, the next one replaces all others.
 */
function fallingOf({ value, parts }: Listed, most: number, all: number, sign: 1 | -1, range: Bounds): number[] {
  // The value of the second run, or of the only one, counts positively.
  const placed = parts.map(({ bounds, count, isAny }, index) => {
    const side = index === parts.length - 1 ? sign : sign === 1 ? -1 : 1;
    return { value: worstOf(bounds, side), end: worstOf(range, side), count, isAny };
  });
  const values = [worstOf(value, sign)];
  while (values.length <= most) {
    const drops = placed.map(part => (part.isAny ? (part.value - part.end) / (part.count + 1) : 0));
    const drop = maxOf(drops);
    const part = placed[drops.indexOf(drop)];
    if (!part || !(drop > 0)) break;
    part.value -= drop;
    part.count += 1;
    values.push((values.at(-1) ?? 0) - drop);
  }
  const last = placed.reduce((sum, part) => sum + (part.isAny ? part.end : part.value), 0);
  return values.length > most && all > most ? [...values, last] : values;
}

/** As many values below each limit as `budget` loose rollouts can bring there, whichever tasks they are in; at most `size`. */
function lowestOfEvery(tasks: readonly Falling[], budget: number, size: number): number[] {
  const steps = tasks.flatMap(({ first, values }) =>
    values.map((value, at) => ({ value, cost: first + at, isFirst: at === values.length - 1 })),
  );
  steps.sort((one, next) => one.value - next.value || next.cost - one.cost);
  /** By the number of loose rollouts that bring a task to the limit, how many tasks need it. */
  const costs: number[] = [];
  const lowest: number[] = [];
  for (const [index, { value, cost, isFirst }] of steps.entries()) {
    costs[cost] = (costs[cost] ?? 0) + 1;
    if (!isFirst) costs[cost + 1] = (costs[cost + 1] ?? 0) - 1;
    if (steps[index + 1]?.value === value) continue;
    let [left, count] = [budget, costs[0] ?? 0];
    for (let each = 1; each <= left && each < costs.length; each++) {
      const taken = Math.min(costs[each] ?? 0, Math.floor(left / each));
      left -= taken * each;
      count += taken;
    }
    while (lowest.length < Math.min(count, size)) lowest.push(value);
    if (lowest.length === size) break;
  }
  return lowest;
}

/** The lowest and the highest mean of these values. */
export const meansOf = ({ low, mirrored }: Filled): Bounds => [
  lowestMean(low.certain, low.optional),
  -lowestMean(mirrored.certain, mirrored.optional),
];

/** The bounds of a difference, second minus first, without what rounding makes of the rewards. */
const between = (first: Bounds, second: Bounds, rewards: readonly number[] = []): Bounds => [
  withoutRounding(second[0] - first[1], rewards),
  withoutRounding(second[1] - first[0], rewards),
];

/** The tasks that both runs should have a reward for. */
export interface SharedTasks {
  /** How many have none in one of the runs, at most. */
  readonly lacking: number;
  /** The number of all, at most. */
  readonly tasks: number;
  /** How many of either number may be no tasks of both: one of the runs lists no rollout of them. */
  readonly unsure: number;
}

export function sharedTasks([base, fresh]: readonly [RunTasks, RunTasks]): SharedTasks {
  const [before, after] = [planOf(base).reach, planOf(fresh).reach];
  const pairs = base.tasks.map((rewards, index) => [rewards, fresh.tasks[index] ?? []] as const);
  const shared = pairs.filter(pair => pair.every(isListed));
  const lacking = shared.filter(pair => pair.some(rewards => rated(rewards).length === 0)).length;
  const onlyBase = pairs.filter(([mine, its]) => isListed(mine) && !isListed(its)).length;
  const onlyFresh = pairs.filter(([mine, its]) => isListed(its) && !isListed(mine)).length;
  const inNone = Math.max(0, Math.min(before - onlyFresh, after - onlyBase));
  const unsure = Math.min(before, onlyFresh) + Math.min(after, onlyBase) + inNone;
  return { lacking: lacking + unsure, tasks: shared.length + unsure, unsure };
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
  const listed = tasks.filter(isListed);
  const rollouts = Math.max(total ?? 0, lengthOf(tasks));
  const open = isOpen(run);
  const unlistedRollouts = Math.max(0, lengthOf(tasks) + lackOf(run) - rollouts);
  const bounds = () => meanBounds({ ...run, tasks: listed }, range);
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

/** @param run with its listed tasks alone: all unlisted ones are worth the lowest, or the highest reward */
function meanBounds(run: RunTasks, range: Range): Bounds {
  const { isAny, reach } = planOf(run);
  // Where the total is unknown, the condition is then that all rollouts are listed: none has `each` without these.
  if (isAny && reach * run.tasks.length <= mostPlaced) {
    const filledWith = (fill: number, sign: 1 | -1): ListedTask[] =>
      run.tasks.map(rewards => {
        const all = rewards.map(reward => reward ?? fill);
        return { sum: all.reduce((sum, value) => sum + sign * value, 0), count: all.length };
      });
    return [
      leastMean(filledWith(range[0], 1), reach, range[0]),
      -leastMean(filledWith(range[1], -1), reach, -range[1]),
    ];
  }
  return meansOf(filled([run], { missing: 'bound', range }));
}

/** A task's listed rollouts, with the sum of their rewards. */
interface ListedTask {
  readonly sum: number;
  readonly count: number;
}

/**
 * Maximum loose rollouts times tasks to place one by one. Above it, the mean is that of the values of the limits, which is
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
