/** Reads how certain the means of evaluation runs are, for lists. */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded, isRunning } from '../contract/status.ts';
import { evalProgressQuery, evaluationKeys } from '../queries/evaluations.ts';
import type { LiveQuery } from '../queries/live-query.ts';
import { poolRewards } from '../queries/pooled.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { extentOfRecord, type ReadRewards, readRunRewards } from '../queries/run-extent.ts';
import type { Certainty } from '../queries/run-mean.ts';
import { readCertainty } from '../queries/run-results.ts';
import { ifThere } from '../service/errors.ts';
import { countOf } from '../text/numbers.ts';
import { listedFailed, listedMean, type MeasuredRun, mayHaveMean } from './measured-run.ts';
import { rolloutEndsQuery } from './rollout-ends.ts';

/**
 * The rollouts of a listed run: read once if it has ended, never while it runs, because that would take too many
 * requests.
 */
export const rowsInLists = ({ status }: EvalRun): undefined | readonly [] => (hasEnded(status) ? undefined : []);

/**
 * Adds the certainty of the mean, and the mean so far if a running run's record lacks it. Sends one request for the
 * rewards if the run is running or has a mean (unless it had ended when they were read before), and one for the number
 * of rollouts if the record lacks it.
 *
 * @throws ServiceError
 */
export async function withCertainty<Row extends MeasuredRun>(run: Row, context: QueryContext): Promise<Row> {
  const mayHave = listedMean(run) !== undefined || isRunning(run.status) || mayHaveMean(run);
  const read = () => readCertainty(run.eval_run_id, context, extentOfRecord(run), rowsInLists(run));
  return withRead(run, mayHave ? await ifThere(read) : undefined);
}

/**
 * Adds the number of failed rollouts if the rewards do not show it: for a running run from its progress, for an ended
 * run from the list of its rollouts, if that is complete.
 *
 * @throws ServiceError
 */
export async function withFailed<Row extends MeasuredRun>(run: Row, context: QueryContext): Promise<Row> {
  const { eval_run_id: id, status, total_rollouts } = run;
  if (listedFailed(run) !== undefined || status == null) return run;
  if (!hasEnded(status)) {
    const progress = await ifThere(() => evalProgressQuery(id).read(context));
    return { ...run, failed_rollouts: countOf(progress?.live?.failed_rollouts) };
  }
  const ends = await ifThere(() => rolloutEndsQuery({ id, status }).read(context));
  const isCounted = ends?.isWhole && (ends.failed || ends.ended >= (countOf(total_rollouts) ?? ends.ended));
  return isCounted ? { ...run, failed_rollouts: ends.failed } : run;
}

/** The rewards of several ended runs, pooled. */
export const pooledRewardsQuery = (runs: readonly EvalRun[]): LiveQuery<ReadRewards> => ({
  key: [...evaluationKeys.all, 'pooled', ...runs.map(({ eval_run_id }) => eval_run_id)],
  activity: () => 'settled',
  read: async context => {
    const read = (run: EvalRun) => readRunRewards(run.eval_run_id, context, extentOfRecord(run), rowsInLists(run));
    const reads = await Promise.all(runs.map(read));
    const unread = reads.find(each => each.unread)?.unread;
    if (unread) throw unread;
    return poolRewards(reads);
  },
});

/** Adds a certainty to a run, and its mean if the record lacks one. */
export function withRead<Row extends MeasuredRun>(run: Row, certainty: Certainty | undefined): Row {
  if (!certainty) return run;
  const { means, rewards } = certainty;
  const isOwn = listedMean(run) === undefined;
  return { ...run, certainty, ...(isOwn && { provisional_mean: means[0], provisional_count: rewards }) };
}
