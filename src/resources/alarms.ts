/**
 * Decides which alarms are active for a run, from the last reads. Missing data neither raises nor ends an alarm. Pure.
 */
import { minOf } from '../base/many.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { intervalDefaults } from '../present/statistics/interval.ts';
import { isBeyond, type Range } from '../present/statistics/tasks.ts';
import { doneWith } from '../queries/evaluations.ts';
import type { FailedRound, HeldOutMean, HeldOutMeans, RankedMean } from '../queries/held-out.ts';
import { formatRate, paceOf, type Silence, silenceAt, silenceMs } from '../queries/pace.ts';
import { listsRewards, mayFollow } from '../queries/run-mean.ts';
import type { KnownResource, RolloutEnds } from '../queries/statuses/known-resource.ts';
import type { ProgressPoint } from '../store/store.ts';
import { counted, percent, reward } from '../text/numbers.ts';
import { duration, endInstant } from '../text/time.ts';
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

/** The rules of the alarms that stay in the inbox after they end, because their findings may be worth a look. */
const keptRules = {
  'held-out drop': 'belowBest',
  'failed rollouts': 'failedShare',
  'held-out range': 'heldOut',
  'trainer range': 'trainer',
  'evaluation range': 'evaluation',
} as const satisfies Partial<Record<AlarmKind, keyof AlarmRules>>;

/** Whether an alarm's rule is turned on. */
export const isOn = (kind: AlarmKind, rules: AlarmRules): boolean =>
  (kind === 'stall' ? (rules.silentMs ?? rules.silentPaces) : rules[keptRules[kind]]) !== undefined;

/** Whether an alarm stays in the inbox after it ends. It does not if its rule has been turned off. */
export const isKept = (kind: AlarmKind, rules: AlarmRules): boolean => kind !== 'stall' && isOn(kind, rules);

export interface Alarm {
  readonly kind: AlarmKind;
  /** The training step that raised it, if known. */
  readonly step: number | undefined;
  /** The value beyond the limit: a stall's length in milliseconds, or else a reward or a share. */
  readonly value: number;
  readonly limit: number | Range;
  /** The reason, with numbers. */
  readonly words: string;
  /** How long the stall has lasted, as of the last read of the steps. */
  readonly lasted?: Silence | undefined;
  /** The step at which the first of several drops began, if each followed soon after another. */
  readonly fromStep?: number | undefined;
}

/** The time without a new step, as of the last read of the steps. */
export interface ReadSilence {
  /** Its minimum length, in milliseconds. */
  readonly ms: number;
  /** The estimate that users see. */
  readonly lasted?: Silence;
  /** The usual time per step before the silence, in milliseconds; undefined if unknown. */
  readonly stepMs: number | undefined;
  /** The number of finished steps. */
  readonly step: number;
  /** Why no step arrives, in the service's words. */
  readonly waits?: string | undefined;
}

/** The data read for a run. A missing part has not been read; a `null` part has nothing to check. */
export interface Reading {
  readonly silence?: ReadSilence | null | undefined;
  readonly heldOut?: Pick<HeldOutMeans, 'recent'> | undefined;
  readonly trainer?: { readonly reward: number; readonly step: number | undefined } | undefined;
  readonly rollouts?: Rollouts | undefined;
  /** The newest held-out round, if it has no reward because every rollout so far has failed. */
  readonly failedRound?: FailedRound | undefined;
}

/** An evaluation's rollouts. */
interface Rollouts {
  readonly mean: number | undefined;
  readonly graded: number | undefined;
  readonly failed: number | undefined;
  /** The ends read from the list of rollouts, if the progress does not count failed rollouts. */
  readonly ends?: RolloutEnds | undefined;
  /** The number of rewards, read after the run ended. */
  readonly rated?: number | undefined;
  /** Whether missing rewards may still arrive. */
  readonly mayFollow?: boolean;
  /** Whether the run was cancelled or failed, so that it may not have started all rollouts. */
  readonly isStopped?: boolean;
  /** The number of ended rollouts: with a reward, failed, or completed without a score. */
  readonly ended: number | undefined;
  readonly isOver: boolean;
}

/** The checked alarms; undefined for an inactive one. */
export type Verdicts = ReadonlyMap<AlarmKind, Alarm | undefined>;

/** A pause of this length is normal, e.g. to save a checkpoint. */
export const shortestSilenceMs = 5 * 60_000;
/** Minimum number of rollouts needed for an alarm, unless the run has fewer. */
export const minRollouts = 20;

/** The shortest silence that raises an alarm, in milliseconds; undefined if none does. */
function silenceLimit({ silentMs, silentPaces }: AlarmRules, stepMs: number | undefined): number | undefined {
  const byPace =
    silentPaces === undefined || stepMs === undefined ? undefined : Math.max(shortestSilenceMs, silentPaces * stepMs);
  const limits = [silentMs, byPace].filter(limit => limit !== undefined);
  return limits.length === 0 ? undefined : minOf(limits);
}

