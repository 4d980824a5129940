/** Adds means to evaluation runs whose records lack one. */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded, isRunning, statusMeaning } from '../contract/status.ts';
import { unknownCell } from '../present/column.ts';
import { defaultRange, type Interval } from '../present/statistics/interval.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { worstOf } from '../queries/held-out.ts';
import { type Certainty, countsBeside, intervalBeside, isSameMean, lacksCertainty } from '../queries/run-mean.ts';
import type { KnownResource } from '../queries/statuses/known-resource.ts';
import { countOf, reward } from '../text/numbers.ts';

/** A run with its measured mean, which its record may lack. */
export type MeasuredRun = EvalRun & {
  readonly provisional_mean?: number | undefined;
  /** The number of rewards behind the mean. */
  readonly provisional_count?: number | undefined;
  /** The number of failed rollouts, if the run's progress has been read. */
  readonly failed_rollouts?: number | undefined;
  /** The certainty of the mean, if the run's rewards have been read. */
  readonly certainty?: Certainty | undefined;
  /** The split of the held-out curve that its checkpoint may have been chosen by. */
  readonly held_out_split?: string | undefined;
  /** The name of its checkpoint's training run. */
  readonly trained_in?: string | undefined;
};

export const listedMean = (row: MeasuredRun): number | undefined => row.reward_mean ?? row.provisional_mean;

/** The number of rewards behind the listed mean, and the total number of rollouts, if known. */
const countsOf = (row: MeasuredRun) =>
  countsBeside({
    ...{ status: row.status, certainty: row.certainty, mean: listedMean(row) },
    graded: countOf(row.reward_count) ?? (row.reward_mean == null ? row.provisional_count : undefined),
    total: countOf(row.total_rollouts),
  });
export const listedCount = (row: MeasuredRun): number | undefined => countsOf(row).graded;
export const listedTotal = (row: MeasuredRun): number | undefined => countsOf(row).total;

/** The interval of the listed mean, if known. */
export const intervalOfRun = (row: MeasuredRun, range: Range): Interval | undefined =>
  intervalBeside({ ...row, mean: listedMean(row), graded: listedCount(row) }, range);

/** Whether the interval has not been read yet. */
export const lacksIntervalOfRun = (row: MeasuredRun, range: Range): boolean =>
  lacksCertainty({ ...row, mean: listedMean(row), graded: listedCount(row) }, range);

/** The number of failed rollouts, if any response has reported it. */
export const listedFailed = ({ failed_rollouts, certainty }: MeasuredRun): number | undefined =>
  failed_rollouts ?? certainty?.failed;

/** The mean to sort by: the first rewards are often higher than the rest, and a run that died has few. */
export function worstMean({ mean, certainty, ...counts }: SeenMean & Pick<MeasuredRun, 'status'>): number | undefined {
  if (mean === undefined) return undefined;
  const { graded, total } = countsBeside({ graded: undefined, total: undefined, ...counts, mean, certainty });
  const extremes = [certainty?.lowest ?? mean, certainty?.highest ?? mean] as const;
  return worstOf({ step: 0, reward: mean, samples: graded, expected: total, extremes });
}

/** The same for a run in a list. */
export const worstMeanOf = (row: MeasuredRun): number | undefined =>
  worstMean({
    ...{ mean: listedMean(row), graded: listedCount(row), total: listedTotal(row) },
    ...{ status: row.status, certainty: row.certainty },
  });

export const soFar = 'so far';

/** Whether a successful run without a mean may have one after all: some services report it only in some responses. */
export const mayHaveMean = (row: MeasuredRun): boolean =>
  statusMeaning(row.status ?? '') === 'success' && listedCount(row) !== 0;

/** Whether its mean may still change. */
export const isSoFar = (row: MeasuredRun): boolean =>
  row.status == null || isRunning(row.status) || (row.reward_mean == null && !hasEnded(row.status));

/** Whether its mean has yet to be read. */
export const lacksMean = (row: MeasuredRun): boolean =>
  listedMean(row) === undefined && listedCount(row) !== 0 && (isRunning(row.status) || mayHaveMean(row));

export type SeenMean = Partial<Pick<KnownResource, 'mean' | 'graded' | 'total' | 'certainty' | 'failed'>>;

/**
 * Adds the certainty to a row, and the observed mean if its record lacks one. Returns the same row if nothing changes.
 */
export function withMean(row: EvalRun, { mean, graded, total, certainty, failed }: SeenMean): MeasuredRun {
  const provisional_mean = row.reward_mean == null ? mean : undefined;
  // More rewards may have arrived since the observed mean was read.
  const isOfMean = isSameMean({ mean: row.reward_mean ?? undefined }, { mean }, defaultRange);
  const reward_count = isOfMean ? graded : undefined;
  const counts = row.reward_count == null && hasEnded(row.status) ? { reward_count, total_rollouts: total } : {};
  const seen = provisional_mean === undefined ? {} : { provisional_mean, provisional_count: graded };
  const more = { ...seen, ...counts, ...(certainty && { certainty }), failed_rollouts: failed };
  return Object.values(more).every(value => value === undefined) ? row : { ...row, ...more };
}

/** Adds the known facts about its checkpoint's training run. Returns the same row if there are none. */
export function withTraining<Row extends MeasuredRun>(
  row: Row,
  { split, name }: { readonly split?: string | undefined; readonly name?: string | undefined },
): Row {
  if (split === undefined && name === undefined) return row;
  return { ...row, ...(split !== undefined && { held_out_split: split }), trained_in: name };
}

/**
 * A mean in a table cell: `0.877`; `0.877 n=163` if an ended run has, or may have, rollouts without a reward, so that
 * the mean covers fewer of them than it seems to; `0.877 n=?` if their number is unknown.
 */
export function meanCell({ mean, graded, total }: SeenMean, status: string | null | undefined): string {
  const isWhole = graded !== undefined && total !== undefined && graded >= total;
  return mean !== undefined && !isWhole && hasEnded(status) ? `${reward(mean)} n=${graded ?? '?'}` : reward(mean);
}

/** The mean of a run that may still get rewards: `0.400 n=20+`, or `0.400 so far` if their number is unknown. */
const meanSoFar = (mean: number, graded: number | undefined): string =>
  `${reward(mean)} ${graded === undefined ? soFar : `n=${graded}+`}`;

/**
 * The mean with its number of rewards and the total number of rollouts: `0.410 n=40/128`; `0.410 n=40+` if an unknown
 * number of rewards may follow.
 */
export function meanOfTotal({ mean, status, certainty, ...counts }: SeenMean & Pick<MeasuredRun, 'status'>): string {
  if (mean === undefined) return reward(mean);
  const { graded, total } = countsBeside({ graded: undefined, total: undefined, ...counts, mean, status, certainty });
  if (graded === undefined || total === undefined)
    return hasEnded(status) ? meanCell({ mean, graded, total }, status) : meanSoFar(mean, graded);
  return graded === total ? reward(mean) : `${reward(mean)} n=${graded}/${total}`;
}

/**
 * A run's mean with its number of rewards. While the run is in progress, a missing mean is unknown rather than none;
 * also after it has succeeded, unless the record says there is no reward.
 */
export function meanOfRun(row: MeasuredRun): string {
  const [mean, graded] = [listedMean(row), listedCount(row)];
  if (!isSoFar(row)) {
    if (mean === undefined && mayHaveMean(row)) return unknownCell;
    return meanCell({ mean, graded, total: listedTotal(row) }, row.status);
  }
  return mean === undefined ? unknownCell : meanSoFar(mean, graded);
}
