/** The lines of Watch: resources that are pinned, are running, or ended while the program was open. */

import { hasEnded, isRunning, statusMeaning } from '../contract/status.ts';
import { referenceFact } from '../present/fact.ts';
import { asOld, isRoundDue } from '../queries/held-out.ts';
import { cachedQuery } from '../queries/live-query.ts';
import { describePaceState, formatRate, type PaceState, paceOf, paceStateOf } from '../queries/pace.ts';
import { type KnownResource, keyOf, unknownResource } from '../queries/statuses/known-resource.ts';
import { isFollowed } from '../queries/statuses/store.ts';
import { atStatus } from '../store/seen.ts';
import type { RememberedStore, ResourceRef } from '../store/store.ts';
import { endOfId } from '../text/apart.ts';
import { age, endInstant, parseTime } from '../text/time.ts';
import { judgedStep } from '../workbench/inbox.ts';
import type { AnyJob } from '../workbench/jobs.ts';
import type { Workbench } from '../workbench/workbench.ts';
import { type Alarm, alarmsIn, isAlarmKind, isKept, judge, readingOf, type Verdicts } from './alarms.ts';
import { placeOfRef, resourceOfKind } from './catalogue.ts';
import type { Place } from './place.ts';
import { offeredQueries, paceHints } from './watch-reads.ts';

/** A response older than this may no longer reflect the current state. */
export const oldMs = 5 * 60_000;

type KindAndId = Pick<KnownResource, 'kind' | 'id'>;

/** An alarm as saved in the inbox: its numbers are only in its text. */
type HeldAlarm = Pick<Alarm, 'kind' | 'words'> & Partial<Alarm>;

export interface WatchedResource extends KnownResource {
  readonly pinned: boolean;
  /** Its speed and remaining time; empty if unknown. */
  readonly pace: string;
  /** Only its speed, because its state contains the remaining time. */
  readonly rate: string;
  /** Whether an evaluation's mean lags behind its progress. */
  readonly isMeanOld?: boolean;
  /** Its pace when its progress was last read. */
  readonly standing: PaceState;
  /** When its progress (or else its status) was last read, in epoch milliseconds. */
  readonly readAt: number | undefined;
  /** Distinguishes it from lines of the same kind and label; undefined if there are no such lines. */
  readonly apart?: string | undefined;
  /** A shorter form of `apart`. */
  readonly shortApart?: string | undefined;
  /** Its benchmark's name, or id (`parent`) if the name is unknown. */
  readonly benchmark: string | undefined;
  /** Current alarms, most urgent first, then alarms from the inbox that no read has refuted. */
  readonly alarms: readonly HeldAlarm[];
  /** The lines in its group, if it is a header line. */
  readonly group?: { readonly members: readonly WatchedResource[]; readonly isFolded: boolean };
}

/** The name of the reward: a run's mean, the latest trainer reward, or a trajectory's reward. */
export function rewardName(kind: string): string {
  const { measures, certainty } = resourceOfKind(kind)?.watch ?? {};
  return measures ? 'trainer' : certainty ? 'mean' : 'reward';
}

type RunPace = Pick<WatchedResource, 'standing' | 'pace' | 'rate'>;

const noPace: RunPace = { standing: { kind: 'unknown' }, pace: '', rate: '' };

const unreadNote = 'steps not read yet';

/** A run's pace, with its age if the steps have not been read recently. */
function paceOfRun(known: KnownResource, workbench: Workbench, now: number): RunPace {
  const { remembered, statuses } = workbench;
  const { kind, id, status, done: completed, total } = known;
  const isWaiting = status !== undefined && statusMeaning(status) === 'waiting';
  const { recordsProgress, countsDone, status: queries } = resourceOfKind(kind)?.watch ?? {};
  if (known.gone || known.waits !== undefined || !isRunning(status) || !(recordsProgress || (countsDone && isWaiting)))
    return noPace;
  const situation = { status, completed, total, startedAt: parseTime(known.startedAt), now };
  const observedAt = statuses.doneReadAt(known);
  // Before the first read, neither the pace nor a silence is known.
  if (observedAt === undefined && !isWaiting)
    return offeredQueries(workbench, queries?.(id)).length === 0
      ? noPace
      : { ...noPace, pace: unreadNote, rate: unreadNote };
  const pace = paceOf(remembered.progress.of(id), paceHints(known));
  const isOld = observedAt !== undefined && !isWaiting && now - observedAt > pace.patienceMs;
  const at = observedAt ?? now;
  const standing = paceStateOf(pace, { ...situation, observedAt: at, now: isOld ? at : now });
  const old = isOld ? `read ${age(now - at)} ago` : '';
  const words = describePaceState(standing);
  const withAge = (text: string): string => [text, old].filter(Boolean).join('  ');
  const rate = standing.kind === 'moving' ? formatRate(standing.stepMs) : words;
  return { standing, pace: withAge(words), rate: withAge(rate) };
}

