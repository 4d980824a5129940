/** Evaluation runs with means that were read apart from their records. */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded, isRunning } from '../contract/status.ts';
import type { KnownResource } from '../queries/statuses/store.ts';
import { reward } from '../text/numbers.ts';

/** A run with its measured mean: the record may lack the mean, and says nothing about missing rewards. */
export type MeasuredRun = EvalRun & {
  readonly provisional_mean?: number | undefined;
  /** The number of rewards in that mean. */
  readonly provisional_count?: number | undefined;
  /** The tasks of the held-out curve by which its checkpoint may have been chosen. */
  readonly held_out_split?: string | undefined;
};

/** Its mean, as far as known. */
export const listedMean = (row: MeasuredRun): number | undefined => row.reward_mean ?? row.provisional_mean;

/** Of how many rewards that mean is, as far as it is known. */
export const listedCount = ({ reward_mean, reward_count, provisional_count }: MeasuredRun): number | undefined =>
  reward_count ?? (reward_mean == null ? provisional_count : undefined);

export const soFar = 'so far';

/** Whether its mean, if it has one, may still change. */
export const isSoFar = (row: MeasuredRun): boolean =>
  row.status == null || isRunning(row.status) || (row.reward_mean == null && !hasEnded(row.status));

/** What is known of a run's rewards. */
export type SeenMean = Pick<KnownResource, 'mean' | 'graded' | 'total'>;

/**
 * The rows with what was seen of their rewards, by their ids, where their records do not say it; the same if nothing
 * was.
 */
export function withMeans(rows: readonly EvalRun[], means: ReadonlyMap<string, SeenMean>): readonly MeasuredRun[] {
  if (means.size === 0) return rows;
  return rows.map(row => {
    const { mean, graded, total } = means.get(row.eval_run_id) ?? {};
    const provisional_mean = row.reward_mean == null ? mean : undefined;
    const counts =
      row.reward_count == null && hasEnded(row.status) ? { reward_count: graded, total_rollouts: total } : {};
    const seen = provisional_mean === undefined ? {} : { provisional_mean, provisional_count: graded };
    const more = { ...seen, ...counts };
    return Object.values(more).every(value => value === undefined) ? row : { ...row, ...more };
  });
}

/**
 * The rows with the tasks of the held-out curves of their training runs, by the ids of these; the same if none is
 * known.
 */
export function withHeldOutSplits(
  rows: readonly MeasuredRun[],
  splits: ReadonlyMap<string, string | undefined>,
): readonly MeasuredRun[] {
  if (splits.size === 0) return rows;
  return rows.map(row => {
    const held_out_split = splits.get(row.training_run_id ?? '');
    return held_out_split === undefined ? row : { ...row, held_out_split };
  });
}

/**
 * A mean for the cell of a table: `0.877`, or `0.877 n=163` where rollouts of an ended run have no reward, or may have none,
 * so that it is of fewer than it seems; `0.877 n=?` where nobody said of how many it is.
 */
export function meanCell({ mean, graded, total }: Partial<SeenMean>, status: string | null | undefined): string {
  const isWhole = graded !== undefined && total !== undefined && graded >= total;
  return mean !== undefined && !isWhole && hasEnded(status) ? `${reward(mean)} n=${graded ?? '?'}` : reward(mean);
}

/** The same for a run's record. Until the run has ended, a mean missing from the record is unknown, not none. */
export function meanOfRun(row: MeasuredRun): string {
  const mean = listedMean(row);
  if (isSoFar(row)) return mean === undefined ? '–' : `${reward(mean)} ${soFar}`;
  return meanCell({ mean, graded: row.reward_count ?? undefined, total: row.total_rollouts ?? undefined }, row.status);
}
