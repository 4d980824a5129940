/** Adds means to evaluation runs whose records lack them. */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded, isRunning, statusMeaning } from '../contract/status.ts';
import { unknownCell } from '../present/column.ts';
import { defaultRange, type Interval } from '../present/statistics/interval.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { type Certainty, countsBeside, intervalBeside, isSameMean, lacksCertainty } from '../queries/run-mean.ts';
import type { KnownResource } from '../queries/statuses/known-resource.ts';
import { countOf, reward } from '../text/numbers.ts';

/** A run with its measured mean, which the record may lack. */
export type MeasuredRun = EvalRun & {
  readonly provisional_mean?: number | undefined;
  /** The number of rewards in the mean. */
  readonly provisional_count?: number | undefined;
  /** The number of failed rollouts, if its progress was read. */
  readonly failed_rollouts?: number | undefined;
  /** The certainty of the mean, if its rewards were read. */
  readonly certainty?: Certainty | undefined;
  /** The split of the held-out curve by which its checkpoint may have been chosen. */
  readonly held_out_split?: string | undefined;
};

export const listedMean = (row: MeasuredRun): number | undefined => row.reward_mean ?? row.provisional_mean;

/** The number of rewards in the listed mean, and of all rollouts, if known. */
const countsOf = (row: MeasuredRun) =>
  countsBeside({
    ...{ status: row.status, certainty: row.certainty, mean: listedMean(row) },
    graded: countOf(row.reward_count) ?? (row.reward_mean == null ? row.provisional_count : undefined),
    total: countOf(row.total_rollouts),
  });
export const listedCount = (row: MeasuredRun): number | undefined => countsOf(row).graded;
export const listedTotal = (row: MeasuredRun): number | undefined => countsOf(row).total;

/** The interval of the listed mean, if it is known. */
export const intervalOfRun = (row: MeasuredRun, range: Range): Interval | undefined =>
  intervalBeside({ ...row, mean: listedMean(row), graded: listedCount(row) }, range);

/** Whether the interval has not been read yet. */
export const lacksIntervalOfRun = (row: MeasuredRun, range: Range): boolean =>
  lacksCertainty({ ...row, mean: listedMean(row), graded: listedCount(row) }, range);

/** The number of its failed rollouts, as far as an answer has it. */
export const listedFailed = ({ failed_rollouts, certainty }: MeasuredRun): number | undefined =>
  failed_rollouts ?? certainty?.failed;

export const soFar = 'so far';

/** Whether a successful run without a mean may have one, because some services report it only in some answers. */
export const mayHaveMean = (row: MeasuredRun): boolean =>
  statusMeaning(row.status ?? '') === 'success' && listedCount(row) !== 0;

/** Whether its mean may still change. */
export const isSoFar = (row: MeasuredRun): boolean =>
  row.status == null || isRunning(row.status) || (row.reward_mean == null && !hasEnded(row.status));

/** Whether its mean is yet to be read. */
export const lacksMean = (row: MeasuredRun): boolean =>
  listedMean(row) === undefined && listedCount(row) !== 0 && (isRunning(row.status) || mayHaveMean(row));

export type SeenMean = Partial<Pick<KnownResource, 'mean' | 'graded' | 'total' | 'certainty' | 'failed'>>;

/**
 * Adds the certainty to a row, and the observed mean if its record lacks it. Returns the same row if nothing changes.
 */
export function withMean(row: EvalRun, { mean, graded, total, certainty, failed }: SeenMean): MeasuredRun {
  const provisional_mean = row.reward_mean == null ? mean : undefined;
  // More rewards may have come since the observed mean was read.
  const isOfMean = isSameMean({ mean: row.reward_mean ?? undefined }, { mean }, defaultRange);
  const reward_count = isOfMean ? graded : undefined;
  const counts = row.reward_count == null && hasEnded(row.status) ? { reward_count, total_rollouts: total } : {};
  const seen = provisional_mean === undefined ? {} : { provisional_mean, provisional_count: graded };
  const more = { ...seen, ...counts, ...(certainty && { certainty }), failed_rollouts: failed };
  return Object.values(more).every(value => value === undefined) ? row : { ...row, ...more };
}

/** Adds the held-out split, by training run id. Returns the same array if none is known. */
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
 * A mean in a table cell: `0.877`; `0.877 n=163` if rollouts of an ended run lack or may lack a reward, so that the
 * mean covers fewer than it seems; `0.877 n=?` if the number is unknown.
 */
export function meanCell({ mean, graded, total }: SeenMean, status: string | null | undefined): string {
  const isWhole = graded !== undefined && total !== undefined && graded >= total;
  return mean !== undefined && !isWhole && hasEnded(status) ? `${reward(mean)} n=${graded ?? '?'}` : reward(mean);
}

/** The mean of a run that may get more rewards: `0.400 n=20+`, or `0.400 so far` if their number is unknown. */
const meanSoFar = (mean: number, graded: number | undefined): string =>
  `${reward(mean)} ${graded === undefined ? soFar : `n=${graded}+`}`;

/**
 * The mean with the number of its rewards and of all rollouts: `0.410 n=40/128`; `0.410 n=40+` if an unknown number of
 * rewards may follow.
 */
export function meanOfTotal({ mean, status, certainty, ...counts }: SeenMean & Pick<MeasuredRun, 'status'>): string {
  if (mean === undefined) return reward(mean);
  const { graded, total } = countsBeside({ graded: undefined, total: undefined, ...counts, mean, status, certainty });
  if (graded === undefined || total === undefined)
    return hasEnded(status) ? meanCell({ mean, graded, total }, status) : meanSoFar(mean, graded);
  return graded === total ? reward(mean) : `${reward(mean)} n=${graded}/${total}`;
}

/**
 * The mean of a run with the number of its rewards. A missing mean is unknown, not none, while the run is in progress,
 * and after a success unless the record reports no reward.
 */
export function meanOfRun(row: MeasuredRun): string {
  const [mean, graded] = [listedMean(row), listedCount(row)];
  if (!isSoFar(row)) {
    if (mean === undefined && mayHaveMean(row)) return unknownCell;
    return meanCell({ mean, graded, total: listedTotal(row) }, row.status);
  }
  return mean === undefined ? unknownCell : meanSoFar(mean, graded);
}
