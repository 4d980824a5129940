/** A run's result: its rewards and its mean. */

import { mean } from '../base/statistics.ts';
import type { EvalProgress, EvalRun, TrajectoryReward } from '../contract/evaluations.ts';
import { hasEnded } from '../contract/status.ts';
import { describeSource, soFar } from '../present/mean.ts';
import { formatFullRewards, hasPartial } from '../present/statistics/full-reward.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { describeContradictions } from '../queries/run-rewards.ts';
import type { KnownResource } from '../queries/statuses/known-resource.ts';
import { counted, reward } from '../text/numbers.ts';

/**
 * A summary of a run's rewards, which distinguishes three cases: a reward of 0 is a result, a missing reward is not 0,
 * and a rollout without an entry was never scored.
 */
export interface RewardSummary {
  /** The numeric rewards. */
  readonly values: readonly number[];
  readonly mean: number | undefined;
  /** The number of trajectories listed without a reward. */
  readonly missing: number;
  readonly unreadable: number;
  /** Describes trajectories that have several rewards; empty if there are none. */
  readonly contradictions: string;
  /** How many rollouts are known to have failed without a reward. */
  readonly failed?: number | undefined;
  /** How many answers were cut off at the token limit, in words. */
  readonly cutOff?: string | undefined;
  /** The number of rollouts in the run, if the service reports it; otherwise the number of listed trajectories. */
  readonly total: number;
  /** How many rewards are full, in words, if some are partial. */
  readonly full?: string | undefined;
}

export function summariseRewards(
  rewards: readonly TrajectoryReward[],
  totalRollouts?: number | null,
  unreadable: number = 0,
  range?: Range,
): RewardSummary {
  const values = rewards.flatMap(({ reward }) => (typeof reward === 'number' ? [reward] : []));
  return {
    values,
    mean: mean(values),
    missing: rewards.length - values.length,
    unreadable,
    contradictions: describeContradictions(rewards),
    total: Math.max(totalRollouts ?? 0, rewards.length + unreadable),
    full: range && hasPartial(values, range) ? formatFullRewards(values, range) : undefined,
  };
}

/** A run's result, so far or final. */
export interface RunOutcome {
  readonly mean: number | undefined;
  /** The number of rewards behind the mean; undefined if only the mean is known. */
  readonly graded: number | undefined;
  /** The mean of the listed rewards, if it differs from the service's mean. */
  readonly listed: number | undefined;
  /** The number of rollouts in the run; see `RewardSummary.total`. */
  readonly rollouts: number;
  /** The number of rollouts listed without a reward before the run ended. */
  readonly without: number;
  readonly ended: boolean;
  /** Whether its rewards have been read. */
  readonly isRead: boolean;
  /** See `RewardSummary`. */
  readonly full?: string | undefined;
}

/**
 * A run's mean. While the run continues, it is computed from the displayed rewards; after the end, it is the service's
 * mean. Without rewards, the mean so far comes from the progress.
 */
export function outcomeOf(
  run: EvalRun,
  progress: EvalProgress | undefined,
  rewards: RewardSummary | undefined,
): RunOutcome {
  const live = progress?.live;
  const ended = hasEnded(run.status);
  const without = ended ? 0 : (rewards?.missing ?? 0);
  const rollouts = rewards?.total ?? 0;
  const final = ended ? (run.reward_mean ?? live?.final_reward_mean) : undefined;
  if (rewards !== undefined && rewards.values.length > 0) {
    const mean = final ?? rewards.mean;
    const listed = reward(mean) === reward(rewards.mean) ? undefined : rewards.mean;
    const { full } = rewards;
    return { mean, graded: rewards.values.length, listed, rollouts, without, ended, isRead: true, full };
  }
  const mean = final ?? (ended ? undefined : live?.provisional_reward_mean) ?? undefined;
  const isRead = rewards !== undefined;
  return { mean, graded: live?.scored_rollouts ?? undefined, listed: undefined, rollouts, without, ended, isRead };
}

/**
 * A suffix for the number of rollouts without a reward. Counts the failed and the running ones, e.g. `(2 failed, 1
 * running)`. Empty if there are none.
 */
export function failedAmong(without: number, failed: number = 0, running: number = 0): string {
  if (failed + running === 0 || failed + running > without) return '';
  if (failed === without) return ' (all failed)';
  return ` (${[failed > 0 && `${failed} failed`, running > 0 && `${running} running`].filter(Boolean).join(', ')})`;
}

type RunCounts = Partial<Pick<KnownResource, 'status' | 'total' | 'graded' | 'failed'>>;

/** How many rollouts of an ended run have no reward; 0 if unknown. */
export function withoutReward({ status, total, graded }: RunCounts): number {
  return hasEnded(status) && total !== undefined && graded !== undefined ? Math.max(0, total - graded) : 0;
}

/** E.g. `3 without a reward (2 failed)`; empty if none are known. */
export function describeWithoutReward(run: RunCounts): string {
  const without = withoutReward(run);
  return without === 0 ? '' : `${without} without a reward${failedAmong(without, run.failed)}`;
}

/** Describes a run that has no mean: the number of rollouts listed without a reward. */
export function describeNoReward({ isRead }: Pick<RunOutcome, 'isRead'>, without: number, failed?: number): string {
  if (!isRead) return 'rewards not read';
  if (without === 0) return 'no reward yet';
  return `no reward; ${counted(without, 'rollout')} without one${failedAmong(without, failed)}`;
}

/**
 * E.g. `mean 0.143 over 8 rewards` or `mean none, 0 of 8`; the label shows whether it is final. If the service's mean
 * differs from the mean of the listed rewards, both are shown: `mean 0.200 (0.143 by the 8 rewards listed)`.
 */
export function describeOutcome(outcome: RunOutcome): readonly [label: string, value: string, source: string] {
  const { mean, graded: count, listed, rollouts, without, ended, isRead } = outcome;
  const by = listed === undefined ? undefined : `(${reward(listed)} by the ${counted(count ?? 0, 'reward')} listed)`;
  if (mean === undefined && !ended) return ['mean', describeNoReward(outcome, without), ''];
  if (mean === undefined && isRead && rollouts > 0) return ['mean', `${reward(mean)}, 0 of ${rollouts}`, ''];
  return [ended ? 'mean' : `mean ${soFar}`, reward(mean), by ?? describeSource({ mean, count })];
}
