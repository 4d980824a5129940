/**
 * The inbox: what ended, failed, stalled or was deployed, now or in earlier sessions, until the user dismisses it. It
 * is stored on disk and shared with the user's other programs.
 */
import { isDeepStrictEqual } from 'node:util';
import { Listeners } from '../base/listeners.ts';
import { maxOf } from '../base/many.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { savedMeans } from '../queries/held-out.ts';
import { countsBeside } from '../queries/run-mean.ts';
import type { KnownResource, Observation } from '../queries/statuses/known-resource.ts';
import type { StatusStore, Transition } from '../queries/statuses/store.ts';
import type { EventKey, StoredEvent } from '../store/events.ts';
import type { RememberedStore } from '../store/store.ts';
import { counted } from '../text/numbers.ts';
import { endInstant, parseTime } from '../text/time.ts';

/** A resource at the time of an event. */
export type EventDetail = Partial<
  Omit<KnownResource, 'kind' | 'id' | 'label' | 'curve' | 'endedAt' | 'error' | 'isNew'>
> & {
  /** The text of an alarm. */
  readonly alarm?: string;
  /** When a silence began; epoch milliseconds. */
  readonly since?: number;
  /** Whether it may have begun earlier. */
  readonly atLeast?: boolean;
  /** When this machine noticed it; epoch milliseconds. */
  readonly noticedAt?: number;
};

export interface InboxEvent extends Omit<StoredEvent, 'detail'> {
  readonly detail: EventDetail;
}

/** A period in which nobody was watching; epoch milliseconds. */
export interface Absence {
  readonly from: number;
  readonly to: number;
}

/** After this long without an answer, or several poll intervals, the program was asleep, suspended or offline. */
const shortestAwayMs = 2 * 60_000;
const awayPolls = 3;
/** Maximum characters of a reason: the service may send a whole traceback. */
const mostReason = 2_000;
/** How often the time of the last answer is saved. */
const savedEveryMs = 15_000;
/** How far the clocks of the service and of this machine may differ. */
const clockMs = 60_000;
/** Name of the setting with the time of the last answer. */
const lastAnswerSetting = 'looked at';
/** Name of the setting with the time when the user last looked at the inbox. */
const openedSetting = 'inbox opened';

/** Key of an event in a map. */
export const nameOf = ({ kind, id, what }: EventKey): string => `${what} ${kind} ${id}`;

