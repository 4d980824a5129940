/** Summarises a training run's held-out rewards: the newest and the best mean, with their steps and samples. Pure. */
import { maxOf } from '../base/many.ts';
import { perObject } from '../base/memo.ts';
import { commonDistance } from '../base/steps.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import { rowsMadeOf } from '../contract/lists.ts';
import { statusMeaning } from '../contract/status.ts';
import type { HeldOutReward } from '../contract/training.ts';
import { countOf } from '../text/numbers.ts';

/** The number of samples behind a held-out mean, and the expected number, if the service reports them. */
interface HeldOutSamples {
  readonly samples: number | undefined;
  readonly expected?: number | undefined;
}

/** A round without a reward, because all its rollouts failed. */
export interface FailedRound {
  readonly step: number;
  /** How many of its rollouts have ended. */
  readonly failed: number;
  /** Whether the round may still get a reward. */
  readonly isUnfinished?: boolean | undefined;
  /** Whether, by its counts, all its rollouts have ended although the service reports it as unfinished. */
  readonly haveAllEnded?: boolean | undefined;
}

/** The newest of several failed rounds: a finished one, or an unfinished one if none is finished. */
export interface FailedRounds extends FailedRound {
  readonly rounds: number;
  /** Whether all the rounds have as many rollouts as the newest. */
  readonly isSame: boolean;
}

export interface HeldOutMean extends HeldOutSamples {
  readonly step: number;
  readonly reward: number;
  readonly failed?: number | undefined;
  readonly cancelled?: number | undefined;
  /** The split that the evaluated tasks are from, if the service reports it. */
  readonly split?: string | undefined;
  /** Whether samples are outstanding, according to the service or its counts. */
  readonly isUnfinished?: boolean | undefined;
  /** Whether, by its counts, all its rollouts have ended although the service reports it as unfinished. */
  readonly haveAllEnded?: boolean | undefined;
  /** Whether a later round exists or is due but has not been read, so that there may be a newer or better mean. */
  readonly isOld?: boolean | undefined;
  /** Later rounds in which every rollout failed, so the mean may not describe the current model. */
  readonly failedSince?: FailedRounds | undefined;
  /** The lowest and the highest mean of its curve; by default, the mean itself. */
  readonly extremes?: readonly [lowest: number, highest: number] | undefined;
}

/** A mean with the best mean so far; see `bestHeldOut`. */
export interface RankedMean extends HeldOutMean {
  readonly bestYet: HeldOutMean;
}

export interface HeldOutMeans {
  readonly last: HeldOutMean;
  /** See `bestHeldOut`. */
  readonly best: HeldOutMean;
  /** Whether a round is incomplete, so that the means may change even after the run has ended. */
  readonly isUnfinished?: boolean | undefined;
  /** The newest means, oldest first. */
  readonly recent?: readonly RankedMean[];
  /** The whole curve at equally spaced steps, oldest first; undefined where a reward is missing. */
  readonly curve: readonly (number | undefined)[];
  /** The usual number of steps between rewards; undefined if there is only one point. */
  readonly everySteps: number | undefined;
  /** The last step on the curve, with or without a reward. */
  readonly upTo: number;
}

/** Prefers the loaded samples, because a service may leave completed samples out of the mean. */
export function samplesOf(point: HeldOutReward): HeldOutSamples {
  const { loaded_trajectories, completed_samples, expected_samples } = point;
  const samples = countOf(loaded_trajectories) ?? countOf(completed_samples);
  return { samples, expected: countOf(expected_samples) ?? countOf(completed_samples) ?? samples };
}

/** The curves of a run's other splits, by the deciding split's curve. */
const otherSplitCurves = new WeakMap<readonly HeldOutReward[], readonly (readonly HeldOutReward[])[]>();

const rewardsIn = (rows: readonly HeldOutReward[]): number => rows.filter(row => row.held_out_reward != null).length;

/** The usual names of splits that checkpoints are chosen by, most likely first. */
const choosingSplits = ['validation', 'val', 'valid', 'dev', 'eval'];

