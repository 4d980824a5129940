/** Remembers a view's cursor, filter and scroll position, and restores them when the user comes back. */
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';
import type { Place } from '../../resources/place.ts';

/** A list as it was when the user opened a record from it. */
export interface SiblingList {
  readonly ids: readonly string[];
  /** The place for an index in `ids`; undefined if there is none. */
  readonly placeAt: (index: number) => Place | undefined;
  /** The ids of the rows that open the records, if they differ from the records' ids. */
  readonly rows?: readonly string[];
  /** What its records have in common, if the list on screen has others: `changed`. */
  readonly kind?: string | undefined;
  /** Whether the service has more rows. */
  readonly partial?: boolean;
  /** Reads more rows, and returns the longer list. */
  readonly readMore?: () => Promise<SiblingList>;
}

/** Steps from record to record, which wait for more rows at the end of those read so far. */
interface Walk {
  readonly resource: string;
  /** The record reached so far, which may not be on screen yet. */
  at: string;
  /** How many steps are left; negative towards the first row. */
  left: number;
}

/** A record's neighbours in the list it was opened from, for `[` and `]`. */
export class Siblings {
  readonly #lists = new Map<string, SiblingList>();
  /** For each resource, the record shown last. */
  readonly #shown = new Map<string, string>();
  /** Ids of the records that the user has read. */
  readonly read = new Set<string>();
  readonly #reading = new WeakMap<SiblingList, Promise<void>>();
  /** The last walk, until the user leaves its record. */
  #walk: Walk | undefined;

  /** Remembers the list that a resource's records were opened from. */
  remember(resource: string, list: SiblingList): void {
    this.#lists.set(resource, list);
    this.#walk = undefined;
  }

  /** Remembers which of a resource's records is on screen. */
  arrive(resource: string, id: string): void {
    this.#shown.set(resource, id);
  }

