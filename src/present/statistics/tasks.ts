/**
 * What a mean is of: tasks. Several rollouts of a task are no independent values, so that they count as their mean. A
 * rollout without a reward is not left out: its task is worth something between the lowest and the highest reward.
 */
import { mean } from '../../text/statistics.ts';
import { type Tally, tallyOf } from './tally.ts';

/** Rewards are between them. */
export type Range = readonly [low: number, high: number];

/** What is done about rollouts without a reward: `bound` counts them as the lowest and as the highest reward. */
export type Missing = 'bound' | 'ignore';

/** The rollouts of one task in one run. */
export interface TaskRollouts {
  /** In the order of the answer, which has nothing to do with the rewards; undefined where there is none. */
  readonly rewards: readonly (number | undefined)[];
  /** Rollouts that the answer leaves out. */
  readonly unlisted: number;
  /** Stands for a task of the other run that is not known by name: this run may lack nothing of it. */
  readonly isUnknown?: boolean;
}

/** The tasks of one run. */
export interface RunTasks {
  readonly tasks: readonly TaskRollouts[];
  /** Whether the run ended by itself. Otherwise more rewards may come, or somebody stopped it when it suited. */
  readonly final: boolean;
}

export const noRollouts: TaskRollouts = { rewards: [], unlisted: 0 };

/** The mean reward of a task with every missing reward at the lowest, and at the highest. */
type Bounds = readonly [low: number, high: number];

/** The mean of values without a sum that overflows; undefined of nothing. */
const meanOr = (values: readonly number[], instead: number): number => mean(values) ?? instead;

/**
 * The bounds of a task by its first `most` rollouts; undefined if it has fewer, and if there is nothing to say. A task
 * of a final run without any rollout is missing as a whole.
 */
function boundsOf(
  { rewards, unlisted }: TaskRollouts,
  { final, most, missing, range: [low, high] }: { final: boolean; most: number; missing: Missing; range: Range },
): Bounds | undefined {
  if (!final && rewards.length < most) return undefined;
  const counted = final ? rewards : rewards.slice(0, most);
  const rated = counted.filter(reward => reward !== undefined);
  const average = mean(rated);
  if (missing === 'ignore') return average === undefined ? undefined : [average, average];
  const unrated = counted.length - rated.length + (final ? unlisted : 0);
  if (average === undefined) return final || unrated > 0 ? [low, high] : undefined;
  const share = unrated / (rated.length + unrated);
  return [average + (low - average) * share, average + (high - average) * share];
}

/** Values of tasks: with every missing reward at its lowest, and at its highest. */
export interface Filled {
  readonly low: Tally;
  readonly high: Tally;
}

/** What to count of the runs that are not final: the first 1, 2, 4, … rollouts of the tasks that have as many. */
function levelsOf(runs: readonly RunTasks[]): readonly number[] {
  const open = runs.filter(({ final }) => !final);
  if (open.length === 0) return [Number.POSITIVE_INFINITY];
  const most = (open[0]?.tasks ?? []).reduce((highest, _, index) => {
    const fewest = Math.min(...open.map(({ tasks }) => tasks[index]?.rewards.length ?? 0));
    return Math.max(highest, fewest);
  }, 1);
  return Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, level) => 2 ** level);
}

/**
 * The values of one run, or the differences (second minus first) of two whose tasks are in the same order. One level for
 * final runs; otherwise one for each power of 2 of rollouts: each level holds a value per task that no later rollout
 * changes, as a look at any time requires.
 */
export function filledLevels(runs: readonly [RunTasks, RunTasks?], missing: Missing, range: Range): Filled[] {
  const [first, second] = runs;
  const given = second === undefined ? [first] : [first, second];
  return levelsOf(given).map(most => {
    const [lows, highs]: [number[], number[]] = [[], []];
    for (const [index, task] of first.tasks.entries()) {
      const one = boundsOf(task, { final: first.final, most, missing, range });
      if (one === undefined) continue;
      if (second === undefined) {
        lows.push(one[0]);
        highs.push(one[1]);
        continue;
      }
      const other = boundsOf(second.tasks[index] ?? noRollouts, { final: second.final, most, missing, range });
      if (other === undefined) continue;
      lows.push(other[0] - one[1]);
      highs.push(other[1] - one[0]);
    }
    return { low: tallyOf(lows), high: tallyOf(highs) };
  });
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
}

export function taskMean({ tasks: all, final }: RunTasks, range: Range): TaskMean {
  const tasks = all.filter(({ isUnknown }) => !isUnknown);
  const means = tasks.flatMap(({ rewards }) => mean(rewards.filter(reward => reward !== undefined)) ?? []);
  const rated = tasks.reduce((sum, { rewards }) => sum + rewards.filter(reward => reward !== undefined).length, 0);
  const rollouts = tasks.reduce((sum, task) => sum + Math.max(final ? 1 : 0, rolloutsOf(task, final)), 0);
  const bounds = tasks.flatMap(task => {
    const own = boundsOf(task, { final, most: Math.max(1, task.rewards.length), missing: 'bound', range });
    return own === undefined ? [] : [own];
  });
  return {
    mean: mean(means),
    tasks: means.length,
    rated,
    rollouts,
    bounds:
      rated === rollouts
        ? undefined
        : [
            meanOr(
              bounds.map(([low]) => low),
              range[0],
            ),
            meanOr(
              bounds.map(([, high]) => high),
              range[1],
            ),
          ],
  };
}

/** How many rollouts of a task there are by now, listed or not. */
function rolloutsOf({ rewards, unlisted }: TaskRollouts, final: boolean): number {
  return rewards.length + (final ? unlisted : 0);
}

/** Whether a task lacks a reward that should be there. */
export function lacksReward(task: TaskRollouts, final: boolean): boolean {
  return task.rewards.includes(undefined) || (final && (task.unlisted > 0 || task.rewards.length === 0));
}

/** Whether a reward is outside of the range. */
export function isOutside(runs: readonly RunTasks[], [low, high]: Range): boolean {
  return runs.some(({ tasks }) =>
    tasks.some(({ rewards }) => rewards.some(reward => reward !== undefined && (reward < low || reward > high))),
  );
}
