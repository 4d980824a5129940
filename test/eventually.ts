import { vi } from 'vitest';

/** Long enough for a busy machine; what does not come fails all the same. */
const limitMs = 60_000;

/** What the check gives, once it no longer throws. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: limitMs, interval: 5 });
}
