/** The time limit of a call. */
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { limitTime } from '../../src/service/send.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the time limit of a call', () => {
  it('aborts once it is reached, and not before', () => {
    const { signal, endsAt } = limitTime(undefined, 1_000, 5);
    expect(endsAt).toBe(1_005);
    vi.advanceTimersByTime(999);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.aborted).toBe(true);
  });

  it('can be absent or removed: then only its caller ends the call', () => {
    const caller = new AbortController();
    const [endless, lifted] = [limitTime(caller.signal, undefined, 5), limitTime(caller.signal, 1_000, 5)];
    lifted.lift();
    expect([endless.endsAt, vi.getTimerCount()]).toEqual([Number.POSITIVE_INFINITY, 0]);
    caller.abort();
    expect([endless.signal.aborted, lifted.signal.aborted]).toEqual([true, true]);
  });

  it('leaves neither a timer nor a listener after the call', () => {
    const caller = new AbortController();
    limitTime(caller.signal, 1_000, 5).end();
    expect([vi.getTimerCount(), getEventListeners(caller.signal, 'abort')]).toEqual([0, []]);
  });

  it('expires at once for a caller that has stopped', () => {
    expect(limitTime(AbortSignal.abort(), 1_000, 5).signal.aborted).toBe(true);
  });
});
