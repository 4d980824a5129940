/** Rewards logged to a trajectory, and the trajectory's completion. */
import { parseExactly } from '../../base/exact-json.ts';
import { hasEnded } from '../../contract/status.ts';
import type { Database } from './database.ts';
import { newId, now } from './ids.ts';
import type { TrajectoryRow } from './records.ts';

interface RewardLog {
  readonly reward_id: string;
  readonly name: string;
  readonly value: number;
  /** 0 keeps the reward only for diagnosis: it does not count toward the trajectory's reward. */
  readonly weight: number;
  readonly explanation: string;
}

/** An uploaded trajectory's reward. `details` holds its other fields. */
export interface UploadedReward extends Omit<RewardLog, 'reward_id'> {
  readonly reward_id: string | undefined;
  readonly created_at: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The trajectory has ended, so nothing was recorded. */
export class TrajectoryTerminal extends Error {
  override readonly name = 'TrajectoryTerminal';
}

/** Another reward already has this `reward_id`, so nothing was recorded. */
export class RewardIdTaken extends Error {
  override readonly name = 'RewardIdTaken';
}

/** The weighted mean of rewards; null if none of them has a positive weight. */
export function weightedMean(rewards: readonly Pick<RewardLog, 'value' | 'weight'>[]): number | null {
  const counted = rewards.filter(({ weight }) => weight > 0);
  if (counted.length === 0) return null;
  const weightScale = scaleOf(counted.map(({ weight }) => weight));
  const valueScale = scaleOf(counted.map(({ value }) => Math.abs(value)));
  const weights = counted.reduce((sum, { weight }) => sum + weight * weightScale, 0);
  const values = counted.reduce((sum, { value, weight }) => sum + value * valueScale * (weight * weightScale), 0);
  // Rounding may put the mean beyond all values.
  const all = counted.map(({ value }) => value).toSorted((one, other) => one - other);
  return Math.min(all.at(-1) ?? 0, Math.max(all[0] ?? 0, values / weights / valueScale));
}

/** The power of two that scales the largest number to about 1, so that sums neither round nor overflow. */
function scaleOf(numbers: readonly number[]): number {
  const largest = numbers.reduce((most, each) => Math.max(most, each), 0);
  return largest === 0 ? 1 : 2 ** -Math.max(-1_000, Math.floor(Math.log2(largest)));
}

/**
 * Records a reward; the trajectory's own reward becomes the weighted mean. Repeating the same reward changes nothing,
 * even after the trajectory has ended.
 *
 * @returns the trajectory's status
 * @throws TrajectoryTerminal
 * @throws RewardIdTaken
 */
export function logReward(database: Database, trajectory: TrajectoryRow, reward: RewardLog): string {
  const { trajectory_id } = trajectory;
  return database.transaction(() => {
    const known = database.get<RewardLog>(
      'select reward_id, name, value, weight, explanation from reward_logs where trajectory_id = ? and reward_id = ?',
      trajectory_id,
      reward.reward_id,
    );
    if (known) {
      const same = (['name', 'value', 'weight', 'explanation'] as const).every(field => known[field] === reward[field]);
      if (same) return trajectory.status;
      throw new RewardIdTaken(`The reward ${reward.reward_id} has already been logged with other values.`);
    }
    if (hasEnded(trajectory.status)) throw new TrajectoryTerminal(`The trajectory has ended as ${trajectory.status}.`);
    database.put('reward_logs', { trajectory_id, created_at: now(), ...reward });
    const logged = database.all<Pick<RewardLog, 'value' | 'weight'>>(
      'select value, weight from reward_logs where trajectory_id = ?',
      trajectory_id,
    );
    database.run('update trajectories set reward = ? where trajectory_id = ?', weightedMean(logged), trajectory_id);
    return trajectory.status;
  });
}

/** Stores an uploaded trajectory's rewards, in order. */
export function storeRewards(database: Database, trajectoryId: string, rewards: readonly UploadedReward[]): void {
  for (const [place, { details, reward_id, created_at, ...reward }] of rewards.entries()) {
    database.insert('reward_logs', {
      ...reward,
      trajectory_id: trajectoryId,
      reward_id: reward_id ?? newId('reward'),
      created_at: created_at ?? now(),
      place,
      details: JSON.stringify(details),
    });
  }
}

/** A trajectory's rewards: uploaded ones in order, then logged ones. */
export function rewardsOf(database: Database, trajectoryId: string): Readonly<Record<string, unknown>>[] {
  const rows = database.all<{ details: string }>(
    `select reward_id, name, value, weight, explanation, created_at, details from reward_logs
     where trajectory_id = ? order by place is null, place, created_at, reward_id`,
    trajectoryId,
  );
  return rows.map(({ details, ...reward }) => ({ ...(parseExactly(details) as object), ...reward }));
}

/**
 * Ends a trajectory; repeating the same end changes nothing.
 *
 * @returns its new status
 * @throws TrajectoryTerminal if it has ended in another way
 */
export function completeTrajectory(database: Database, trajectory: TrajectoryRow, reason: string): string {
  if (hasEnded(trajectory.status)) {
    if (trajectory.termination_reason === reason) return trajectory.status;
    throw new TrajectoryTerminal(`The trajectory has ended as ${trajectory.status}.`);
  }
  const status = reason === 'ERROR' ? 'failed' : 'completed';
  database.run(
    'update trajectories set status = ?, termination_reason = ? where trajectory_id = ?',
    status,
    reason,
    trajectory.trajectory_id,
  );
  return status;
}
