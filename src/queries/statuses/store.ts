/**
 * The single store of statuses. Whatever reads a run, a training run, a deployment, a benchmark or a trajectory reports
 * it here; whatever depends on a status (notices, Watch, the counts of the frame, the remembered store) subscribes
 * here. So each change is announced once, no matter which part of the program read it first.
 */
import { isDeepStrictEqual } from 'node:util';
import { Listeners } from '../../base/listeners.ts';
import { hasEnded, isRunning, isUnknown, statusMeaning } from '../../contract/status.ts';
import type { ResourceRef } from '../../store/store.ts';
import { countOf } from '../../text/numbers.ts';
import type { FailedRounds, HeldOutMeans } from '../held-out.ts';
import type { RunDifference } from '../run-difference.ts';
import type { Certainty } from '../run-mean.ts';

/** A kind of resource whose statuses are tracked; each resource declares its own. */
export interface Kind {
  /** Runs on its own: it is counted and watched even without a pin, and its end is announced. */
  readonly runs?: boolean;
  /** Its end is final. Other kinds may change again: a deployment is stopped, a benchmark loses a secret. */
  readonly endsForGood?: boolean;
  /** Its progress is recorded over time, for its pace, and for a curve if the service has none. */
  readonly recordsProgress?: boolean;
}

/** By name, e.g. `run`. */
export type Kinds = ReadonlyMap<string, Kind>;

/** The facts about one resource in an answer. Missing fields are unknown. */
export interface Observation {
  readonly kind: string;
  readonly id: string;
  readonly label?: string | null | undefined;
  readonly status?: string | null | undefined;
  /** The completed part of `total`. */
  readonly done?: number | null | undefined;
  readonly total?: number | null | undefined;
  /** The mean reward, so far or final. */
  readonly mean?: number | null | undefined;
  /** The number of rewards in the mean. */
  readonly graded?: number | null | undefined;
  /** How certain the mean of an evaluation is, if its rewards were read. */
  readonly certainty?: Certainty | undefined;
  /** How an evaluation differs from the baseline, if the rewards of both were read. */
  readonly difference?: RunDifference | undefined;
  /** The number of failed rollouts. */
  readonly failed?: number | null | undefined;
  /** The newest and the best held-out mean. */
  readonly measured?: HeldOutMeans | undefined;
  /** The held-out rounds of a run in which every rollout failed, after its last mean. */
  readonly failedRounds?: FailedRounds | undefined;
  /** The values of its curve, oldest first; undefined for a step without one. */
  readonly curve?: readonly (number | undefined)[] | undefined;
  /** When it began, as the service wrote it. */
  readonly startedAt?: string | null | undefined;
  /** When it ended, as the service wrote it. */
  readonly endTime?: string | null | undefined;
  /** Why it failed, as the service says. */
  readonly reason?: string | null | undefined;
  /** Id of its parent, e.g. the benchmark of a run. */
  readonly parent?: string | null | undefined;
  /** The record as the service sent it, if the answer holds it; saved between starts. */
  readonly record?: Readonly<Record<string, unknown>> | undefined;
}

