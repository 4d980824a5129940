/** A run's difference from the baseline, remembered without the two runs' rewards. */
import { type BySide, sides } from '../base/sides.ts';
import { type Interval, intervalMethod } from '../present/statistics/interval.ts';
import type { Range } from '../present/statistics/tasks.ts';
import type { RememberedStore } from '../store/store.ts';
import type { RecordedMean } from './extent-of.ts';
import { isSameMean } from './run-mean.ts';

/** The difference between two ended runs, over the tasks that both share. */
export interface RunDifference {
  /** The baseline run's id. */
  readonly baseline: string;
  /** Undefined if no task has a reward in both. */
  readonly difference?: number | undefined;
  readonly interval?: Interval | undefined;
  /** The range of rewards that the interval assumes. */
  readonly range: Range;
  /** Identifies the method behind the interval. */
  readonly method: number;
  /** The mean and number of all rewards at the time they were read. */
  readonly means: BySide<Partial<RecordedMean>>;
}

/** Whether a difference still holds for these runs. A different mean or number of rewards means different rewards. */
export const isDifferenceOf = (
  { baseline, means, range }: RunDifference,
  runs: Pick<RunDifference, 'baseline' | 'means' | 'range'>,
): boolean =>
  baseline === runs.baseline &&
  range.every((limit, index) => limit === runs.range[index]) &&
  sides.every(side => isSameMean(means[side], runs.means[side], range));

/** The remembered difference for a run that ended with this status. */
export function rememberedDifference(
  memory: Pick<RememberedStore, 'seen'>,
  runId: string,
  endStatus: string | null | undefined,
): RunDifference | undefined {
  const seen = memory.seen.find('run', runId);
  const difference = seen?.difference as RunDifference | undefined;
  return seen?.status === endStatus && difference?.method === intervalMethod ? difference : undefined;
}
