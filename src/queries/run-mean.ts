/**
 * An evaluation run's mean reward over its tasks, and its certainty: an interval, or the reason there is none. Shared
 * by views, lists, files and commands.
 */
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { hasEnded } from '../contract/status.ts';
import { type FullRewards, fullBesidePartial } from '../present/statistics/full-reward.ts';
import { evidenceFor, type Interval, intervalDefaults, intervalMethod } from '../present/statistics/interval.ts';
import { type TaskMean, taskMean } from '../present/statistics/task-mean.ts';
import { isBeyond, type Range, type RunTasks, withinRange } from '../present/statistics/tasks.ts';
import type { RememberedStore } from '../store/store.ts';
import { extentOf, type RecordedMean, type RunExtent } from './extent-of.ts';
import { settlesWithinMs } from './held-out.ts';
import { extremesOf, meanOfRewards, rewardsByTask, valuesOf } from './run-rewards.ts';

export interface RunMean extends TaskMean {
  readonly interval: Interval | undefined;
  /** The range, if there is no interval because a reward lies outside the range. */
  readonly outside: Range | undefined;
  /** The number of rewards without a task. If there are any, there is no interval: several may belong to one task. */
  readonly namelessRewards: number;
  /**
   * Whether the run was stopped with a reward for each rollout in its total. The total may count only rollouts that had
   * begun; the interval assumes that no others were planned.
   */
  readonly isStoppedWhole: boolean;
}

interface RunMeanOptions
  extends Partial<Pick<RunExtent, 'status' | 'listed' | 'failed' | 'samplesPerTask' | 'recorded' | 'endedAt'>> {
  readonly total?: number | null | undefined;
  readonly range?: Range | undefined;
}

/** Drops an interval that spans the whole range, which looks like a result but says nothing. */
const ifInformative = (interval: Interval | undefined, [low, high]: Range): Interval | undefined =>
  interval && interval.low <= low && interval.high >= high ? undefined : interval;

/**
 * A reward without a known task counts as a task of its own in the mean. A rollout with neither a reward nor a task may
 * belong to any task, so it counts as missing, like an unlisted one.
 */
export function runMeanOf(
  rewards: readonly TrajectoryReward[],
  { range, total, recorded: _, ...extent }: RunMeanOptions = {},
): RunMean {
  const { tasks, nameless } = rewardsByTask({ rewards, total: undefined });
  const alone = nameless.listed.filter(({ reward }) => reward !== undefined);
  const all = [...[...tasks.values()].map(({ listed }) => listed), ...alone.map(each => [each])];
  const listed = Math.max(rewards.length, extent.listed ?? 0);
  // A total below the number of rewards is wrong.
  const known = extentOf({ ...extent, listed, total: total == null || total < listed ? undefined : total });
  const run: RunTasks = {
    tasks: all.map(listed => listed.map(each => each.reward)),
    ...known,
    // Rewards without a task belong to an unknown number of tasks.
    ...(alone.length > 0 && known.end === 'running' && { total: undefined }),
  };
  const isStoppedWhole =
    known.end === 'stopped' && known.total === listed && valuesOf(rewards).length === listed && alone.length === 0;
  const assumed: RunTasks = isStoppedWhole ? { ...run, end: 'complete' } : run;
  const options = { ...intervalDefaults, ...(range && { range }) };
  const { interval, reason } = evidenceFor([assumed], options);
  return {
    ...taskMean(assumed, options.range),
    end: known.end,
    isStoppedWhole,
    interval: alone.length > 0 ? undefined : ifInformative(interval(), options.range),
    outside: reason === 'outside' ? options.range : undefined,
    namelessRewards: alone.length,
  };
}

/**
 * The certainty of a run's mean, without the rewards. Remembered for ended runs, so that their rewards are read only
 * once.
 */