/** The known state of one resource. The object is replaced only when something changes. */
export interface KnownResource {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  readonly status: string | undefined;
  readonly done: number | undefined;
  readonly total: number | undefined;
  readonly mean: number | undefined;
  readonly graded: number | undefined;
  /** How certain the mean of an evaluation is, as of the last read of its rewards. */
  readonly certainty: Certainty | undefined;
  /** How an evaluation differs from the baseline, as of the last read of the rewards of both. */
  readonly difference: RunDifference | undefined;
  /** The number of failed rollouts. */
  readonly failed: number | undefined;
  /** When it first had this number of rewards; epoch milliseconds. */
  readonly gradedAt: number | undefined;
  readonly measured: HeldOutMeans | undefined;
  readonly failedRounds: FailedRounds | undefined;
  readonly curve: readonly (number | undefined)[];
  readonly startedAt: string | undefined;
  readonly endTime: string | undefined;
  /**
   * When it left the queue, in epoch milliseconds; null if it was seen in the queue but not leaving it; undefined if
   * it was never seen in the queue.
   */
  readonly beganAt: number | null | undefined;
  /** Why it failed, as the service says. */
  readonly reason: string | undefined;
  /** Id of its parent, e.g. the benchmark of a run. */
  readonly parent: string | undefined;
  /** When this program saw it end or vanish, in epoch milliseconds; undefined once dismissed. */
  readonly endedAt: number | undefined;
  /** The error of the last read; undefined after a success. */
  readonly error: string | undefined;
  /** The service no longer has it. */
  readonly gone: boolean;
  /** This program started it, and no answer has had its status yet. It is followed, but does not count as running. */
  readonly isNew: boolean;
}

/** A status that changed while this program was open. */
export interface Transition {
  readonly resource: KnownResource;
  readonly from: string;
  readonly to: string;
  /** Whether it ended with this change, or vanished from the service while it ran. */
  readonly ended: boolean;
  /** The mean in the same answer, and thus as recent as the end. */
  readonly mean?: number | undefined;
  /** When it was last read before the change; epoch milliseconds. */
  readonly lastReadAt?: number | undefined;
}

/** When an answer was requested and when it arrived; epoch milliseconds. */
export interface ReadTimes {
  readonly askedAt: number;
  readonly at: number;
  /** Hash of the query that read it. */
  readonly by?: string | undefined;
}

type Named = Pick<KnownResource, 'kind' | 'id'>;

interface Entry {
  known: KnownResource;
  /** When it was last read; epoch milliseconds. */
  readAt: number;
  /** Hash of the query that last read it. */
  readBy: string | undefined;
  /** When its current status was read; epoch milliseconds. */
  statusAt: number;
  /** When an answer last reported its progress; epoch milliseconds. */
  doneAt: number | undefined;
  /** When that last changed; epoch milliseconds. */
  movedAt: number | undefined;
  /** When it was found to be gone; epoch milliseconds. */
  goneAt: number | undefined;
  /** Whether its end is news: this program has read or started it, or it was seen running before. */
  seen: boolean;
  /** Whether its end was announced as a transition. */
  announced: boolean;
}

/** Names a resource in a map. */
export const keyOf = ({ kind, id }: Named): string => `${kind} ${id}`;

function newEntry(known: KnownResource, readAt: number, seen = false): Entry {
  return {
    known,
    readAt,
    readBy: undefined,
    statusAt: readAt,
    doneAt: undefined,
    movedAt: undefined,
    goneAt: undefined,
    seen,
    announced: false,
  };
}

/** Keeps the old numbers if the new ones are equal, so that nothing is redrawn. */
function sameCurve(old: KnownResource['curve'], next: Observation['curve']): KnownResource['curve'] {
  if (!next || (old.length === next.length && old.every((value, index) => value === next[index]))) return old;
  return next;
}

/** Keeps the old object if the new one is equal or missing. */
const newer = <Value>(old: Value | undefined, next: Value | undefined): Value | undefined =>
  next === undefined || isDeepStrictEqual(old, next) ? old : next;

function merged(old: KnownResource, observation: Observation): KnownResource {
  return {
    ...old,
    label: observation.label || old.label,
    status: observation.status ?? old.status,
    done: countOf(observation.done) ?? old.done,
    total: countOf(observation.total) ?? old.total,
    mean: observation.mean ?? old.mean,
    graded: countOf(observation.graded) ?? old.graded,
    certainty: newer(old.certainty, observation.certainty),
    difference: newer(old.difference, observation.difference),
    failed: countOf(observation.failed) ?? old.failed,
    measured: newer(old.measured, observation.measured),
    // Both come with one answer, in which later rounds may have a mean.
    failedRounds: observation.measured ? observation.failedRounds : newer(old.failedRounds, observation.failedRounds),
    curve: sameCurve(old.curve, observation.curve),
    startedAt: observation.startedAt ?? old.startedAt,
    endTime: observation.endTime ?? old.endTime,
    reason: observation.reason ?? old.reason,
    parent: observation.parent ?? old.parent,
    error: undefined,
    gone: false,
    isNew: old.isNew && observation.status == null,
  };
}

