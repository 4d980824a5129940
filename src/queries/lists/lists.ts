/** The lists of a connection: a reader for each, and their row counts. */
import { hashKey, type QueryClient } from '@tanstack/react-query';
import { parseWhole } from '../../contract/proto-field.ts';
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

interface KnownReader {
  readonly key: readonly unknown[];
  readonly reader: ListReader<never>;
  /** Hash of the list that has the same rows in another order. */
  readonly sameRowsAs: string | undefined;
}

export class Lists {
  readonly #cache: QueryClient;
  readonly #context: (signal: AbortSignal) => Promise<QueryContext>;
  readonly #memory: () => RememberedStore | undefined;
  readonly #readers = new Map<string, KnownReader>();
  readonly #counts = new Map<string, ListCount>();
  /** Lists whose counts are shown. They are kept after the rows are dropped, so that a known count does not disappear. */
  readonly #shownCounts = new Set<string>();
  /** Fields by which the service does not sort a list, by its hash. */
  readonly #refused = new Map<string, Set<string>>();
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
      if (type === 'removed') this.#drop(queryHash);
      const reader = this.#readers.get(queryHash)?.reader;
      if (type !== 'updated' || !reader || query.state.data === undefined) return;
      this.#count(queryHash, reader, query.state.dataUpdatedAt);
      this.#keep(queryHash, reader);
      if (event.action.type === 'success' || event.action.type === 'setState') this.#listeners.notify();
    });
  }

  /**
   * The reader of a list. Sources with the same key share one. May be called while drawing: nothing is read from the
   * service, and nothing that others see changes.
   */
  of<Row>(source: ListSource<Row>): ListReader<Row> {
    const hash = hashKey(source.key);
    const known = this.#readers.get(hash);
    if (known) return known.reader as unknown as ListReader<Row>;
    const reader = new ListReader<Row>(source, {
      context: this.#context,
      publish: data => {
        const query = this.#cache.getQueryCache().get(hash);
        // The age is that of the first page, and so is its failure: only a poll makes the list newer.
        if (query?.state.status === 'error') query.setState({ data });
        else if (query) this.#cache.setQueryData(source.key, data, { updatedAt: query.state.dataUpdatedAt });
      },
    });
    this.#readers.set(hash, {
      key: source.key,
      reader: reader as unknown as ListReader<never>,
      sameRowsAs: source.sameRowsAs && hashKey(source.sameRowsAs),
    });
    this.#restore(hash, source, reader);
    reader.subscribe(() => this.#count(hash, reader, this.#counts.get(hash)?.readAt ?? Date.now()));
    return reader;
  }

  #drop(hash: string): void {
    this.#readers.delete(hash);
    this.#refused.delete(hash);
    if (!this.#shownCounts.has(hash)) this.#counts.delete(hash);
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
      const row = parseWhole(schema, item);
      return row.success ? [row.data] : [];
    });
    reader.restore({ ...wholePage(items), ...page, items, has_more: page.next_cursor !== null }, readAt);
    const restored = { queryKey: key, initialData: reader.data, initialDataUpdatedAt: readAt };
    this.#cache.getQueryCache().build(this.#cache, restored);
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
    this.#shownCounts.add(hash);
    const orders = [...this.#readers].filter(([, { sameRowsAs }]) => sameRowsAs === hash);
    return orders.map(([order]) => this.#counts.get(order)).reduce(better, this.#latestCount(hash));
  }

  /** Before the first answer: of the rows that an earlier start has left, those that can be shown. */
  #latestCount(hash: string): ListCount | undefined {
    const { restoredAt: readAt, data } = this.#readers.get(hash)?.reader ?? {};
    if (readAt === undefined || !data) return this.#counts.get(hash);
    return { rows: data.rows.length, complete: data.complete, readAt };
  }

  /** Whether the service has refused to sort a list by a field. */
  refusesOrder(key: readonly unknown[], field: string): boolean {
    return this.#refused.get(hashKey(key))?.has(field) ?? false;
  }

  refuseOrder(key: readonly unknown[], field: string): void {
    const hash = hashKey(key);
    this.#refused.set(hash, (this.#refused.get(hash) ?? new Set()).add(field));
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
    const rows = Math.max(reading ?? 0, reader.data.rows.length);
    const { complete } = reader.data;
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
