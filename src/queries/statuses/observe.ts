/**
 * Observes the query cache and reports every result to the status store, from any part of the program. Queries only
 * declare what their data lets it observe.
 */

import type { Query, QueryCache, QueryClient } from '@tanstack/react-query';
import { errorMessage } from '../../base/errors.ts';
import { isRunning } from '../../contract/status.ts';
import { isGone, isNotOffered } from '../../service/errors.ts';
import { rememberedAt } from '../../store/seen.ts';
import { keyOf, type Observation } from './known-resource.ts';
import type { ReadTimes, StatusStore } from './store.ts';

export interface Subject {
  readonly kind: string;
  readonly id: string;
}

export interface AllOfKind {
  readonly kind: string;
  readonly ids: ReadonlySet<string>;
}

/** A query's declarations about itself and its data. */
export interface AnswerMeta extends Record<string, unknown> {
  /** Extracts the observation from the data, or from each of its rows. */
  readonly observes?: ((row: never) => Observation) | undefined;
  /** The rows of the data; the data itself by default. */
  readonly rows?: ((data: never) => readonly object[]) | undefined;
  /** The rows read since the last call; all rows by default. */
  readonly news?: (() => readonly object[]) | undefined;
  /** Whether the rows only name their resources, so that they are reported only for resources already known. */
  readonly onlyNames?: boolean | undefined;
  /** All resources of a kind, if the data contains all of them. */
  readonly all?: (() => AllOfKind | undefined) | undefined;
  /** The resource that the data belongs to. Once it is deleted, the query gets a 404. */
  readonly about?: Subject | undefined;
  /**
   * The resource that the held-out rewards in the data belong to. If the service does not offer the query, there are
   * none.
   */
  readonly measures?: Subject | undefined;
  /** The resource that the rows belong to. If the rows are not found, it may no longer exist, so it is read. */
  readonly partOf?: Subject | undefined;
}

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: AnswerMeta;
  }
}

interface Observers {
  readonly statuses: StatusStore;
  /** Called with what is new in every report, e.g. to remember it. */
  readonly onObserved: (observations: readonly Observation[], times: ReadTimes) => void;
  /** Called with every result that contains all resources of a kind. */
  readonly onAll?: (all: AllOfKind, times: ReadTimes) => void;
  /** Called once no query finds the resource any longer. */
  readonly onGone: (subject: Subject) => void;
}

function isAbout(query: Query, { kind, id }: Subject): boolean {
  const { about } = query.meta ?? {};
  return about?.kind === kind && about.id === id;
}

/** Reports results as they arrive in the cache, until the returned function is called. */
export function observeAnswers(client: QueryClient, observers: Observers): () => void {
  return new AnswerObserver(client.getQueryCache(), observers).stop;
}

/** A query's data as an object; undefined before its first result. */
function dataOf({ state: { data } }: Query): object | undefined {
  return typeof data === 'object' && data !== null ? data : undefined;
}

/** Sends the query again, even if it is in flight, because that response may be older than the 404. */
const fetchAgain = (query: Query): Promise<unknown> => query.fetch(undefined, { cancelRefetch: true });

class AnswerObserver {
  readonly #cache: QueryCache;
  readonly #observers: Observers;
  readonly #sentAt = new Map<string, number>();
  /** The data last reported, by query: a cancelled request restores the same data. */
  readonly #latest = new WeakMap<Query, unknown>();
  /** Unchanged rows keep their identity from one response to the next, so most of a long list need not be reported. */
  readonly #reported = new WeakMap<object, Observation>();
  /** Resources that only lists still contain. Once no list contains them either, they are read again. */
  readonly #onlyListed = new Map<string, Subject>();
  readonly stop: () => void;

