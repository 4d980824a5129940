/**
 * Lists and records that remember what they showed. Where the service does not list a kind of thing, or not all of it, what was seen
 * here stands in for it, and a note says so.
 */
import { faultOf } from '../fault.ts';
import type { NotedPage } from '../list.ts';
import type { ListSource } from '../use-list.ts';
import type { LiveQuery } from '../use-live.ts';
import type { RememberedStore, RememberedThing, SeenThing } from './store.ts';

export interface Remembering<Row> {
  readonly kind: SeenThing['kind'];
  /** What is remembered of a row. */
  readonly describe: (row: Row) => Omit<SeenThing, 'kind' | 'record'>;
  /** The things of this parent only. */
  readonly parent?: string;
  /** In the plural, for the note: `runs`. */
  readonly words: string;
}

function rowOf<Row>({ record, seenAt }: RememberedThing): Row {
  return { ...record, remembered_at: seenAt } as unknown as Row;
}

/** When a row was last seen, where it was remembered instead of listed. Epoch milliseconds. */
export function rememberedAt(row: object): number | undefined {
  return 'remembered_at' in row && typeof row.remembered_at === 'number' ? row.remembered_at : undefined;
}

/** Makes a list remember, and fall back on what was remembered. */
export function remembering<Row extends object>(
  source: ListSource<Row>,
  { kind, describe, parent, words }: Remembering<Row>,
): ListSource<Row> {
  const see = (memory: RememberedStore, rows: readonly Row[]): void =>
    memory.see(rows.map(row => ({ kind, ...describe(row), record: row as Readonly<Record<string, unknown>> })));
  return {
    ...source,
    readPage: async ({ service, query, signal, memory }): Promise<NotedPage<Row>> => {
      try {
        const page = await source.readPage({ service, query, signal, memory });
        see(memory, page.items);
        return page;
      } catch (error) {
        if (!faultOf(error).unlisted) throw error;
        const items = memory.list(kind, parent).map(thing => rowOf<Row>(thing));
        const note = `This service does not list ${words}: these are the ones seen here, as they were then`;
        return { items, has_more: false, next_cursor: null, dropped: 0, note };
      }
    },
  };
}

/** Makes a record remember itself; where the service has no such record, what was remembered stands in for it. */
export function rememberingOne<Thing extends object>(
  query: LiveQuery<Thing>,
  id: string,
  { kind, describe }: Pick<Remembering<Thing>, 'kind' | 'describe'>,
): LiveQuery<Thing> {
  return {
    ...query,
    read: async ({ service, signal, memory }) => {
      try {
        const thing = await query.read({ service, signal, memory });
        memory.see([{ kind, ...describe(thing), record: thing as Readonly<Record<string, unknown>> }]);
        return thing;
      } catch (error) {
        const seen = faultOf(error).unlisted ? memory.find(kind, id) : undefined;
        if (!seen) throw error;
        return rowOf<Thing>(seen);
      }
    },
  };
}
