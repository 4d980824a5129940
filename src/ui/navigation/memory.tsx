/** What a view was like when it was left: its cursor, filter and scroll, kept for the way back to it. */
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import type { Place } from '../../resources/place.ts';

/** A list as it was when something was opened from it. */
export interface SiblingList {
  readonly ids: readonly string[];
  /** Where the resource at an index of `ids` is shown; undefined if it has no place. */
  readonly placeAt: (index: number) => Place | undefined;
  /** The service has more than these. */
  readonly partial?: boolean;
}

/** The neighbours of what is shown in the list that it was opened from, so that `[` and `]` step through that list. */
export class Siblings {
  readonly #lists = new Map<string, SiblingList>();

  /** Remembers the list from which records of a resource were opened. */
  remember(resource: string, list: SiblingList): void {
    this.#lists.set(resource, list);
  }

  /** The place before or after `id`; undefined at the ends, and where `id` was not opened from a list. */
  next(resource: string, id: string, direction: -1 | 1): Place | undefined {
    const list = this.#lists.get(resource);
    const index = list?.ids.indexOf(id) ?? -1;
    return index === -1 ? undefined : list?.placeAt(index + direction);
  }

  /** Whether more follow in the list that a record was opened from than were read. */
  isPartial(resource: string): boolean {
    return this.#lists.get(resource)?.partial ?? false;
  }

  /** Where `id` is in its list, e.g. `3/64`, or `3/200+` where more follow; empty if it was not opened from one. */
  position(resource: string, id: string): string {
    const { ids = [], partial = false } = this.#lists.get(resource) ?? {};
    const index = ids.indexOf(id);
    return index === -1 ? '' : `${index + 1}/${ids.length}${partial ? '+' : ''}`;
  }
}

/** What is remembered as long as the program shows one service. */
export class Memory {
  /** Remembered values, by place and name. */
  readonly values = new Map<string, unknown>();
  readonly siblings = new Siblings();
}

const MemoryContext = createContext<{ memory: Memory; place: string } | undefined>(undefined);

/** Gives the views below a memory of the place they show. */
export function MemoryProvider({ memory, place, children }: { memory: Memory; place: string; children: ReactNode }) {
  return <MemoryContext value={{ memory, place }}>{children}</MemoryContext>;
}

/**
 * What was remembered of this place under `name` when the view opened, and a function that remembers from now on.
 * Remembering draws nothing.
 */
export function useMemory<Value>(name: string): readonly [Value | undefined, (value: Value) => void] {
  const context = useContext(MemoryContext);
  const [fallback] = useState(() => new Memory());
  const memory = (context?.memory ?? fallback).values;
  const key = `${context?.place ?? ''} ${name}`;
  const [initial] = useState(() => memory.get(key) as Value | undefined);
  const remember = useCallback((value: Value) => void memory.set(key, value), [memory, key]);
  return [initial, remember];
}

/** The orders of the lists that were shown. */
export function useSiblings(): Siblings {
  const context = useContext(MemoryContext);
  const [fallback] = useState(() => new Siblings());
  return context?.memory.siblings ?? fallback;
}