/** The alarms for a resource, based on its last known state. */
function verdictsOf(known: KnownResource, workbench: Workbench): Verdicts {
  const { remembered, statuses, compare } = workbench;
  const reading = readingOf(known, remembered.progress.of(known.id), statuses.doneReadAt(known));
  return judge(reading, workbench.alarmsFor(known.parent), compare.rewardRange);
}

/**
 * The alarms in the inbox, by resource: an alarm stays active until a read refutes it. Leaves out stalls, because their
 * times date from the last read.
 */
function raisedAlarms({ inbox }: Workbench): ReadonlyMap<string, readonly HeldAlarm[]> {
  const raised = inbox.list().flatMap(({ what, kind, id, detail: { alarm, overAtStep } }) => {
    const isJudged = isAlarmKind(what) && what !== 'stall' && overAtStep === undefined;
    return isJudged && alarm !== undefined ? [{ of: keyOf({ kind, id }), kind: what, words: alarm }] : [];
  });
  return Map.groupBy(raised, ({ of }) => of);
}

/** Whether a resource is watched without a pin: it is running, or has ended and was not dismissed. */
const isWatched = ({ statuses }: Workbench, known: KnownResource, now: number): boolean =>
  isFollowed(statuses, known, now) || (known.endedAt !== undefined && (known.gone || statuses.runs(known.kind)));

/** The watched resources without a pin. */
function unpinned(workbench: Workbench, pins: readonly ResourceRef[], now: number): KnownResource[] {
  const pinned = new Set(pins.map(keyOf));
  return workbench.statuses.all().filter(known => !pinned.has(keyOf(known)) && isWatched(workbench, known, now));
}

/** Whether any resource is running, or has ended without being dismissed. */
export const isBusy = (workbench: Workbench): boolean => unpinned(workbench, [], Date.now()).length > 0;

/** The end time; infinite while it is running. */
const endOf = (known: KnownResource): number =>
  known.endedAt === undefined ? Number.POSITIVE_INFINITY : (endInstant(known) ?? known.endedAt);

/** The watched resources: pins in their own order, then running ones by start, then ended ones by end, newest first. */
export function watchedKnown(workbench: Workbench, now: number): KnownResource[] {
  const { statuses } = workbench;
  const pins = workbench.pins.list();
  const pinned = pins.map(pin => {
    const known = statuses.get(pin) ?? unknownResource(pin, pin.label);
    return known.label === known.id ? { ...known, label: pin.label } : known;
  });
  const others = unpinned(workbench, pins, now).toSorted(
    (left, right) =>
      Math.sign(endOf(right) - endOf(left)) ||
      (right.startedAt ?? '~').localeCompare(left.startedAt ?? '~') ||
      // The id decides last, so that the order does not depend on which list was read first.
      left.id.localeCompare(right.id),
  );
  return [...pinned, ...others];
}

/** Ranks lines: failures and alarms first, then running, waiting and ended resources. */
function rankOf({ alarms, status = '', kind, gone }: WatchedResource, { statuses }: Workbench): number {
  const meaning = statusMeaning(status);
  if (alarms.length > 0 || (meaning === 'failure' && statuses.runs(kind))) return 0;
  if (gone || (hasEnded(status) && statuses.runs(kind))) return 3;
  return meaning === 'waiting' && statuses.runs(kind) ? 2 : 1;
}

/** A line, with words that distinguish it from others with the same label. */
export type Labelled = ResourceRef & Partial<Pick<WatchedResource, 'benchmark' | 'apart' | 'shortApart'>>;

/**
 * Distinguishes lines of the same kind and label, in a long and a short form: by `Watching.apart`, or else by their
 * benchmarks, or else by the ends of their ids.
 */