export interface Certainty {
  /**
   * The interval of the mean over tasks. Omitted if it depends on a condition, because a list has no room to state it.
   */
  readonly interval?: Interval | undefined;
  /**
   * Why there is no interval: no reward or too few, a reward outside the range, an unknown number of missing rewards, rewards
   * without a task, or an unknown number of rollouts.
   */
  readonly reason?: 'nothing' | 'outside' | 'open' | 'nameless' | 'uncounted' | undefined;
  /** The number of tasks with a reward, of rollouts with a reward and, if known, of all rollouts. */
  readonly tasks: number;
  readonly rewards: number;
  readonly total?: number | undefined;
  /** How many listed rollouts are known to have failed without a reward. */
  readonly failed?: number | undefined;
  /** The means over the rewards and over the tasks, and the mean that the record had at the time. */
  readonly means: readonly number[];
  readonly recorded?: RecordedMean | undefined;
  /** The lowest and the highest reward; undefined without rewards. */
  readonly lowest?: number | undefined;
  readonly highest?: number | undefined;
  /** How many rewards are full, if others are partial. */
  readonly full?: FullRewards | undefined;
  /** The range of rewards that the interval assumes. */
  readonly range: Range;
  /** Identifies the method behind the interval. */
  readonly method: number;
  /** Whether the run had ended before its rewards were read. */
  readonly isFinal: boolean;
  /** When the run ended, if known; in epoch milliseconds. */
  readonly endedAt?: number | undefined;
  /** When its rewards were read after the end, if some may be late; see `readAfterEndOf`. */
  readonly readAfterEnd?: ReadAfterEnd | undefined;
}

/** The first and the last read, in epoch milliseconds. */
type ReadAfterEnd = readonly [first: number, last: number];

/** The rewards are read again for five minutes, at growing intervals, like settling data in `pollDelay`. */
const lateReads = { firstMs: 10_000, forMs: 5 * 60_000 };

type ReadOfEnded = Pick<Partial<RunExtent>, 'total' | 'endedAt'>;

const lacksRewards = (rated: number, { total = Number.POSITIVE_INFINITY }: ReadOfEnded): boolean => rated < total;

const endedLongAgo = ({ endedAt }: ReadOfEnded, now: number): boolean => now - (endedAt ?? now) > settlesWithinMs;

/**
 * Whether an ended run may have more rewards than its certainty covers: the rewards were requested before the end, or
 * some are missing and the run ended recently.
 *
 * @param failed how many rollouts are known to have failed without a reward
 */
export function mayFollow(
  { certainty, total, endedAt }: ReadOfEnded & { readonly certainty?: Certainty | undefined },
  failed = 0,
): boolean {
  if (!certainty?.isFinal || lateRewardsDue(certainty.readAfterEnd) !== undefined) return true;
  const [firstRead] = certainty.readAfterEnd ?? [];
  const run = { total: total && total - failed, endedAt: endedAt ?? certainty.endedAt ?? firstRead };
  return lacksRewards(certainty.rewards, run) && !endedLongAgo(run, Date.now());
}

/**
 * When these rewards were read, if others may be late and the service reports no mean that would reveal them. Undefined
 * if the run already has all its rewards.
 *
 * @param before the previous result. The recorded mean is then ignored, because it may come from an earlier read
 */
export function readAfterEndOf(
  rewards: readonly TrajectoryReward[],
  run: Partial<RunExtent>,
  before?: ReadAfterEnd,
): ReadAfterEnd | undefined {
  if (!hasEnded(run.status) || !lacksRewards(valuesOf(rewards).length, run)) return undefined;
  const now = Date.now();
  if (before) return [before[0], Math.min(now, before[0] + lateReads.forMs)];
  if (run.recorded?.mean !== undefined) return undefined;
  // The service's clock may be slow, so one more read shows whether a run ended long ago.
  return [endedLongAgo(run, now) ? now - lateReads.forMs / 2 : now, now];
}

/**
 * When to read an ended run's rewards again, in epoch milliseconds; undefined if no more are expected.
 *
 * @param attemptedAt the last attempt, if it may be newer
 */
