/** What a view was like when it was left: its cursor, filter and scroll, kept for the way back to it. */
import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react';

/** Remembered values, by place and name. */
export type Memory = Map<string, unknown>;

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
  const fallback = useRef<Memory>(new Map());
  const memory = context?.memory ?? fallback.current;
  const key = `${context?.place ?? ''} ${name}`;
  const [initial] = useState(() => memory.get(key) as Value | undefined);
  const remember = useCallback((value: Value) => void memory.set(key, value), [memory, key]);
  return [initial, remember];
}
