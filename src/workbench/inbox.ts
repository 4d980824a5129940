/**
 * The inbox: ends, failures, stalls and deployments from this and earlier sessions, until the user dismisses them. It
 * is stored on disk and shared with the user's other processes.
 */
import { isDeepStrictEqual } from 'node:util';
import { Listeners } from '../base/listeners.ts';
import { maxOf } from '../base/many.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { savedMeans } from '../queries/held-out.ts';
import { countsBeside } from '../queries/run-mean.ts';
import type { KnownResource, Observation } from '../queries/statuses/known-resource.ts';
import { lostAfterMs, type StatusStore, type Transition } from '../queries/statuses/store.ts';
import type { EventKey, StoredEvent } from '../store/events.ts';
import { atStatus } from '../store/seen.ts';
import type { RememberedStore } from '../store/store.ts';
import { counted } from '../text/numbers.ts';
import { isSameStatus } from '../text/status-spelling.ts';
import { endInstant, parseTime } from '../text/time.ts';

/** The state of a resource at the time of an event. */
type EventDetail = Partial<Omit<KnownResource, 'kind' | 'id' | 'label' | 'curve' | 'endedAt' | 'error' | 'isNew'>> & {
  /** An alarm's text. */
  readonly alarm?: string;
  /** The step at which an alarm ended; for an evaluation, the number of rollouts that had ended. */
  readonly overAtStep?: number;
  /** The last step at which a repeatable alarm was seen to be active. */
  readonly heldAtStep?: number | undefined;
  /** The earlier step to which the run has gone back since. */
  readonly restartStep?: number;
  /** When a silence began, in epoch milliseconds. */
  readonly since?: number;
  /** Whether the silence may have begun earlier. */
  readonly atLeast?: boolean;
  /** Whether an evaluation's mean was out of date. */
  readonly isMeanOld?: boolean;
  /** When this machine noticed the event, in epoch milliseconds. */
  readonly noticedAt?: number;
};

export interface InboxEvent extends Omit<StoredEvent, 'detail'> {
  readonly detail: EventDetail;
}

/** A period during which the user was not watching, in epoch milliseconds. */
interface Absence {
  readonly from: number;
  readonly to: number;
}

/**
 * Without a response for at least this long and this many poll intervals, the program was asleep, suspended or offline.
 */
const shortestAwayMs = 2 * 60_000;
const awayPolls = 3;
/** Maximum length of a reason: the service may send a whole traceback. */
const maxReasonLength = 2_000;
/** How often the time of the last response is saved. */
const savedEveryMs = 15_000;
/** The largest expected difference between the service's clock and this machine's. */
const clockMs = 60_000;
/** The setting that holds the time of the last response. */
const lastAnswerSetting = 'looked at';
/** The setting that holds when the user last opened the inbox. */
const openedSetting = 'inbox opened';

/** When this machine noticed an event, in epoch milliseconds; 0 for none. */
const noticedAt = (event: InboxEvent | undefined): number => event?.detail.noticedAt ?? event?.at ?? 0;

/** The key for an event in a map. */
export const keyOfEvent = ({ kind, id, what }: EventKey): string => `${what} ${kind} ${id}`;

/** The stored part of a resource: everything but its long curve and undefined fields. */
function detailOf(known: Omit<KnownResource, 'kind' | 'id' | 'label'>): EventDetail {
  const { status, done, mean, gradedAt, failed, startedAt, beganAt, endTime, parent, gone } = known;
  const { graded, total } = countsBeside(known);
  const measured = known.measured && savedMeans(known.measured);
  const reason = known.reason?.slice(0, maxReasonLength);
  const detail = {
    status,
    done,
    total,
    mean,
    graded,
    gradedAt,
    failed,
    measured,
    startedAt,
    beganAt,
    endTime,
    reason,
    parent,
    gone,
  };
  return JSON.parse(JSON.stringify(detail)) as EventDetail;
}

/**
 * A detail with the recorded held-out means, if they are newer: another process may have read a later round. Of an ended
 * resource, old means are from before its last round.
 */
function withNewerMeans(detail: EventDetail, { measured: recorded }: EventDetail): EventDetail {
  const last = detail.measured?.last;
  const isOlder = !last || (last.isOld && !(recorded?.last.isOld && recorded.last.step <= last.step));
  return recorded && isOlder ? { ...detail, measured: recorded } : detail;
}