  constructor(cache: QueryCache, observers: Observers) {
    this.#cache = cache;
    this.#observers = observers;
    this.stop = cache.subscribe(event => {
      const { query } = event;
      if (event.type === 'removed') this.#sentAt.delete(query.queryHash);
      if (event.type !== 'updated') return;
      if (event.action.type === 'fetch') this.#sentAt.set(query.queryHash, Date.now());
      else if (event.action.type === 'success')
        this.#arrived(query, event.action.manual ? Date.now() : query.state.dataUpdatedAt);
      // Also report a page that arrives after the last poll of its list has failed.
      else if (event.action.type === 'setState' && query.state.data !== this.#latest.get(query))
        this.#arrived(query, Date.now());
      else if (event.action.type === 'error') this.#failed(query);
    });
  }

  /** @param at when it arrived. The data may have an older time if only part of it is new */
  #arrived(query: Query, at: number): void {
    const { meta = {} } = query;
    const data = dataOf(query);
    if (!meta.observes || !data) return;
    this.#latest.set(query, data);
    const times = { askedAt: this.#sentAt.get(query.queryHash) ?? at, at, by: query.queryHash };
    const read = meta.news?.() ?? meta.rows?.(data as never) ?? [data];
    const observations = read.flatMap(row => this.#newsOf(row, query, times.askedAt));
    if (observations.length > 0) {
      this.#observers.onObserved(this.#observers.statuses.report(observations, times), times);
    }
    if (meta.rows) this.#readUnlisted();
    const all = meta.all?.();
    if (all) this.#observers.onAll?.(all, times);
  }

  #newsOf(row: object, query: Query, sentAt: number): Observation[] {
    const { statuses } = this.#observers;
    const { meta = {} } = query;
    if (rememberedAt(row) !== undefined || !meta.observes) return [];
    const before = this.#reported.get(row);
    const observation = before ?? meta.observes(row as never);
    if (meta.onlyNames && statuses.get(observation) === undefined) return [];
    if (!before) this.#reported.set(row, observation);
    const goneAt = statuses.goneAt(observation);
    if (goneAt !== undefined) {
      // A response requested before the 404 does not bring the resource back, but the same row in a later response
      // does. Parts such as curves may outlive the resource.
      if (sentAt < goneAt || !(meta.rows || isAbout(query, observation))) return [];
      if (meta.rows) this.#onlyListed.set(keyOf(observation), observation);
      return [observation];
    }
    // A part without a status, such as a curve, may be the first response since its resource ended.
    const isPart = !meta.rows && observation.status == null;
    return before && !isPart && !isRunning(before.status) ? [] : [observation];
  }

  #failed(query: Query): void {
    const { statuses } = this.#observers;
    const { about, partOf, measures } = query.meta ?? {};
    const { error } = query.state;
    if (measures && isNotOffered(error)) statuses.unmeasured(measures);
    if (partOf && isGone(error)) this.#readAgain(partOf);
    if (!about) return;
    // Report it again once it recovers, even if unchanged.
    const data = dataOf(query);
    if (data) this.#reported.delete(data);
    if (isGone(error)) this.#missed(about);
    else if (!isNotOffered(error) && statuses.get(about))
      statuses.failed({ ...about, label: about.id }, errorMessage(error));
  }

  /**
   * A 404 may be about only one endpoint, or come from a replica that lags behind. So a resource counts as deleted only
   * once no query finds it and no list contains it.
   */
  #missed(subject: Subject): void {
    this.#onlyListed.delete(keyOf(subject));
    if (this.#readAgain(subject)) return;
    const lists = this.#listsWith(subject);
    if (lists.length === 0) {
      this.#observers.onGone(subject);
      return;
    }
    void Promise.allSettled(lists.map(fetchAgain)).then(() => {
      if (this.#listsWith(subject).length > 0) this.#onlyListed.set(keyOf(subject), subject);
      else this.#observers.onGone(subject);
    });
  }

  /** Refetches the queries that found it. Returns whether there were any. */
  #readAgain(subject: Subject): boolean {
    const isFound = (query: Query): boolean => isAbout(query, subject) && query.state.status === 'success';
    return this.#repeat(isFound);
  }

  /** Refetches queries. Returns whether there were any. */
  #repeat(predicate: (query: Query) => boolean): boolean {
    const queries = this.#cache.findAll({ predicate });
    for (const query of queries) void fetchAgain(query).catch(() => {});
    return queries.length > 0;
  }

  /** Reads resources again that only lists contained, once no list does. */
  #readUnlisted(): void {
    for (const [key, subject] of this.#onlyListed) {
      if (this.#listsWith(subject).length > 0) continue;
      this.#onlyListed.delete(key);
      if (!this.#repeat(query => isAbout(query, subject))) this.#observers.onGone(subject);
    }
  }

  /** The lists whose last response contains the resource. */
  #listsWith({ kind, id }: Subject): Query[] {
    const hasRow = (query: Query): boolean => {
      const { meta, state } = query;
      const data = dataOf(query);
      if (!meta?.rows || state.status !== 'success' || !data) return false;
      return meta.rows(data as never).some(row => {
        const observation = rememberedAt(row) === undefined ? meta.observes?.(row as never) : undefined;
        return observation?.kind === kind && observation.id === id;
      });
    };
    return this.#cache.findAll({ predicate: hasRow });
  }
}
