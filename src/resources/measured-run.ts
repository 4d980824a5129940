/** Adds means to evaluation runs whose records lack one. */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded, isRunning, statusMeaning } from '../contract/status.ts';
import { unknownCell } from '../present/column.ts';
import { type MeasuredMean, meanText } from '../present/mean.ts';
import { defaultRange, type Interval } from '../present/statistics/interval.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { worstOf } from '../queries/held-out.ts';
import {
  type CertainMean,
  type Certainty,
  countsBeside,
  intervalBeside,
  isSameMean,
  lacksCertainty,
} from '../queries/run-mean.ts';
import type { KnownResource } from '../queries/statuses/known-resource.ts';
import { countOf } from '../text/numbers.ts';

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

export type SeenMean = Partial<Pick<KnownResource, 'mean' | 'graded' | 'total' | 'certainty' | 'failed'>>;

type ShownMean = SeenMean & Pick<MeasuredRun, 'status'> & { readonly isMeanOld?: boolean | undefined };

/** A run's mean, with its counts as reported or as read with it. */
export function meanOf({ mean, status, certainty, isMeanOld, ...counts }: ShownMean): MeasuredMean {
  const { graded, total } = countsBeside({ graded: undefined, total: undefined, ...counts, mean, status, certainty });
  const isWhole = graded !== undefined && total !== undefined && graded >= total;
  const others = isWhole ? undefined : hasEnded(status) ? 'are missing' : 'may follow';
  return { mean, count: graded, of: total, others, isOld: isMeanOld };
}

export const listedMean = (row: MeasuredRun): number | undefined => row.reward_mean ?? row.provisional_mean;

/** What is known about a listed mean. */
const shownIn = ({ status, certainty, ...row }: MeasuredRun): ShownMean => ({
  ...{ status, certainty, mean: listedMean(row), total: countOf(row.total_rollouts) },
  graded: countOf(row.reward_count) ?? (row.reward_mean == null ? row.provisional_count : undefined),
});

export const listedMeanOf = (row: MeasuredRun): MeasuredMean => meanOf(shownIn(row));
export const listedCount = (row: MeasuredRun): number | undefined => listedMeanOf(row).count;
export const listedTotal = (row: MeasuredRun): number | undefined => listedMeanOf(row).of;

/** The listed mean with its certainty. */
export const certainMeanOf = (row: MeasuredRun): CertainMean => ({
  ...{ status: row.status, certainty: row.certainty, mean: listedMean(row), graded: listedCount(row) },
});

/** The interval of the listed mean, if known. */
export const intervalOfRun = (row: MeasuredRun, range: Range): Interval | undefined =>
  intervalBeside(certainMeanOf(row), range);

/** Whether the interval has not been read yet. */
export const lacksIntervalOfRun = (row: MeasuredRun, range: Range): boolean =>
  lacksCertainty(certainMeanOf(row), range);

/** The number of failed rollouts, if any response has reported it. */
export const listedFailed = ({ failed_rollouts, certainty }: MeasuredRun): number | undefined =>
  failed_rollouts ?? certainty?.failed;

/**
 * The mean to sort by, with missing rewards as the lowest: the first rewards are often higher than the rest, and a run
 * that died has few.
 */
export function worstMean(shown: ShownMean): number | undefined {
  const { mean, count, of } = meanOf(shown);
  const { lowest = mean, highest = mean } = shown.certainty ?? {};
  if (mean === undefined || lowest === undefined || highest === undefined) return undefined;
  return worstOf({ step: 0, reward: mean, samples: count, expected: of, extremes: [lowest, highest] });
}

/** The same for a run in a list. */
export const worstMeanOf = (row: MeasuredRun): number | undefined => worstMean(shownIn(row));

/** Whether a successful run without a mean may have one after all: some services report it only in some responses. */
export const mayHaveMean = (row: MeasuredRun): boolean =>
  statusMeaning(row.status ?? '') === 'success' && listedCount(row) !== 0;

/** Whether its mean has yet to be read. */
export const lacksMean = (row: MeasuredRun): boolean =>
  listedMean(row) === undefined && listedCount(row) !== 0 && (isRunning(row.status) || mayHaveMean(row));

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
 * A run's mean in a cell. A missing mean is unknown rather than none while the run is in progress, and after it has
 * succeeded unless the record reports no reward.
 */
export function meanOfRun(row: MeasuredRun): string {
  const isUnknown = listedMean(row) === undefined && (!hasEnded(row.status) || mayHaveMean(row));
  return isUnknown ? unknownCell : meanText(listedMeanOf(row));
}
