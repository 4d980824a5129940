/** A run's rollouts that the service does not list. Some services list a rollout only once it has a reward. */

import type { TrajectoryReward } from '../contract/evaluations.ts';
import { statusMeaning } from '../contract/status.ts';
import type { RunExtent } from '../queries/extent-of.ts';
import { counted } from '../text/numbers.ts';

/** How many rollouts the service did not list; undefined if the total is unknown. */
export function unlistedOf(rows: readonly unknown[], run: Partial<RunExtent> | undefined): number | undefined {
  const { total, listed = 0 } = run ?? { total: 0 };
  return total === undefined ? undefined : Math.max(0, total - Math.max(rows.length, listed));
}

/** E.g. `64 rollouts are not listed by the service: cancelled, or never run`; the reason is derived from the status. */
export function describeUnlisted(rows: readonly unknown[], run: Partial<RunExtent> | undefined): readonly string[] {
  const count = unlistedOf(rows, run);
  if (count === undefined)
    return ['The service does not report how many rollouts the run has: it may not list failed ones'];
  if (count === 0) return [];
  const rollouts = counted(count, 'rollout is', 'rollouts are');
  const unlisted = `${rollouts} not listed by the service`;
  switch (statusMeaning(run?.status ?? '')) {
    case 'success':
    case 'failure':
      return [`${unlisted}: failed, or without a reward`];
    case 'stopped':
      return [`${unlisted}: cancelled, or never run`];
    case 'running':
    case 'waiting':
      return [`${rollouts} still to come`];
    default:
      return [unlisted];
  }
}

/** Describes rewards without a rollout: they count toward the run's mean, but appear in no row. */
export function describeAnonymousRewards(rewards: readonly TrajectoryReward[]): readonly string[] {
  const count = rewards.filter(({ trajectory_id, reward }) => !trajectory_id && reward != null).length;
  const words = counted(count, 'reward has', 'rewards have');
  return count === 0 ? [] : [`${words} no rollout: included in the run's mean, but not in these rows`];
}
