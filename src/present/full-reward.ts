/** How many rollouts get the full reward, which a mean hides if there is partial credit. Pure. */
import { percent } from '../text/numbers.ts';
import { isBeyond, type Range, withinRange } from './statistics/tasks.ts';

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

/** E.g. `61 of 176 (34.7%)`; empty if unknown. */
export function formatFullRewards(rewards: readonly number[], range: Range): string {
  const full = countFull(rewards, range);
  return full === undefined ? '' : `${full} of ${rewards.length} (${percent(full / rewards.length)})`;
}
