/** How many rollouts get the full reward, which a mean hides if there is partial credit. Pure. */
import { percent } from '../../text/numbers.ts';
import { isBeyond, type Range, withinRange } from './tasks.ts';

/** How many rewards are full; undefined if there are none, or one is outside the range. */
export function countFull(rewards: readonly number[], range: Range): number | undefined {
  if (rewards.length === 0 || rewards.some(each => isBeyond(each, range))) return undefined;
  return rewards.filter(each => withinRange(each, range) >= range[1]).length;
}

export const hasPartial = (rewards: readonly number[], range: Range): boolean =>
  rewards.some(each => {
    const reward = withinRange(each, range);
    return reward > range[0] && reward < range[1];
  });

/** How many of the rewards are full. */
export interface FullRewards {
  readonly full: number;
  readonly of: number;
}

/** How many of these rewards are full; undefined if a mean shows it, because none is partial, or if unknown. */
export function fullBesidePartial(rewards: readonly number[], range: Range): FullRewards | undefined {
  const full = hasPartial(rewards, range) ? countFull(rewards, range) : undefined;
  return full === undefined ? undefined : { full, of: rewards.length };
}

/** E.g. `61 of 176 (34.7%)`. */
export const formatFull = ({ full, of }: FullRewards): string => `${full} of ${of} (${percent(full / of)})`;

/** E.g. `61 of 176 (34.7%)`; empty if unknown. */
export function formatFullRewards(rewards: readonly number[], range: Range): string {
  const full = countFull(rewards, range);
  return full === undefined ? '' : formatFull({ full, of: rewards.length });
}