/** The kinds of events, most urgent first. */
const sorts = ['failed', 'stalled', 'alarm', 'deleted', 'deployed', 'ended'] as const;
export type EventSort = (typeof sorts)[number];

export function sortOf({ what, kind, detail }: InboxEvent): EventSort {
  if (what === 'stall') return 'stalled';
  if (what !== 'end') return 'alarm';
  if (detail.gone) return 'deleted';
  const meaning = statusMeaning(detail.status ?? '');
  if (meaning === 'failure') return 'failed';
  return kind === 'deployment' && meaning === 'success' ? 'deployed' : 'ended';
}

/** Whether the user should look at it soon. */
export function isBad(event: InboxEvent): boolean {
  const sort = sortOf(event);
  return sort !== 'ended' && sort !== 'deployed';
}

/** E.g. `3 failed, 1 stalled, 2 ended`; empty without events. */
export function describeTally(events: readonly InboxEvent[]): string {
  const bySort = Map.groupBy(events, sortOf);
  return sorts
    .flatMap(sort => {
      const count = bySort.get(sort)?.length ?? 0;
      return count === 0 ? [] : [sort === 'alarm' ? counted(count, sort) : `${count} ${sort}`];
    })
    .join(', ');
}

/**
 * The step that an alarm is based on: that of the last held-out round, or else the progress. For an evaluation, the
 * number of rollouts.
 */
export const judgedStep = (what: string, { measured, done }: Pick<KnownResource, 'measured' | 'done'>) =>
  (what === 'trainer range' ? undefined : measured?.last.step) ?? done;

export class Inbox {
  readonly #remembered: () => RememberedStore;
  readonly #statuses: Pick<StatusStore, 'runs' | 'get' | 'noteEnd'>;
  readonly #listeners = new Listeners();
  readonly #raisedListeners = new Listeners<readonly InboxEvent[]>();
  /** When the user was last watching before this session; undefined if never. */
  readonly #before: number | undefined;
  readonly #begun = Date.now();
  #list: readonly InboxEvent[];
  #lastAnswerAt: number | undefined;
  #savedAt = 0;
  #absence: Absence | undefined;
  /** The keys of the events during the last absence. */
  readonly #missed = new Set<string>();
  /** The active alarms from this and earlier sessions, even if dismissed: `clear` removes them. */
  #raised: Map<string, Pick<EventDetail, 'heldAtStep'>>;
  readonly #awayMs: number;
  #openedAt: number | undefined;

  /** @param pollMs the poll interval while the user is idle, in milliseconds */
  constructor(
    remembered: () => RememberedStore,
    statuses: Pick<StatusStore, 'runs' | 'get' | 'noteEnd'>,
    pollMs: number = 0,
  ) {
    this.#awayMs = Math.max(shortestAwayMs, awayPolls * pollMs);
    this.#remembered = remembered;
    this.#statuses = statuses;
    this.#list = this.#read();
    this.#openedAt = this.#timeOf(openedSetting);
    this.#raised = this.#readRaised();
    this.#before = this.#timeOf(lastAnswerSetting);
    this.#lastAnswerAt = this.#before;
  }

  /** The events that the user has not dismissed, newest first; the same array until they change. */
  list(): readonly InboxEvent[] {
    return this.#list;
  }

