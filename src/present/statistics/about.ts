/** Help on statistics, with its sources. Imports nothing. */

/** Intervals and verdicts: the method and its assumptions. */
export const aboutIntervals = `The interval is Gaffke's bound for the mean of bounded values (Gaffke 2005; Learned-Miller and Thomas 2019, arXiv 1905.06208).
It assumes that the rewards are within the range, and that the tasks are an independent sample of a larger set, whose mean it bounds. It is
valid for two tasks as well as for thousands, and for rewards of 0 and 1 it equals the Clopper-Pearson interval; for other rewards its coverage is not
proven, but no counterexample is known. Several rollouts of a task count as their mean. A missing or pending reward counts as the lowest
for one limit and as the highest for the other. So a verdict holds whatever these rewards are, however often you look while a run is in
progress, and in whatever order its rollouts end. While a run is in progress, the total that the service reports is taken as that of the whole run;
if each of these rollouts has a reward, there is no interval, as the total may then count only the rollouts that have begun. If the service returns evaluation_samples_per_task for the run, or compare --samples-per-task gives it, each task has that many
rollouts; otherwise unlisted ones may belong to any task. A task without a reward in both runs counts only for a limit that it makes
wider: it may not be a task of both. If the service does not report how many rollouts a run has, it may leave failed ones out: there is no interval while it runs, and no verdict
after it, unless compare --ended treats the listed rewards as complete. Where a task then has fewer rollouts than evaluation_samples_per_task,
or without this option fewer than another task of either run, the difference still counts as missing. Rewards outside the range have
neither: set their range. Lists, Watch and reports show the interval of the run's own view once its rewards have been read,
and none where it would need a condition.`;

/** The agreement of two graders. */
export const aboutAgreement = `Cohen's kappa is the agreement on which rollouts pass, corrected for chance (Cohen 1960): 1 is full agreement, 0 is the agreement of two graders
that pass as many rollouts at random. Its 95% interval holds each value that a score test or a likelihood-ratio test accepts (Agresti 2013). The
rollouts of a task count as one, because they are alike. There is no interval below 5 tasks, or if both graders pass all or none.`;