/**
 * Without the progress read before the end, which is not final unless it was complete: the answer with the end may lack
 * progress, as those of a list do.
 */
function withoutProgress(known: KnownResource): KnownResource {
  const { done, total, graded } = known;
  if (done !== undefined && total !== undefined && done >= total) return known;
  // A mean without a count is the last value of a curve.
  const mean = graded === undefined ? known.mean : undefined;
  return { ...known, done: undefined, mean, graded: undefined, failed: undefined };
}

/** When the end was seen; undefined if the resource runs again, or only vanished and was found again. */
function endStillSeen(before: KnownResource, next: KnownResource, { announced }: Entry): number | undefined {
  return hasEnded(next.status) && (!before.gone || announced) ? next.endedAt : undefined;
}

/** If two reads are further apart, the time at which a resource left the queue is unknown. */
const mostApartMs = 60_000;

/** When it was seen leaving the queue. */
function beginningOf(
  before: KnownResource,
  next: KnownResource,
  at: number,
  lastReadAt: number,
): number | null | undefined {
  const waits = ({ status }: KnownResource): boolean => statusMeaning(status ?? '') === 'waiting';
  if (!waits(before) || waits(next)) return before.beganAt;
  return hasEnded(next.status) || at - lastReadAt > mostApartMs ? null : at;
}

function isSame(left: KnownResource, right: KnownResource): boolean {
  return (Object.keys(left) as (keyof KnownResource)[]).every(key => Object.is(left[key], right[key]));
}

/** A resource before any answer about it. */
export function unknownResource({ kind, id }: Named, label: string): KnownResource {
  return {
    kind,
    id,
    label,
    status: undefined,
    done: undefined,
    total: undefined,
    mean: undefined,
    graded: undefined,
    certainty: undefined,
    difference: undefined,
    failed: undefined,
    gradedAt: undefined,
    measured: undefined,
    failedRounds: undefined,
    curve: [],
    startedAt: undefined,
    endTime: undefined,
    beganAt: undefined,
    reason: undefined,
    parent: undefined,
    endedAt: undefined,
    error: undefined,
    gone: false,
    isNew: false,
  };
}

/** Merges several observations of one resource without a store. */
export function knownResource(resource: ResourceRef, observations: readonly Observation[]): KnownResource {
  return observations.reduce(merged, unknownResource(resource, resource.label));
}

/** When a resource first had this many rewards, in epoch milliseconds; undefined if unknown. */
type RewardsSince = (resource: Named, count: number) => number | undefined;

export class StatusStore {
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Listeners();
  readonly #transitionListeners = new Listeners<readonly Transition[]>();
  #all: readonly KnownResource[] | undefined;
  readonly #kinds: Kinds;
  readonly #rewardsSince: RewardsSince;

  /** @param rewardsSince looks it up in the records of earlier starts and other programs */
  constructor(kinds: Kinds, rewardsSince: RewardsSince = () => undefined) {
    this.#kinds = kinds;
    this.#rewardsSince = rewardsSince;
  }

  /** Whether resources of a kind run on their own, so that their ends are announced even without a pin. */
  runs(kind: string): boolean {
    return this.#kinds.get(kind)?.runs ?? false;
  }

  /** All known resources, in the order first seen; the same array until something changes. */
  all(): readonly KnownResource[] {
    this.#all ??= [...this.#entries.values()].map(({ known }) => known);
    return this.#all;
  }