  /**
   * When the user last opened the inbox or left; later events are new. In epoch milliseconds; undefined if neither has
   * happened.
   */
  get newSince(): number | undefined {
    const times = [this.#openedAt, this.#absence?.from ?? this.#before].filter(time => time !== undefined);
    return times.length === 0 ? undefined : maxOf(times);
  }

  isNew(event: InboxEvent, since = this.newSince): boolean {
    return since === undefined || noticedAt(event) > since;
  }

  /** Records that the user opened the inbox. */
  opened(now = Date.now()): void {
    this.#openedAt = now;
    this.#remembered().setSetting(openedSetting, now);
  }

  readonly subscribe = this.#listeners.subscribe;

  /** Calls the listener with alarms that began while the user was watching. */
  readonly onRaised = this.#raisedListeners.subscribe;

  /** The last absence: between two sessions, or while the program was suspended. */
  get absence(): Absence | undefined {
    return this.#absence;
  }

  /** The events during the last absence that the user has not dismissed. */
  missed(): readonly InboxEvent[] {
    return this.#list.filter(event => this.#missed.has(keyOfEvent(event)));
  }

  /** Whether the change may have happened during the last absence. */
  isMissed({ lastReadAt }: Pick<Transition, 'lastReadAt'>): boolean {
    return this.#absence !== undefined && lastReadAt !== undefined && lastReadAt < this.#absence.to;
  }

  /** Applies changes made by other processes. */
  readAgain(): void {
    const list = this.#read();
    this.#openedAt = this.#timeOf(openedSetting);
    this.#raised = this.#readRaised();
    if (!isDeepStrictEqual(list, this.#list)) this.#set(list);
  }

  /**
   * Records that a response has arrived, so the user may be watching.
   *
   * @param wasPaused whether polling has been paused since the last response; a pause is not an absence
   */
  attend(now: number, wasPaused = false): void {
    const last = this.#lastAnswerAt;
    const isFirst = this.#savedAt === 0;
    if (last !== undefined && (isFirst || (!wasPaused && now - last > this.#awayMs)))
      this.#absence = { from: last, to: now };
    this.#lastAnswerAt = now;
    if (isFirst || now - this.#savedAt >= savedEveryMs) this.save();
  }

  /** Saves the time of the last response for the next session. */
  save(): void {
    if (this.#lastAnswerAt === undefined || this.#lastAnswerAt === this.#savedAt) return;
    this.#savedAt = this.#lastAnswerAt;
    this.#remembered().setSetting(lastAnswerSetting, this.#lastAnswerAt);
  }

  /** Records that a resource ended or disappeared. */
  ended(transition: Transition, now = Date.now()): void {
    const { resource } = transition;
    this.clear('stall', resource);
    if (this.isMissed(transition)) this.#missed.add(keyOfEvent({ ...resource, what: 'end' }));
    const endTime = endInstant(resource, now);
    const { ended, lastReadAt = 0 } = transition;
    const before = this.#recordedEnd(resource);
    // Another process may have recorded this end, and the user may have dismissed it there.
    const isSame = lastReadAt < noticedAt(before) && isSameStatus(before?.detail.status, resource.status);
    if (before && !isSame) this.#remembered().events.remove(before);
    // After a second end, the record may still contain the time of the first.
    const isOld = !ended && (endTime ?? 0) <= lastReadAt;
    const means = before && isSame ? withNewerMeans(detailOf(resource), before.detail) : {};
    this.#put('end', resource, isOld ? undefined : endTime, now, means);
  }

  /**
   * Records ends that no session has seen, and completes recorded ends. Call this before the response is remembered.
   *
   * @param at the time of the response, in epoch milliseconds
   */
  observed(observations: readonly Observation[], at: number): void {
    for (const observation of observations) {
      const { kind, id } = observation;
      if (hasEnded(observation.status)) this.clear('stall', observation);
      const known = this.#statuses.get(observation);
      const event = known && this.#find({ kind, id, what: 'end' });
      const failedAt = known && this.#failedSince(observation);
      if (event && failedAt === undefined) this.#complete(event, known);
      else if (known && (failedAt !== undefined || this.#isUnseen(observation))) {
        const to = this.#absence?.to ?? 0;
        const exact = failedAt === undefined ? endInstant(observation, at) : failedAt.exact;
        if ((exact ?? parseTime(observation.startedAt) ?? to) <= to)
          this.#missed.add(keyOfEvent({ ...observation, what: 'end' }));
        this.#remembered().events.remove({ kind, id, what: 'end' });
        this.#put('end', known, exact, at);
        this.#statuses.noteEnd(observation, at);
      }
    }
  }

  /**
   * Detects an unrecorded failure after an earlier success, e.g. of a deployment, or after an earlier end of a run that
   * was restarted. Returns when it failed, unless the service still reports the time of the success.
   */
  #failedSince(observation: Observation): { readonly exact: number | undefined } | undefined {
    const { kind, id, status } = observation;
    if (this.#before === undefined || statusMeaning(status ?? '') !== 'failure' || !this.#statuses.runs(kind))
      return undefined;
    const recorded = this.#recordedEnd(observation);
    const seen = this.#remembered().seen.find(kind, id);
    const before = recorded && noticedAt(recorded) >= (seen?.seenAt ?? 0) ? recorded.detail : seen;
    const time = endInstant(observation);
    const exact = time !== undefined && time > (recorded?.at ?? this.#before) ? time : undefined;
    // A service may correct the time of the recorded end, but not to after it was noticed. One that reports the time of
    // each response instead must not make an event of each.
    const isAgain =
      recorded !== undefined &&
      exact !== undefined &&
      exact <= this.#begun &&
      exact > noticedAt(recorded) + (recorded.isExact ? 0 : clockMs);
    return isAgain || statusMeaning(before?.status ?? '') === 'success' ? { exact } : undefined;
  }

  /** Whether a resource has ended since the user was last watching, without any process recording it. */
  #isUnseen({ kind, id, status, startedAt, endTime }: Observation): boolean {
    if (!hasEnded(status) || !this.#statuses.runs(kind) || this.#recordedEnd({ kind, id })) return false;
    const remembered = this.#remembered();
    // Commands on this machine may have started it and seen its end, and an earlier session may have ended without
    // reading it.
    const since = this.#before === undefined ? 0 : this.#begun - lostAfterMs;
    if ((remembered.seen.find(kind, id)?.startedAt ?? 0) > since) return true;
    // If the end time is unknown, the start must also be more recent than that.
    const exact = endInstant({ startedAt, endTime });
    const time = exact ?? parseTime(startedAt) ?? 0;
    if (time > (this.#before ?? this.#begun)) return true;
    const isNear = this.#before !== undefined && exact !== undefined && time > this.#before - clockMs;
    return isNear && !hasEnded(remembered.seen.find(kind, id)?.status);
  }

  /** Adds the time, reason and last numbers from later responses to an end. Keeps fields that they lack. */
  #complete(event: InboxEvent, known: KnownResource): void {
    if (!hasEnded(known.status)) return;
    const before = atStatus(event.detail, known.status);
    const news = detailOf({ ...known, gone: event.detail.gone ?? false });
    const detail = withNewerMeans({ ...before, ...news }, before);
    const isOld = !event.isExact && known.endTime === event.detail.endTime;
    const exact = isOld ? undefined : endInstant(detail);
    if (event.isExact === (exact !== undefined) && isDeepStrictEqual(detail, event.detail)) return;
    // Another process may have completed it since the list was read.
    const stored = this.#recordedEnd(event);
    if (stored && !isDeepStrictEqual(stored.detail, event.detail)) this.#complete(stored, known);
    else this.#save({ ...event, label: known.label, at: exact ?? event.at, isExact: exact !== undefined, detail });
  }

  /**
   * Records an alarm, unless it has already been recorded. Returns the event if it is new to a user who is watching.
   *
   * @param at when benchtop noticed the alarm, in epoch milliseconds
   * @param fromStep the step at which it began; a recorded alarm that was active at this step or later, dismissed or
   * not, continues
   */
  raise(
    what: string,
    resource: KnownResource,
    at: number,
    alarm: Pick<EventDetail, 'alarm' | 'since' | 'atLeast' | 'isMeanOld' | 'heldAtStep'> = {},
    fromStep?: number,
  ): InboxEvent | undefined {
    const { kind, id } = resource;
    const name = keyOfEvent({ kind, id, what });
    const { heldAtStep = 0 } = alarm;
    const raised = this.#raised.get(name);
    if (raised && heldAtStep === (raised.heldAtStep ?? 0)) return undefined;
    const { events } = this.#remembered();
    const before = events.find({ kind, id, what });
    const { overAtStep, heldAtStep: lastHeld = 0, restartStep }: EventDetail = before?.detail ?? {};
    const step = judgedStep(what, resource) ?? Number.POSITIVE_INFINITY;
    const isRepeated =
      restartStep !== undefined && (step < Math.max(lastHeld, overAtStep ?? 0) || (fromStep ?? 0) > restartStep);
    // Another process may have read a later step, at which the alarm had ended.
    if (overAtStep !== undefined && step < overAtStep && !isRepeated) return undefined;
    this.#raised.set(name, { heldAtStep });
    if (before && !isRepeated && (fromStep === undefined ? overAtStep === undefined : fromStep <= lastHeld)) {
      // Another process may have recorded it first.
      if (overAtStep === undefined && heldAtStep <= lastHeld) return undefined;
      events.put({
        ...before,
        detail: { ...before.detail, ...detailOf(resource), ...alarm, overAtStep: undefined },
      });
      this.#set(this.#read());
      return undefined;
    }
    // Another process may have seen the end first.
    if (what === 'stall' && this.#recordedEnd(resource)) return undefined;
    // A dismissed event would stay dismissed.
    if (before) events.remove(before);
    const { since = at } = alarm;
    const isMissed = this.#absence !== undefined && since > this.#absence.from && since <= this.#absence.to;
    if (isMissed) this.#missed.add(name);
    this.#put(what, resource, undefined, at, alarm);
    return isMissed ? undefined : this.#find({ kind, id, what });
  }

  /** Notifies listeners of new alarms. */
  announce(events: readonly InboxEvent[]): void {
    this.#raisedListeners.notify(events);
  }

  /**
   * Removes an alarm that has ended, so that it can be raised again.
   *
   * @param overAtStep keeps the event, with this step
   */
  clear(what: string, { kind, id }: Pick<KnownResource, 'kind' | 'id'>, overAtStep?: number): void {
    if (!this.#raised.delete(keyOfEvent({ kind, id, what }))) return;
    const { events } = this.#remembered();
    const event = events.find({ kind, id, what });
    if (event && overAtStep !== undefined) events.put({ ...event, detail: { ...event.detail, overAtStep } });
    else events.remove({ kind, id, what });
    this.#set(this.#read());
  }

  /** Lets alarms be raised again at the steps that a run repeats. @param restartStep the last step that it keeps */
  restarted({ kind, id }: Pick<KnownResource, 'kind' | 'id'>, restartStep: number): void {
    const { events } = this.#remembered();
    for (const alarm of events.alarms())
      if (alarm.kind === kind && alarm.id === id) events.put({ ...alarm, detail: { ...alarm.detail, restartStep } });
  }

  /** Dismisses events. @returns false if it could not be saved */
  dismiss(events: readonly EventKey[]): boolean {
    if (events.length === 0) return true;
    const isSaved = this.#remembered().events.dismiss(events);
    const gone = new Set(events.map(keyOfEvent));
    this.#set(this.#list.filter(event => !gone.has(keyOfEvent(event))));
    return isSaved;
  }

  /** Undoes a dismissal. */
  restore(events: readonly EventKey[]): void {
    this.#remembered().events.dismiss(events, false);
    this.readAgain();
  }

  /** Dismisses all of a resource's events. */
  dismissAll({ kind, id }: Pick<KnownResource, 'kind' | 'id'>): void {
    this.dismiss(this.#list.filter(event => event.kind === kind && event.id === id));
  }

  /** The end of a resource that some process has recorded, dismissed or not. */
  #recordedEnd({ kind, id }: Pick<KnownResource, 'kind' | 'id'>): InboxEvent | undefined {
    return this.#remembered().events.find({ kind, id, what: 'end' }) as InboxEvent | undefined;
  }

  #find(key: EventKey): InboxEvent | undefined {
    const name = keyOfEvent(key);
    return this.#list.find(event => keyOfEvent(event) === name);
  }

  #put(what: string, known: KnownResource, exact: number | undefined, otherwise: number, more?: EventDetail): void {
    const { kind, id, label } = known;
    const event = { kind, id, label, what, at: exact ?? otherwise, isExact: exact !== undefined };
    this.#save({ ...event, detail: { ...detailOf(known), noticedAt: otherwise, ...more } });
  }

  #save(event: InboxEvent): void {
    this.#remembered().events.put({ ...event, detail: { ...event.detail } });
    this.#set(this.#read());
  }

  /** A saved time. One in the future is from before the clock was set back, and would make every event old. */
  #timeOf(setting: string): number | undefined {
    const saved = this.#remembered().setting(setting);
    return typeof saved === 'number' ? Math.min(saved, Date.now()) : undefined;
  }

  #read(): readonly InboxEvent[] {
    return this.#remembered().events.open() as readonly InboxEvent[];
  }

  #readRaised(): Map<string, Pick<EventDetail, 'heldAtStep'>> {
    const alarms = this.#remembered().events.alarms() as InboxEvent[];
    const active = alarms.filter(({ detail }) => detail.overAtStep === undefined);
    return new Map(active.map(alarm => [keyOfEvent(alarm), alarm.detail]));
  }

  #set(list: readonly InboxEvent[]): void {
    this.#list = list;
    this.#listeners.notify();
  }
}