export function lateRewardsDue(readAfterEnd: ReadAfterEnd | undefined, attemptedAt = 0): number | undefined {
  if (!readAfterEnd) return undefined;
  const [first, read] = readAfterEnd;
  const last = Math.max(read, attemptedAt);
  return last - first < lateReads.forMs ? last + Math.max(lateReads.firstMs, last - first) : undefined;
}

/** Whether late rewards may have arrived since the last read. */
export const mayHaveLateRewards = ({ readAfterEnd }: Certainty): boolean =>
  (lateRewardsDue(readAfterEnd) ?? Number.POSITIVE_INFINITY) <= Date.now();

function reasonOf({
  interval,
  outside,
  namelessRewards,
  isOpen,
  isUncounted,
  isStoppedWhole,
}: RunMean): Certainty['reason'] {
  if (namelessRewards > 0) return 'nameless';
  if (isOpen) return 'open';
  if (outside) return 'outside';
  if (interval === undefined) return 'nothing';
  return isUncounted || isStoppedWhole ? 'uncounted' : undefined;
}

/**
 * @param options `range` is the range of rewards from the settings
 * @param readAfterEnd see `readAfterEndOf`
 */
export function certaintyOf(
  rewards: readonly TrajectoryReward[],
  options: RunMeanOptions,
  readAfterEnd?: ReadAfterEnd,
): Certainty {
  const run = runMeanOf(rewards, options);
  const reason = reasonOf(run);
  const range = options.range ?? intervalDefaults.range;
  const full = fullBesidePartial(valuesOf(rewards), range);
  return {
    ...(reason === undefined ? { interval: run.interval } : { reason }),
    tasks: run.tasks,
    rewards: run.rated,
    ...(options.total != null && { total: options.total }),
    ...(options.failed !== undefined && { failed: options.failed }),
    means: [meanOfRewards(rewards).mean, run.mean].filter(mean => mean !== undefined),
    ...(options.recorded && { recorded: options.recorded }),
    ...extremesOf(rewards),
    ...(full && { full }),
    range,
    method: intervalMethod,
    isFinal: hasEnded(options.status),
    ...(options.endedAt !== undefined && { endedAt: options.endedAt }),
    ...(readAfterEnd && { readAfterEnd }),
  };
}

/** Whether the certainty still holds for the range of rewards from the settings. */
function holdsFor({ lowest, highest, range }: Certainty, [low, high]: Range): boolean {
  const isOutside = [lowest ?? low, highest ?? high].some(reward => isBeyond(reward, [low, high]));
  return isOutside || (range[0] === low && range[1] === high);
}

/** The mean of these rewards, for comparison with the mean in the record. */
export function meanAsRecorded(rewards: readonly TrajectoryReward[]): RecordedMean {
  const { mean, rewards: graded } = meanOfRewards(rewards);
  return { mean, graded };
}

/** The largest rounding error in a mean, as a share of the range. */
const rounding = 1e-4;

/** Whether two means may come from the same rewards. An unknown value matches any other. */
export function isSameMean(one: Partial<RecordedMean>, other: Partial<RecordedMean>, [low, high]: Range): boolean {
  const { mean = other.mean, graded = other.graded } = one;
  const apart = Math.abs((mean ?? 0) - (other.mean ?? mean ?? 0));
  return apart <= rounding * (high - low) && graded === (other.graded ?? graded);
}

/** Whether the certainty belongs to the rewards with this mean. A run may be graded again after its end. */
function isOf({ means, rewards, recorded, range: [low, high] }: Certainty, { mean, graded }: RecordedMean): boolean {
  const isMean = (known: number | undefined): boolean =>
    known !== undefined && Math.abs(known - (mean ?? known)) <= rounding * (high - low);
  const isCount = graded === undefined || graded === rewards || graded === recorded?.graded;
  return isCount && (mean === undefined || [...means, recorded?.mean].some(isMean));
}

