/**
 * Runs as tasks with rewards. Means are computed over tasks: several rollouts of a task are not independent, so they
 * count as their mean. A rollout without a reward may have any value between the lowest and the highest reward.
 */
import { maxOf } from '../../base/many.ts';
import { withoutRounding } from '../../base/statistics.ts';

/** The range of rewards. */
export type Range = readonly [low: number, high: number];

/** Tolerance beyond the range as a share of it, because graders that add weighted parts overshoot. */
const overshootShare = 1e-9;

/** Whether two rewards differ at most by rounding, as .7 + .2 + .1 does from 1. */
export const isSameReward = (one: number, other: number): boolean => withoutRounding(one - other, [one, other]) === 0;

/** Whether a reward is at least this high, apart from rounding. */
export const reaches = (reward: number, limit: number): boolean => reward >= limit || isSameReward(reward, limit);

/** Why a threshold tells no reward in the range from another, as the rest of a sentence; undefined if it does. */
export const passAtProblem = (passAt: number, [low, high]: Range): string | undefined =>
  passAt > low && passAt <= high ? undefined : `a number above ${low}, and at most ${high}`;

/** The reward, or the end of the range from which only rounding separates it. */
export function withinRange(reward: number, [low, high]: Range): number {
  const slack = (high - low) * overshootShare;
  // The parts of a reward near 0 may have been larger: .8 - .7 - .1 is 8.3e-17.
  const part = Math.min(1, high - low);
  const isAt = (end: number): boolean => withoutRounding(reward - end, [reward, end, part]) === 0;
  if (isAt(high) || (reward > high && reward <= high + slack)) return high;
  return isAt(low) || (reward < low && reward >= low - slack) ? low : reward;
}

/** Whether a reward is outside the range by more than rounding. */
export function isBeyond(reward: number, range: Range): boolean {
  const value = withinRange(reward, range);
  return value < range[0] || value > range[1];
}

/** How rollouts without a reward count: `bound` means as the lowest for one limit and as the highest for the other. */
export type Missing = 'bound' | 'ignore';

/** A run's state: complete, running, stopped or failed, or not reported by the service. */
export type RunEnd = 'complete' | 'running' | 'stopped' | 'unreported';

/** The rewards of a task's listed rollouts; undefined for a rollout without a reward. */
export type TaskRewards = readonly (number | undefined)[];

export interface RunTasks {
  /** The tasks named by this run or by the other run of a pair. */
  readonly tasks: readonly TaskRewards[];
  /** How many rollouts the complete run has, listed or not; undefined if the service does not report it. */
  readonly total?: number | undefined;
  /** The number of rollouts seen so far, including those whose reward or task is unknown. */
  readonly least?: number | undefined;
  /**
   * The number of rollouts that have a reward but no readable task, or are unreadable. They are not in `tasks`.
   * Rollouts with neither count as missing instead.
   */
  readonly nameless?: number | undefined;
  /** How many of these are unreadable. */
  readonly unreadable?: number | undefined;
  /** How many rollouts are known to have failed without a reward. */
  readonly failed?: number | undefined;
  /** Rollouts per task, from the run's options or from the user. */
  readonly samplesPerTask?: number | undefined;
  /** Whether the number comes from the user, because the service returns none. */
  readonly isEachGiven?: boolean | undefined;
  /** The user's number, if the service returns a different one, which takes precedence. */
  readonly unusedEach?: number | undefined;
  /** The number of rollouts assumed per listed task, if the service does not report the total. Set by `withEach`. */
  readonly each?: number | undefined;
  readonly end: RunEnd;
  /** Whether it cannot be determined how many rewards are missing from one of several pooled runs. */
  readonly isPartOpen?: boolean | undefined;
  /** The checkpoint may have been chosen by a held-out curve on the same tasks. */
  readonly isMeasuredAsChosen?: boolean | undefined;
}

/** The lowest and the highest value over all possible missing rewards. */
export type Bounds = readonly [low: number, high: number];

export const ratedRewards = (rewards: TaskRewards): number[] => rewards.filter(reward => reward !== undefined);

export const lengthOf = (tasks: readonly TaskRewards[]): number => tasks.reduce((sum, { length }) => sum + length, 0);

/** A run's number of rollouts, as reported or else as observed; undefined if it adds nothing to the tasks. */
export const totalOf = ({ tasks, total, least = 0 }: RunTasks): number | undefined =>
  total ?? (least > lengthOf(tasks) ? least : undefined);

/** Whether a run may have ended, but its number of rollouts is not reported: failed ones may be left out. */
export const isUncounted = ({ end, total }: Pick<RunTasks, 'end' | 'total'>): boolean =>
  total === undefined && (end === 'complete' || end === 'unreported');

/** The highest number of rollouts of any task, as listed or from the options. */
export const mostOf = ({ tasks, samplesPerTask = 0 }: RunTasks): number =>
  tasks.reduce((most, { length }) => Math.max(most, length), samplesPerTask);

/**
 * Sets `each` for uncounted runs: a task lacks rollouts if it lists fewer than its run's options require or, without
 * options, fewer than another task of either run.
 */
export function withEach<Runs extends readonly (RunTasks | undefined)[]>(runs: Runs): Runs {
  const most = maxOf(runs.map(run => (run ? mostOf(run) : 0)));
  const completed = (run: RunTasks | undefined): RunTasks | undefined =>
    run === undefined || run.each !== undefined || !isUncounted(run)
      ? run
      : { ...run, each: run.samplesPerTask === undefined ? most : mostOf(run) };
  return runs.map(completed) as readonly (RunTasks | undefined)[] as Runs;
}

