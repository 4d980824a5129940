/** Caveats about the means and the verdict of a comparison. */

import { maxOf } from '../../base/many.ts';
import { type BySide, otherSide, type Side, sides } from '../../base/sides.ts';
import { counted } from '../../text/numbers.ts';
import { missingOf } from './filled.ts';
import type { IntervalOptions } from './interval.ts';
import { lacksRewards, type TaskMean } from './task-mean.ts';
import { isEachUsed, planOf, type RunTasks } from './tasks.ts';

/**
 * The caveat for a run on the same tasks as its checkpoint's held-out curve: the best point of a curve is partly luck.
 */
export const optimisticNote = 'optimistic if its checkpoint was chosen by held-out reward on these tasks';

/** Caveats about how the checkpoints were chosen and about the rollouts per task; may be empty. */
export function describeCautions(runs: readonly RunTasks[], means: BySide<TaskMean>, options: IntervalOptions): string {
  const chosen = sides.filter((_, index) => runs[index]?.isMeasuredAsChosen);
  const perTask = sides.flatMap((side, index) => {
    const [run, other] = [runs[index], runs[1 - index]];
    const isUsed = run && lacksRewards(means[side]) && !means[side].isOpen && missingOf(run, options) === 'bound';
    return isUsed && other
      ? describeSamplesPerTask(side, run, { run: other, isWhole: !lacksRewards(means[otherSide(side)]) })
      : [];
  });
  const mayLack = sides.some(side => lacksRewards(means[side]) || means[side].isOpen);
  const unused = mayLack ? [] : describeUnused(runs);
  return [...chosen.map(side => `the ${side} run is ${optimisticNote}`), ...perTask, ...unused].join('; ');
}

/** Says of runs without missing rewards that the user's number of rollouts per task, which is another, is not used. */
function describeUnused(runs: readonly RunTasks[]): string[] {
  const each = runs.flatMap(run => run.unusedEach ?? (run.isEachGiven ? run.samplesPerTask : undefined) ?? [])[0];
  const isOther = runs.some(({ tasks }) => maxOf(tasks.map(({ length }) => length)) !== each);
  return each !== undefined && isOther ? [`no reward is missing, so --samples-per-task ${each} is not used`] : [];
}

/** Whether the user's number of rollouts per task is used, and whether the other run contradicts it. */
function describeSamplesPerTask(
  side: Side,
  { isEachGiven, unusedEach, ...run }: RunTasks,
  other: { readonly run: RunTasks; readonly isWhole: boolean },
): string[] {
  const { samplesPerTask: each = 0 } = run;
  if (unusedEach !== undefined)
    return [
      `the service reports ${counted(each, 'rollout')} per task for the ${side} run, so --samples-per-task ${unusedEach} is not used`,
    ];
  if (!isEachGiven) return [];
  const flag = `--samples-per-task ${each}`;
  if (!isEachUsed(run)) {
    const result = planOf(run).isAny ? 'missing rollouts may belong to any task' : 'it is not used';
    return [`${flag} does not fit the rollouts of the ${side} run, so ${result}`];
  }
  const most = maxOf(other.run.tasks.map(({ length }) => length));
  const contrast =
    other.isWhole && most !== each ? `, although the ${otherSide(side)} run has at most ${most} per task` : '';
  return [`the ${side} run is assumed to have ${counted(each, 'rollout')} per task (${flag})${contrast}`];
}
