/** Help on intervals and verdicts: the method, its assumptions and its sources. Imports nothing. */
export const aboutIntervals = `The interval is Gaffke's bound for the mean of bounded values (Gaffke 2005; Learned-Miller and Thomas 2019, arXiv 1905.06208).
It assumes nothing but the range of the rewards and holds for two tasks as for thousands; for 0 and 1 it is that of Clopper and
Pearson. Several rollouts of a task count as their mean, and one without a reward, or still to come, as the lowest and as the
highest. So a verdict holds whatever these were, and also for who looks again and again while a run goes on, in whatever order
its rollouts end. Rollouts that are not listed are taken to be spread evenly: every task has as many. Where the service does not
say how many rollouts a run has, there is no interval while it runs, and where it does not even say whether the run has ended, no
verdict: compare --ended takes what is listed for all. Rewards outside of the range have
neither: give their range.`;
