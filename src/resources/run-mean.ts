/** Says how certain a run's mean reward is: its interval by task, and the effect of missing rewards. */

import { hasEnded } from '../contract/status.ts';
import { formatInterval } from '../present/number-columns.ts';
import { defaultRange } from '../present/statistics/interval.ts';
import type { Range } from '../present/statistics/tasks.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { readRunRewards } from '../queries/run-extent.ts';
import { type CertainMean, intervalBeside, isSameMean, type RunMean, runMeanOf } from '../queries/run-mean.ts';
import { meanOfRewards } from '../queries/run-rewards.ts';
import type { KnownResource } from '../queries/statuses/known-resource.ts';
import { counted, reward } from '../text/numbers.ts';
import { boundsField, describeBounds } from './comparison.ts';

/**
 * Reads how certain a run's mean is. Also returns the mean: computed from the same rewards while the run continues, and
 * the service's own mean once it has ended.
 *
 * @param run its last known state
 * @throws ServiceError
 */
export async function readRunMean(
  run: Pick<KnownResource, 'id' | 'status' | 'mean' | 'total'> & Partial<Pick<KnownResource, 'graded'>>,
  context: QueryContext,
) {
  const { id, status, total, graded } = run;
  const mean = hasEnded(status) ? run.mean : undefined;
  const answer = await readRunRewards(id, context, { status, total });
  const listed = meanOfRewards(answer.rewards);
  // The service's own mean has its own number of rewards.
  const isOfList =
    mean === undefined || (graded === undefined && isSameMean({ mean }, { mean: listed.mean }, defaultRange));
  return {
    mean: mean ?? listed.mean,
    graded: isOfList ? listed.rewards : graded,
    ...(answer.failed !== undefined && { failed: answer.failed }),
    runMean: runMeanOf(answer.rewards, { ...answer, range: context.compare?.rewardRange }),
  };
}

/** `28 tasks`, or `24 of 28 tasks` if the others have no reward. */
function describeTasks({ tasks, allTasks = tasks }: RunMean): string {
  return allTasks === tasks ? counted(tasks, 'task') : `${tasks} of ${counted(allTasks, 'task')}`;
}

/**
 * E.g. `95% CI 0.460 to 0.880 over 24 of 28 tasks; 0.610 to 0.750 with the 4 missing`. The interval covers missing
 * rewards. It applies to the mean over tasks. The text includes that mean if it differs from the displayed mean over
 * rewards, in which a task with more rollouts has more weight. Empty without rewards.
 */
export function describeCertainty(run: RunMean, shownMean: number | undefined): string {
  const { mean, namelessRewards } = run;
  if (mean === undefined) return '';
  if (namelessRewards > 0)
    return `no interval: ${counted(namelessRewards, 'reward has', 'rewards have')} no readable task`;
  const isShown = reward(mean) === reward(shownMean);
  return [...(isShown ? [] : [`mean of tasks ${reward(mean)}`]), describeEvidence(run)].filter(Boolean).join(', ');
}

/** The assumption behind the interval if the service does not report how many rollouts were planned. */
function describeCondition({ isUncounted, isStoppedWhole, end, unlistedRollouts, each }: RunMean): string {
  if (isStoppedWhole) return 'if no more rollouts were planned (stopped)';
  if (!isUncounted) return '';
  const ended = end === 'unreported' ? 'the run has ended and ' : '';
  const all = unlistedRollouts === 0 ? 'these are all its rollouts' : `no task has more than ${each} rollouts`;
  return `if ${ended}${all} (total unknown)`;
}

export const noIntervalOutside = (range: Range): string =>
  `no interval: rewards are outside ${range.join('..')}; set their range with the setting compare.rewardRange`;

function describeEvidence(run: RunMean): string {
  const { interval, outside, isOpen } = run;
  if (isOpen) return 'no interval: the service does not report how many rewards are missing';
  if (outside && !interval) return noIntervalOutside(outside);
  return [
    interval === undefined
      ? 'no interval: with so many rewards missing, it would be the whole range'
      : `${formatInterval(interval)} over ${[describeTasks(run), describeCondition(run)].filter(Boolean).join(', ')}`,
    describeBounds(run),
  ]
    .filter(Boolean)
    .join('; ');
}

/**
 * The interval beside a mean in a list, with the number of missing rewards, which widen it: `95% CI 0.312 to 0.688 over
 * 16 tasks, with 88 of 128 rewards missing`. Without an interval, gives the reason if it is the number of rewards.
 */
export function formatIntervalBeside(shown: CertainMean, range: Range): string {
  const interval = intervalBeside(shown, range);
  const { reason, tasks = 0, rewards = 0, total = rewards } = shown.certainty ?? {};
  const missing = Math.max(0, total - rewards);
  if (interval) {
    const without = missing > 0 ? `, with ${missing} of ${total} rewards missing` : '';
    return `${formatInterval(interval)} over ${counted(tasks, 'task')}${without}`;
  }
  if (reason !== 'nothing' || rewards === 0 || rewards !== shown.graded) return '';
  return `none: ${missing > 0 ? `with ${missing} of ${total} rewards missing, it would be the whole range` : 'too few rewards'}`;
}

/** The certainty as JSON fields. */
export const certaintyFields = (run: RunMean) => {
  const isByTask = run.namelessRewards === 0;
  return {
    task_mean: isByTask ? (run.mean ?? null) : null,
    interval: run.interval ?? null,
    interval_condition: run.interval ? describeCondition(run) || null : null,
    mean_bounds: isByTask ? boundsField(run) : null,
  };
};
