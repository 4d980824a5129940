/** How many rollouts of an evaluation have failed, where its progress does not count them. */
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { hasFailed } from '../present/task-groups.ts';
import { evaluationKeys } from '../queries/evaluations.ts';
import type { LiveQuery } from '../queries/live-query.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { readRunRewards } from '../queries/run-extent.ts';
import { meanOfRewards } from '../queries/run-rewards.ts';
import type { KnownResource, RolloutEnds } from '../queries/statuses/known-resource.ts';
import { listedRollouts } from '../queries/trajectories.ts';
import type { AlarmRules } from '../workbench/workbench.ts';
import { fewestRollouts } from './alarms.ts';

type Run = Pick<KnownResource, 'kind' | 'id' | 'status' | 'done' | 'failed' | 'ends'>;

/** More pages are not worth an alarm: 1,000 rollouts are a sample. */
const mostPages = 5;
/** A running evaluation is read again when so many times as many rollouts have ended: a few reads in all. */
const growth = 1.25;

/** Whether the failed rollouts of an evaluation are to be counted now. */
export function lacksEnds({ kind, status, done = 0, failed, ends }: Run): boolean {
  if (kind !== 'run' || failed !== undefined) return false;
  if (hasEnded(status)) return ends?.isFinal !== true;
  return done >= Math.max(fewestRollouts, growth * (ends?.ended ?? 0));
}

/** Whether the rewards of an ended evaluation tell its alarms more than its progress and the list of its rollouts. */
export function needsRewards(
  { kind, status, done = 0, failed, mean, ends }: Run & Pick<KnownResource, 'mean'>,
  { failedShare, evaluation }: Pick<AlarmRules, 'failedShare' | 'evaluation'>,
): boolean {
  if (kind !== 'run' || !hasEnded(status)) return false;
  const areCounted = failed !== undefined || (ends?.isWhole && ends.failed !== undefined && ends.ended >= done);
  return (failedShare !== undefined && !areCounted) || (evaluation !== undefined && mean === undefined);
}

/** Reads the mean of an evaluation, its certainty and its count from the rewards, for alarms. @throws ServiceError */
export async function countsByRewards(
  run: Pick<KnownResource, 'id' | 'status' | 'total' | 'mean' | 'graded'>,
  context: QueryContext,
): Promise<Pick<KnownResource, 'certainty' | 'mean' | 'graded'>> {
  const { rewards, certainty } = await readRunRewards(run.id, context, { status: run.status, total: run.total });
  const read = meanOfRewards(rewards);
  return { certainty, mean: run.mean ?? read.mean, graded: run.graded ?? read.rewards };
}

/** Counts the rollouts that the service lists as failed. */
export const rolloutEndsQuery = ({ id, status }: Run): LiveQuery<RolloutEnds> => ({
  key: evaluationKeys.ends(id),
  observes: ends => ({ kind: 'run', id, ends }),
  activity: () => 'settled',
  read: async context => {
    let [failed, ended, pages, hasStatus, isWhole] = [0, 0, 0, false, true];
    for await (const { items, next_cursor, isCutOff } of listedRollouts(id, context)) {
      for (const row of items) {
        const isFailed = hasFailed(row) && statusMeaning(row.status ?? '') !== 'stopped';
        failed += Number(isFailed);
        ended += Number(isFailed || row.reward != null || hasEnded(row.status));
      }
      hasStatus ||= items.some(row => row.status != null);
      pages += 1;
      isWhole = next_cursor == null && !isCutOff;
      if (pages === mostPages) break;
    }
    return { failed: hasStatus ? failed : undefined, ended, isWhole, isFinal: hasEnded(status) };
  },
});
