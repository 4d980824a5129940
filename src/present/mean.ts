/** A measured mean, and how it reads in a cell, in a line and in a sentence. */

import { counted, reward } from '../text/numbers.ts';

/** A mean of rewards or of a held-out round's samples. */
export interface MeasuredMean {
  readonly mean: number | undefined;
  /** How many rewards it covers, and how many there should be; undefined if unknown. */
  readonly count?: number | undefined;
  readonly of?: number | undefined;
  /** The known facts about the rewards that it does not cover; undefined if it covers all. */
  readonly others?: 'may follow' | 'are missing' | undefined;
  /** Whether it may be out of date. */
  readonly isOld?: boolean | undefined;
  /** Its step, if later ones have no mean. */
  readonly step?: number | undefined;
}

export const soFar = 'so far';

function formatCount({ count, of, others }: MeasuredMean, hasRoom: boolean): string {
  if (others === undefined) return '';
  if (hasRoom && count !== undefined && of !== undefined) return count === of ? '' : `n=${count}/${of}`;
  if (others === 'are missing') return `n=${count ?? '?'}`;
  return count === undefined ? soFar : `n=${count}+`;
}

/** The number alone; with `?` if it may be out of date. */
export const meanNumber = ({ mean, isOld }: MeasuredMean): string =>
  `${reward(mean)}${isOld && mean !== undefined ? '?' : ''}`;

/**
 * A mean in a cell, with its count if it does not cover all rewards: `0.877 n=163`, or `n=?` if their number is unknown;
 * `0.400 n=20+`, or `0.400 so far`, if others may follow; `0.612 at 15` if later steps have no mean.
 *
 * @param hasRoom whether there is room for the number of rewards that there should be: `0.410 n=40/128`
 */
export function meanText(measured: MeasuredMean, hasRoom = false): string {
  if (measured.mean === undefined) return meanNumber(measured);
  const at = measured.step === undefined ? '' : `at ${measured.step}`;
  return [meanNumber(measured), formatCount(measured, hasRoom), at].filter(Boolean).join(' ');
}

/** `over 8 rewards`; empty without a mean or if their number is unknown. */
export const describeSource = ({ mean, count }: MeasuredMean): string =>
  mean === undefined || count === undefined ? '' : `over ${counted(count, 'reward')}`;

/** A mean in a sentence: `0.143? over 8 rewards, 3 rollouts without one`. */
export function describeMean(measured: MeasuredMean): string {
  const { count = 0, of = count, others } = measured;
  const source = describeSource(measured);
  const without = source !== '' && others === 'are missing' ? of - count : 0;
  const words = [meanNumber(measured), source].filter(Boolean).join(' ');
  return without > 0 ? `${words}, ${counted(without, 'rollout')} without one` : words;
}
