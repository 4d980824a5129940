/** Finds the alarms a run would have raised, from its curves and the recorded times of its steps. Pure. */
import { maxOf } from '../base/many.ts';
import { hasEnded } from '../contract/status.ts';
import { lastReward, type TrainerCurve } from '../contract/trainer-curve.ts';
import type { Checkpoint, HeldOutReward, TrainingRun } from '../contract/training.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { checkpointTimes } from '../queries/checkpoints.ts';
import { failedRound, heldOutMeansOf, type RankedMean, rankedMeansOf, recentMeans } from '../queries/held-out.ts';
import { type PaceHints, paceOf, silenceMs } from '../queries/pace.ts';
import type { ProgressPoint, RememberedStore, Silence } from '../store/store.ts';
import { parseTime } from '../text/time.ts';
import type { AlarmRules } from '../workbench/workbench.ts';
import {
  type Alarm,
  type AlarmKind,
  alarmsIn,
  judge,
  type ReadSilence,
  type RunCounts,
  rolloutsOf,
  type Verdicts,
} from './alarms.ts';
import { auditOfCurves } from './audit.ts';

/** A training run's history. */
export interface TrainingHistory {
  readonly heldOut: readonly HeldOutReward[];
  readonly trainer: TrainerCurve;
  /** When this machine first saw each step count. */
  readonly points: readonly ProgressPoint[];
  /** The periods in which the step count did not change. */
  readonly silences: readonly Silence[];
  /** The step times that the service reports: checkpoints and the end. */
  readonly times: readonly ProgressPoint[];
  /** The last known step, even if its time is unknown. */
  readonly lastStep?: number;
  /** Data from the service that determines the pace. */
  readonly hints?: PaceHints;
}

/**
 * The observed counts and silences of a run, none later than its end: an ended run makes no more steps, even if it was
 * first seen late. If the end time is unknown, the last count may have been seen at any time after the end, unless an
 * earlier response already contained it.
 */
function beforeEnd(
  { training_run_id: id, status, completed_at }: TrainingRun,
  memory: Pick<RememberedStore, 'progress'>,
): Pick<TrainingHistory, 'points' | 'silences'> {
  const [points, silences] = [memory.progress.of(id), memory.progress.silencesOf(id)];
  const last = points.at(-1);
  if (!hasEnded(status) || !last) return { points, silences };
  const end = parseTime(completed_at);
  if (end === undefined) {
    const isEarlier = silences.some(({ at }) => at === last.at);
    return { points: isEarlier ? points : points.slice(0, -1), silences };
  }
  const ended = silences.map(each => ({ ...each, until: Math.min(each.until, end) }));
  return {
    points: points.map(point => ({ ...point, at: Math.min(point.at, end) })),
    silences: ended.filter(({ at, until }) => at < until),
  };
}

/** Combines the service's and this machine's data on a training run's past. */
export function historyOf(
  run: TrainingRun,
  { heldOut, trainer }: Pick<TrainingHistory, 'heldOut' | 'trainer'>,
  checkpoints: readonly Checkpoint[],
  memory: Pick<RememberedStore, 'progress'>,
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
    ...beforeEnd(run, memory),
    times: [...saved, ...timed(last, run.completed_at)],
    lastStep: Math.max(last, memory.progress.of(run.training_run_id).at(-1)?.completed_steps ?? 0),
    hints: { startedAt: parseTime(run.created_at), checkpoints: saved },
  };
}

/** An alarm that a run would have raised. */
export interface PastAlarm extends Alarm {
  /** The latest time by which it would have been raised; epoch milliseconds. */
  readonly at: number | undefined;
  /** The step at which it ended; undefined if it was still active at the run's end. */
  readonly overAtStep: number | undefined;
}

/** Collects the first alarm of each period in which alarms of one kind are active or repeat. */
class Episodes {
  readonly #all: { alarm: Alarm; at: number | undefined; heldAtStep: number; overAtStep: number | undefined }[] = [];
  readonly #last = new Map<AlarmKind, { heldAtStep: number; overAtStep: number | undefined }>();

  add(verdicts: Verdicts, step: number, at: number | undefined): void {
    for (const [kind, alarm] of verdicts) {
      const last = this.#last.get(kind);
      if (!alarm) {
        if (last) last.overAtStep ??= step;
      } else if (last && (last.overAtStep === undefined || (alarm.fromStep ?? step) <= last.heldAtStep)) {
        last.heldAtStep = step;
        last.overAtStep = undefined;
      } else {
        const episode = { alarm, at, heldAtStep: step, overAtStep: undefined };
        this.#last.set(kind, episode);
        this.#all.push(episode);
      }
    }
  }

  list(): readonly PastAlarm[] {
    return this.#all.map(({ alarm, at, overAtStep }) => ({ ...alarm, at, overAtStep }));
  }
}

