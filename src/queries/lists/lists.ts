/** The lists on a connection: a reader for each, and their row counts. */
import { hashKey, notifyManager, partialMatchKey, type QueryClient } from '@tanstack/react-query';
import { Listeners } from '../../base/listeners.ts';
import { isWhole } from '../../store/lists.ts';
import type { RememberedStore } from '../../store/store.ts';
import type { QueryContext } from '../query-context.ts';
import type { Observation } from '../statuses/known-resource.ts';
import type { ListData, ListSource } from './list-source.ts';
import { ListReader } from './reader.ts';

/** The number of rows read so far. */
export interface ListCount {
  readonly rows: number;
  /** Whether these are all of the service's rows, and all could be read. */
  readonly complete: boolean;
  /** When the first page was last read, in epoch milliseconds. */
  readonly readAt: number;
}

interface KnownReader {
  readonly key: readonly unknown[];
  readonly reader: ListReader<never>;
  /** Hash of the list that contains the same rows in another order. */
  readonly sameRowsAs: string | undefined;
}

export class Lists {
  readonly #cache: QueryClient;
  readonly #context: (signal: AbortSignal) => Promise<QueryContext>;
  readonly #memory: () => RememberedStore | undefined;
  readonly #readers = new Map<string, KnownReader>();
  readonly #counts = new Map<string, ListCount>();
  /** Lists whose counts are on screen. Their counts are kept after the rows are dropped. */
  readonly #shownCounts = new Set<string>();
  /** Fields that the service does not sort by, by list hash. */
  readonly #refused = new Map<string, Set<string>>();
  /** Ids of the rows that this program has deleted. */
  readonly #removed = new Set<string>();
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
      const isCounted = this.#count(queryHash, reader, query.state.dataUpdatedAt);
      const isNew = event.action.type === 'success' || event.action.type === 'setState';
      if (isNew && !reader.source.derived) this.#memory()?.keepList(queryHash, reader.data, query.state.dataUpdatedAt);
      // Notify in the same batch as the hooks that read the rows: otherwise a response is drawn twice.
      if (isNew || isCounted) notifyManager.schedule(() => this.#listeners.notify());
    });
  }

  /**
   * The reader for a list. Sources with the same key share one. May be called during render: it has no visible side
   * effects and sends nothing.
   */
  of<Row>(source: ListSource<Row>): ListReader<Row> {
    const hash = hashKey(source.key);
    const known = this.#readers.get(hash);
    if (known) return known.reader as unknown as ListReader<Row>;
    const publish = (data: ListData<Row>): void => {
      const query = this.#cache.getQueryCache().get(hash);
      // The age and the error belong to the first page: only a poll makes the list newer.
      if (query?.state.status === 'error') query.setState({ data });
      else if (query) this.#cache.setQueryData(source.key, data, { updatedAt: query.state.dataUpdatedAt });
    };
    const seed = this.#recall(hash, source);
    const reader = new ListReader<Row>(source, { context: this.#context, publish }, seed);
    this.#readers.set(hash, {
      key: source.key,
      reader: reader as unknown as ListReader<never>,
      sameRowsAs: source.sameRowsAs && hashKey(source.sameRowsAs),
    });
    reader.subscribe(() => {
      if (this.#count(hash, reader, this.#counts.get(hash)?.readAt ?? Date.now())) this.#listeners.notify();
    });
    return reader;
  }

  #drop(hash: string): void {
    this.#readers.delete(hash);
    this.#refused.delete(hash);
    if (!this.#shownCounts.has(hash)) this.#counts.delete(hash);
  }

  /** A list's reader, if it exists. */
  find(key: readonly unknown[]): ListReader<never> | undefined {
    return this.#readers.get(hashKey(key))?.reader;
  }

  /** The observations from the rows on screen. */
  shown(): Observation[] {
    return [...this.#readers.values()].flatMap(({ reader }) => {
      const { observes } = reader.source;
      return observes ? reader.shown().map(row => observes(row)) : [];
    });
  }

  /** Restores the row counts from an earlier session. */
  recallCounts(): void {
    for (const [hash, count] of this.#memory()?.lists.counts() ?? []) this.#counts.set(hash, count);
  }

  /** The list as an earlier session saved it, until it is read again. */
  #recall<Row>(hash: string, { key, derived }: ListSource<Row>): ListData<Row> | undefined {
    if (derived || this.#cache.getQueryData(key) !== undefined) return undefined;
    const known = this.#memory()?.lists.find(hash);
    if (!known) return undefined;
    const { list, readAt } = known;
    const data = {
      ...list,
      rows: list.rows as readonly unknown[] as readonly Row[],
      remembered_at: list.remembered_at,
      version: 0,
    };
    this.#counts.set(hash, { rows: data.rows.length, complete: isWhole(list), readAt });
    this.#cache.getQueryCache().build(this.#cache, { queryKey: key, initialData: data, initialDataUpdatedAt: readAt });
    return data;
  }

  /** Calls `listener` when a count, rows or a refusal change; returns a function that unsubscribes. */
  readonly subscribe = this.#listeners.subscribe;

  /** How many rows of a list are known, in any order; undefined before it has been read. */
  countOf(key: readonly unknown[]): ListCount | undefined {
    const hash = hashKey(key);
    this.#shownCounts.add(hash);
    return this.#ordersOf(hash)
      .map(([order]) => this.#counts.get(order))
      .reduce(betterCount, this.#counts.get(hash));
  }

  /** A list with the same rows, in any order, that has been read to its end; undefined if there is none. */
  completeOrderOf<Row>(source: ListSource<Row>): ListSource<Row> | undefined {
    if (this.of(source).extent.complete) return source;
    const [, known] = this.#ordersOf(hashKey(source.key)).find(([, { reader }]) => reader.extent.complete) ?? [];
    return known?.reader.source as ListSource<Row> | undefined;
  }

  #ordersOf(hash: string): (readonly [string, KnownReader])[] {
    return [...this.#readers].filter(([, { sameRowsAs }]) => sameRowsAs === hash);
  }

  /** Whether the service has refused to sort a list by a field. */
  refusesOrder(key: readonly unknown[], field: string): boolean {
    return this.#refused.get(hashKey(key))?.has(field) ?? false;
  }

  refuseOrder(key: readonly unknown[], field: string): void {
    const hash = hashKey(key);
    this.#refused.set(hash, (this.#refused.get(hash) ?? new Set()).add(field));
    this.#listeners.notify();
  }

  /** Removes deleted rows from every list with the key prefix `under`. */
  remove(under: readonly unknown[], ids: readonly string[]): void {
    for (const id of ids) this.#removed.add(id);
    for (const { key, reader } of this.#readers.values()) {
      if (partialMatchKey(key, under)) reader.remove(ids);
    }
  }

  /** Whether this program has deleted a row with this id. */
  readonly isRemoved = (id: string): boolean => this.#removed.has(id);

  /** Updates a list's count. Returns whether it has changed. */
  #count(hash: string, { extent }: Pick<ListReader<unknown>, 'extent'>, readAt: number): boolean {
    const { rows } = extent;
    const complete = isWhole(extent);
    const previous = this.#counts.get(hash);
    this.#counts.set(hash, { rows, complete, readAt });
    return previous?.rows !== rows || previous.complete !== complete;
  }
}

/** The better of two counts of the same rows: complete before partial, then the newer one. */
function betterCount(left: ListCount | undefined, right: ListCount | undefined): ListCount | undefined {
  if (!left || !right) return left ?? right;
  if (left.complete !== right.complete) return left.complete ? left : right;
  if (left.complete) return left.readAt >= right.readAt ? left : right;
  return left.rows >= right.rows ? left : right;
}