function apartOf(remembered: RememberedStore, lines: readonly Labelled[], now: number) {
  const ofResource = lines.map(({ kind, id }) => {
    const apart = resourceOfKind(kind)?.watch?.apart;
    const { record, seenAt = 0 } = (apart && remembered.seen.find(kind, id)) ?? {};
    return (record && apart?.(record, now - seenAt > oldMs, remembered)) ?? (['', ''] as const);
  });
  const [long, short] = [ofResource.map(([words]) => words), ofResource.map(([, words]) => words)];
  const isEachNamed = (each: readonly string[]): boolean => !each.includes('') && new Set(each).size === each.length;
  const ids = lines.map(({ id }) => id);
  const shortened = ids.map(endOfId);
  const others = [short, lines.map(({ benchmark = '' }) => benchmark), shortened, ids];
  const [apart = ids, shortApart = ids] = [[long, ...others], others].map(texts => texts.find(isEachNamed));
  return lines.map((line, index) => [line, { apart: apart[index], shortApart: shortApart[index] }] as const);
}

/** Adds words that distinguish lines with the same label. */
export function withDistinctions<Line extends Labelled>(
  remembered: RememberedStore,
  lines: readonly Line[],
  now = Date.now(),
): readonly Line[] {
  const alike = [...Map.groupBy(lines, ({ kind, label }) => keyOf({ kind, id: label })).values()];
  const apart = new Map(alike.flatMap(namesakes => (namesakes.length > 1 ? apartOf(remembered, namesakes, now) : [])));
  return apart.size === 0 ? lines : lines.map(line => ({ ...line, ...apart.get(line) }));
}

/** A mean read within this time counts as current; milliseconds. */
const currentMs = 60_000;

/** The held-out means to show: marked as old while a newer round is due. */
export const heldOutOf = (known: KnownResource): KnownResource['measured'] =>
  known.measured && isRunning(known.status) && isRoundDue(known) ? asOld(known.measured) : known.measured;

/** Whether more of a running evaluation's rollouts have ended since its mean was read. */
function isMeanOld(known: KnownResource, workbench: Workbench, now: number): boolean {
  const query = isRunning(known.status) ? resourceOfKind(known.kind)?.watch?.soFar?.(known) : undefined;
  const readAt = (query && cachedQuery(workbench, query.key)?.state.dataUpdatedAt) ?? now;
  return now - readAt > currentMs && (workbench.statuses.movedAt(known) ?? 0) > readAt;
}

/** Returns a function that makes a resource's line. */
function lineMaker(workbench: Workbench, now: number): (known: KnownResource, pinned: boolean) => WatchedResource {
  const { statuses } = workbench;
  const raised = raisedAlarms(workbench);
  return (known, pinned) => {
    const readAt = statuses.doneReadAt(known) ?? statuses.lastRead(known)?.at;
    const { parent } = known;
    const benchmark = parent && (workbench.benchmarkName(parent) ?? parent);
    const verdicts = verdictsOf(known, workbench);
    const unread = (raised.get(keyOf(known)) ?? []).filter(({ kind }) => !verdicts.has(kind));
    const alarms = [...alarmsIn(verdicts), ...unread];
    const pace = paceOfRun(known, workbench, now);
    const isStalled = verdicts.get('stall') !== undefined && pace.standing.kind === 'moving';
    const measured = heldOutOf(known);
    // The rewards may be newer than the progress.
    const done =
      known.done === undefined ? undefined : Math.max(known.done, known.graded ?? 0, measured?.last.step ?? 0);
    const shown = {
      ...known,
      done,
      measured,
      isMeanOld: isMeanOld(known, workbench, now),
      ...(isStalled ? noPace : pace),
    };
    return { ...shown, pinned, readAt: readAt || undefined, benchmark, alarms };
  };
}

/** Returns a function that finds the line of one resource; undefined if it is not watched and has no alarm. */
export function lineFinder(workbench: Workbench) {
  const now = Date.now();
  const lineOf = lineMaker(workbench, now);
  return (resource: KindAndId): WatchedResource | undefined => {
    const known = workbench.statuses.get(resource);
    const pinned = workbench.pins.has(resource.kind, resource.id);
    const line = known && lineOf(known, pinned);
    return line && (pinned || line.alarms.length > 0 || isWatched(workbench, known, now)) ? line : undefined;
  };
}

/** The resources' lines. Lines of the same rank stay in the order of {@link watchedKnown}. */
export function watchedOf(workbench: Workbench, now = Date.now()): WatchedResource[] {
  const pins = workbench.pins.list().length;
  const lineOf = lineMaker(workbench, now);
  const lines = watchedKnown(workbench, now).map((known, index) => lineOf(known, index < pins));
  return withDistinctions(workbench.remembered, lines, now).toSorted(
    (left, right) => rankOf(left, workbench) - rankOf(right, workbench),
  );
}

/**
 * Records new alarms in the inbox, and removes alarms that have ended. A resource whose end is not in the inbox, e.g. a
 * pinned one, raises no alarm after its end.
 */