function stallOf({ ms, lasted, stepMs, step, waits }: ReadSilence, rules: AlarmRules): Alarm | undefined {
  const limit = silenceLimit(rules, stepMs);
  if (limit === undefined || ms <= limit) return undefined;
  const pace = stepMs === undefined || limit === rules.silentMs ? '' : `, after ${formatRate(stepMs)}`;
  return {
    kind: 'stall',
    step,
    value: ms,
    limit,
    words: `${waits === undefined ? '' : `waits: ${waits}; `}no new step for more than ${duration(limit)}${pace}`,
    lasted,
  };
}

/** The drop if these means are certainly below the best one: their intervals lie entirely below its interval. */
function dropIn(newest: readonly HeldOutMean[], best: HeldOutMean, range: Range, confidence?: number) {
  const last = newest.at(-1);
  // Avoid computing intervals where possible: a mean's upper limit is never below the mean.
  if (!last || newest.some(mean => mean.reward >= best.reward)) return undefined;
  const low = intervalOfHeldOut(best, range, confidence)?.low;
  if (low === undefined) return undefined;
  const isBelow = (mean: HeldOutMean): boolean => {
    const high = mean.reward < low ? intervalOfHeldOut(mean, range, confidence)?.high : undefined;
    return high !== undefined && high < low;
  };
  if (!newest.every(isBelow)) return undefined;
  return { last, best, inRow: newest.length, confidence: confidence ?? intervalDefaults.confidence };
}

/**
 * The drop if `count` means in a row are below the best one, or if fewer are so far below that chance is as unlikely to
 * explain them: the risks of separate rounds multiply. So a collapse raises the alarm at its first round.
 */
function dropAt(recent: readonly RankedMean[], count: number, range: Range) {
  const best = recent.at(-1)?.bestYet;
  if (!best) return undefined;
  for (let rounds = Math.min(count, recent.length); rounds > 0; rounds -= 1) {
    const confidence = rounds === count ? undefined : 1 - (1 - intervalDefaults.confidence) ** (count / rounds);
    const drop = dropIn(recent.slice(-rounds), best, range, confidence);
    if (drop) return drop;
  }
  return undefined;
}

/**
 * The alarm during a drop. A round that has only just begun does not end it. A run may keep collapsing and recovering:
 * a drop within `count` rounds after another belongs to it.
 */
function dropOf(recent: readonly RankedMean[], count: number, range: Range) {
  const dropUpTo = (end: number) => dropAt(recent.slice(0, Math.max(0, end)), count, range);
  const finished = recent.length - (recent.at(-1)?.isUnfinished ? 1 : 0);
  const end = [recent.length, finished].find(dropUpTo);
  const drop = end && dropUpTo(end);
  if (!drop) return undefined;
  let first = end;
  for (let at = end - 1; at > 0 && at >= first - count; at -= 1) if (dropUpTo(at)) first = at;
  return { ...dropAlarm(drop), fromStep: recent[first - 1]?.step };
}

function dropAlarm({ last, best, inRow, confidence }: NonNullable<ReturnType<typeof dropIn>>): Alarm {
  const sure = Math.floor(1_000 * confidence) / 10;
  const below = `${reward(last.reward)} is below its best ${reward(best.reward)} at step ${best.step}`;
  const rounds = inRow === 1 ? '' : `, ${inRow} in a row`;
  const words = `held-out ${below} by more than the ${sure}% intervals${rounds}`;
  return { kind: 'held-out drop', step: last.step, value: last.reward, limit: best.reward, words };
}

interface Mean {
  readonly kind: AlarmKind;
  readonly name: string;
  readonly value: number;
  readonly step?: number | undefined;
}

function outsideOf({ kind, name, value, step }: Mean, [low, high]: Range): Alarm | undefined {
  if (!isBeyond(value, [low, high])) return undefined;
  const words = `${name} ${reward(value)} is outside ${low}..${high}`;
  return { kind, step, value, limit: [low, high], words };
}

interface Failed {
  readonly failed: number;
  readonly ended: number;
  readonly isAll: boolean;
  /** Whether some rollouts have no reward yet, and may turn out to have failed too. */
  readonly isLeast?: boolean | undefined;
  /** The number of failed rollouts that the service does not list. */
  readonly lost?: number | undefined;
  readonly step?: number | undefined;
}

function failuresOf({ failed, ended, isAll, lost, step }: Failed, limit: number): Alarm | undefined {
  const share = failed / ended;
  if (!(share > limit) || (ended < minRollouts && !isAll)) return undefined;
  const verb = lost ? 'failed or have no reward' : 'failed';
  const words = `${failed} of ${counted(ended, 'rollout')} ${verb} (${percent(share)}), more than ${percent(limit)}`;
  return { kind: 'failed rollouts', step, value: share, limit, words };
}

