/** Reads how certain the means of evaluation runs are, for lists. */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded, isRunning } from '../contract/status.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { extentOfRecord, readRunRewards } from '../queries/run-extent.ts';
import { type Certainty, certaintyOf } from '../queries/run-mean.ts';
import { readFinalCertainty } from '../queries/run-results.ts';
import { ifThere } from '../service/errors.ts';
import type { MeasuredList } from './define.ts';
import { measureEach } from './measure-each.ts';
import { listedMean, type MeasuredRun, mayHaveMean } from './measured-run.ts';

/** The listed rollouts of a row of a list: those of an ended run are read once, others would be read often. */
export const rowsInLists = ({ status }: EvalRun): undefined | readonly [] => (hasEnded(status) ? undefined : []);

async function readCertainty(run: EvalRun, context: QueryContext): Promise<Certainty> {
  if (hasEnded(run.status)) return readFinalCertainty(run.eval_run_id, context, extentOfRecord(run));
  const read = await readRunRewards(run.eval_run_id, context, extentOfRecord(run), rowsInLists(run));
  if (read.unread) throw read.unread;
  return certaintyOf(read.rewards, { ...read, range: context.compare?.rewardRange });
}

/** Adds how certain the mean is, and the mean so far where the record of a running run lacks it. @throws ServiceError */
export async function withCertainty<Row extends MeasuredRun>(run: Row, context: QueryContext): Promise<Row> {
  const mayHave = listedMean(run) !== undefined || isRunning(run.status) || mayHaveMean(run);
  return withRead(run, await ifThere(mayHave, () => readCertainty(run, context)));
}

/** A run with how certain its mean is, and with the mean that was read if its record lacks it. */
export function withRead<Row extends MeasuredRun>(run: Row, certainty: Certainty | undefined): Row {
  if (!certainty) return run;
  const { means, rewards } = certainty;
  const isOwn = listedMean(run) === undefined;
  return { ...run, certainty, ...(isOwn && { provisional_mean: means[0], provisional_count: rewards }) };
}

/**
 * Adds how certain the means are. Takes a request for the rewards of each run that has a mean or runs, except those of
 * ended runs that were read before, and one for the number of rollouts where the record lacks it.
 */
export async function withCertainties<Row extends MeasuredRun>(
  rows: readonly Row[],
  context: QueryContext,
  list: MeasuredList,
): Promise<readonly Row[]> {
  return measureEach(rows, context, list, [withCertainty]);
}
