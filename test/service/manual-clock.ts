/** A clock that moves only when a test moves it. */
import type { Clock } from '../../src/service/clock.ts';

export interface ManualClock extends Clock {
  /** Advances by this many milliseconds, and wakes each sleeper at its time. Returns once their work is done. */
  readonly advance: (ms: number) => Promise<void>;
  /** Sets the time of day, as a user or a time server does; the monotonic time is not changed. */
  readonly set: (now: number) => void;
}

/** Runs everything that waits only for other promises. */
export async function flush(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(resolve => setImmediate(resolve));
}

export function manualClock(start = Date.parse('2026-03-04T05:06:07Z')): ManualClock {
  let elapsed = 0;
  let dayStart = start;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    now: () => dayStart + elapsed,
    monotonic: () => elapsed,
    random: () => 0.5,
    sleep: (ms, signal) =>
      new Promise(resolve => {
        const sleeper = {
          at: elapsed + ms,
          wake: () => {
            sleepers.delete(sleeper);
            signal.removeEventListener('abort', sleeper.wake);
            resolve();
          },
        };
        if (signal.aborted) return resolve();
        sleepers.add(sleeper);
        signal.addEventListener('abort', sleeper.wake);
      }),
    set: now => {
      dayStart = now - elapsed;
    },
    advance: async ms => {
      const end = elapsed + ms;
      await flush();
      for (;;) {
        const [next] = [...sleepers].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at);
        if (!next) break;
        elapsed = Math.max(elapsed, next.at);
        next.wake();
        await flush();
      }
      elapsed = end;
    },
  };
}
