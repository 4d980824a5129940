/** The real clock: a sleep ends in time, early if it is aborted, and leaves nothing behind. */
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/service/clock.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('sleeps for the given time', async () => {
  const { signal } = new AbortController();
  const woken = vi.fn();
  const sleep = systemClock.sleep(1_000, signal).then(woken);
  await vi.advanceTimersByTimeAsync(999);
  expect(woken).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(woken).toHaveBeenCalledTimes(1);
  await sleep;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('wakes early, without an error, when cancelled', async () => {
  const controller = new AbortController();
  const sleep = systemClock.sleep(1_000, controller.signal);
  controller.abort();
  await sleep;
  expect(vi.getTimerCount()).toBe(0);
  await systemClock.sleep(1_000, controller.signal);
  expect(vi.getTimerCount()).toBe(0);
});

it('has the time of day, a monotonic time, and random numbers', () => {
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(60_000);
  expect(Math.abs(systemClock.monotonic() - performance.now())).toBeLessThan(60_000);
  const chances = Array.from({ length: 20 }, () => systemClock.random());
  expect(chances.every(chance => chance >= 0 && chance < 1) && new Set(chances).size > 1).toBe(true);
});
