/**
 * Judges a run by the alarms: its current state from the last reads, and its past from its curves and the recorded
 * times of its steps. Data that was not read neither raises nor ends an alarm. Pure.
 */
import { maxOf, minOf } from '../base/many.ts';
import { perObject } from '../base/memo.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { lastReward, type TrainerCurve } from '../contract/trainer-curve.ts';
import type { Checkpoint, HeldOutReward, TrainingRun } from '../contract/training.ts';
import { isBeyond, type Range } from '../present/statistics/tasks.ts';
import { doneWith } from '../queries/evaluations.ts';
import {
  bestHeldOut,
  type FailedRound,
  failedRound,
  type HeldOutMean,
  type HeldOutMeans,
  heldOutMeansOf,
} from '../queries/held-out.ts';
import { type PaceHints, paceOf, rateWords, silenceMs } from '../queries/pace.ts';
import { listsRewards, mayFollow } from '../queries/run-mean.ts';
import type { KnownResource, RolloutEnds } from '../queries/statuses/known-resource.ts';
import { checkpointTimes } from '../queries/training.ts';
import type { ProgressPoint, RememberedStore, Silence } from '../store/store.ts';
import { counted, percent, reward } from '../text/numbers.ts';
import { duration, endInstant, parseTime } from '../text/time.ts';
import type { AlarmRules } from '../workbench/workbench.ts';
import { intervalOfHeldOut } from './training-columns.ts';
import { paceHints } from './watch-reads.ts';

/** The alarms, most urgent first. These names are stored on disk, so they must not change. */
const alarmKinds = [
  'stall',
  'held-out drop',
  'failed rollouts',
  'held-out range',
  'trainer range',
  'evaluation range',
] as const;
export type AlarmKind = (typeof alarmKinds)[number];

export const isAlarmKind = (name: string): name is AlarmKind => alarmKinds.some(kind => kind === name);

export interface Alarm {
  readonly kind: AlarmKind;
  /** The training step that raised it, if known. */
  readonly step: number | undefined;
  /** The value beyond the limit: milliseconds of a stall, otherwise a reward or a share. */
  readonly value: number;
  readonly limit: number | Range;
  /** Why it holds, with numbers. */
  readonly words: string;
}

/** The time without a new step, as of the last read of the steps. */
interface ReadSilence {
  /** Milliseconds. */
  readonly ms: number;
  /** The usual milliseconds per step until then; undefined if unknown. */
  readonly stepMs: number | undefined;
  /** The finished steps. */
  readonly step: number;
}

/** The data read for a run. Missing parts were not read; `null` means that there is nothing to judge. */
export interface Reading {
  readonly silence?: ReadSilence | null | undefined;
  readonly heldOut?: Pick<HeldOutMeans, 'best' | 'recent'> | undefined;
  readonly trainer?: { readonly reward: number; readonly step: number | undefined } | undefined;
  readonly rollouts?: Rollouts | undefined;
  /** The newest held-out round, if it has no reward because every rollout so far failed. */
  readonly failedRound?: FailedRound | undefined;
}

/** The rollouts of an evaluation. */
interface Rollouts {
  readonly mean: number | undefined;
  readonly graded: number | undefined;
  readonly failed: number | undefined;
  /** The rollouts by a read of them, where the progress does not count the failed ones. */
  readonly ends?: RolloutEnds | undefined;
  /** Its rewards by a read after the end. */
  readonly rated?: number | undefined;
  /** Missing rewards may still come. */
  readonly mayFollow?: boolean;
  /** It was cancelled or failed, and may have left rollouts out. */
  readonly isStopped?: boolean;
  /** Rollouts that have ended: with a reward, failed, or completed without a score. */
  readonly ended: number | undefined;
  readonly isOver: boolean;
}

/** The alarms that could be judged; undefined for one that does not hold. */
export type Verdicts = ReadonlyMap<AlarmKind, Alarm | undefined>;

