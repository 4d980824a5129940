/** Help about the statistics, with sources. Imports nothing. */

/** Intervals and verdicts: the method and its assumptions. */
export const aboutIntervals = `The interval is Gaffke's bound for the mean of bounded values (Gaffke 2005; Learned-Miller and Thomas 2019, arXiv 1905.06208).
It assumes that the rewards are within the range, and that the tasks are an independent sample of a larger set. It is an interval for the mean of the
set, and as valid for two tasks as for thousands. For rewards of 0 and 1 it equals the Clopper-Pearson interval; for other rewards its coverage is not
proven, but no counterexample is known. Several rollouts of a task count as their mean. A missing or pending reward counts as the lowest
for one limit and as the highest for the other. So a verdict holds for any value of these rewards, for any number of looks while a run is in
progress, and for any order in which its rollouts end. While a run is in progress, the reported total is assumed to cover the whole run.
If all these rollouts have a reward, there is no interval, because the total may count only rollouts that have begun. If the service returns evaluation_samples_per_task for the run, or you set compare --samples-per-task, each task has that many
rollouts; otherwise, unlisted rollouts may belong to any task. An interval that is the whole range is not shown.
A task without a reward in both runs counts only for the limit that it
widens, because it may not be a task of both runs. If the service does not report how many rollouts a run has, it may leave out failed ones: there is no interval while the run is in progress, and no verdict
afterwards, unless compare --ended treats the listed rewards as complete. Even then, if a task has fewer rollouts than evaluation_samples_per_task or,
without this option, fewer than another task of either run, the rest count as missing. If a reward is outside the range, there is neither an
interval nor a verdict: set the range. Lists, Watch and reports show the same interval as the run's own view once its rewards have been read,
but not one that holds only under a condition. If two ended runs with all their rewards are undecided, but the new one is higher, or lower, on clearly more
tasks, the verdict adds an exact sign test (Dixon and Mood 1946): it leaves out equal tasks, and shows what most of those that differ do, not the
mean, which a few tasks can turn.`;

/** How well two graders agree. */
export const aboutAgreement = `Cohen's kappa is the agreement on which rollouts pass, corrected for chance (Cohen 1960): 1 is full agreement, 0 is expected of two graders
that pass the same numbers of rollouts at random. Its 95% interval contains every value that a score test or a likelihood-ratio test accepts (Agresti 2013). The
rollouts of a task count as one, because they are alike. There is no interval below 5 tasks, or if both graders pass all or none.`;