  get(resource: Named): KnownResource | undefined {
    return this.#entries.get(keyOf(resource))?.known;
  }

  /** When it was last read, in epoch milliseconds, and by which query. */
  lastRead(resource: Named): { readonly at: number; readonly by: string | undefined } | undefined {
    const entry = this.#entries.get(keyOf(resource));
    return entry && { at: entry.readAt, by: entry.readBy };
  }

  /**
   * When an answer last reported its progress, in epoch milliseconds; undefined if none did. Answers without progress,
   * such as those of a list, do not count.
   */
  doneReadAt(resource: Named): number | undefined {
    return this.#entries.get(keyOf(resource))?.doneAt;
  }

  /** When that last changed, in epoch milliseconds; undefined if it never did. */
  movedAt(resource: Named): number | undefined {
    return this.#entries.get(keyOf(resource))?.movedAt;
  }

  /** When it was found to be gone, in epoch milliseconds; undefined if it is not gone. */
  goneAt(resource: Named): number | undefined {
    const entry = this.#entries.get(keyOf(resource));
    return entry?.known.gone ? entry.goneAt : undefined;
  }

  /** Calls back after every change. */
  readonly subscribe = this.#listeners.subscribe;

  /** Calls back with the transitions of a report, after the store has changed. */
  readonly onTransitions = this.#transitionListeners.subscribe;