/** Whether the certainty is final and belongs to the rewards with this mean. */
export const isOfMean = (certainty: Certainty, mean: RecordedMean, range: Range = intervalDefaults.range): boolean =>
  certainty.isFinal && holdsFor(certainty, range) && isOf(certainty, mean);

/** Whether benchtop computed the mean, because the service reports none, and more rewards may arrive. */
export const isOwnMean = (certainty: Certainty | undefined, mean: RecordedMean): boolean =>
  certainty !== undefined &&
  (!certainty.isFinal || certainty.readAfterEnd !== undefined) &&
  isOf({ ...certainty, recorded: undefined }, mean);

/** Whether an ended run with this mean need not have its rewards read again. */
export const isSettled = (certainty: Certainty | undefined, mean: RecordedMean, range?: Range): boolean =>
  certainty !== undefined && isOfMean(certainty, mean, range) && !mayHaveLateRewards(certainty);

/** The displayed mean, with the certainty that was read. */
export interface CertainMean {
  readonly mean: number | undefined;
  /** The number of rewards behind the mean. */
  readonly graded: number | undefined;
  readonly status?: string | null | undefined;
  readonly certainty?: Certainty | undefined;
}

interface CountedRollouts {
  readonly graded: number | undefined;
  readonly total: number | undefined;
}

/**
 * The interval to show beside a mean; undefined if it is unknown or belongs to other rewards. While a run continues,
 * the interval must cover as many rewards as the mean; after the end, all of them. Undefined too if the mean over
 * rewards lies outside the interval of the mean over tasks, which only the run's own view has room to explain.
 */
export function intervalBeside({ mean, graded, status, certainty }: CertainMean, range: Range): Interval | undefined {
  if (certainty?.interval === undefined || mean === undefined || !holdsFor(certainty, range)) return undefined;
  const { interval, isFinal, rewards, lowest = range[0], highest = range[1] } = certainty;
  if (isBeyond(lowest, range) || isBeyond(highest, range)) return undefined;
  const isOfMean = hasEnded(status) ? isFinal && isOf(certainty, { mean, graded }) : rewards === graded;
  const value = withinRange(mean, range);
  return isOfMean && value >= interval.low && value <= interval.high ? interval : undefined;
}

/** Whether the list of rewards can be counted: if it is empty despite a mean, the service does not list them. */
export const listsRewards = ({ rewards }: Certainty, mean: number | undefined): boolean =>
  mean === undefined || rewards > 0;

/** The number of rewards behind a mean and of all rollouts, as reported or else as read with this mean's rewards. */
export function countsBeside({
  mean,
  graded,
  total,
  status,
  certainty,
}: CertainMean & CountedRollouts): CountedRollouts {
  const isOfMean =
    certainty &&
    listsRewards(certainty, mean) &&
    (certainty.isFinal || !hasEnded(status)) &&
    isOf(certainty, { mean, graded });
  return isOfMean ? { graded: graded ?? certainty.rewards, total: total ?? certainty.total } : { graded, total };
}

/** Whether an ended run's interval is unknown because its rewards have not been read. */
export const lacksCertainty = ({ status, certainty, ...mean }: CertainMean, range: Range): boolean =>
  mean.mean !== undefined && hasEnded(status) && !(certainty && isOfMean(certainty, mean, range));

/** A run's remembered certainty, unless the run has ended again since. */
export function rememberedCertainty(
  memory: Pick<RememberedStore, 'seen'>,
  runId: string,
  ended: Pick<RunMeanOptions, 'status' | 'endedAt'>,
): Certainty | undefined {
  const seen = memory.seen.find('run', runId);
  const certainty = seen?.certainty as Certainty | undefined;
  if (seen?.status !== ended.status || certainty?.method !== intervalMethod) return undefined;
  const { endedAt = ended.endedAt } = certainty;
  return endedAt === (ended.endedAt ?? endedAt) ? certainty : undefined;
}
