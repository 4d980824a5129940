/** Feeds the observations in each response to the statuses, the inbox and the remembered store. */
import { hasEnded, isRunning, statusMeaning } from '../contract/status.ts';
import type { RemovedResource } from '../queries/action.ts';
import { rememberedMeans } from '../queries/held-out.ts';
import type { Lists } from '../queries/lists/lists.ts';
import { rememberObserved } from '../queries/remembered-fallback.ts';
import { rememberedDifference } from '../queries/run-difference.ts';
import { rememberedCertainty } from '../queries/run-mean.ts';
import type { Observation } from '../queries/statuses/known-resource.ts';
import type { AllOfKind, Subject } from '../queries/statuses/observe.ts';
import type { Restarts } from '../queries/statuses/restarts.ts';
import {
  type Kinds,
  lostAfterMs,
  type ReadTimes,
  type StatusStore,
  type Transition,
} from '../queries/statuses/store.ts';
import type { RememberedStore } from '../store/store.ts';
import { hasTexts, type TextIndex } from '../store/text-index.ts';
import type { Inbox } from './inbox.ts';
import type { Notes } from './notes.ts';
import type { Pins } from './pins.ts';

interface RecordsOptions {
  readonly kinds: Kinds;
  readonly statuses: StatusStore;
  readonly restarts: Restarts;
  readonly lists: Lists;
  readonly pins: Pins;
  readonly notes: Notes;
  readonly inbox: Inbox;
  readonly remembered: () => RememberedStore;
  readonly texts: () => TextIndex;
  /** Records that the program received a response at this time, in epoch milliseconds. */
  readonly attend: (at: number) => void;
}

export class Records {
  readonly #of: RecordsOptions;