  /** Records an answer. A resource first seen after its end makes no transition. */
  report(observations: readonly Observation[], { askedAt, at, by }: ReadTimes): void {
    const transitions: Transition[] = [];
    let changed = false;
    for (const observation of observations) {
      const entry = this.#entries.get(keyOf(observation)) ?? newEntry(unknownResource(observation, observation.id), at);
      const before = entry.known;
      const news = this.#keepingEnd(entry, observation, { askedAt, at });
      const ends = !hasEnded(before.status) && hasEnded(news.status);
      const next = merged(ends ? withoutProgress(before) : before, news);
      const wasSeen = entry.seen;
      const lastReadAt = entry.readAt;
      if (observation.status != null) entry.seen = true;
      [entry.readAt, entry.readBy] = [at, by];
      if (observation.done != null) entry.doneAt = at;
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
  }

  /**
   * Records a resource that this program just started. It is watched from now on, and its end is announced even if the
   * first answer is already final.
   */
  started(observation: Observation, at = Date.now()): void {
    const before = this.get(observation);
    if (before === undefined || !hasEnded(before.status)) {
      this.report([{ ...observation, status: before?.status ?? observation.status }], { askedAt: at, at });
      const entry = this.#entries.get(keyOf(observation));
      if (!entry || entry.known.status !== undefined) return;
      entry.seen = true;
      entry.known = { ...entry.known, isNew: true };
      this.#announce(true, []);
      return;
    }
    // A list may have reported it before the response to the start arrived.
    const entry = this.#entries.get(keyOf(observation));
    if (!entry || entry.announced) return;
    entry.announced = true;
    entry.known = { ...before, endedAt: at };
    this.#announce(true, [{ resource: entry.known, from: '', to: before.status ?? '', ended: true }]);
  }

  /**
   * Loads resources seen by an earlier start or before a switch of profiles. It changes nothing already known. The ends
   * of those that were running will be announced.
   */
  recall(
    resources: readonly (ResourceRef & {
      readonly status: string | undefined;
      readonly seenAt: number;
      readonly beganAt?: KnownResource['beganAt'];
    })[],
  ): void {
    let changed = false;
    for (const { status, seenAt, beganAt, ...resource } of resources) {
      if (this.#entries.has(keyOf(resource))) continue;
      const known = { ...unknownResource(resource, resource.label), status, beganAt };
      this.#entries.set(keyOf(resource), newEntry(known, seenAt, isRunning(status)));
      changed = true;
    }
    this.#announce(changed, []);
  }

  /** Loads resources whose end an earlier start saw, and which was not dismissed. It changes nothing already known. */
  recallEnded(
    resources: readonly (ResourceRef & { readonly ended: Partial<KnownResource>; readonly at: number })[],
  ): void {
    let changed = false;
    for (const { ended, at, kind, id, label } of resources) {
      if (this.#entries.has(keyOf({ kind, id }))) continue;
      const known = { ...unknownResource({ kind, id }, label), ...ended, endedAt: at };
      const entry = newEntry(known, at, true);
      this.#entries.set(keyOf(known), { ...entry, announced: true, ...(known.gone && { goneAt: at }) });
      changed = true;
    }
    this.#announce(changed, []);
  }

  /**
   * Marks the end of a resource as missed, if the resource was first seen after its end. @param at epoch milliseconds
   */
  noteEnd(resource: Named, at: number): void {
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

  /**
   * Records that the service no longer has it. This is announced if it was running, or is watched for another reason.
   */
  gone(resource: Named, isWatched = false, at = Date.now()): void {
    const entry = this.#entries.get(keyOf(resource));
    if (!entry || entry.known.gone) return;
    const { status } = entry.known;
    const isNews = isWatched || (entry.seen && (isRunning(status) || entry.known.isNew));
    entry.known = { ...entry.known, gone: true, error: undefined, ...(isNews ? { endedAt: at } : {}) };
    entry.goneAt = at;
    this.#announce(true, isNews ? [{ resource: entry.known, from: status ?? '', to: 'gone', ended: true }] : []);
  }

  dismiss(resource: Named): void {
    const entry = this.#entries.get(keyOf(resource));
    if (entry?.known.endedAt === undefined) return;
    entry.known = { ...entry.known, endedAt: undefined };
    this.#announce(true, []);
  }

  /** Forgets it, e.g. because this program deleted it. */
  forget(resource: Named): void {
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

  /** Uses the remembered time only for the first answer, and only if that has no status. */
  #gradedAt(before: KnownResource, next: KnownResource, at: number): number {
    const { graded, status } = next;
    if (before.graded !== undefined || graded === undefined || status !== undefined) return at;
    return Math.min(at, this.#rewardsSince(next, graded) ?? at);
  }

  /** An answer that was requested before the end was seen is out of date and does not undo the end. */
  #keepingEnd({ known, statusAt }: Entry, observation: Observation, { askedAt, at }: ReadTimes): Observation {
    const takesBack = hasEnded(known.status) && observation.status != null && !hasEnded(observation.status);
    // If it arrives before the end was seen, the clock was set back.
    const isLater = askedAt > statusAt || at < statusAt;
    if (!takesBack || (!this.#kinds.get(observation.kind)?.endsForGood && isLater)) return observation;
    const { kind, id, label, startedAt } = observation;
    return { kind, id, label, startedAt };
  }

  #announce(changed: boolean, transitions: readonly Transition[]): void {
    if (!changed) return;
    this.#all = undefined;
    this.#listeners.notify();
    if (transitions.length > 0) this.#transitionListeners.notify(transitions);
  }
}

/** A running resource not seen for this long is no longer counted or polled. */
export const lostAfterMs = 12 * 60 * 60_000;

/** The running resources, without those with a missing or unknown status. */
export function runningOf(statuses: StatusStore, now = Date.now()): KnownResource[] {
  return followedOf(statuses, now).filter(({ status }) => isRunning(status) && !isUnknown(status ?? ''));
}

/** The running resources, and those that this program started and whose status is still unknown. */
export function followedOf(statuses: StatusStore, now = Date.now()): KnownResource[] {
  return statuses
    .all()
    .filter(
      known =>
        statuses.runs(known.kind) &&
        (isRunning(known.status) || known.isNew) &&
        !known.gone &&
        now - (statuses.lastRead(known)?.at ?? 0) < lostAfterMs,
    );
}
