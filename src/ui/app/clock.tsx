/**
 * The time as the screen needs it: one timer for everybody, which runs only while somebody reads it, and readers that are
 * drawn again only when what they make of the time has changed.
 */
import { useCallback, useSyncExternalStore } from 'react';

const tickMs = 1_000;
const readers = new Set<() => void>();
let timer: NodeJS.Timeout | undefined;
let now = Date.now();

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  if (timer === undefined) {
    timer = setInterval(() => {
      now = Date.now();
      for (const notify of readers) notify();
    }, tickMs);
    timer.unref();
  }
  return () => {
    readers.delete(reader);
    if (readers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** What `derive` makes of the time (epoch milliseconds); the caller is drawn again when that changes. */
export function useTime<Derived extends string | number | undefined>(derive: (now: number) => Derived): Derived {
  const read = useCallback(() => {
    if (timer === undefined) now = Date.now();
    return derive(now);
  }, [derive]);
  return useSyncExternalStore(subscribe, read);
}
