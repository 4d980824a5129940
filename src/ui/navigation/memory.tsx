/** What a view was like when it was left: its cursor, filter and scroll, kept for the way back to it. */
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';

import { Siblings } from './siblings.ts';

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
