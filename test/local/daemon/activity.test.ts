/** When an unused service exits. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Activity } from '../../../src/local/daemon/activity.ts';

const idleMs = 300_000;
let busy: boolean;
let ended: number;
let activity: Activity;
beforeEach(() => {
  vi.useFakeTimers();
  busy = false;
  ended = 0;
  activity = new Activity({
    idleMs,
    isBusy: () => busy,
    onIdle: () => {
      ended += 1;
      activity.close();
    },
  });
});
afterEach(() => {
  activity.close();
  vi.useRealTimers();
});

describe('a service without requests', () => {
  it('exits after its idle time', () => {
    vi.advanceTimersByTime(idleMs);
    expect(ended).toBe(0);
    vi.advanceTimersByTime(idleMs / 10);
    expect(ended).toBe(1);
  });

  it('counts from the end of the last answer, not from its request', () => {
    activity.begin();
    vi.advanceTimersByTime(10 * idleMs);
    activity.end();
    vi.advanceTimersByTime(idleMs);
    expect(ended).toBe(0);
    vi.advanceTimersByTime(idleMs / 10);
    expect(ended).toBe(1);
  });

  it('stays up while one of several requests is open', () => {
    activity.begin();
    activity.begin();
    activity.end();
    vi.advanceTimersByTime(10 * idleMs);
    expect(ended).toBe(0);
  });

  it('stays up while work runs, and its idle time starts when that ends', () => {
    busy = true;
    vi.advanceTimersByTime(10 * idleMs);
    busy = false;
    vi.advanceTimersByTime(idleMs * 0.9);
    expect(ended).toBe(0);
    vi.advanceTimersByTime(idleMs * 0.2);
    expect(ended).toBe(1);
  });

  it('does not count sleep of the machine as idle time', () => {
    vi.advanceTimersByTime(idleMs / 2);
    // The wall clock has advanced by a night; the timers have not.
    vi.setSystemTime(Date.now() + 8 * 3_600_000);
    vi.advanceTimersByTime(idleMs / 4);
    expect(ended).toBe(0);
  });
});
