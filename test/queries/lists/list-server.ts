/** A service with one list for tests: rows come and go, answers are delayed, cursors of either kind. */
import type { ListQuery } from '../../../src/contract/common.ts';
import type { AnnotatedPage } from '../../../src/queries/lists/list-source.ts';

export interface Row {
  readonly id: string;
  readonly value: number;
}

/** A seeded generator of numbers in [0, 1) (mulberry32, public domain). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `place`: the cursor names the row before; `offset`: it counts rows. */
export type CursorKind = 'place' | 'offset';

/** The service's list: the highest place first. */
export class ListServer {
  readonly places = new Map<string, { place: number; value: number }>();
  readonly pageSize: number;
  readonly cursors: CursorKind;
  asked = 0;
  #made = 0;

  constructor(pageSize: number, cursors: CursorKind) {
    this.pageSize = pageSize;
    this.cursors = cursors;
  }

  rows(): Row[] {
    return [...this.places]
      .sort(([, left], [, right]) => right.place - left.place)
      .map(([id, { value }]) => ({ id, value }));
  }

  placeOf(id: string): number {
    return this.places.get(id)?.place ?? Number.NaN;
  }

  /** Adds a row before all others, or between them. */
  insert(place?: number): string {
    this.#made += 1;
    const id = `r${this.#made}`;
    this.places.set(id, { place: place ?? this.#made, value: 0 });
    return id;
  }

  insertMany(count: number): void {
    for (let left = count; left > 0; left -= 1) this.insert();
  }

  answer({ cursor }: ListQuery): AnnotatedPage<Row> {
    this.asked += 1;
    const all = this.rows();
    const from = this.#from(all, cursor ?? undefined);
    const items = all.slice(from, from + this.pageSize);
    const has_more = all.length > from + this.pageSize;
    const last = items.at(-1);
    const next = this.cursors === 'offset' ? `${from + this.pageSize}` : `${this.placeOf(last?.id ?? '')}`;
    return { items, has_more, next_cursor: has_more ? next : null, dropped: 0 };
  }

  #from(all: readonly Row[], cursor: string | undefined): number {
    if (cursor === undefined) return 0;
    if (this.cursors === 'offset') return Number(cursor);
    const at = all.findIndex(({ id }) => this.placeOf(id) < Number(cursor));
    return at === -1 ? all.length : at;
  }
}
