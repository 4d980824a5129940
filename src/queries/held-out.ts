/** What the held-out rewards of a training run say: the newest and the best mean, with their steps and samples. Pure. */
import type { HeldOutReward } from '../contract/training.ts';

/** A held-out mean. */
export interface HeldOutMean {
  readonly step: number;
  readonly reward: number;
  /** Of how many samples it is, if the service says so. */
  readonly samples: number | undefined;
}

export interface HeldOutMeans {
  readonly last: HeldOutMean;
  /** The highest; the earliest of equal ones. */
  readonly best: HeldOutMean;
}

const samplesOf = ({ loaded_trajectories, completed_samples }: HeldOutReward): number | undefined =>
  loaded_trajectories ?? completed_samples ?? undefined;

/** The measured rewards in order of their steps. */
const measuredOf = (rewards: readonly HeldOutReward[]): readonly HeldOutReward[] =>
  rewards.filter(({ held_out_reward }) => held_out_reward != null).toSorted((left, right) => left.step - right.step);

/** The newest and the best held-out mean; undefined if there is none. */
export function heldOutMeans(rewards: readonly HeldOutReward[]): HeldOutMeans | undefined {
  const means = measuredOf(rewards).flatMap(point =>
    point.held_out_reward == null
      ? []
      : [{ step: point.step, reward: point.held_out_reward, samples: samplesOf(point) }],
  );
  const last = means.at(-1);
  if (!last) return undefined;
  const best = means.reduce((highest, mean) => (mean.reward > highest.reward ? mean : highest));
  return { last, best };
}