/** A split's rank, from the words in its name: the lowest rank decides. */
function placeOf(split: string | undefined): number {
  if (split === undefined) return choosingSplits.length + 1;
  const words: readonly string[] = split.toLowerCase().match(/[a-z]+/g) ?? [];
  const has = (name: string): boolean => words.some(word => word.startsWith(name));
  if (has('test')) return choosingSplits.length + 3;
  if (has('train')) return choosingSplits.length + 2;
  const place = choosingSplits.findIndex(name => words.includes(name));
  if (place >= 0) return place;
  return choosingSplits.some(has) ? choosingSplits.length - 1 : choosingSplits.length;
}

/**
 * The rows of the deciding split. Other splits have other tasks, so their curves are separate and not comparable.
 * Validation tasks come first and test tasks last, because an evaluation on the test tasks should judge the chosen
 * checkpoint. A split with a single reward is not a curve, and does not decide if another split has more than two.
 */
export function decidingSplit(rows: readonly HeldOutReward[]): readonly HeldOutReward[] {
  const splits = Map.groupBy(rows, ({ split }) => split ?? undefined);
  if (splits.size < 2) return rows;
  const ordered = [...splits]
    .sort(([left = ''], [right = '']) => (left < right ? -1 : 1))
    .sort(([left], [right]) => placeOf(left) - placeOf(right))
    .map(([, split]) => split);
  const counts = ordered.map(rewardsIn);
  const least = maxOf(counts, 0) > 2 ? 2 : 1;
  const at = Math.max(
    0,
    counts.findIndex(count => count >= least),
  );
  const deciding = rowsMadeOf(rows, [...(ordered[at] ?? [])]);
  otherSplitCurves.set(deciding, ordered.toSpliced(at, 1));
  return deciding;
}

/** The curves of the other splits. @param deciding from `decidingSplit` */
export const otherSplits = (deciding: readonly HeldOutReward[]): readonly (readonly HeldOutReward[])[] =>
  otherSplitCurves.get(deciding) ?? [];

/** A curve's means, in order. */
export function heldOutMeansOf(points: readonly HeldOutReward[]): readonly HeldOutMean[] {
  const means = points.flatMap(meanOf);
  const [first] = means;
  if (!first) return means;
  let [lowest, highest] = [first.reward, first.reward];
  for (const { reward } of means) [lowest, highest] = [Math.min(lowest, reward), Math.max(highest, reward)];
  const extremes = [lowest, highest] as const;
  return means.map(mean => ({ ...mean, extremes }));
}

/** A point's mean; empty without a reward. */
function meanOf(point: HeldOutReward): HeldOutMean[] {
  const { step, held_out_reward: reward, failed_samples, cancelled_samples, split } = point;
  if (reward == null) return [];
  const counts = { failed: countOf(failed_samples), cancelled: countOf(cancelled_samples) };
  return [{ step, reward, ...samplesOf(point), ...counts, split: split ?? undefined, ...unfinishedFlags(point) }];
}

/** Whether all samples of a round have ended, going by its counts; undefined without counts. */
function haveAllEnded(point: HeldOutReward): boolean | undefined {
  const { completed_samples, failed_samples, cancelled_samples, expected_samples } = point;
  const [expected, completed] = [countOf(expected_samples), countOf(completed_samples) ?? samplesOf(point).samples];
  if (expected === undefined || completed === undefined) return undefined;
  return completed + (countOf(failed_samples) ?? 0) + (countOf(cancelled_samples) ?? 0) >= expected;
}

/** Whether a round is incomplete, according to the service or else to its sample counts. */
export const isOutstanding = (point: HeldOutReward): boolean =>
  point.round_completed == null ? haveAllEnded(point) === false : !point.round_completed;

const unfinishedFlags = (point: HeldOutReward): Pick<HeldOutMean, 'isUnfinished' | 'haveAllEnded'> =>
  isOutstanding(point) ? { isUnfinished: true, ...(haveAllEnded(point) && { haveAllEnded: true }) } : {};

