/** Counts an evaluation's failed rollouts if its progress does not. */
import { hasEnded, statusMeaning } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { finishOf } from '../present/outcome-classes.ts';
import { hasFailed, unfinishedState } from '../present/task-groups.ts';
import { evaluationKeys } from '../queries/evaluations.ts';
import type { LiveQuery } from '../queries/live-query.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { readRunRewards } from '../queries/run-extent.ts';
import { meanOfRewards } from '../queries/run-rewards.ts';
import type { KnownResource, RolloutEnds } from '../queries/statuses/known-resource.ts';
import { firstRollouts } from '../queries/trajectories.ts';
import type { AlarmRules } from '../workbench/workbench.ts';
import { minRollouts } from './alarms.ts';

type Run = Pick<KnownResource, 'kind' | 'id' | 'status' | 'done' | 'failed' | 'ends'>;

/** A running evaluation is read again once its number of ended rollouts has grown by this factor. */
const growth = 1.25;

/** Whether an evaluation's failed rollouts should be counted now. */
export function lacksEnds({ kind, status, done = 0, failed, ends }: Run): boolean {
  if (kind !== 'run' || failed !== undefined) return false;
  if (hasEnded(status)) return ends?.isFinal !== true;
  return done >= Math.max(minRollouts, growth * (ends?.ended ?? 0));
}

/** Whether alarms need an ended evaluation's rewards, because the progress and the list of rollouts are not enough. */
export function needsRewards(
  { kind, status, done = 0, failed, mean, ends }: Run & Pick<KnownResource, 'mean'>,
  { failedShare, evaluation }: Pick<AlarmRules, 'failedShare' | 'evaluation'>,
): boolean {
  if (kind !== 'run' || !hasEnded(status)) return false;
  const areCounted = failed !== undefined || (ends?.isWhole && ends.failed !== undefined && ends.ended >= done);
  return (failedShare !== undefined && !areCounted) || (evaluation !== undefined && mean === undefined);
}

/** Computes an evaluation's mean, its certainty and its count from the rewards. @throws ServiceError */
export async function countsByRewards(
  run: Pick<KnownResource, 'id' | 'status' | 'total' | 'mean' | 'graded'>,
  context: QueryContext,
): Promise<Pick<KnownResource, 'certainty' | 'mean' | 'graded'>> {
  const { rewards, certainty } = await readRunRewards(run.id, context, { status: run.status, total: run.total });
  const read = meanOfRewards(rewards);
  return { certainty, mean: run.mean ?? read.mean, graded: run.graded ?? read.rewards };
}

/** Whether a rollout failed and was not merely stopped. */
const isFailed = (row: Trajectory): boolean => hasFailed(row) && statusMeaning(row.status ?? '') !== 'stopped';

/** Whether the model completed its last answer even though the rollout has an unknown status, e.g. `truncated`. */
const hasAnswered = (row: Trajectory): boolean => finishOf(row) !== undefined && unfinishedState(row) === undefined;

export const hasRolloutEnded = (row: Trajectory): boolean =>
  isFailed(row) || row.reward != null || hasEnded(row.status) || hasAnswered(row);

/** Counts the failed rollouts in the service's list. */
export const rolloutEndsQuery = ({ id, status }: Pick<Run, 'id' | 'status'>): LiveQuery<RolloutEnds> => ({
  key: evaluationKeys.ends(id),
  observes: ends => ({ kind: 'run', id, ends }),
  activity: () => 'settled',
  read: async context => {
    const { rows, isWhole } = await firstRollouts(id, context);
    const failed = rows.filter(isFailed).length;
    const ended = rows.filter(hasRolloutEnded).length;
    const hasStatus = rows.some(row => row.status != null);
    return { failed: hasStatus ? failed : undefined, ended, isWhole, isFinal: hasEnded(status) };
  },
});
