/**
 * Lists and records that fall back on what was seen before. Where the service does not list a kind of resource, or not
 * all of it, what was seen here is shown instead, and a note says so.
 */
import { isNotOffered } from '../../service/errors.ts';
import { type ListSource, type NotedPage, wholePage } from '../lists/list.ts';
import type { Observation } from '../statuses/store.ts';
import type { LiveQuery } from '../use-live.ts';
import { rememberedAt } from './seen.ts';
import type { RememberedResource, RememberedStore } from './store.ts';

export interface Remembering<Row> {
  readonly kind: string;
  /** The field of a row that holds its id. */
  readonly idName: string;
  /** What a row says about its resource. */
  readonly observe: (row: Row) => Observation;
  /** The resources of this parent only. */
  readonly parent?: string | undefined;
  /** Those of the remembered rows that belong into the list; all where it is missing. */
  readonly keeps?: (row: Row) => boolean;
  /** In the plural, for the note: `runs`. */
  readonly words: string;
}

export { rememberedAt };

/** What was seen only in part, e.g. in an answer about progress, has no more than its id. */
function rowOf<Row>({ id, record, seenAt }: RememberedResource, idName: string): Row {
  return { [idName]: id, ...record, remembered_at: seenAt } as unknown as Row;
}

/** Makes a list fall back on what was remembered, and declares what its rows say. */
export function remembering<Row extends object>(
  source: ListSource<Row>,
  { kind, idName, observe, parent, keeps = () => true, words }: Remembering<Row>,
): ListSource<Row> {
  return {
    ...source,
    observes: observe,
    readPage: async ({ service, query, signal, memory }): Promise<NotedPage<Row>> => {
      try {
        return await source.readPage({ service, query, signal, memory });
      } catch (error) {
        if (!isNotOffered(error)) throw error;
        const seen = memory.list(kind, parent);
        const items = seen.map(resource => rowOf<Row>(resource, idName)).filter(keeps);
        const note = `This service does not list ${words}; showing what was seen here, as it was then`;
        return { ...wholePage(items, note), remembered_at: seen[0]?.seenAt ?? 0 };
      }
    },
  };
}

/** Makes a record fall back on what was remembered, and declares what it says. */
export function rememberingOne<Row extends object>(
  query: LiveQuery<Row>,
  id: string,
  { kind, idName, observe }: Pick<Remembering<Row>, 'kind' | 'idName' | 'observe'>,
): LiveQuery<Row> {
  return {
    ...query,
    about: { kind, id },
    observes: observe,
    read: async ({ service, signal, memory }) => {
      try {
        return await query.read({ service, signal, memory });
      } catch (error) {
        const seen = isNotOffered(error) ? memory.find(kind, id) : undefined;
        if (!seen) throw error;
        return rowOf<Row>(seen, idName);
      }
    },
  };
}

/** Remembers what a command read: it has no cache that is listened to. */
export function rememberRows<Row>(
  memory: RememberedStore,
  { observes }: { readonly observes?: ((row: Row) => Observation) | undefined },
  rows: readonly Row[],
): void {
  if (observes) memory.see(rows.filter(row => rememberedAt(row as object) === undefined).map(observes));
}
