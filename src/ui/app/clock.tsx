/**
 * The screen's clock: one timer shared by all readers, which runs only while there are any. A reader is redrawn only
 * when the value that it derives from the time changes.
 */
import { useCallback, useSyncExternalStore } from 'react';
import { endAll, Listeners, neverChanges } from '../../base/listeners.ts';

const tickMs = 1_000;
const readers = new Listeners();
let timer: NodeJS.Timeout | undefined;
let now = Date.now();

function subscribe(reader: () => void): () => void {
  const stop = readers.subscribe(reader);
  if (timer === undefined) {
    timer = setInterval(() => {
      now = Date.now();
      readers.notify();
    }, tickMs);
    timer.unref();
  }
  return () => {
    stop();
    if (readers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/**
 * The value that `derive` computes from the time (epoch milliseconds); the caller is redrawn when it changes.
 *
 * @param changes subscribes to the value's other sources
 */
export function useTime<Derived extends string | number | undefined>(
  derive: (now: number) => Derived,
  changes: (reader: () => void) => () => void = neverChanges,
): Derived {
  const read = useCallback(() => {
    if (timer === undefined) now = Date.now();
    return derive(now);
  }, [derive]);
  const subscribeToBoth = useCallback((reader: () => void) => endAll([subscribe(reader), changes(reader)]), [changes]);
  return useSyncExternalStore(subscribeToBoth, read);
}

/** How often states and paces are updated, even if no response arrives. */
const paceMs = 5_000;

const paceTick = (now: number): number => Math.floor(now / paceMs);

/** The time used for states and paces, in epoch milliseconds. */
export const usePaceTime = (): number => useTime(paceTick) * paceMs;