/**
 * The counts from the progress, or else from the list of rollouts. Services may list only rollouts with a reward: once
 * the run has ended and no late reward can arrive, a rollout that has no reward and is not listed as ended counts as
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
  // Ignore a round that has only just begun.
  const isOver = (round: Pick<HeldOutMean, 'isUnfinished' | 'haveAllEnded'>): boolean =>
    !round.isUnfinished || round.haveAllEnded === true;
  if (lost && (isOver(lost) || lost.failed >= minRollouts)) {
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
  const newest = rounds?.findLast(({ ended = 0, isAll }) => isAll || ended >= minRollouts);
  const { failed, ended, isAll, step } = newest ?? {};
  return failed === undefined || ended === undefined || isAll === undefined
    ? undefined
    : { failed, ended, isAll, step };
}

/** @param range the range of rewards from the settings */
export function judge(reading: Reading, rules: AlarmRules, range: Range): Verdicts {
  const verdicts = new Map<AlarmKind, Alarm | undefined>();
  const { silence, heldOut, trainer, rollouts } = reading;
  // Without a pace, e.g. after startup until the checkpoints are read, a silence neither begins nor ends a stall.
  if (silence !== undefined && (silence?.stepMs !== undefined || !silence || rules.silentMs !== undefined))
    verdicts.set('stall', silence ? stallOf(silence, rules) : undefined);
  if (heldOut?.recent?.length) {
    const { belowBest } = rules;
    verdicts.set('held-out drop', belowBest === undefined ? undefined : dropOf(heldOut.recent, belowBest, range));
  }
  const last = heldOut?.recent?.findLast(({ isUnfinished }) => !isUnfinished);
  if (last) {
    const mean = { kind: 'held-out range', name: 'held-out', value: last.reward, step: last.step } as const;
    // No update precedes step 0: the base model may be below a range that is for the trained one.
    const isBase = last.step === 0 && last.reward < (rules.heldOut?.[0] ?? 0);
    verdicts.set('held-out range', rules.heldOut && !isBase ? outsideOf(mean, rules.heldOut) : undefined);
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
  if (rollouts?.mean !== undefined && ((rollouts.graded ?? 0) >= minRollouts || rollouts.isOver)) {
    const mean = { kind: 'evaluation range', name: 'mean', value: rollouts.mean } as const;
    verdicts.set('evaluation range', rules.evaluation && outsideOf(mean, rules.evaluation));
  }
  return verdicts;
}

/** The time since a training run's last step; null if no step is due. */
function silenceOf(known: Known, points: readonly ProgressPoint[], readAt: number | undefined): Reading['silence'] {
  const { status, done, total, gone } = known;
  if (gone || statusMeaning(status ?? '') !== 'running' || (total !== undefined && (done ?? 0) >= total)) return null;
  const pace = paceOf(points, paceHints(known));
  if (readAt === undefined || pace.changedAt === undefined || done === undefined) return undefined;
  return {
    ms: silenceMs(pace, readAt),
    lasted: silenceAt(pace, readAt),
    stepMs: pace.stepMs,
    step: done,
    waits: known.waits,
  };
}

type RunField = 'status' | 'mean' | 'graded' | 'failed' | 'done' | 'ends' | 'certainty' | EndField;
type EndField = 'startedAt' | 'endTime' | 'endedAt';
export type RunCounts = Partial<Pick<KnownResource, RunField>>;

export const rolloutsOf = ({ status, mean, graded, failed, ends, certainty, done, ...times }: RunCounts): Rollouts => ({
  rated: certainty?.isFinal && listsRewards(certainty, mean) ? certainty.rewards : undefined,
  mayFollow: mayFollow({ certainty, total: doneWith(done, graded), endedAt: endInstant(times) ?? times.endedAt }),
  isStopped: ['stopped', 'failure'].includes(statusMeaning(status ?? '')),
  ...{ mean, graded, failed, ends, ended: doneWith(done, graded), isOver: hasEnded(status) },
});

/** Whether the number of failed rollouts, which an evaluation's alarms need, is unknown: lists omit it. */
export const lacksFailed = ({ kind, failed }: Pick<KnownResource, 'kind' | 'failed'>): boolean =>
  kind === 'run' && failed === undefined;

type TrainingField = 'total' | 'measured' | 'failedRounds' | 'gone' | 'beganAt' | 'checkpoints' | 'waits';
type Known = Pick<KnownResource, 'kind'> & Partial<Pick<KnownResource, RunField | TrainingField>>;

/**
 * The last data read for a resource.
 *
 * @param points its step counts over time
 * @param readAt when the steps were last read; epoch milliseconds
 */
export function readingOf(known: Known, points: readonly ProgressPoint[], readAt: number | undefined): Reading {
  const { kind, status, measured, mean } = known;
  if (kind === 'run') return { rollouts: rolloutsOf(known) };
  if (kind !== 'training') return {};
  // An ended run is judged by its last round, and by a trainer reward that was read with it.
  const lacksLast = hasEnded(status) && measured?.last.isOld;
  const trainer = mean === undefined || lacksLast ? undefined : { reward: mean, step: undefined };
  const heldOut = lacksLast ? undefined : (measured ?? undefined);
  return {
    ...{ silence: silenceOf(known, points, readAt), heldOut, trainer },
    failedRound: known.failedRounds,
  };
}

/** The active alarms, most urgent first. */
export const alarmsIn = (verdicts: Verdicts): readonly Alarm[] => alarmKinds.flatMap(kind => verdicts.get(kind) ?? []);
