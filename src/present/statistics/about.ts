/** What help says about intervals and verdicts: the method, what it assumes, and its sources. Imports nothing. */
export const aboutIntervals = `The interval is Gaffke's bound for the mean of bounded values (Gaffke 2005; Learned-Miller and Thomas 2019, arXiv 1905.06208).
It assumes nothing but the range of the rewards and holds for two tasks as for thousands; for 0 and 1 it is that of Clopper and
Pearson. Several rollouts of a task count as their mean, and one without a reward as the lowest and as the highest, so that a
verdict holds whatever it was. While a run goes on, and for one that was cancelled, the interval holds at every look (betting:
Waudby-Smith and Ramdas 2024, arXiv 2010.09686), if the order in which rollouts end says nothing about their rewards. Rewards
outside of the range have an interval, Student's t, from 300 tasks.`;
