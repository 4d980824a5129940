import { vi } from 'vitest';

/** Long enough for a busy machine; a missing event still fails. */
const limitMs = 60_000;

/** The result of the check, once it no longer throws. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: limitMs, interval: 5 });
}