export function noteAlarms(workbench: Workbench, now = Date.now()): void {
  const { inbox, statuses } = workbench;
  const raised = watchedKnown(workbench, now).flatMap(known => {
    const { status, endedAt } = known;
    return [...verdictsOf(known, workbench)].flatMap(([kind, alarm]) => {
      const overAtStep = isKept(kind, workbench.alarmsFor(known.parent)) ? judgedStep(kind, known) : undefined;
      if (!alarm) inbox.clear(kind, known, overAtStep);
      if (!alarm || (hasEnded(status) && endedAt === undefined)) return [];
      const { words, lasted, step, fromStep } = alarm;
      const readAt = statuses.doneReadAt(known) ?? now;
      const began = lasted && { since: readAt - lasted.forMs, atLeast: lasted.atLeast };
      const shown = { ...known, measured: heldOutOf(known) };
      const old = isMeanOld(known, workbench, now) && { isMeanOld: true };
      const held = fromStep === undefined ? {} : { heldAtStep: step };
      return inbox.raise(kind, shown, now, { alarm: words, ...began, ...old, ...held }, fromStep) ?? [];
    });
  });
  if (raised.length > 0) inbox.announce(raised);
}

/** The kind of upload lines. Uploads are not resources on the service. */
export const uploadKind = 'upload';

/** This process's uploads that are running or have ended, newest first. */
function uploadsOf({ jobs }: Workbench): AnyJob[] {
  return jobs
    .list()
    .filter(({ startedAt, state }) => startedAt !== undefined && state.phase !== 'waiting')
    .toReversed();
}

/** A line that is not one of the service's resources. */
export function watchedLine(named: KindAndId, label: string): WatchedResource {
  const own = { pinned: false, readAt: undefined, benchmark: undefined, alarms: [] };
  return { ...unknownResource(named, label), ...noPace, ...own };
}

function lineOfUpload(job: AnyJob): WatchedResource {
  const { phase } = job.state;
  const ended = phase === 'done' ? 'uploaded' : phase;
  return {
    ...watchedLine({ kind: uploadKind, id: job.id }, job.label),
    status: job.busy ? 'sending' : ended,
    done: job.share,
    total: 1,
    startedAt: job.startedAt === undefined ? undefined : new Date(job.startedAt).toISOString(),
    endedAt: job.endedAt,
    endTime: job.endedAt === undefined ? undefined : new Date(job.endedAt).toISOString(),
  };
}

/** The lines of Watch: this process's uploads, then the watched resources. */
export function watchLines(workbench: Workbench): WatchedResource[] {
  return [...uploadsOf(workbench).map(lineOfUpload), ...watchedOf(workbench)];
}

/** A resource's last known record. */
function knownRecord({ cache, remembered }: Workbench, { kind, id }: KindAndId): object | undefined {
  const resource = resourceOfKind(kind);
  const key = resource?.get?.(id).key;
  const record = key && (cache.getQueryData<object>(key) ?? remembered.seen.find(kind, id)?.record);
  return record && resource?.list({}).id(record) === id ? record : undefined;
}

/** A line's last known record with its current status, for the actions of its resource. */
export function recordOfLine(workbench: Workbench, line: WatchedResource): object | undefined {
  const record = line.gone ? undefined : knownRecord(workbench, line);
  return record && atStatus(record, line.status);
}

/** The other resources that a resource refers to: its benchmark, model, checkpoint and so on. */
export function referencesOf(workbench: Workbench, line: KindAndId & { readonly parent?: string | undefined }) {
  const record = knownRecord(workbench, line);
  const named =
    (record &&
      resourceOfKind(line.kind)
        ?.facts(record)
        .filter(({ refers }) => refers)) ??
    [];
  const hasParent = named.some(({ refers }) => refers?.id === line.parent);
  return [...(hasParent ? [] : [referenceFact('benchmark', 'benchmarks', line.parent)]), ...named];
}

/** The view that a line opens; undefined for an unknown kind. */
export function placeOfLine({ jobs }: Workbench, line: WatchedResource): Place | undefined {
  if (line.kind !== uploadKind) return placeOfRef(line);
  const { id: jobId, label } = line;
  const dataset = jobs.get(jobId)?.dataset;
  return dataset === undefined
    ? { view: 'benchmark-upload', jobId, label }
    : { view: 'trajectory-upload', jobId, dataset };
}

export function watchedCount(workbench: Workbench): number {
  const pins = workbench.pins.list();
  return pins.length + unpinned(workbench, pins, Date.now()).length + uploadsOf(workbench).length;
}