/** The round that a point belongs to, if all its ended rollouts failed. */
export function failedRound(point: HeldOutReward): FailedRound | undefined {
  const failed = countOf(point.failed_samples) ?? 0;
  const isLost = point.held_out_reward == null && failed > 0 && (samplesOf(point).samples ?? 0) === 0;
  if (!isLost) return undefined;
  return { step: point.step, failed, ...unfinishedFlags(point) };
}

/** The rounds after a curve's last mean in which every rollout failed. */
export function failedRounds(points: readonly HeldOutReward[]): FailedRounds | undefined {
  const last = maxOf(
    points.filter(point => point.held_out_reward != null).map(({ step }) => step),
    Number.NEGATIVE_INFINITY,
  );
  const all = points
    .flatMap(point => (point.step > last ? (failedRound(point) ?? []) : []))
    .sort((left, right) => left.step - right.step);
  const over = all.filter(({ isUnfinished }) => !isUnfinished);
  const rounds = over.length > 0 ? over : all;
  const newest = rounds.at(-1);
  return newest && { ...newest, rounds: rounds.length, isSame: rounds.every(({ failed }) => failed === newest.failed) };
}

/** Whether any round of the curve is incomplete. */
export const hasOutstanding = perObject((points: readonly HeldOutReward[]): boolean => points.some(isOutstanding));

/** How long after a run's end its last round may appear and its means may change, in milliseconds. */
export const settlesWithinMs = 60 * 60_000;

/** Whether the round for the last of the `done` steps is listed, with a mean unless all its rollouts failed. */
const hasLastRound = ({ last }: Pick<HeldOutMeans, 'last'>, done: number | undefined): boolean =>
  last.samples !== undefined && done !== undefined && (last.failedSince ?? last).step >= done;

/**
 * Whether an ended run's curve is final: no round is incomplete, the means are not old, and it includes the last round
 * or was read long after the end.
 *
 * @param done the number of finished steps
 * @param endedAt in epoch milliseconds, like `readAt`
 */
export function isFinalCurve(
  means: Pick<HeldOutMeans, 'last' | 'isUnfinished'> | null | undefined,
  { done, endedAt, readAt }: { readonly done: number | undefined; readonly endedAt: number; readonly readAt: number },
): boolean {
  if (means?.isUnfinished || means?.last.isOld) return false;
  if (readAt - endedAt > settlesWithinMs) return true;
  return means != null && hasLastRound(means, done);
}

/**
 * How late a successful run's last round may be, in milliseconds. Settling data is read for a little longer; see
 * `pollDelay`.
 */
const lastRoundWithinMs = 4 * 60_000;

/**
 * Whether an ended run's curve was read too early to include its last round. Only a successful run measures after its
 * end. All times are in epoch milliseconds.
 */
export const mayLackRound = (
  status: string,
  { endedAt, readAt }: { readonly endedAt: number; readonly readAt: number },
): boolean => readAt < endedAt + (statusMeaning(status) === 'success' ? lastRoundWithinMs : 0);

/**
 * Marks means as old, because there may be a newer or better one. Returns the same object for the same means, because
 * intervals are cached by object.
 */
export const asOld = perObject(
  (means: HeldOutMeans): HeldOutMeans => ({
    ...means,
    last: { ...means.last, isOld: true },
    best: { ...means.best, isOld: true },
  }),
);

/** Means without the mark of `asOld`. */
const asNew = perObject(
  ({ last, best, ...means }: HeldOutMeans): HeldOutMeans => ({
    ...means,
    last: { ...last, isOld: undefined },
    best: { ...best, isOld: undefined },
  }),
);

/**
 * Marks an ended run's means as old, unless they include its last round. Saved means, which have no curve, stay old.
 *
 * @param done the number of finished steps
 */
export function withoutLast(means: HeldOutMeans, done: number | undefined): HeldOutMeans {
  if (means.isUnfinished || !hasLastRound(means, done)) return asOld(means);
  return means.last.isOld && means.curve.length > 0 ? asNew(means) : means;
}

