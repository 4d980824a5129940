/**
 * The single store of statuses. Every response with a run, a training run, a deployment, a benchmark or a trajectory is
 * reported here, and everything that depends on a status (notices, Watch, the frame's counts, the remembered store)
 * subscribes here. So each change is announced once, even if several parts of the program read it.
 */
import { Listeners } from '../../base/listeners.ts';
import { hasEnded, isRunning, isUnknown } from '../../contract/status.ts';
import type { ResourceRef } from '../../store/store.ts';
import {
  beforeEnd,
  beginningOf,
  isSame,
  type KnownResource,
  keyOf,
  mergeObservation,
  type Observation,
  type ResourceKey,
  takesBackEnd,
  unknownResource,
  withKnownSteps,
  withLateMeans,
  withOldMeans,
  withoutProgress,
} from './known-resource.ts';

/** A kind of resource whose statuses are tracked; each resource declares its own. */
export interface Kind {
  /** Whether such resources run on their own: they are counted, watched without a pin, and announced when they end. */
  readonly runs?: boolean;
  /** Whether its end is final. Other kinds may change again: a deployment is stopped, a benchmark loses a secret. */
  readonly endsForGood?: boolean;
  /** Whether its progress is recorded over time, for its pace, and for a curve if the service has none. */
  readonly recordsProgress?: boolean;
}

/** The kinds of resources by name, e.g. `run`. */
export type Kinds = ReadonlyMap<string, Kind>;

/** A status change that happened while this program was open. */
export interface Transition {
  readonly resource: KnownResource;
  readonly from: string;
  readonly to: string;
  /** Whether it ended with this change, or vanished from the service while it was running. */
  readonly ended: boolean;
  /** The mean in the same response. */
  readonly mean?: number | undefined;
  /** When its status was last read before the change; in epoch milliseconds. */
  readonly lastReadAt?: number | undefined;
}

/** When a response was requested and when it arrived; in epoch milliseconds. */
export interface ReadTimes {
  readonly askedAt: number;
  readonly at: number;
  /** Hash of the query that read it. */
  readonly by?: string | undefined;
}

interface Entry {
  known: KnownResource;
  /** When it was last read; in epoch milliseconds. */
  readAt: number;
  /** Hash of the query that last read it. */
  readBy: string | undefined;
  /** When its current status was first and last read; in epoch milliseconds. */
  statusAt: number;
  statusReadAt: number;
  /** When the newest response with its status was requested; in epoch milliseconds. */
  statusAskedAt: number;
  /** When a response last reported its progress; in epoch milliseconds. */
  doneAt: number | undefined;
  /** When its progress last changed; in epoch milliseconds. */
  movedAt: number | undefined;
  /** When benchtop noticed that it no longer exists; in epoch milliseconds. */
  goneAt: number | undefined;
  /** Whether its end should be announced: this program has read or started it, or an earlier session saw it running. */
  seen: boolean;
  /** Whether its end has been announced as a transition. */
  announced: boolean;
}

function newEntry(known: KnownResource, readAt: number, seen = false): Entry {
  return {
    known,
    readAt,
    readBy: undefined,
    statusAt: readAt,
    statusReadAt: readAt,
    statusAskedAt: 0,
    doneAt: undefined,
    movedAt: undefined,
    goneAt: undefined,
    seen,
    announced: false,
  };
}

/** When the end was seen; undefined if the resource is running again, or has been found again after it vanished. */
function endStillSeen(before: KnownResource, next: KnownResource, { announced }: Entry): number | undefined {
  return hasEnded(next.status) && (!before.gone || announced) ? next.endedAt : undefined;
}

/** When a resource first had this many rewards, in epoch milliseconds; undefined if unknown. */
type RecallGradedAt = (resource: ResourceKey, count: number) => number | undefined;

export class StatusStore {
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Listeners();
  readonly #transitionListeners = new Listeners<readonly Transition[]>();
  #all: readonly KnownResource[] | undefined;
  readonly #kinds: Kinds;
  readonly #recallGradedAt: RecallGradedAt;

  /** @param recallGradedAt looks up that time in the records of earlier sessions and other processes */
  constructor(kinds: Kinds, recallGradedAt: RecallGradedAt = () => undefined) {
    this.#kinds = kinds;
    this.#recallGradedAt = recallGradedAt;
  }

  /** Whether resources of a kind run on their own, so that their ends are announced even without a pin. */
  runs(kind: string): boolean {
    return this.#kinds.get(kind)?.runs ?? false;
  }

  /** All known resources, in the order they were first seen; the same array until something changes. */
  all(): readonly KnownResource[] {
    this.#all ??= [...this.#entries.values()].map(({ known }) => known);
    return this.#all;
  }

  get(resource: ResourceKey): KnownResource | undefined {
    return this.#entries.get(keyOf(resource))?.known;
  }

  /** When it was last read, in epoch milliseconds, and by which query. */
  lastRead(resource: ResourceKey): { readonly at: number; readonly by: string | undefined } | undefined {
    const entry = this.#entries.get(keyOf(resource));
    return entry && { at: entry.readAt, by: entry.readBy };
  }