/**
 * The silences of a run. If the service repeated a count, the silence lasted that long. Otherwise, the time between two
 * counts is divided among the steps in between, so at least one gap is as long as the mean gap.
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
    // Before its first step, the run may have been queued.
    if (ms > 0 && point.completed_steps > 0) {
      yield { ms, stepMs: pace.stepMs, step: point.completed_steps, at: Math.max(until, point.at + least) };
    }
  }
}

/** The alarms that a run would have raised, and those that could not be checked. */
export interface PastReport {
  readonly alarms: readonly PastAlarm[];
  /** The enabled alarms that could not be checked for lack of data, with the reason. */
  readonly unjudged: readonly string[];
  /** The audit's findings in the curves alone. */
  readonly audit?: string | undefined;
}

export function reportOf(history: TrainingHistory, rules: AlarmRules, range: Range): PastReport {
  const means = heldOutMeansOf(history.heldOut.toSorted((left, right) => left.step - right.step));
  const { silentMs, silentPaces, belowBest, failedShare, heldOut, trainer } = rules;
  const alarms = pastAlarms(history, rules, range);
  const isWatched = history.points.length > 1 || history.silences.length > 0;
  const isStalled = alarms.some(({ kind }) => kind === 'stall');
  const lacks = [
    (silentMs ?? silentPaces) !== undefined && !isWatched && !isStalled
      ? 'missing steps, because this machine has not watched the run'
      : '',
    silentPaces !== undefined &&
    silentMs === undefined &&
    isWatched &&
    !isStalled &&
    paceOf(history.points, history.hints).stepMs === undefined
      ? 'missing steps, because the time per step is unknown'
      : '',
    (belowBest ?? heldOut) !== undefined && means.length === 0 ? 'held-out rewards, because the service has none' : '',
    belowBest !== undefined && means.length > 0 && means.every(({ samples }) => samples === undefined)
      ? 'a drop in held-out rewards, because the service does not report the number of samples'
      : '',
    heldOut !== undefined && means.length > 0 && means.every(({ isUnfinished }) => isUnfinished)
      ? 'the range of held-out rewards, because no round is complete'
      : '',
    failedShare !== undefined && means.every(({ failed }) => failed === undefined) && !history.heldOut.some(failedRound)
      ? 'failed rollouts, because the service does not count them'
      : '',
    trainer !== undefined && lastReward(history.trainer) === undefined
      ? 'trainer rewards, because the service has none'
      : '',
  ];
  const [found] = auditOfCurves(history.trainer, history.heldOut, range);
  return { alarms, unjudged: lacks.filter(Boolean), audit: found?.words };
}

/** The enabled alarms that lack data for an evaluation run, with the reason. */
export function unjudgedOfRun(rules: AlarmRules, verdicts: Verdicts): ReadonlyMap<AlarmKind, string> {
  const lacks = new Map<AlarmKind, string>();
  if (rules.failedShare !== undefined && !verdicts.has('failed rollouts'))
    lacks.set('failed rollouts', 'failed rollouts, because their number is unknown');
  if (rules.evaluation && !verdicts.has('evaluation range'))
    lacks.set('evaluation range', 'the mean, because too few rewards are known');
  return lacks;
}

/** Checks an evaluation run's last known counts. */
export function reportOfRun(run: RunCounts, rules: AlarmRules, range: Range): PastReport {
  const verdicts = judge({ rollouts: rolloutsOf(run) }, rules, range);
  const at = parseTime(run.endTime);
  const alarms = alarmsIn(verdicts).map(alarm => ({ ...alarm, at, overAtStep: undefined }));
  return { alarms, unjudged: [...unjudgedOfRun(rules, verdicts).values()] };
}

/** The alarms that a training run would have raised, in step order. */
export function pastAlarms(history: TrainingHistory, rules: AlarmRules, range: Range): readonly PastAlarm[] {
  const times = [...history.points, ...history.times].toSorted((left, right) => left.at - right.at);
  const timeOf = (step: number): number | undefined => times.find(({ completed_steps }) => completed_steps >= step)?.at;
  const episodes = new Episodes();
  const points = history.heldOut.toSorted((left, right) => left.step - right.step);
  const means = rankedMeansOf(points);
  let index = -1;
  for (const point of points) {
    const lost = failedRound(point);
    if (lost) episodes.add(judge({ failedRound: lost }, rules, range), lost.step, undefined);
    if (point.held_out_reward == null) continue;
    index += 1;
    const { step } = means[index] as RankedMean;
    const heldOut = { recent: recentMeans(means, index + 1) };
    episodes.add(judge({ heldOut }, rules, range), step, undefined);
  }
  const { trainer } = history;
  for (const [index, step] of trainer.steps.entries()) {
    const reward = trainer.rewards[index] as number;
    if (Number.isNaN(reward)) continue;
    episodes.add(judge({ trainer: { reward, step } }, rules, range), step, undefined);
  }
  const stalls = [...silencesOf(history)].flatMap(({ at, ...silence }) => {
    const stall = judge({ silence }, rules, range).get('stall');
    const later = times.find(point => point.at >= at && point.completed_steps > silence.step);
    const next = later?.completed_steps ?? history.lastStep ?? 0;
    return stall ? [{ ...stall, at, overAtStep: next > silence.step ? next : undefined }] : [];
  });
  const timed = episodes.list().map(past => ({ ...past, at: past.step === undefined ? undefined : timeOf(past.step) }));
  return [...timed, ...stalls].toSorted((left, right) => (left.step ?? 0) - (right.step ?? 0));
}