/** How many rollouts an uncounted run's listed tasks are missing, at `each` per task. */
export const lackOf = ({ tasks, each = 0 }: RunTasks): number =>
  tasks.reduce((sum, { length }) => sum + (length === 0 ? 0 : Math.max(0, each - length)), 0);

/** The tasks that unlisted rollouts may belong to. */
interface Plan {
  /** The actual number of rollouts in each listed task that lists fewer. */
  readonly each: number;
  /** Maximum number of further tasks that unlisted rollouts may change, or that consist only of unlisted rollouts. */
  readonly reach: number;
  /** Whether these may be listed tasks. */
  readonly isAny: boolean;
  /** The run's number of tasks; undefined if uncertain. */
  readonly tasks: number | undefined;
}

export const isListed = ({ length }: TaskRewards): boolean => length > 0;

/**
 * Only a run's options state the number of rollouts per task: a total that fits an equal number for every task may do
 * so by chance. Without options, a missing rollout may belong to any task, and this run need not have the tasks that
 * only the other run lists.
 */
export function planOf(run: RunTasks): Plan {
  const { tasks, samplesPerTask } = run;
  const [total, listed, own] = [totalOf(run), lengthOf(tasks), tasks.filter(isListed).length];
  if (run.total === undefined || run.total < listed) {
    // A row without a task may be an additional rollout of any task, unless the tasks lack more rollouts than there are
    // such rows: the interval then assumes that no task has more than `each`. Either way, it may have a task of its
    // own.
    const loose = Math.max(0, (total ?? 0) - listed);
    const isAny = loose > 0 && loose >= lackOf(run);
    return { each: run.each ?? 0, reach: tasks.length - own + loose, isAny, tasks: tasks.length };
  }
  if (
    samplesPerTask !== undefined &&
    run.total % samplesPerTask === 0 &&
    samplesPerTask >= mostOf(run) &&
    samplesPerTask * own <= run.total
  ) {
    const all = run.total / samplesPerTask;
    return { each: samplesPerTask, reach: all - own, isAny: false, tasks: all };
  }
  const loose = run.total - listed;
  return { each: 0, reach: loose, isAny: loose > 0, tasks: loose === 0 ? own : undefined };
}

/** Whether `samplesPerTask` fits the run and is used. */
export const isEachUsed = (run: RunTasks): boolean => planOf(run).each === run.samplesPerTask;

/** The runs with equally many rollouts per task; undefined if that changes nothing or does not fit a total. */
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

/** Whether the missing rewards cannot be counted, because the service does not report how many are pending or lost. */
export function isOpen({ tasks, total = 0, end, isPartOpen = false }: RunTasks): boolean {
  if (isPartOpen) return true;
  if (end === 'complete' || end === 'unreported') return false;
  const listed = lengthOf(tasks);
  if (total < listed || total === 0) return true;
  // The total may count only rollouts that had begun before the stop, or have begun so far. While the run is in
  // progress, rollouts without a reward count as missing in any case.
  return total === (end === 'stopped' ? listed : lengthOf(tasks.map(ratedRewards)));
}

/** The tasks for which both runs should have a reward. */
export interface SharedTasks {
  /** The maximum number of shared tasks without a reward in one of the runs. */
  readonly lacking: number;
  /** The maximum number of shared tasks. */
  readonly tasks: number;
  /** How many tasks in either number may not be shared, because one of the runs lists no rollout of them. */
  readonly unsure: number;
}

export function sharedTasks([base, fresh]: readonly [RunTasks, RunTasks]): SharedTasks {
  const [before, after] = [planOf(base).reach, planOf(fresh).reach];
  const pairs = base.tasks.map((rewards, index) => [rewards, fresh.tasks[index] ?? []] as const);
  const shared = pairs.filter(pair => pair.every(isListed));
  const lacking = shared.filter(pair => pair.some(rewards => ratedRewards(rewards).length === 0)).length;
  const onlyBase = pairs.filter(([mine, its]) => isListed(mine) && !isListed(its)).length;
  const onlyFresh = pairs.filter(([mine, its]) => isListed(its) && !isListed(mine)).length;
  const inNone = Math.max(0, Math.min(before - onlyFresh, after - onlyBase));
  const unsure = Math.min(before, onlyFresh) + Math.min(after, onlyBase) + inNone;
  return { lacking: lacking + unsure, tasks: shared.length + unsure, unsure };
}

export function isOutside(runs: readonly RunTasks[], range: Range): boolean {
  return runs.some(({ tasks }) => tasks.some(rewards => ratedRewards(rewards).some(reward => isBeyond(reward, range))));
}

/** The runs with each reward {@link withinRange}. */
export function withExactEnds<Runs extends readonly (RunTasks | undefined)[]>(runs: Runs, range: Range): Runs {
  const isRounded = (reward: number | undefined): boolean =>
    reward !== undefined && withinRange(reward, range) !== reward;
  const corrected = (run: RunTasks | undefined): RunTasks | undefined =>
    run?.tasks.some(rewards => rewards.some(isRounded))
      ? { ...run, tasks: run.tasks.map(rewards => rewards.map(each => each && withinRange(each, range))) }
      : run;
  return runs.map(corrected) as readonly (RunTasks | undefined)[] as Runs;
}