/** A run may pause this long, e.g. to save a checkpoint. */
export const shortestSilenceMs = 5 * 60_000;
/** Fewer rollouts are too small a sample, unless the run has no more. */
export const fewestRollouts = 20;

/** The shortest silence that raises an alarm, in milliseconds; undefined if none does. */
function silenceLimit({ silentMs, silentPaces }: AlarmRules, stepMs: number | undefined): number | undefined {
  const byPace =
    silentPaces === undefined || stepMs === undefined ? undefined : Math.max(shortestSilenceMs, silentPaces * stepMs);
  const limits = [silentMs, byPace].filter(limit => limit !== undefined);
  return limits.length === 0 ? undefined : minOf(limits);
}

function stallOf({ ms, stepMs, step }: ReadSilence, rules: AlarmRules): Alarm | undefined {
  const limit = silenceLimit(rules, stepMs);
  if (limit === undefined || ms <= limit) return undefined;
  const pace = stepMs === undefined || limit === rules.silentMs ? '' : `, after ${rateWords(stepMs)}`;
  return { kind: 'stall', step, value: ms, limit, words: `no new step for more than ${duration(limit)}${pace}` };
}

/** Cached: an interval takes about a millisecond, and the same means are judged repeatedly. */
const intervalOf = perObject((mean: HeldOutMean) => perObject((range: Range) => intervalOfHeldOut(mean, range)));

/** Whether the newest means are certainly below the best one: each interval lies wholly below that of the best. */
function dropOf({ best, recent = [] }: NonNullable<Reading['heldOut']>, count: number, range: Range) {
  // A round that has only begun would end the alarm, which its end would raise again.
  const newest = (recent.at(-1)?.isUnfinished ? recent.slice(0, -1) : recent).slice(-count);
  const last = newest.at(-1);
  // The upper limit of a mean is never below the mean itself.
  if (!last || newest.length < count || newest.some(mean => mean.reward >= best.reward)) return undefined;
  const low = intervalOf(best)(range)?.low;
  if (low === undefined) return undefined;
  const isBelow = (mean: HeldOutMean): boolean => {
    const high = mean.reward < low ? intervalOf(mean)(range)?.high : undefined;
    return high !== undefined && high < low;
  };
  if (!newest.every(isBelow)) return undefined;
  const inRow = count === 1 ? '' : `, ${count} in a row`;
  const words = `held-out ${reward(last.reward)} is below its best ${reward(best.reward)} of step ${best.step} by more than the 95% intervals${inRow}`;
  return { kind: 'held-out drop', step: last.step, value: last.reward, limit: best.reward, words } as const;
}

interface Mean {
  readonly kind: AlarmKind;
  readonly name: string;
  readonly value: number;
  readonly step?: number | undefined;
}

function outsideOf({ kind, name, value, step }: Mean, [low, high]: Range): Alarm | undefined {
  if (!isBeyond(value, [low, high])) return undefined;
  const words = `${name} ${reward(value)} is outside of ${low}..${high}`;
  return { kind, step, value, limit: [low, high], words };
}

interface Failed {
  readonly failed: number;
  readonly ended: number;
  readonly isAll: boolean;
  /** More may have failed: the ones whose reward may still come. */
  readonly isLeast?: boolean | undefined;
  /** The ones among them that the service does not list. */
  readonly lost?: number | undefined;
  readonly step?: number | undefined;
}

function failuresOf({ failed, ended, isAll, lost, step }: Failed, limit: number): Alarm | undefined {
  const share = failed / ended;
  if (!(share > limit) || (ended < fewestRollouts && !isAll)) return undefined;
  const what = lost ? 'failed or have no reward' : 'failed';
  const words = `${failed} of ${counted(ended, 'rollout')} ${what} (${percent(share)}), more than ${percent(limit)}`;
  return { kind: 'failed rollouts', step, value: share, limit, words };
}