/** The stored part of a resource, as it is read back: without its long curve and without unknown fields. */
function detailOf(known: Omit<KnownResource, 'kind' | 'id' | 'label'>): EventDetail {
  const { status, done, mean, gradedAt, failed, startedAt, beganAt, endTime, parent, gone } = known;
  const { graded, total } = countsBeside(known);
  const measured = known.measured && savedMeans(known.measured);
  const reason = known.reason?.slice(0, mostReason);
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

/** The number of events of each sort. */
function tallyOf(events: readonly InboxEvent[]): ReadonlyMap<string, number> {
  const tally = new Map<string, number>();
  for (const event of events) tally.set(sortOf(event), (tally.get(sortOf(event)) ?? 0) + 1);
  return tally;
}

/** The sorts of events, most urgent first. */
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

/** `3 failed, 1 stalled, 2 ended`; empty without events. */
export function tallyWords(events: readonly InboxEvent[]): string {
  const tally = tallyOf(events);
  return sorts
    .flatMap(sort => {
      const count = tally.get(sort) ?? 0;
      return count === 0 ? [] : [sort === 'alarm' ? counted(count, sort) : `${count} ${sort}`];
    })
    .join(', ');
}

export class Inbox {
  readonly #remembered: () => RememberedStore;
  readonly #statuses: Pick<StatusStore, 'runs' | 'get' | 'noteEnd'>;
  readonly #listeners = new Listeners();
  readonly #raisedListeners = new Listeners<readonly InboxEvent[]>();
  /** When the user was last watching before this program started; undefined if never. */
  readonly #before: number | undefined;
  readonly #begun = Date.now();
  #list: readonly InboxEvent[];
  #lastAnswerAt: number | undefined;
  #savedAt = 0;
  #absence: Absence | undefined;
  /** The keys of the events of the last absence. */
  readonly #missed = new Set<string>();
  /** The keys of events that `clear` has to remove, dismissed or not, from this and earlier sessions. */
  #raised: Set<string>;
  readonly #awayMs: number;
  #openedAt: number | undefined;

  /** @param pollMs poll interval while the user is idle, in milliseconds */
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

  /** The events that are not dismissed, latest first; the same array until they change. */
  list(): readonly InboxEvent[] {
    return this.#list;
  }

  /**
   * Events that were noticed later are new: since the user last looked at the inbox, or was away. Epoch milliseconds;
   * undefined if neither has happened.
   */
  get newSince(): number | undefined {
    const times = [this.#openedAt, this.#absence?.from ?? this.#before].filter(time => time !== undefined);
    return times.length === 0 ? undefined : maxOf(times);
  }

  isNew({ at, detail: { noticedAt = at } }: InboxEvent, since = this.newSince): boolean {
    return since === undefined || noticedAt > since;
  }

  /** The user looks at the inbox. */
  opened(now = Date.now()): void {
    this.#openedAt = now;
    this.#remembered().setSetting(openedSetting, now);
  }

  readonly subscribe = this.#listeners.subscribe;

  /** Calls back with alarms that began while the user was watching. */
  readonly onRaised = this.#raisedListeners.subscribe;

  /** The last absence: between two sessions, or while this program slept. */
  get absence(): Absence | undefined {
    return this.#absence;
  }

  /** The known events of the last absence that are not dismissed. */
  missed(): readonly InboxEvent[] {
    return this.#list.filter(event => this.#missed.has(nameOf(event)));
  }

  /** Whether nobody was watching between the last read before this change and now. */
  isMissed({ lastReadAt }: Pick<Transition, 'lastReadAt'>): boolean {
    return this.#absence !== undefined && lastReadAt !== undefined && lastReadAt < this.#absence.to;
  }

  /** Applies what other programs have recorded or dismissed since. */
  readAgain(): void {
    const list = this.#read();
    this.#openedAt = this.#timeOf(openedSetting);
    this.#raised = this.#readRaised();
    if (!isDeepStrictEqual(list, this.#list)) this.#set(list);
  }

  /**
   * Reports that an answer has arrived, so the user may be watching.
   *
   * @param wasPaused whether polling was paused since the last answer, which does not count as an absence
   */
  attend(now: number, wasPaused = false): void {
    const last = this.#lastAnswerAt;
    const isFirst = this.#savedAt === 0;
    if (last !== undefined && (isFirst || (!wasPaused && now - last > this.#awayMs)))
      this.#absence = { from: last, to: now };
    this.#lastAnswerAt = now;
    if (isFirst || now - this.#savedAt >= savedEveryMs) this.save();
  }

  /** Saves the time of the last answer for the next session. */
  save(): void {
    if (this.#lastAnswerAt === undefined || this.#lastAnswerAt === this.#savedAt) return;
    this.#savedAt = this.#lastAnswerAt;
    this.#remembered().setSetting(lastAnswerSetting, this.#lastAnswerAt);
  }

  /** Records an end, or that a watched resource has vanished. */
  ended(transition: Transition, now = Date.now()): void {
    const { resource } = transition;
    this.clear('stall', resource);
    if (this.isMissed(transition)) this.#missed.add(nameOf({ ...resource, what: 'end' }));
    const endTime = endInstant(resource, now);
    // After a second end, the record may still have the time of the first.
    const isOld = !transition.ended && (endTime ?? 0) <= (transition.lastReadAt ?? 0);
    this.#put('end', resource, isOld ? undefined : endTime, now);
  }

  /**
   * Records resources that ended unseen, and completes recorded ends. Called before the answer is remembered.
   *
   * @param at when the answer arrived; epoch milliseconds
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
          this.#missed.add(nameOf({ ...observation, what: 'end' }));
        this.#put('end', known, exact, at);
        this.#statuses.noteEnd(observation, at);
      }
    }
  }

  /**
   * Whether it failed after an earlier success, as a deployment may, and no program has recorded the failure; with its
   * time, unless the service still reports that of the success.
   */
  #failedSince(observation: Observation): { readonly exact: number | undefined } | undefined {
    const { kind, id, status } = observation;
    if (this.#before === undefined || statusMeaning(status ?? '') !== 'failure' || !this.#statuses.runs(kind))
      return undefined;
    const remembered = this.#remembered();
    const recorded = remembered.events.find({ kind, id, what: 'end' });
    const before = recorded ? (recorded.detail as EventDetail).status : remembered.find(kind, id)?.status;
    if (statusMeaning(before ?? '') !== 'success') return undefined;
    const time = endInstant(observation);
    return { exact: time !== undefined && time > (recorded?.at ?? this.#before) ? time : undefined };
  }

  /** Whether it ended unrecorded since the user was last watching. A command that saw the end has recorded it. */
  #isUnseen({ kind, id, status, startedAt, endTime }: Observation): boolean {
    if (!hasEnded(status) || !this.#statuses.runs(kind)) return false;
    const remembered = this.#remembered();
    if (remembered.events.find({ kind, id, what: 'end' })) return false;
    // If the end time is unknown, it counts if it also began since then.
    const exact = endInstant({ startedAt, endTime });
    const time = exact ?? parseTime(startedAt) ?? 0;
    if (time > (this.#before ?? this.#begun)) return true;
    const isNear = this.#before !== undefined && exact !== undefined && time > this.#before - clockMs;
    return isNear && !hasEnded(remembered.find(kind, id)?.status);
  }

  /** Adds what later answers say about an end: its time, reason and last numbers. Keeps what they lack. */
  #complete(event: InboxEvent, known: KnownResource): void {
    if (!hasEnded(known.status)) return;
    const detail = { ...event.detail, ...detailOf({ ...known, gone: event.detail.gone ?? false }) };
    const isOld = !event.isExact && known.endTime === event.detail.endTime;
    const exact = isOld ? undefined : endInstant(detail);
    if (event.isExact === (exact !== undefined) && isDeepStrictEqual(detail, event.detail)) return;
    this.#save({ ...event, label: known.label, at: exact ?? event.at, isExact: exact !== undefined, detail });
  }

  /**
   * Records an alarm, unless it is recorded already. Returns the event if it is news to a user who is watching.
   *
   * @param at when it was noticed; epoch milliseconds
   */
  raise(
    what: string,
    resource: KnownResource,
    at: number,
    alarm: Pick<EventDetail, 'alarm' | 'since' | 'atLeast'> = {},
  ): InboxEvent | undefined {
    const { kind, id } = resource;
    const name = nameOf({ kind, id, what });
    if (this.#raised.has(name) || this.#find({ kind, id, what })) return undefined;
    this.#raised.add(name);
    if (this.#remembered().events.find({ kind, id, what })) return undefined;
    const { since = at } = alarm;
    const isMissed = this.#absence !== undefined && since > this.#absence.from && since <= this.#absence.to;
    if (isMissed) this.#missed.add(name);
    this.#put(what, resource, undefined, at, alarm);
    return isMissed ? undefined : this.#find({ kind, id, what });
  }

  /** Notifies the listeners of alarms that began. */
  announce(events: readonly InboxEvent[]): void {
    this.#raisedListeners.notify(events);
  }

  /** Removes an alarm that no longer holds. */
  clear(what: string, { kind, id }: Pick<KnownResource, 'kind' | 'id'>): void {
    const wasRaised = this.#raised.delete(nameOf({ kind, id, what }));
    if (!wasRaised) return;
    this.#remembered().events.remove({ kind, id, what });
    this.#set(this.#read());
  }

  /** False if it could not be saved. */
  dismiss(events: readonly EventKey[]): boolean {
    if (events.length === 0) return true;
    const isSaved = this.#remembered().events.dismiss(events);
    const gone = new Set(events.map(nameOf));
    this.#set(this.#list.filter(event => !gone.has(nameOf(event))));
    return isSaved;
  }

  /** Undoes a dismissal. */
  restore(events: readonly EventKey[]): void {
    this.#remembered().events.dismiss(events, false);
    this.readAgain();
  }

  /** Dismisses all events of a resource. */
  dismissAll({ kind, id }: Pick<KnownResource, 'kind' | 'id'>): void {
    this.dismiss(this.#list.filter(event => event.kind === kind && event.id === id));
  }

  #find(key: EventKey): InboxEvent | undefined {
    const name = nameOf(key);
    return this.#list.find(event => nameOf(event) === name);
  }

  #put(what: string, known: KnownResource, exact: number | undefined, otherwise: number, alarm?: EventDetail): void {
    const { kind, id, label } = known;
    const event = { kind, id, label, what, at: exact ?? otherwise, isExact: exact !== undefined };
    this.#save({ ...event, detail: { ...detailOf(known), noticedAt: otherwise, ...alarm } });
  }

  #save(event: InboxEvent): void {
    this.#remembered().events.put({ ...event, detail: { ...event.detail } });
    this.#set(this.#read());
  }

  #timeOf(setting: string): number | undefined {
    const saved = this.#remembered().setting(setting);
    return typeof saved === 'number' ? saved : undefined;
  }

  #read(): readonly InboxEvent[] {
    return this.#remembered().events.open() as readonly InboxEvent[];
  }

  #readRaised(): Set<string> {
    return new Set(this.#remembered().events.raised().map(nameOf));
  }

  #set(list: readonly InboxEvent[]): void {
    this.#list = list;
    this.#listeners.notify();
  }
}
