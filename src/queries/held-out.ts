/**
 * Summarises the held-out rewards of a training run: the newest and the best mean, with their steps and samples. Pure.
 */
import type { EvalRun } from '../contract/evaluations.ts';
import type { HeldOutReward } from '../contract/training.ts';

/** The number of samples in a held-out mean, and the expected number, if the service reports them. */
export interface HeldOutSamples {
  readonly samples: number | undefined;
  readonly expected?: number | undefined;
}

/** A held-out mean. */
export interface HeldOutMean extends HeldOutSamples {
  readonly step: number;
  readonly reward: number;
  readonly failed?: number | undefined;
  readonly cancelled?: number | undefined;
  /** The split of the evaluated tasks, if the service reports it. */
  readonly split?: string | undefined;
}

export interface HeldOutMeans {
  readonly last: HeldOutMean;
  /** The highest; the earliest of equal ones. */
  readonly best: HeldOutMean;
}

/** A service may leave completed samples out of the mean, so the loaded ones count, if it reports them. */
export function samplesOf(point: HeldOutReward): HeldOutSamples {
  const { loaded_trajectories, completed_samples, expected_samples } = point;
  const samples = loaded_trajectories ?? completed_samples ?? undefined;
  return { samples, expected: expected_samples ?? completed_samples ?? samples };
}

function meanOf(point: HeldOutReward): HeldOutMean[] {
  const { step, held_out_reward: reward, failed_samples, cancelled_samples, split } = point;
  if (reward == null) return [];
  const counts = { failed: failed_samples ?? undefined, cancelled: cancelled_samples ?? undefined };
  return [{ step, reward, ...samplesOf(point), ...counts, split: split ?? undefined }];
}

/** The newest and the best held-out mean; undefined if there is none. */
export function heldOutMeans(rewards: readonly HeldOutReward[]): HeldOutMeans | undefined {
  const means = rewards.flatMap(meanOf).sort((left, right) => left.step - right.step);
  const last = means.at(-1);
  if (!last) return undefined;
  const best = means.reduce((highest, mean) => (mean.reward > highest.reward ? mean : highest));
  return { last, best };
}

/**
 * Whether a run was measured on the tasks of the held-out curve that may have chosen its checkpoint, so that its mean
 * is optimistic; false if unknown.
 */
export const isMeasuredAsChosen = (
  { parent_checkpoint_id, split }: Pick<EvalRun, 'parent_checkpoint_id' | 'split'>,
  heldOutSplit: string | undefined,
): boolean => Boolean(parent_checkpoint_id) && split != null && split === heldOutSplit;