/**
 * The counts of the progress, or else those of a read of the rollouts. Services may list only rollouts with a reward:
 * once the run has ended and no late reward may follow, one without a reward that is not listed as ended counts as
 * failed.
 */
function endsOf({ failed, ended, ends, rated, isOver, isStopped, ...rewards }: Rollouts) {
  if (failed !== undefined) return { failed, ended, isAll: isOver };
  const listed = ends?.failed === undefined ? undefined : { failed: ends.failed, ended: ends.ended };
  const whole = ends?.isFinal && ends.isWhole ? listed?.ended : undefined;
  const hasEnds = isOver && !isStopped && ended !== undefined && (whole ?? rated) !== undefined;
  if (!hasEnds) return { ...listed, isAll: isOver && ends?.isFinal === true };
  const missing = Math.max(0, ended - Math.max(whole ?? 0, rated ?? 0));
  const isLeast = missing > 0 && rewards.mayFollow;
  const lost = isLeast ? 0 : missing;
  return { failed: (whole === undefined ? 0 : (listed?.failed ?? 0)) + lost, ended, lost, isAll: true, isLeast };
}

function failuresRead({ heldOut, rollouts, failedRound: lost }: Reading): Failed | undefined {
  // A round that has only begun says nothing yet.
  const isOver = (round: Pick<HeldOutMean, 'isUnfinished' | 'haveAllEnded'>): boolean =>
    !round.isUnfinished || round.haveAllEnded === true;
  if (lost && (isOver(lost) || lost.failed >= fewestRollouts)) {
    return { ...lost, ended: lost.failed, isAll: isOver(lost) };
  }
  if (rollouts) {
    const { failed, ended, ...rest } = endsOf(rollouts);
    return failed === undefined || ended === undefined ? undefined : { failed, ended, ...rest };
  }
  const rounds = heldOut?.recent?.map(round => {
    const { step, samples, failed } = round;
    const ended = samples === undefined || failed === undefined ? undefined : samples + failed;
    return { failed, ended, isAll: isOver(round), step };
  });
  const newest = rounds?.findLast(({ ended = 0, isAll }) => isAll || ended >= fewestRollouts);
  const { failed, ended, isAll, step } = newest ?? {};
  return failed === undefined || ended === undefined || isAll === undefined
    ? undefined
    : { failed, ended, isAll, step };
}

/** @param range the range of rewards in the settings */
export function judge(reading: Reading, rules: AlarmRules, range: Range): Verdicts {
  const verdicts = new Map<AlarmKind, Alarm | undefined>();
  const { silence, heldOut, trainer, rollouts } = reading;
  // Without a pace, as at the next start until its checkpoints are read, a silence neither begins nor ends a stall.
  if (silence !== undefined && (silence?.stepMs !== undefined || !silence || rules.silentMs !== undefined))
    verdicts.set('stall', silence ? stallOf(silence, rules) : undefined);
  if (heldOut?.recent?.length) {
    const { belowBest } = rules;
    verdicts.set('held-out drop', belowBest === undefined ? undefined : dropOf(heldOut, belowBest, range));
  }
  const last = heldOut?.recent?.findLast(({ isUnfinished }) => !isUnfinished);
  if (last) {
    const mean = { kind: 'held-out range', name: 'held-out', value: last.reward, step: last.step } as const;
    verdicts.set('held-out range', rules.heldOut && outsideOf(mean, rules.heldOut));
  }
  const failures = failuresRead(reading);
  if (failures) {
    const { failedShare } = rules;
    const alarm = failedShare === undefined ? undefined : failuresOf(failures, failedShare);
    if (alarm || !failures.isLeast) verdicts.set('failed rollouts', alarm);
  }
  if (trainer) {
    const mean = { kind: 'trainer range', name: 'trainer reward', value: trainer.reward, step: trainer.step } as const;
    verdicts.set('trainer range', rules.trainer && outsideOf(mean, rules.trainer));
  }
  if (rollouts?.mean !== undefined && ((rollouts.graded ?? 0) >= fewestRollouts || rollouts.isOver)) {
    const mean = { kind: 'evaluation range', name: 'mean', value: rollouts.mean } as const;
    verdicts.set('evaluation range', rules.evaluation && outsideOf(mean, rules.evaluation));
  }
  return verdicts;
}

