/**
 * What the rewards of a run say. A genuine 0 is a result, a missing reward is not 0, and a rollout that has no entry at
 * all was never scored: the three are counted apart. Pure.
 */
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { mean } from '../text/statistics.ts';

export interface RewardSummary {
  /** Rewards that are numbers. */
  readonly values: readonly number[];
  readonly mean: number | undefined;
  /** Trajectories listed without a reward. */
  readonly missing: number;
  /** Entries that could not be read. */
  readonly unreadable: number;
  /** Rollouts of the run, where the service says so; otherwise the number of trajectories listed. */
  readonly total: number;
}

export function summariseRewards(
  rewards: readonly TrajectoryReward[],
  totalRollouts?: number | null,
  unreadable: number = 0,
): RewardSummary {
  const values = rewards.flatMap(({ reward }) => (typeof reward === 'number' ? [reward] : []));
  return {
    values,
    mean: mean(values),
    missing: rewards.length - values.length,
    unreadable,
    total: Math.max(totalRollouts ?? 0, rewards.length + unreadable),
  };
}