  /**
   * When a response last reported its progress, in epoch milliseconds; undefined if none has. Responses without
   * progress, such as lists, do not count.
   */
  doneReadAt(resource: ResourceKey): number | undefined {
    return this.#entries.get(keyOf(resource))?.doneAt;
  }

  /** When its progress last changed, in epoch milliseconds; undefined if it never has. */
  movedAt(resource: ResourceKey): number | undefined {
    return this.#entries.get(keyOf(resource))?.movedAt;
  }

  /** When benchtop noticed that it no longer exists, in epoch milliseconds; undefined if it exists. */
  goneAt(resource: ResourceKey): number | undefined {
    const entry = this.#entries.get(keyOf(resource));
    return entry?.known.gone ? entry.goneAt : undefined;
  }

  /** Calls back after every change. */
  readonly subscribe = this.#listeners.subscribe;

  /** Calls back with a report's transitions, after the store has changed. */
  readonly onTransitions = this.#transitionListeners.subscribe;

  /**
   * Records a response. A resource first seen after its end makes no transition.
   *
   * @returns the observations without what newer responses have contradicted
   */
  report(observations: readonly Observation[], { askedAt, at, by }: ReadTimes): readonly Observation[] {
    const transitions: Transition[] = [];
    const accepted: Observation[] = [];
    let changed = false;
    for (const observation of observations) {
      const entry = this.#entries.get(keyOf(observation)) ?? newEntry(unknownResource(observation, observation.id), at);
      const before = entry.known;
      const news = this.#withoutPast(entry, observation, { askedAt, at });
      accepted.push(news);
      const ends = !hasEnded(before.status) && hasEnded(news.status);
      const fresh = mergeObservation(ends ? withoutProgress(before) : before, news);
      const isEarly = ends && before.status !== undefined;
      const next = isEarly
        ? withOldMeans(fresh)
        : news.measured
          ? withLateMeans(fresh, askedAt, before.endedAt)
          : withKnownSteps(before, fresh);
      const wasSeen = entry.seen;
      const lastReadAt = entry.statusReadAt;
      if (observation.status != null) [entry.seen, entry.statusReadAt] = [true, at];
      if (news.status != null) entry.statusAskedAt = askedAt;
      [entry.readAt, entry.readBy] = [at, by];
      if (news.done != null) entry.doneAt = at;
      if (next.done !== undefined && next.done !== before.done) entry.movedAt = at;
      if (next.status !== before.status) entry.statusAt = at;
      const wasFollowed = wasSeen && (before.status !== undefined || before.isNew);
      const moved = wasFollowed && next.status !== before.status;
      const ended = moved && ends;
      if (ended) entry.announced = true;
      const known = {
        ...next,
        gradedAt: next.graded === before.graded ? before.gradedAt : this.#gradedAt(before, next, at),
        beganAt: beginningOf(before, next, at, lastReadAt),
        endedAt: ended ? at : endStillSeen(before, next, entry),
      };
      if (!isSame(before, known) || !this.#entries.has(keyOf(observation))) {
        entry.known = known;
        this.#entries.set(keyOf(observation), entry);
        changed = true;
      }
      if (moved)
        transitions.push({
          resource: known,
          from: before.status ?? '',
          to: known.status ?? '',
          ended,
          mean: observation.mean ?? undefined,
          lastReadAt,
        });
    }
    this.#announce(changed, transitions);
    return accepted;
  }

  /**
   * Records a resource that this program has just started. It is watched from now on, and its end is announced even if
   * the first response is already final.
   */
  started(observation: Observation, at = Date.now()): void {
    const before = this.get(observation);
    if (before === undefined || !hasEnded(before.status)) {
      // Another response may have been faster: then it is newer.
      this.report([before?.status === undefined ? observation : beforeEnd(observation)], { askedAt: at, at });
      const entry = this.#entries.get(keyOf(observation));
      if (!entry || entry.known.status !== undefined) return;
      entry.seen = true;
      entry.known = { ...entry.known, isNew: true };
      this.#announce(true, []);
      return;
    }
    // A list may have reported it before the response to the start request arrived.
    const entry = this.#entries.get(keyOf(observation));
    if (!entry || entry.announced) return;
    entry.announced = true;
    entry.known = { ...before, endedAt: at };
    this.#announce(true, [{ resource: entry.known, from: '', to: before.status ?? '', ended: true }]);
  }