/** The time since the last step of a training run; null if no step is due. */
function silenceOf(known: Known, points: readonly ProgressPoint[], readAt: number | undefined): Reading['silence'] {
  const { status, done, total, gone } = known;
  if (gone || statusMeaning(status ?? '') !== 'running' || (total !== undefined && (done ?? 0) >= total)) return null;
  const pace = paceOf(points, paceHints(known));
  if (readAt === undefined || pace.changedAt === undefined || done === undefined) return undefined;
  return { ms: silenceMs(pace, readAt), stepMs: pace.stepMs, step: done };
}

type RunField = 'status' | 'mean' | 'graded' | 'failed' | 'done';
type EndField = 'ends' | 'certainty' | 'startedAt' | 'endTime' | 'endedAt';
type RunCounts = Pick<KnownResource, RunField> & Partial<Pick<KnownResource, EndField>>;

const rolloutsOf = ({ status, mean, graded, failed, ends, certainty, done, ...times }: RunCounts): Rollouts => ({
  rated: certainty?.isFinal && listsRewards(certainty, mean) ? certainty.rewards : undefined,
  mayFollow: mayFollow({ certainty, total: doneWith(done, graded), endedAt: endInstant(times) ?? times.endedAt }),
  isStopped: ['stopped', 'failure'].includes(statusMeaning(status ?? '')),
  ...{ mean, graded, failed, ends, ended: doneWith(done, graded), isOver: hasEnded(status) },
});

/** Whether the counts that the alarms of an ended evaluation need were not read: lists lack them. */
export const lacksFailed = ({ kind, failed }: Pick<KnownResource, 'kind' | 'failed'>): boolean =>
  kind === 'run' && failed === undefined;

type Known = Pick<
  KnownResource,
  | 'kind'
  | 'status'
  | 'done'
  | 'total'
  | 'mean'
  | 'graded'
  | 'failed'
  | 'measured'
  | 'failedRounds'
  | 'gone'
  | 'startedAt'
> &
  Partial<Pick<KnownResource, 'beganAt' | 'checkpoints' | EndField>>;

/**
 * The last data read for a resource.
 *
 * @param points its counts of steps
 * @param readAt when the steps were last read; epoch milliseconds
 */
export function readingOf(known: Known, points: readonly ProgressPoint[], readAt: number | undefined): Reading {
  const { kind, measured, mean } = known;
  if (kind === 'run') return { rollouts: rolloutsOf(known) };
  if (kind !== 'training') return {};
  const trainer = mean === undefined ? undefined : { reward: mean, step: undefined };
  return {
    ...{ silence: silenceOf(known, points, readAt), heldOut: measured ?? undefined, trainer },
    failedRound: known.failedRounds,
  };
}

/** The alarms that hold, most urgent first. */
export const alarmsIn = (verdicts: Verdicts): readonly Alarm[] => alarmKinds.flatMap(kind => verdicts.get(kind) ?? []);

/** The known past of a training run. */
export interface TrainingHistory {
  readonly heldOut: readonly HeldOutReward[];
  readonly trainer: TrainerCurve;
  /** When its counts of steps were first seen on this machine. */
  readonly points: readonly ProgressPoint[];
  /** The periods in which answers repeated a count. */
  readonly silences: readonly Silence[];
  /** The times of steps that the service reports: checkpoints and the end. */
  readonly times: readonly ProgressPoint[];
  /** What the service tells about the time of a step. */
  readonly hints?: PaceHints;
}

