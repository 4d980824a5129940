/** Help about the audit, the rewards in lists, and the correlation with length. Imports nothing. */

/** Results of `npm run bench -- audit`, on seeded runs of the local service. */
export const auditMeasured = { faulty: 70, named: 69, steps: 5, sound: 200, wrong: 9 } as const;

export const aboutAudit = `The audit reports signs of a problem with the reward, and the rollouts to read: the trainer's reward rises but the held-out reward does
not, or the held-out reward has fallen from its best; the reward correlates with the length of the answer; many questions get the same answer; answers that were cut off at the token limit
pass, or most answers are cut off and get no reward; answers repeat themselves; tasks share a question; rollouts get no reward, or hardly any. It reads at most 60 steps, the newest 12
and others at equal intervals, and the transcripts of up to 48 rollouts from the newest three. A finding is a hint, not a proof. Measured on seeded local runs of three sample benchmarks, the audit
reported ${auditMeasured.named} of ${auditMeasured.faulty} planted faults within ${auditMeasured.steps} steps of their onset, and something in ${auditMeasured.wrong} of ${auditMeasured.sound} sound runs.`;

export const aboutRewards = `Rewards in lists: 0.612? may be out of date: enough steps have finished for a newer held-out reward, it was read in an earlier session or before
its run ended, or it was read over a minute ago and rollouts of the evaluation have ended since. The next read removes the mark. 0.612 n=9 is the mean of 9 rewards because the others are outstanding, failed or cancelled;
n=9/128 also gives the number of rollouts, and n=9+ means that more may follow. 0.612 at 40 is from step 40, because every rollout of the later rounds failed. – has not been read yet. Sorting by
a mean counts missing rewards as the lowest, because the first ones are often higher than the rest. Where some rewards are partial, a run's
facts also count those that are full: at least the top of the range in the settings (compare.rewardRange).`;

export const aboutLengths = `The rank correlation is Spearman's. If tasks have several rollouts, only rollouts of the same task and the same training step are
compared, so that neither long, hard tasks nor the progress of training distort the result: it is the mean of the correlations of these groups, with
Gaffke's 95% interval, as for means of rewards, or for fewer than 20 groups of at least five rollouts on average, with one from the intervals of each (Zou and Donner 2008).
If most tasks have one rollout, one of each task is compared, with a 95% interval by Fisher's transformation and the standard error of
Bonett and Wright (2000) or of the jackknife, widened by the exceptions that so few rollouts may lack. Rollouts of different steps or tasks that have to be compared
have no interval. A correlation does not explain the cause: read the rollouts at both ends.`;
