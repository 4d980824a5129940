/** Help about the rewards in lists. Imports nothing. */

export const aboutRewards = `Rewards in lists: 0.612? may be out of date: enough steps have finished for a newer held-out reward, it was read in an earlier session or before
its run ended, or it was read over a minute ago and rollouts of the evaluation have ended since. The next read removes the mark. 0.612 n=9 is the mean of 9 rewards because the others are outstanding, failed or cancelled;
n=9/128 also gives the number of rollouts, and n=9+ means that more may follow. 0.612 at 40 is from step 40, because every rollout of the later rounds failed. – has not been read yet. Sorting by
a mean counts missing rewards as the lowest, because the first ones are often higher than the rest. Where some rewards are partial, a run's
facts also count those that are full: at least the top of the range in the settings (compare.rewardRange).`;