/** Combines what the service and this machine know about the past of a training run. */
export function historyOf(
  run: TrainingRun,
  { heldOut, trainer }: Pick<TrainingHistory, 'heldOut' | 'trainer'>,
  checkpoints: readonly Checkpoint[],
  memory: Pick<RememberedStore, 'progressOf' | 'silencesOf'>,
): TrainingHistory {
  const timed = (completed_steps: number | null | undefined, time: string | null | undefined) => {
    const at = parseTime(time);
    return completed_steps == null || at === undefined ? [] : [{ completed_steps, at }];
  };
  const saved = checkpointTimes(checkpoints);
  const last = maxOf(
    [heldOut.at(-1)?.step, trainer.steps.at(-1)].filter(step => step !== undefined),
    0,
  );
  return {
    heldOut,
    trainer,
    points: memory.progressOf(run.training_run_id),
    silences: memory.silencesOf(run.training_run_id),
    times: [...saved, ...timed(last, run.completed_at)],
    hints: { startedAt: parseTime(run.created_at), checkpoints: saved },
  };
}

/** An alarm that a run would have raised. */
export interface PastAlarm extends Alarm {
  /** The time by which it would have been raised; epoch milliseconds. */
  readonly at: number | undefined;
  /** The step at which it no longer held; undefined if it held at the end. */
  readonly overAtStep: number | undefined;
}

/** The first alarm of each period in which a kind holds. */
class Episodes {
  readonly #all: { alarm: Alarm; at: number | undefined; overAtStep: number | undefined }[] = [];
  readonly #open = new Map<AlarmKind, { overAtStep: number | undefined }>();

  add(verdicts: Verdicts, step: number, at: number | undefined): void {
    for (const [kind, alarm] of verdicts) {
      const open = this.#open.get(kind);
      if (alarm && !open) {
        const episode = { alarm, at, overAtStep: undefined };
        this.#open.set(kind, episode);
        this.#all.push(episode);
      } else if (!alarm && open) {
        open.overAtStep = step;
        this.#open.delete(kind);
      }
    }
  }

  list(): readonly PastAlarm[] {
    return this.#all.map(({ alarm, ...rest }) => ({ ...alarm, ...rest }));
  }
}

/**
 * The silences of a run. Where answers repeated a count, a silence lasts that long. Otherwise the steps between two
 * counts divide the time between these, so one of the gaps is at least as long as their mean.
 */
function* silencesOf({
  points,
  silences,
  hints = {},
}: TrainingHistory): Generator<ReadSilence & { readonly at: number }> {
  for (const [index, point] of points.entries()) {
    const next = points[index + 1];
    const read = silences.find(({ at }) => at === point.at);
    const steps = next ? next.completed_steps - point.completed_steps : 0;
    const least = next && steps > 0 ? (next.at - point.at) / (steps + 1) : 0;
    const until = read?.until ?? point.at;
    const checkpoints = hints.checkpoints?.filter(({ at }) => at <= point.at);
    const pace = paceOf(points.slice(0, index + 1), { ...hints, checkpoints });
    const ms = Math.max(silenceMs(pace, until), least);
    // Before its first step, the run may have been in the queue.
    if (ms > 0 && point.completed_steps > 0) {
      yield { ms, stepMs: pace.stepMs, step: point.completed_steps, at: Math.max(until, point.at + least) };
    }
  }
}

/** The alarms that a run would have raised, and those that could not be judged. */
export interface PastReport {
  readonly alarms: readonly PastAlarm[];
  /** The enabled alarms that lack data, with the reason. */
  readonly unjudged: readonly string[];
}