  /**
   * Loads resources seen in an earlier session, or before switching profiles. Resources already known stay unchanged.
   * The end of a resource that was running, or that is new, will be announced; an end with a time already was.
   */
  recall(resources: readonly (ResourceRef & Partial<KnownResource> & { readonly seenAt: number })[]): void {
    let changed = false;
    for (const { seenAt, ...resource } of resources) {
      if (this.#entries.has(keyOf(resource))) continue;
      const known = { ...unknownResource(resource, resource.label), ...resource };
      const announced = known.endedAt !== undefined;
      const entry = newEntry(known, seenAt, announced || isRunning(known.status) || known.isNew);
      this.#entries.set(keyOf(known), { ...entry, announced, goneAt: known.gone ? seenAt : undefined });
      changed = true;
    }
    this.#announce(changed, []);
  }

  /** Marks a resource's end as missed, if the resource was first seen after its end. @param at in epoch milliseconds */
  noteEnd(resource: ResourceKey, at: number): void {
    const entry = this.#entries.get(keyOf(resource));
    if (!entry || entry.known.endedAt !== undefined) return;
    entry.known = { ...entry.known, endedAt: at };
    entry.announced = true;
    this.#announce(true, []);
  }

  /** Records a failed read. The status stays. */
  failed(resource: ResourceRef, error: string): void {
    this.#change(resource, known => ({ ...known, error }));
  }

  /** Records that the service has no held-out rewards to read. Remembered ones stay. */
  unmeasured(resource: ResourceKey): void {
    const known = this.get(resource);
    if (known) this.#change(known, ({ measured = null, ...others }) => ({ ...others, measured }));
  }

  /** Records that the service no longer has a resource. Announces this if the resource was running or `isWatched`. */
  gone(resource: ResourceKey, isWatched = false, at = Date.now()): void {
    const entry = this.#entries.get(keyOf(resource));
    if (!entry || entry.known.gone) return;
    const { status } = entry.known;
    const isNews = isWatched || (entry.seen && (isRunning(status) || entry.known.isNew));
    entry.known = { ...entry.known, gone: true, error: undefined, ...(isNews ? { endedAt: at } : {}) };
    entry.goneAt = at;
    this.#announce(true, isNews ? [{ resource: entry.known, from: status ?? '', to: 'gone', ended: true }] : []);
  }

  dismiss(resource: ResourceKey): void {
    const entry = this.#entries.get(keyOf(resource));
    if (entry?.known.endedAt === undefined) return;
    entry.known = { ...entry.known, endedAt: undefined };
    this.#announce(true, []);
  }

  /** Forgets a resource, e.g. because this program deleted it. */
  forget(resource: ResourceKey): void {
    this.#announce(this.#entries.delete(keyOf(resource)), []);
  }

  #change(resource: ResourceRef, change: (known: KnownResource) => KnownResource): void {
    const entry = this.#entries.get(keyOf(resource));
    const before = entry?.known ?? unknownResource(resource, resource.label);
    const known = change(before);
    if (entry && isSame(before, known)) return;
    this.#entries.set(keyOf(resource), { ...(entry ?? newEntry(known, 0)), known });
    this.#announce(true, []);
  }

  /**
   * When a resource first had its number of rewards. Uses the remembered time only for the first response without a
   * status.
   */
  #gradedAt(before: KnownResource, next: KnownResource, at: number): number {
    const { graded, status } = next;
    if (before.graded !== undefined || graded === undefined || status !== undefined) return at;
    return Math.min(at, this.#recallGradedAt(next, graded) ?? at);
  }

  /** Drops the status from a response that is out of date, and its numbers unless it has more progress. */
  #withoutPast(entry: Entry, observation: Observation, { askedAt, at }: ReadTimes): Observation {
    const { known, statusAt, statusReadAt, statusAskedAt } = entry;
    // If the response arrived before the end was seen, the clock has been set back.
    const isLater = askedAt > statusAt || at < statusAt;
    if (takesBackEnd(known, observation))
      return !this.#kinds.get(observation.kind)?.endsForGood && isLater ? observation : beforeEnd(observation);
    const { status, done, record } = observation;
    // A response that was requested later has arrived earlier. But nothing can end, or make progress, in the past.
    const isPast = askedAt < statusAskedAt && at >= statusReadAt && !hasEnded(status);
    if (!isPast || status == null) return observation;
    // Without more progress, its numbers are out of date too.
    if ((done ?? -1) <= (known.done ?? -1)) return beforeEnd(observation);
    return { ...observation, status: undefined, record: record && { ...record, status: known.status } };
  }

  #announce(changed: boolean, transitions: readonly Transition[]): void {
    if (!changed) return;
    this.#all = undefined;
    this.#listeners.notify();
    if (transitions.length > 0) this.#transitionListeners.notify(transitions);
  }
}

/** A running resource that has not been read for this long is no longer counted or polled. */
export const lostAfterMs = 12 * 60 * 60_000;

/** The running resources whose status is known. */
export function runningOf(statuses: StatusStore, now = Date.now()): KnownResource[] {
  return followedOf(statuses, now).filter(({ status }) => isRunning(status) && !isUnknown(status ?? ''));
}

/** The running resources, and resources without a status that this program started. */
export const followedOf = (statuses: StatusStore, now = Date.now()): KnownResource[] =>
  statuses.all().filter(known => isFollowed(statuses, known, now));

export const isFollowed = (statuses: StatusStore, known: KnownResource, now: number): boolean =>
  statuses.runs(known.kind) &&
  (isRunning(known.status) || known.isNew) &&
  !known.gone &&
  now - (statuses.lastRead(known)?.at ?? 0) < lostAfterMs;
