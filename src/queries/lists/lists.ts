/** The lists of a connection: a reader for each, and their row counts. */
import { hashKey, type QueryClient } from '@tanstack/react-query';
import { Listeners } from '../../text/listeners.ts';
import type { QueryContext } from '../query-context.ts';
import type { RememberedStore } from '../remembered/store.ts';
import { type ListSource, wholePage } from './list.ts';
import { ListReader } from './reader.ts';

/** How many rows have been read. */
export interface ListCount {
  readonly rows: number;
  /** Whether these are all the service's rows. */
  readonly complete: boolean;
  /** When they were counted, by the last answer about the first page; epoch milliseconds. */
  readonly readAt: number;
}

export class Lists {
  readonly #cache: QueryClient;
  readonly #context: (signal: AbortSignal) => Promise<QueryContext>;
  readonly #memory: () => RememberedStore | undefined;
  readonly #readers = new Map<string, { readonly key: readonly unknown[]; readonly reader: ListReader<never> }>();
  /** Kept after the rows are dropped, so that a known count does not disappear. */
  readonly #counts = new Map<string, ListCount>();

  /** The lists that have the rows of another one in another order, by that one. */
  readonly #orders = new Map<string, ReadonlySet<string>>();
  readonly #refused = new Set<string>();
  readonly #listeners = new Listeners();

  constructor(
    cache: QueryClient,
    context: (signal: AbortSignal) => Promise<QueryContext>,
    memory: () => RememberedStore | undefined,
  ) {
    this.#cache = cache;
    this.#context = context;
    this.#memory = memory;
    cache.getQueryCache().subscribe(event => {
      const { type, query } = event;
      const { queryHash } = query;
      if (type === 'removed') this.#readers.delete(queryHash);
      const reader = this.#readers.get(queryHash)?.reader;
      if (type !== 'updated' || !reader || query.state.data === undefined) return;
      this.#count(queryHash, reader, query.state.dataUpdatedAt);
      this.#keep(queryHash, reader);
      if (event.action.type === 'success' || event.action.type === 'setState') this.#listeners.notify();
    });
  }

  /** The reader of a list. Sources with the same key share one. */
  of<Row>(source: ListSource<Row>): ListReader<Row> {
    const hash = hashKey(source.key);
    const known = this.#readers.get(hash);
    if (known) {
      const reader = known.reader as unknown as ListReader<Row>;
      reader.source = source;
      return reader;
    }
    const reader = new ListReader<Row>(source, {
      context: this.#context,
      publish: data => {
        const query = this.#cache.getQueryCache().get(hash);
        // The age is that of the first page, and so is its failure: only a poll makes the list newer.
        if (query?.state.status === 'error') query.setState({ data });
        else if (query) this.#cache.setQueryData(source.key, data, { updatedAt: query.state.dataUpdatedAt });
      },
    });
    this.#restore(hash, source, reader);
    this.#readers.set(hash, { key: source.key, reader: reader as unknown as ListReader<never> });
    reader.subscribe(() => this.#count(hash, reader, this.#counts.get(hash)?.readAt ?? Date.now()));
    const { sameRowsAs } = source;
    if (sameRowsAs) this.#orders.set(hashKey(sameRowsAs), new Set(this.#orders.get(hashKey(sameRowsAs))).add(hash));
    return reader;
  }

  /** The reader of a list that has been asked for here; undefined before. */
  find(key: readonly unknown[]): ListReader<never> | undefined {
    return this.#readers.get(hashKey(key))?.reader;
  }

  /** Restores the row counts of an earlier start. */
  recallCounts(): void {
    for (const [hash, count] of this.#memory()?.pageCounts() ?? []) this.#counts.set(hash, count);
  }

  /**
   * Shows a list as an earlier start read it, until it is read again. Rows that do not match the schema are left out.
   */
  #restore<Row>(hash: string, { key, schema }: ListSource<Row>, reader: ListReader<Row>): void {
    if (!schema || this.#cache.getQueryData(key) !== undefined) return;
    const known = this.#memory()?.page(hash);
    if (!known) return;
    const { page, readAt } = known;
    const items = page.items.flatMap(item => {
      const row = schema.safeParse(item);
      return row.success ? [row.data] : [];
    });
    reader.restore({ ...wholePage(items), ...page, items, has_more: page.next_cursor !== null }, readAt);
    this.#counts.set(hash, { rows: reader.data.rows.length, complete: reader.data.complete, readAt });
    this.#cache.setQueryData(key, reader.data, { updatedAt: readAt });
    // Stale however young: this program has not read it.
    this.#cache.getQueryCache().get(hash)?.invalidate();
  }

  /** Remembers the first page of a list for the next start. */
  #keep(hash: string, { source, firstPage, data }: ListReader<never>): void {
    if (!source.schema || !firstPage) return;
    const { rows, next, dropped, note, rest, readAt } = firstPage;
    const { remembered_at } = data;
    this.#memory()?.keepPage(hash, { items: rows, next_cursor: next, dropped, note, rest, remembered_at }, readAt);
  }

  /** Calls `listener` when a count changes; returns a function that unsubscribes. */
  readonly subscribe = this.#listeners.subscribe;

  /** How many rows of a list are known, in any order; undefined before it has been read. */
  countOf(key: readonly unknown[]): ListCount | undefined {
    const hash = hashKey(key);
    const orders = [...(this.#orders.get(hash) ?? [])].filter(order => this.#readers.has(order));
    return orders.map(order => this.#counts.get(order)).reduce(better, this.#counts.get(hash));
  }

  /** Whether the service has refused to sort a list by a field. */
  refusesOrder(key: readonly unknown[], field: string): boolean {
    return this.#refused.has(hashKey([key, field]));
  }

  refuseOrder(key: readonly unknown[], field: string): void {
    this.#refused.add(hashKey([key, field]));
  }

  /** Removes rows that the program just deleted, from every list whose key begins with `under`. */
  remove(under: readonly unknown[], ids: readonly string[]): void {
    for (const { key, reader } of this.#readers.values()) {
      if (under.every((part, index) => hashKey([part]) === hashKey([key[index]]))) reader.remove(ids);
    }
  }

  /** While all the rest is being read, what has been read so far counts. */
  #count(hash: string, reader: Pick<ListReader<unknown>, 'state' | 'data'>, readAt: number): void {
    const { reading } = reader.state();
    const rows = reading ?? reader.data.rows.length;
    const complete = reading === undefined && reader.data.complete;
    const previous = this.#counts.get(hash);
    this.#counts.set(hash, { rows, complete, readAt });
    if (previous?.rows !== rows || previous.complete !== complete) this.#listeners.notify();
  }
}

/** Of two counts of the same rows, the one that says more: the whole list, and of two whole ones the newer. */
function better(left: ListCount | undefined, right: ListCount | undefined): ListCount | undefined {
  if (!left || !right) return left ?? right;
  if (left.complete !== right.complete) return left.complete ? left : right;
  if (left.complete) return left.readAt >= right.readAt ? left : right;
  return left.rows >= right.rows ? left : right;
}
