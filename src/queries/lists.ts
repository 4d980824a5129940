/** The lists of one connection: a reader for each, and how many rows each was seen to have. */
import { hashKey, type QueryClient } from '@tanstack/react-query';
import type { Asking } from './asking.ts';
import type { ListData, ListSource } from './list.ts';
import { ListReader } from './list-reader.ts';

/** How many rows of a list have been read. */
export interface ListCount {
  readonly rows: number;
  /** Whether these are all that the service has. */
  readonly complete: boolean;
}

export class Lists {
  readonly #cache: QueryClient;
  readonly #asking: (signal: AbortSignal) => Promise<Asking>;
  readonly #readers = new Map<string, { readonly key: readonly unknown[]; readonly reader: ListReader<never> }>();
  /** Kept also when the rows are forgotten: a count that was read does not turn blank. */
  readonly #counts = new Map<string, ListCount>();

  readonly #refused = new Set<string>();
  readonly #listeners = new Set<() => void>();

  constructor(cache: QueryClient, asking: (signal: AbortSignal) => Promise<Asking>) {
    this.#cache = cache;
    this.#asking = asking;
    cache.getQueryCache().subscribe(({ type, query }) => {
      const { queryHash } = query;
      if (type === 'removed') this.#readers.delete(queryHash);
      const reader = this.#readers.get(queryHash)?.reader;
      if (type === 'updated' && reader && query.state.data !== undefined) this.#count(queryHash, reader.data);
    });
  }

  /** The reader of a list. Sources of the same key are the same list. */
  of<Row>(source: ListSource<Row>): ListReader<Row> {
    const hash = hashKey(source.key);
    const known = this.#readers.get(hash);
    if (known) {
      const reader = known.reader as unknown as ListReader<Row>;
      reader.source = source;
      return reader;
    }
    const reader = new ListReader<Row>(source, {
      asking: this.#asking,
      publish: data => {
        const query = this.#cache.getQueryCache().get(hash);
        // The age stays that of the first page, and so does its failure: only a poll makes the list newer.
        if (query?.state.status === 'error') query.setState({ data });
        else if (query) this.#cache.setQueryData(source.key, data, { updatedAt: query.state.dataUpdatedAt });
      },
    });
    this.#readers.set(hash, { key: source.key, reader: reader as unknown as ListReader<never> });
    return reader;
  }

  /** Calls `listener` when a count has changed, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** How many rows of a list are known; undefined until it has been read. */
  countOf(key: readonly unknown[]): ListCount | undefined {
    return this.#counts.get(hashKey(key));
  }

  /** Whether the service has refused to sort a list by a field. */
  refusesOrder(key: readonly unknown[], field: string): boolean {
    return this.#refused.has(hashKey([key, field]));
  }

  refuseOrder(key: readonly unknown[], field: string): void {
    this.#refused.add(hashKey([key, field]));
  }

  /** Takes rows out of every list whose key begins with `under`: the program has just deleted them. */
  remove(under: readonly unknown[], ids: readonly string[]): void {
    for (const { key, reader } of this.#readers.values()) {
      if (under.every((part, index) => hashKey([part]) === hashKey([key[index]]))) reader.remove(ids);
    }
  }

  #count(hash: string, { rows, complete }: ListData<unknown>): void {
    const known = this.#counts.get(hash);
    if (known?.rows !== rows.length || known.complete !== complete) {
      this.#counts.set(hash, { rows: rows.length, complete });
      for (const listener of this.#listeners) listener();
    }
  }
}
