/**
 * The one place that turns answers into knowledge: it observes the query cache and reports every answer, whichever
 * view, poll or action asked for it. Queries write nothing themselves; they declare what their data says.
 */

import type { Query, QueryClient } from '@tanstack/react-query';
import { isRunning } from '../../contract/status.ts';
import { isGone, isNotOffered } from '../../service/errors.ts';
import { errorMessage } from '../../text/errors.ts';
import { rememberedAt } from '../remembered/seen.ts';
import { keyOf, type Observation, type ReadTimes, type StatusStore } from './store.ts';

/** The resource a query is about. */
export interface Subject {
  readonly kind: string;
  readonly id: string;
}

/** A query's declarations about itself and its data. */
export interface AnswerMeta extends Record<string, unknown> {
  /** What the data, or each of its rows, says about a resource. */
  readonly observes?: ((row: never) => Observation) | undefined;
  /** The rows of the data; the data itself by default. */
  readonly rows?: ((data: never) => readonly object[]) | undefined;
  /** The rows read since it was last called; all of them by default. */
  readonly news?: (() => readonly object[]) | undefined;
  /** The rows only name their resources: they are reported only for resources that are known otherwise. */
  readonly onlyNames?: boolean | undefined;
  /** The resource of the whole query, which answers 404 once it is gone. */
  readonly about?: Subject | undefined;
  /** The resource that the rows belong to: if they are not found, it may be gone, and is asked about. */
  readonly partOf?: Subject | undefined;
}

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: AnswerMeta;
  }
}

export interface Observers {
  readonly statuses: StatusStore;
  /** Called with every report, e.g. to remember it. */
  readonly onObserved: (observations: readonly Observation[], times: ReadTimes) => void;
  /** Called once no query finds the resource any more. */
  readonly onGone: (subject: Subject) => void;
}

function isAbout(query: Query, { kind, id }: Subject): boolean {
  const { about } = query.meta ?? {};
  return about?.kind === kind && about.id === id;
}

/** Reports answers that arrive in the cache, until the returned function is called. */
export function observeAnswers(client: QueryClient, { statuses, onObserved, onGone }: Observers): () => void {
  const cache = client.getQueryCache();
  const askedAt = new Map<string, number>();
  /** The data last reported, by query: a cancelled request puts the same data back. */
  const latest = new WeakMap<Query, unknown>();

  /** Unchanged rows keep their identity from answer to answer: most of a long list has nothing new to report. */
  const reported = new WeakMap<object, Observation>();
  /** Resources that a list has but no query found: once no list has them either, they are asked about again. */
  const onlyListed = new Map<string, Subject>();

  const newsOf = (row: object, query: Query, askedAt: number): Observation[] => {
    const { meta = {} } = query;
    if (rememberedAt(row) !== undefined || !meta.observes) return [];
    const before = reported.get(row);
    const said = before ?? meta.observes(row as never);
    if (meta.onlyNames && statuses.get(said) === undefined) return [];
    if (!before) reported.set(row, said);
    const goneAt = statuses.goneAt(said);
    if (goneAt !== undefined) {
      // An answer from before it was found to be gone does not bring it back; the same row in a later answer does. What
      // belongs to it may outlive it, such as its curves.
      if (askedAt < goneAt || !(meta.rows || isAbout(query, said))) return [];
      if (meta.rows) onlyListed.set(keyOf(said), said);
      return [said];
    }
    return before && !isRunning(before.status) ? [] : [said];
  };

  /** `at` is the time of arrival: the data may carry an older time, if only part of it is new. */
  const arrived = (query: Query, at: number): void => {
    const { meta = {} } = query;
    const { data } = query.state;
    if (!meta.observes || typeof data !== 'object' || data === null) return;
    latest.set(query, data);
    const times = { askedAt: askedAt.get(query.queryHash) ?? at, at, by: query.queryHash };
    const read = meta.news?.() ?? meta.rows?.(data as never) ?? [data];
    const observations = read.flatMap(row => newsOf(row, query, times.askedAt));
    if (observations.length > 0) {
      statuses.report(observations, times);
      onObserved(observations, times);
    }
    if (meta.rows) askUnlisted();
  };

  /** An answer that is on its way was asked for before the 404, and may be older. */
  const askAnew = (query: Query): Promise<unknown> => query.fetch(undefined, { cancelRefetch: true });

  /** Repeats the queries that found it. Returns whether there were any. */
  const askAbout = (subject: Subject): boolean => {
    const found = cache.findAll({ predicate: query => isAbout(query, subject) && query.state.status === 'success' });
    for (const query of found) void askAnew(query).catch(() => {});
    return found.length > 0;
  };

  /** The lists whose last answer has the resource. */
  const listsWith = ({ kind, id }: Subject): Query[] => {
    const hasRow = ({ meta, state: { data, status } }: Query): boolean => {
      if (!meta?.rows || status !== 'success' || typeof data !== 'object' || data === null) return false;
      return meta.rows(data as never).some(row => {
        const said = rememberedAt(row) === undefined ? meta.observes?.(row as never) : undefined;
        return said?.kind === kind && said.id === id;
      });
    };
    return cache.findAll({ predicate: hasRow });
  };

  /** A list may lag behind: it decides with a later answer. */
  const askUnlisted = (): void => {
    for (const [key, subject] of onlyListed) {
      if (listsWith(subject).length > 0) continue;
      onlyListed.delete(key);
      const asked = cache.findAll({ predicate: query => isAbout(query, subject) });
      for (const query of asked) void askAnew(query).catch(() => {});
      if (asked.length === 0) onGone(subject);
    }
  };

  /**
   * A 404 may concern one endpoint only, or come from a copy of the data that lags behind: the resource is gone once no
   * query about it finds it, and no list that had it still does.
   */
  const missed = (subject: Subject): void => {
    onlyListed.delete(keyOf(subject));
    if (askAbout(subject)) return;
    const lists = listsWith(subject);
    if (lists.length === 0) {
      onGone(subject);
      return;
    }
    void Promise.allSettled(lists.map(askAnew)).then(() => {
      if (listsWith(subject).length > 0) onlyListed.set(keyOf(subject), subject);
      else onGone(subject);
    });
  };

  const failed = (query: Query): void => {
    const { about, partOf } = query.meta ?? {};
    const { error, data } = query.state;
    if (partOf && isGone(error)) askAbout(partOf);
    if (!about) return;
    // Report it again after it recovers, even if unchanged.
    if (typeof data === 'object' && data !== null) reported.delete(data);
    if (isGone(error)) missed(about);
    else if (!isNotOffered(error) && statuses.get(about))
      statuses.failed({ ...about, label: about.id }, errorMessage(error));
  };

  return cache.subscribe(event => {
    const { query } = event;
    if (event.type === 'removed') askedAt.delete(query.queryHash);
    if (event.type !== 'updated') return;
    if (event.action.type === 'fetch') askedAt.set(query.queryHash, Date.now());
    else if (event.action.type === 'success')
      arrived(query, event.action.manual ? Date.now() : query.state.dataUpdatedAt);
    // A page of a list whose last poll has failed.
    else if (event.action.type === 'setState' && query.state.data !== latest.get(query)) arrived(query, Date.now());
    else if (event.action.type === 'error') failed(query);
  });
}