/** The report of a training run. */
export function reportOf(history: TrainingHistory, rules: AlarmRules, range: Range): PastReport {
  const means = heldOutMeansOf(history.heldOut);
  const { silentMs, silentPaces, belowBest, failedShare, heldOut, trainer } = rules;
  const alarms = pastAlarms(history, rules, range);
  const isWatched = history.points.length > 1 || history.silences.length > 0;
  const isStalled = alarms.some(({ kind }) => kind === 'stall');
  const lacks = [
    (silentMs ?? silentPaces) !== undefined && !isWatched && !isStalled
      ? 'new steps: this machine has not watched the run'
      : '',
    silentPaces !== undefined &&
    silentMs === undefined &&
    isWatched &&
    !isStalled &&
    paceOf(history.points, history.hints).stepMs === undefined
      ? 'new steps: how long one takes is unknown'
      : '',
    (belowBest ?? heldOut) !== undefined && means.length === 0 ? 'held-out rewards: the service has none' : '',
    belowBest !== undefined && means.length > 0 && means.every(({ samples }) => samples === undefined)
      ? 'the drop of held-out rewards: the service does not report their number of samples'
      : '',
    heldOut !== undefined && means.length > 0 && means.every(({ isUnfinished }) => isUnfinished)
      ? 'the range of held-out rewards: no round is complete'
      : '',
    failedShare !== undefined && means.every(({ failed }) => failed === undefined) && !history.heldOut.some(failedRound)
      ? 'failed rollouts: the service does not count them'
      : '',
    trainer !== undefined && lastReward(history.trainer) === undefined ? 'trainer rewards: the service has none' : '',
  ];
  return { alarms, unjudged: lacks.filter(Boolean) };
}

/** The report of an evaluation run, as last read. */
export function reportOfRun(run: RunCounts, rules: AlarmRules, range: Range): PastReport {
  const verdicts = judge({ rollouts: rolloutsOf(run) }, rules, range);
  const lacks = [
    rules.failedShare !== undefined && !verdicts.has('failed rollouts')
      ? 'failed rollouts: their number is unknown'
      : '',
    rules.evaluation && !verdicts.has('evaluation range') ? 'the mean: too few rewards are known' : '',
  ];
  const at = parseTime(run.endTime);
  const alarms = alarmsIn(verdicts).map(alarm => ({ ...alarm, at, overAtStep: undefined }));
  return { alarms, unjudged: lacks.filter(words => words !== undefined && words !== '').map(String) };
}

/** The alarms that a training run would have raised, in the order of its steps. */
export function pastAlarms(history: TrainingHistory, rules: AlarmRules, range: Range): readonly PastAlarm[] {
  const times = [...history.points, ...history.times].toSorted((left, right) => left.at - right.at);
  const timeOf = (step: number): number | undefined => times.find(({ completed_steps }) => completed_steps >= step)?.at;
  const episodes = new Episodes();
  let best: HeldOutMean | undefined;
  const points = history.heldOut.toSorted((left, right) => left.step - right.step);
  const means = heldOutMeansOf(points);
  let index = -1;
  for (const point of points) {
    const lost = failedRound(point);
    if (lost) episodes.add(judge({ failedRound: lost }, rules, range), lost.step, undefined);
    if (point.held_out_reward == null) continue;
    index += 1;
    const mean = means[index] as HeldOutMean;
    best = bestHeldOut(best ? [best, mean] : [mean]) ?? mean;
    const recent = means.slice(Math.max(0, index - Math.max(1, rules.belowBest ?? 1)), index + 1);
    episodes.add(judge({ heldOut: { best, recent } }, rules, range), mean.step, undefined);
  }
  const { trainer } = history;
  for (const [index, step] of trainer.steps.entries()) {
    const reward = trainer.rewards[index] as number;
    if (Number.isNaN(reward)) continue;
    episodes.add(judge({ trainer: { reward, step } }, rules, range), step, undefined);
  }
  const stalls = [...silencesOf(history)].flatMap(({ at, ...silence }) => {
    const stall = judge({ silence }, rules, range).get('stall');
    const next = history.points.find(({ at: later, completed_steps }) => later >= at && completed_steps > silence.step);
    return stall ? [{ ...stall, at, overAtStep: next?.completed_steps }] : [];
  });
  const timed = episodes.list().map(past => ({ ...past, at: past.step === undefined ? undefined : timeOf(past.step) }));
  return [...timed, ...stalls].toSorted((left, right) => (left.step ?? 0) - (right.step ?? 0));
}