/**
 * Whether a newer round is due, going by the finished steps and the usual spacing of rounds; undefined if unknown.
 *
 * @param roundSteps the spacing in the run's options, which decides while there is only one round
 */
export function isRoundDue({ measured, done, roundSteps }: RoundState): boolean | undefined {
  const every = measured?.everySteps ?? roundSteps;
  return !measured || every === undefined || done === undefined ? undefined : done >= measured.upTo + every;
}

interface RoundState {
  readonly measured: HeldOutMeans | null | undefined;
  readonly done: number | undefined;
  readonly roundSteps: number | undefined;
}

/** The means without the long curve, for saving. */
export const savedMeans = (means: HeldOutMeans): HeldOutMeans => ({ ...means, curve: [], recent: [] });

/** Means saved by an earlier session, marked as old. */
export const rememberedMeans = (saved: unknown): HeldOutMeans | undefined =>
  saved ? withoutLast(saved as HeldOutMeans, undefined) : undefined;

/** Returns a function that finds the mean at a step, e.g. a checkpoint's. */
export function heldOutOfStep(
  rewards: readonly HeldOutReward[],
): (step: number | null | undefined) => HeldOutMean | undefined {
  const means = new Map(heldOutMeansOf(rewards).map(mean => [mean.step, mean]));
  return step => (step == null ? undefined : means.get(step));
}

/** Twice as many consecutive means as an alarm may need. */
const maxRecentMeans = 40;

/** The newest means before an index, oldest first. */
export const recentMeans = <Mean>(means: readonly Mean[], end = means.length): readonly Mean[] =>
  means.slice(Math.max(0, end - maxRecentMeans), end);

/** A curve's means in order, each with the best one up to it. */
export function rankedMeansOf(points: readonly HeldOutReward[]): readonly RankedMean[] {
  let bestYet: HeldOutMean | undefined;
  return heldOutMeansOf(points).map(mean => {
    bestYet = (bestYet && bestHeldOut([bestYet, mean])) ?? mean;
    return { ...mean, bestYet };
  });
}

/** Maximum number of values. Longer curves are thinned out, because no line on screen has room for more. */
const maxValues = 512;

/**
 * Thins out values to means at `length` equally spaced places; undefined where there are no values.
 *
 * @param placeOf returns a value's place, below `length`
 */
function thinned(
  values: ArrayLike<number | null | undefined>,
  length: number,
  placeOf: (index: number) => number,
): readonly (number | undefined)[] {
  const places = Math.min(length, maxValues);
  const [sums, counts] = [new Float64Array(places), new Float64Array(places)];
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (value == null || Number.isNaN(value)) continue;
    const place = Math.min(places - 1, Math.floor((placeOf(index) * places) / length));
    sums[place] = (sums[place] as number) + value;
    counts[place] = (counts[place] as number) + 1;
  }
  return Array.from(sums, (sum, place) => (counts[place] === 0 ? undefined : sum / (counts[place] as number)));
}

/** Values at equally spaced steps. A step that the service leaves out has no value. */
export function evenCurve(
  steps: ArrayLike<number>,
  values: ArrayLike<number | null | undefined>,
  every = commonDistance(steps),
): readonly (number | undefined)[] {
  const first = steps[0] ?? 0;
  const placeOf = (index: number): number =>
    every === undefined ? index : Math.round(((steps[index] ?? first) - first) / every);
  return thinned(values, steps.length === 0 ? 0 : placeOf(steps.length - 1) + 1, placeOf);
}

/**
 * The mean if every missing sample had the lowest possible reward: 0, unless the curve goes lower. Comparisons of
 * evaluations treat rollouts without a reward the same way.
 */
export function worstOf({ reward, samples, expected, extremes: [lowest] = [reward, reward] }: HeldOutMean): number {
  if (samples === undefined || expected === undefined || samples >= expected) return reward;
  return (reward * samples + Math.min(0, lowest) * (expected - samples)) / expected;
}