  constructor(options: RecordsOptions) {
    this.#of = options;
    options.statuses.onTransitions(transitions => this.#changed(transitions));
    options.restarts.subscribe(({ resource, from, step }) => {
      const { kind, id } = resource;
      options.inbox.restarted(resource, step);
      options.remembered().see([{ kind, id, restart: { from, step } }]);
    });
    this.recall(true);
  }

  /** Remembers when resources left the queue, and records their ends in the inbox. */
  #changed(transitions: readonly Transition[]): void {
    // The first response after the user has been away may report that something ended.
    this.#of.attend(Date.now());
    for (const transition of transitions) {
      const { kind, id, beganAt } = transition.resource;
      if (beganAt !== undefined) this.#of.remembered().see([{ kind, id, beganAt }]);
      // A deployment may fail after it was deployed, which is a second end.
      const isEnd = transition.ended || statusMeaning(transition.to) === 'failure';
      if (isEnd && (this.#of.statuses.runs(kind) || this.#of.pins.has(kind, id))) this.#of.inbox.ended(transition);
    }
  }

  /** Passes on the observations in a response, as the statuses have accepted them. */
  observed(observations: readonly Observation[], times: ReadTimes): void {
    const { at, by } = times;
    this.#of.attend(at);
    this.#of.inbox.observed(observations, at);
    this.#remember(observations, at);
    this.#recallCertainty(observations, times);
    for (const { kind, id, done } of observations) {
      const known = this.#of.kinds.get(kind)?.recordsProgress ? this.#of.statuses.get({ kind, id }) : undefined;
      if (known && done != null && by !== undefined) this.#of.restarts.follow(known, done, by);
    }
  }

  /**
   * Loads running and pinned resources from earlier sessions and other processes, and resources that this machine
   * started whose end the user has not seen. Sends nothing.
   */
  recall(isFirst = false): void {
    const { statuses, pins, inbox, notes } = this.#of;
    const remembered = this.#of.remembered();
    const isChanged = remembered.file.wasWrittenElsewhere();
    if (isChanged) {
      inbox.readAgain();
      pins.readAgain(true);
      notes.readAgain();
    } else pins.readAgain(false);
    const ended = inbox.list().flatMap(({ what, kind, id, label, at, detail }) => {
      return what === 'end' ? [{ ...detail, kind, id, label, seenAt: at, endedAt: at }] : [];
    });
    statuses.recall(ended);
    const runningKinds = [...this.#of.kinds.keys()].filter(kind => statuses.runs(kind));
    const since = Date.now() - lostAfterMs;
    const running = remembered.seen.since(since, { kinds: runningKinds }).filter(({ status }) => isRunning(status));
    // A command may have read the end of its own start, which the user may still not know.
    const unended =
      isFirst || isChanged ? remembered.seen.unended(since).filter(({ kind }) => statuses.runs(kind)) : [];
    const started = unended.map(each => ({ ...each, status: undefined, isNew: true }));
    statuses.recall(
      [...pins.list(), ...running, ...started]
        .filter(each => statuses.get(each) === undefined)
        .map(each => {
          const { status, seenAt = 0, beganAt, measured } = remembered.seen.find(each.kind, each.id) ?? {};
          return { status, seenAt, beganAt, measured: rememberedMeans(measured), ...each };
        }),
    );
  }

  /** Saves observations for the next session. The store writes them later. */
  #remember(observations: Parameters<typeof rememberObserved>[1], at: number): void {
    const kept = observations.filter(({ kind, record }) => record !== undefined || this.#of.statuses.runs(kind));
    rememberObserved(this.#of.remembered(), kept, at);
    for (const { kind, id, done } of kept) {
      if (!this.#of.kinds.get(kind)?.recordsProgress || done == null) continue;
      const { status, endTime } = this.#of.statuses.get({ kind, id }) ?? {};
      this.#of.remembered().recordProgress(id, done, at, hasEnded(status) && endTime === undefined);
    }
  }

  /** Adds the remembered certainty and difference from the baseline to the records of runs. */
  #recallCertainty(observations: readonly Observation[], times: ReadTimes): void {
    const recalled = observations.flatMap(({ kind, id, record }): Observation[] => {
      const { status, certainty: known } = this.#of.statuses.get({ kind, id }) ?? {};
      if (kind !== 'run' || record === undefined || known) return [];
      const certainty = rememberedCertainty(this.#of.remembered(), id, { status });
      const difference = rememberedDifference(this.#of.remembered(), id, status);
      return certainty || difference ? [{ kind, id, certainty, difference }] : [];
    });
    if (recalled.length > 0) this.#of.statuses.report(recalled, times);
  }

  /** Registers a resource that this program has just started. */
  started(observation: Observation, at = Date.now()): void {
    // Another response may have been faster: then its progress is newer.
    const isLate = this.#of.statuses.get(observation)?.status !== undefined;
    this.#of.statuses.started(observation, at);
    this.#remember([{ ...observation, ...(isLate && { done: undefined }), isStart: true }], at);
  }

  /** Removes a resource that this program has just deleted. @param touches key prefixes of lists that contained it */
  deleted({ kind, id }: RemovedResource, touches: readonly (readonly unknown[])[]): void {
    for (const under of touches) this.#of.lists.remove(under, [id]);
    if (kind === undefined) return;
    this.#of.statuses.forget({ kind, id });
    this.#of.inbox.dismissAll({ kind, id });
    this.#forget({ kind, id });
    if (hasTexts(kind)) this.#of.texts().forget(kind, id);
  }

  /** Dismisses a resource's end and its other events in the inbox. */
  dismiss({ kind, id }: Subject): void {
    this.#of.statuses.dismiss({ kind, id });
    this.#of.inbox.dismissAll({ kind, id });
  }

  /** Marks a resource that no longer exists on the service. */
  gone(subject: Subject): void {
    this.#of.statuses.gone(subject, this.#of.pins.has(subject.kind, subject.id));
    // A pinned resource that this profile has never seen may belong to another account, which still has it.
    if (this.#of.remembered().seen.find(subject.kind, subject.id)) this.#forget(subject);
  }

  /**
   * Forgets resources of a kind that the service no longer has. Keeps those seen after `before`, which may be newer
   * than the response.
   */
  keepOnly({ kind, ids }: AllOfKind, before: number): void {
    for (const { id, seenAt } of this.#of.remembered().seen.since(0, { kinds: [kind] }))
      if (seenAt < before && !ids.has(id)) this.#forget({ kind, id });
  }

  #forget({ kind, id }: Subject): void {
    this.#of.pins.remove(kind, id);
    this.#of.remembered().forget(kind, id);
  }
}
