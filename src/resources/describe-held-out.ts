/** Describes held-out rewards in words, with their samples and intervals, and computes the limits of a curve. */

import { perObject } from '../base/memo.ts';
import type { HeldOutReward } from '../contract/training.ts';
import { meanNumber } from '../present/mean.ts';
import { formatConfidence, formatInterval, formatLimits } from '../present/number-columns.ts';
import { isBeyond, type Range } from '../present/statistics/tasks.ts';
import {
  type Better,
  type FailedRounds,
  type HeldOutMean,
  heldOutMeansOf,
  tiedSteps,
  worstOf,
} from '../queries/held-out.ts';
import { counted, reward } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { type HeldOut, heldOutMean, intervalOfHeldOut } from './training-columns.ts';

/** A held-out curve's best point is a biased estimate: the same tasks select it and measure it. */
export const optimismNote = 'Choosing a checkpoint by this reward overstates it';

interface Limits {
  readonly step: number;
  readonly low: number;
  readonly high: number;
}

/** A point's limits. Cached because computing an interval takes about a millisecond. */
const limitsOf = perObject((row: HeldOutReward) =>
  perObject((range: Range): Limits | undefined => {
    const [mean] = heldOutMeansOf([row]);
    const interval = mean && intervalOfHeldOut(mean, range);
    return interval && { step: row.step, low: interval.low, high: interval.high };
  }),
);

/** Maximum number of intervals to compute. More would freeze the screen. */
const maxIntervals = 200;

/**
 * The 95% limits of held-out means whose number of samples is known, for at most a few hundred evenly spaced points.
 * Empty if a mean is outside the range.
 */
export function heldOutLimits(rewards: readonly HeldOutReward[], range: Range): readonly Limits[] {
  const isOutside = ({ held_out_reward: mean }: HeldOutReward): boolean => mean != null && isBeyond(mean, range);
  if (rewards.some(isOutside)) return [];
  const every = Math.ceil(rewards.length / maxIntervals);
  const chosen = rewards.filter((_, index) => (rewards.length - 1 - index) % every === 0);
  return chosen.flatMap(row => limitsOf(row)(range) ?? []);
}

/**
 * A held-out reward with its samples and interval: `0.412 at step 40, from 10 of 12 samples, 2 failed, 95% CI 0.150
 * to 0.723 on these tasks`; `0.412? at step 40, …; a newer one may follow` if it is old.
 *
 * @param range the range of rewards from the settings
 */
export function describeHeldOut(held: HeldOutMean, range: Range | undefined): string {
  const interval = intervalOfHeldOut(held, range);
  return [
    `${meanNumber(heldOutMean(held))} at step ${held.step}`,
    describeSplit(held),
    fromSamples(held),
    held.isUnfinished ? 'the round is incomplete' : '',
    ...lostSamples(held),
    interval && `${formatInterval(interval)} on these tasks`,
  ]
    .filter(Boolean)
    .join(', ')
    .concat(held.isOld ? '; a newer one may follow' : '')
    .concat(held.failedSince ? `; ${describeFailedRounds(held.failedSince, ' since')}` : '');
}

/** `no value in 5 rounds since: all 112 rollouts of each failed` */
export function describeFailedRounds({ rounds, failed, isSame }: FailedRounds, since = ''): string {
  const subject = !isSame ? 'all their rollouts' : `all ${counted(failed, 'rollout')}${rounds > 1 ? ' of each' : ''}`;
  return `no value in ${counted(rounds, 'round')}${since}: ${subject} failed`;
}

/** Maximum number of steps to name individually. */
const maxNamed = 4;

/** The other checkpoints that may be as good as the best one. */
export interface Rivals {
  /** The steps with the same held-out reward. */
  readonly ties: readonly number[];
  /** How many have a lower held-out reward within the best one's interval; {@link describeBetter} names a higher one. */
  readonly close: number;
}

/**
 * Compares the best checkpoint with the others.
 *
 * @param means the held-out rewards of all checkpoints
 */
export function rivalsOf(best: HeldOutMean, means: readonly HeldOutMean[], range: Range | undefined): Rivals {
  const low = intervalOfHeldOut(best, range)?.low ?? Number.POSITIVE_INFINITY;
  const lower = means.filter(mean => !mean.isUnfinished && worstOf(mean) < worstOf(best));
  // A checkpoint that lost samples is not the best, but may be as good.
  const close = lower.filter(mean => mean.reward >= low && mean.reward <= best.reward);
  return { ties: tiedSteps(best, means), close: close.length };
}

/** `tied with step 40; the latest wins; 5 other checkpoints are within its 95% CI`; empty without rivals. */
const describeRivals = ({ ties, close }: Rivals): string =>
  [
    describeTies(ties),
    close > 0 ? `${counted(close, 'other checkpoint is', 'other checkpoints are')} within its 95% CI` : '',
  ]
    .filter(Boolean)
    .join('; ');