/** How lists sort by means, in words; see `worstOf`. */
export const worstSortNote = 'missing rewards as the lowest';

/** The mean with the highest value; the latest if tied. */
const highest = (means: readonly HeldOutMean[], rank: (mean: HeldOutMean) => number): HeldOutMean | undefined =>
  means.reduce<HeldOutMean | undefined>((best, mean) => {
    const [most, value] = [best ? rank(best) : Number.NEGATIVE_INFINITY, rank(mean)];
    return !best || value > most || (value === most && mean.step > best.step) ? mean : best;
  }, undefined);

/**
 * The highest mean, by which checkpoints are chosen; the latest if tied. The first samples of a round are often higher
 * than the rest, so an unfinished round is best only if no round is finished, and lost samples count as the lowest.
 */
export function bestHeldOut(means: readonly HeldOutMean[]): HeldOutMean | undefined {
  const finished = means.filter(({ isUnfinished }) => !isUnfinished);
  return highest(finished.length > 0 ? finished : means, worstOf);
}

/** The steps of other means as high as the best one, in order. */
export const tiedSteps = (best: HeldOutMean, means: readonly HeldOutMean[]): readonly number[] =>
  means
    .filter(
      mean => mean.step !== best.step && worstOf(mean) === worstOf(best) && mean.isUnfinished === best.isUnfinished,
    )
    .map(({ step }) => step)
    .sort((left, right) => left - right);

/** A mean above the best checkpoint's, and why it is not the best. */
export interface Better extends HeldOutMean {
  readonly why: 'before training' | 'no checkpoint' | 'incomplete' | 'lost samples';
}

/**
 * A mean at least as good as the best checkpoint's: of the model before training (step 0), or a higher one of a step
 * without a checkpoint. Otherwise, a mean that is higher only because its round is incomplete or has lost samples.
 */
export function betterThan(best: HeldOutMean, rewards: readonly HeldOutReward[]): Better | undefined {
  const means = heldOutMeansOf(rewards);
  const finished = means.filter(mean => !mean.isUnfinished);
  const before = finished.find(({ step }) => step === 0);
  if (before && best.step !== 0 && worstOf(before) >= worstOf(best)) return { ...before, why: 'before training' };
  const top = bestHeldOut(finished);
  if (top && worstOf(top) > worstOf(best)) return { ...top, why: 'no checkpoint' };
  const higher = best.isUnfinished ? undefined : highest(means, ({ reward }) => reward);
  if (!higher || higher.reward <= best.reward) return undefined;
  return { ...higher, why: higher.isUnfinished ? 'incomplete' : 'lost samples' };
}

/** The newest and the best held-out mean, and the curve; undefined if there is no reward. */
export const heldOutMeans = perObject((rewards: readonly HeldOutReward[]): HeldOutMeans | undefined => {
  const points = rewards.toSorted((left, right) => left.step - right.step);
  const means = rankedMeansOf(points);
  const ranked = means.at(-1);
  if (!ranked) return undefined;
  const { bestYet: best, ...newest } = ranked;
  const failedSince = failedRounds(points);
  const last = failedSince && !failedSince.isUnfinished ? { ...newest, failedSince } : newest;
  const steps = points.map(({ step }) => step);
  const everySteps = commonDistance(steps);
  return {
    last,
    best,
    isUnfinished: hasOutstanding(rewards),
    recent: recentMeans(means),
    curve: evenCurve(
      steps,
      points.map(point => point.held_out_reward),
      everySteps,
    ),
    everySteps,
    upTo: points.at(-1)?.step ?? last.step,
  };
});

/**
 * Whether a run was measured on the tasks of the held-out curve that its checkpoint may have been chosen by, which
 * makes its mean optimistic; false if unknown.
 */
export const isMeasuredAsChosen = (
  { parent_checkpoint_id, split }: Pick<EvalRun, 'parent_checkpoint_id' | 'split'>,
  heldOutSplit: string | undefined,
): boolean => Boolean(parent_checkpoint_id) && split != null && split === heldOutSplit;
