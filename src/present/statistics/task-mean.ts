/** A run's mean reward over its tasks, and its bounds over all possible missing rewards. */
import { mean } from '../../base/statistics.ts';
import { filled, meansOf } from './filled.ts';
import {
  type Bounds,
  isListed,
  isOpen,
  isOutside,
  isUncounted,
  lackOf,
  lengthOf,
  mostOf,
  planOf,
  type Range,
  type RunEnd,
  type RunTasks,
  ratedRewards,
  totalOf,
  withEach,
  withExactEnds,
} from './tasks.ts';

/** A run's mean reward over its tasks, and the missing rewards. */
export interface TaskMean {
  /** Over the tasks with a reward. */
  readonly mean: number | undefined;
  /** Tasks with a reward. */
  readonly tasks: number;
  /** All of the run's tasks; undefined if uncertain. */
  readonly allTasks: number | undefined;
  /** Rollouts with a reward, and all known rollouts that should have one. */
  readonly rated: number;
  readonly rollouts: number;
  /** Whether the service does not report the number of rollouts. */
  readonly isUncounted: boolean;
  /** The assumed number of rollouts per task, and how many rollouts this adds to `rollouts`; 0 if none. */
  readonly each: number;
  readonly unlistedRollouts: number;
  /** Whether only the other run has `each` rollouts in a task, so that this run need not have as many. */
  readonly isEachOfOther: boolean;
  /** Tasks that only the other run lists. The service does not report whether this run has them. */
  readonly unlisted: number;
  /** Rollouts without a readable task, and unreadable ones, among those that count as missing. */
  readonly nameless: number;
  /** How many of these are unreadable. */
  readonly unreadable: number;
  /** Rollouts that are known to have failed, among those that count as missing. */
  readonly failed: number;
  /** The lowest and the highest mean over all possible missing rewards; undefined if none is missing. */
  readonly bounds: Bounds | undefined;
  readonly end: RunEnd;
  /** Whether the missing rewards cannot be counted, so that there are no bounds. */
  readonly isOpen: boolean;
}

export function taskMean(given: RunTasks, range: Range): TaskMean {
  const [run] = withExactEnds(withEach([given] as const), range);
  const { tasks, end } = run;
  const total = totalOf(run);
  const means = tasks.flatMap(rewards => mean(ratedRewards(rewards)) ?? []);
  const count = lengthOf(tasks.map(ratedRewards));
  const listed = tasks.filter(isListed);
  const rollouts = Math.max(total ?? 0, lengthOf(tasks));
  const open = isOpen(run);
  const unlistedRollouts = Math.max(0, lengthOf(tasks) + lackOf(run) - rollouts);
  const nameless = Math.min(run.nameless ?? 0, rollouts - count);
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
    nameless,
    unreadable: Math.min(run.unreadable ?? 0, nameless),
    failed: Math.min(run.failed ?? 0, rollouts - count),
    bounds: (count === rollouts && unlistedRollouts === 0) || open || isOutside([run], range) ? undefined : bounds(),
    end,
    isOpen: open,
  };
}

/** @param run with only its listed tasks; unlisted tasks all count with the lowest, or with the highest, reward */
function meanBounds(run: RunTasks, range: Range): Bounds {
  const { isAny, reach } = planOf(run);
  // If the total is unknown, all rollouts must be listed: without unlisted ones, no task has `each`.
  if (isAny && reach * run.tasks.length <= maxPlacements) {
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

/** A task's number of listed rollouts, and the sum of their rewards. */
interface ListedTask {
  readonly sum: number;
  readonly count: number;
}

/** The number of listed rollouts without a reward. */
export const withoutReward = ({ rollouts, rated }: TaskMean): number => rollouts - rated;

/** Whether a rollout or a task is missing from the mean. */
export const lacksRewards = (run: TaskMean): boolean =>
  withoutReward(run) > 0 || run.unlistedRollouts > 0 || run.unlisted > 0;

/**
 * Up to this product of loose rollouts and tasks, rollouts are placed one by one. Above it, the bounds are wider, but
 * valid.
 */
const maxPlacements = 100_000;

/**
 * The lowest mean over tasks if `loose` rollouts with the lowest reward, `fill`, belong to these or other tasks.
 * Rollouts in these tasks are placed greedily, where they lower the sum most. This is optimal, because each further
 * rollout in a task lowers the sum less.
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