function describeTies(ties: readonly number[]): string {
  if (ties.length === 0) return '';
  const others = ties.length > maxNamed ? [counted(ties.length - maxNamed, 'other')] : [];
  const list = [...ties.slice(-maxNamed), ...others].join(', ').replace(/, ([^,]+)$/, ' and $1');
  return `tied with ${ties.length === 1 ? 'step' : 'steps'} ${list}; the latest wins`;
}

/** `the model before training (step 0) scored 0.111, and no checkpoint beats it` */
export function describeBetter(better: Better): string {
  const { step, reward: mean, why, samples, expected } = better;
  switch (why) {
    case 'before training':
      return `the model before training (step 0) scored ${reward(mean)}, and no checkpoint beats it`;
    case 'no checkpoint':
      return `step ${step} had ${reward(mean)}, but has no checkpoint`;
    case 'incomplete':
      return `step ${step} has ${reward(mean)}, but its round is incomplete and does not count`;
    case 'lost samples':
      return `step ${step} has ${reward(mean)}, but from only ${samples} of ${counted(expected ?? 0, 'sample')}; ${reward(worstOf(better))} if the rest scored the lowest`;
  }
}

/** Describes other checkpoints that may be as good as the best one, or are better; empty if there are none. */
export const describeRank = ({ rivals, better }: Rank): string =>
  [rivals ? describeRivals(rivals) : '', better ? describeBetter(better) : ''].filter(Boolean).join('; ');

interface Rank {
  readonly rivals?: Rivals | undefined;
  readonly better?: Better | undefined;
}

/** Why the last held-out reward is not the best although it is higher; empty if it is not higher. */
export const describeHigher = ({ last, best }: Pick<HeldOut, 'last' | 'best'>): string =>
  last.reward > best.reward
    ? describeBetter({ ...last, why: last.isUnfinished && !best.isUnfinished ? 'incomplete' : 'lost samples' })
    : '';

/**
 * The best held-out reward, with a note on its optimism. A validation split needs no note, because tests use different
 * tasks.
 */
export function describeBest(best: HeldOutMean, range: Range | undefined, last = best): string {
  const held = [describeHeldOut(best, range), describeHigher({ last, best })].filter(Boolean).join('; ');
  // Step 0 has no checkpoint.
  const words = best.step === 0 ? `${held}, before training: @best is the best of the checkpoints` : held;
  return best.split === 'validation' ? words : `${words}. ${optimismNote}`;
}

/** `held-out 0.620 from 2 of 100 samples, 98 failed`. */
export const describeMeasured = (held: HeldOutMean): string =>
  [`held-out ${reward(held.reward)} ${fromSamples(held)}`.trimEnd(), ...lostSamples(held)].filter(Boolean).join(', ');

/** Why a checkpoint is the best. An unfinished round can be the best only if no round has finished. */
export const describeChoice = (best: HeldOutMean, rank: Rank): string =>
  [
    [`step ${best.step}`, describeMeasured(best), describeSplit(best)].filter(Boolean).join(', '),
    best.isUnfinished ? 'no round has finished yet' : '',
    describeRank(rank),
  ]
    .filter(Boolean)
    .join('; ');

/** A short form to show next to the curve: `held-out 0.412, 95% 0.150..0.723, 10 validation samples`. */
export function heldOutInterval(held: HeldOutMean, range: Range | undefined): string | undefined {
  const interval = intervalOfHeldOut(held, range);
  if (held.samples === undefined || interval === undefined) return undefined;
  const between = `${formatConfidence(interval)} ${formatLimits(interval)}`;
  const samples = held.split === undefined ? 'sample' : clean`${held.split} sample`;
  return `held-out ${reward(held.reward)}, ${between}, ${counted(held.samples, samples)}`;
}

/** `from 104 samples`, `from 80 of 112 samples` if some are missing, or empty if the number is unknown. */
function fromSamples({ samples, expected }: HeldOutMean): string {
  if (samples === undefined) return '';
  const isShort = expected !== undefined && samples < expected;
  return isShort ? `from ${samples} of ${counted(expected, 'sample')}` : `from ${counted(samples, 'sample')}`;
}

const lostSamples = ({ failed, cancelled }: HeldOutMean): string[] => [
  failed ? `${failed} failed` : '',
  cancelled ? `${cancelled} cancelled` : '',
];

/** The split that a held-out reward was measured on, if the service reports it. */
function describeSplit({ split }: HeldOutMean): string {
  return split === undefined ? '' : clean`on the ${split} tasks`;
}

/** `held-out, test tasks` if the service reports the curve's split. */
export function curveName(name: string, rows: readonly HeldOutReward[]): string {
  const split = rows[0]?.split;
  return split == null ? name : clean`${name}, ${split} tasks`;
}
