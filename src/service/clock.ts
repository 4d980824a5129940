/** Time and randomness, replaceable in tests. All times are in milliseconds. */
export interface Clock {
  /** Epoch milliseconds: for times from the service, and for display. */
  readonly now: () => number;
  /** Monotonic: for durations. */
  readonly monotonic: () => number;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Sleeps; ends early, without an error, once the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  random: Math.random,
  sleep: async (ms, signal) => {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const end = () => resolve();
    signal.addEventListener('abort', end, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  },
};
