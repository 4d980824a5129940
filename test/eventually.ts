import { vi } from 'vitest';

/** Long enough for a busy machine. Below the time limit of a test, so that a missing event fails by its name. */
const limitMs = 240_000;

/** The result of the check, once it no longer throws. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: limitMs, interval: 5 });
}