  /** Ends the steps that wait at a record, unless they have gone on to the next one. */
  leave(resource: string, id: string): void {
    if (this.#walk?.resource === resource && this.#walk.at === id) this.#walk = undefined;
  }

  /**
   * The row of the record shown last, if it is in the same list as `row`; otherwise `row`. The user may have stepped
   * from `row` to another record.
   */
  lastShown(row: string): string {
    for (const [resource, list] of this.#lists) {
      const { rows = list.ids } = list;
      const shown = this.#shown.get(resource);
      const index = rows.indexOf(row);
      if (shown === undefined || index === -1) continue;
      // Several rows may open the same record.
      return list.ids[index] === shown ? row : (rows[list.ids.indexOf(shown)] ?? row);
    }
    return row;
  }

  /** The place of `id` in the list it was opened from. */
  placeOf(resource: string, id: string): Place | undefined {
    const list = this.#lists.get(resource);
    return list?.placeAt(list.ids.indexOf(id));
  }

  /** Which of these ids is in the list: the record's, or its twin's, which was opened from there. */
  listed(resource: string, ...ids: readonly (string | undefined)[]): string | undefined {
    const list = this.#lists.get(resource);
    return ids.find(id => id !== undefined && list?.ids.includes(id));
  }

  /** Reads more rows of the list that a resource's records were opened from, if it has more. */
  async readMore(resource: string): Promise<void> {
    const list = this.#lists.get(resource);
    if (!list?.partial || !list.readMore) return;
    const reading =
      this.#reading.get(list) ??
      list
        .readMore()
        .then(longer => {
          // The list may have changed or been opened again in the meantime.
          if (this.#lists.get(resource) === list && longer.ids.length >= list.ids.length) {
            this.#lists.set(resource, longer);
          }
        })
        .finally(() => this.#reading.delete(list));
    this.#reading.set(list, reading);
    await reading;
  }

  /**
   * Goes `by` rows from `id`, and reads more rows for it if the list has more. While it waits for them, further steps
   * add to these. Returns how many steps are left at the end of the list: 0 if there are none, or the user has left.
   */
  async walk(resource: string, id: string, by: number, show: (place: Place<'record'>) => void): Promise<number> {
    const { at = id, left = 0 } = this.#walk?.resource === resource ? this.#walk : {};
    const walk: Walk = { resource, at, left: left + by };
    this.#walk = walk;
    const move = (): void => {
      const { place, steps } = this.step(resource, walk.at, walk.left);
      walk.left -= Math.sign(walk.left) * steps;
      if (place?.view !== 'record') return;
      walk.at = place.id;
      show(place);
    };
    move();
    while (walk.left > 0 && this.isPartial(resource)) {
      const before = walk.left;
      await this.readMore(resource);
      if (this.#walk !== walk) return 0;
      move();
      if (walk.left === before) break;
    }
    const rest = walk.left;
    walk.left = 0;
    return rest;
  }

  /**
   * The place `by` rows after `id` (before it if negative), or the first or last place if there are fewer rows, and how
   * many rows away it is. Undefined at the ends, or if `id` was not opened from a list.
   */
  step(resource: string, id: string, by: number): { readonly place: Place | undefined; readonly steps: number } {
    const list = this.#lists.get(resource);
    const index = list ? list.ids.indexOf(id) : -1;
    if (!list || index === -1) return { place: undefined, steps: 0 };
    const target = Math.max(0, Math.min(list.ids.length - 1, index + by));
    const place = target === index ? undefined : list.placeAt(target);
    return { place, steps: place ? Math.abs(target - index) : 0 };
  }

  /** Whether the list that a record was opened from has unread rows. */
  isPartial(resource: string): boolean {
    return this.#lists.get(resource)?.partial ?? false;
  }

  /**
   * The position of `id` in its list, e.g. `3/64`, `3/200+` if there are unread rows, or `3/17 changed`; empty if it was
   * not opened from one.
   */
  position(resource: string, id: string): string {
    const list = this.#lists.get(resource);
    if (!list) return '';
    const { ids, partial = false, kind = '' } = list;
    const index = ids.indexOf(id);
    return index === -1 ? '' : `${index + 1}/${ids.length}${partial ? '+' : ''} ${kind}`.trim();
  }
}

/** Maximum number of values; the oldest is forgotten first. */
const maxValues = 1_000;

/** Remembers values for as long as the program shows one service. */
export class Memory {
  /** Values by place and name, latest last. */
  readonly #values = new Map<string, unknown>();
  readonly siblings = new Siblings();

  get(key: string): unknown {
    return this.#values.get(key);
  }

  set(key: string, value: unknown): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > maxValues && oldest !== undefined) this.#values.delete(oldest);
  }
}

const MemoryContext = createContext<{ memory: Memory; place: string } | undefined>(undefined);

/** Scopes the memory to the place that the views below show. */
export function MemoryProvider({ memory, place, children }: { memory: Memory; place: string; children: ReactNode }) {
  return <MemoryContext value={{ memory, place }}>{children}</MemoryContext>;
}

/**
 * The value remembered under `name` when the view at this place opened, and a function that updates it without a
 * render.
 */
export function useMemory<Value>(name: string): readonly [Value | undefined, (value: Value) => void] {
  return useMemoryOf(useContext(MemoryContext)?.place ?? '', name);
}

/** Like `useMemory`, for a value that all places share. */
export function useSharedMemory<Value>(name: string): readonly [Value | undefined, (value: Value) => void] {
  return useMemoryOf('', name);
}

/** Like `useState`; the state is kept for when the user comes back to this place. @param initial from the last state */
export function useRememberedState<Value>(name: string, initial: (kept: Value | undefined) => Value) {
  const [kept, remember] = useMemory<Value>(name);
  const state = useState(() => initial(kept));
  const [value] = state;
  useEffect(() => remember(value), [remember, value]);
  return state;
}

function useMemoryOf<Value>(place: string, name: string): readonly [Value | undefined, (value: Value) => void] {
  const context = useContext(MemoryContext);
  const [fallback] = useState(() => new Memory());
  const memory = context?.memory ?? fallback;
  const key = `${place} ${name}`;
  const [initial] = useState(() => memory.get(key) as Value | undefined);
  const remember = useCallback((value: Value) => void memory.set(key, value), [memory, key]);
  return [initial, remember];
}

/** The neighbours of records in the lists shown so far. */
export function useSiblings(): Siblings {
  const context = useContext(MemoryContext);
  const [fallback] = useState(() => new Siblings());
  return context?.memory.siblings ?? fallback;
}
