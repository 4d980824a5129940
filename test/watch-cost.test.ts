/** In a process of its own, whose clock is replaced. */
import { expect, it } from 'vitest';
import { watched } from '../tools/bench/watched.ts';

it('40 active runs of 12 benchmarks take at most 60 requests a minute in Watch, and each row is read once a minute (W21)', async () => {
  const cost = await watched(4);
  expect(cost.readAtFirst).toBe(cost.active);
  expect(cost.requests).toBeLessThanOrEqual(60);
  expect(cost.kilobytes).toBeLessThanOrEqual(300);
  expect(cost.longestWait).toBeLessThanOrEqual(62);
});
