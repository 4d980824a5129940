import { describe, expect, it } from 'vitest';
import { activityOfRun, fractionOf, type PollSituation, pollDelay } from '../../src/queries/polling.ts';

const calm: PollSituation = { activity: 'running', attention: 'focused', failures: 0, jitter: 0.5 };

describe('pollDelay', () => {
  it('polls every 2 s what is focused and running, every 10 s what is visible', () => {
    expect(pollDelay(calm)).toBe(2_000);
    expect(pollDelay({ ...calm, attention: 'visible' })).toBe(10_000);
    expect(pollDelay({ ...calm, activity: 'building' })).toBe(5_000);
    expect(pollDelay({ ...calm, activity: 'open' })).toBe(10_000);
  });

  it('polls large answers less often, if at all', () => {
    expect([1_000, 50_000].map(leastMs => pollDelay({ ...calm, leastMs }))).toEqual([2_000, 50_000]);
    expect(pollDelay({ ...calm, leastMs: 50_000, failures: 1 })).toBe(50_000);
    // Node fires a longer timer at once.
    expect(pollDelay({ ...calm, leastMs: 1e12 })).toBe(2 ** 31 - 1);
    expect(pollDelay({ ...calm, leastMs: 50_000, activity: 'settled' })).toBeUndefined();
  });

  it('never polls what is hidden or finished', () => {
    expect(pollDelay({ ...calm, attention: 'hidden' })).toBeUndefined();
    expect(pollDelay({ ...calm, attention: 'hidden', failures: 3 })).toBeUndefined();
    expect(pollDelay({ ...calm, activity: 'settled' })).toBeUndefined();
  });

  it('polls ever less often while something settles, and stops after five reads without a change', () => {
    const delays = [0, 1, 2, 3, 4, 5, 9].map(unchanged => pollDelay({ ...calm, activity: 'settling', unchanged }));
    expect(delays).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, undefined, undefined]);
    expect(pollDelay({ ...calm, unchanged: 5 })).toBe(2_000);
  });

  it('retries what failed before its end was known', () => {
    expect(pollDelay({ ...calm, activity: 'settled', failures: 1 })).toBe(4_000);
  });

  it('backs off by doubling, up to a minute', () => {
    const delays = [1, 2, 3, 4, 5, 9].map(failures => pollDelay({ ...calm, failures }));
    expect(delays).toEqual([4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('waits as long as the endpoint asked, up to a minute (B23)', () => {
    const delays = [0, 1_000, 3_600_000, 1e12].map(requestedMs => pollDelay({ ...calm, failures: 1, requestedMs }));
    expect(delays).toEqual([4_000, 4_000, 61_000, 61_000]);
    expect(pollDelay({ ...calm, failures: 1, requestedMs: 60_000, jitter: 0 })).toBe(60_000);
    const hidden = { ...calm, attention: 'hidden', failures: 1, requestedMs: 60_000 } as const;
    expect(pollDelay(hidden)).toBeUndefined();
  });

  it('varies by 15 % either way', () => {
    expect(pollDelay({ ...calm, jitter: 0 })).toBe(1_700);
    expect(pollDelay({ ...calm, jitter: 1 })).toBe(2_300);
  });
});

it('a run without a status changes only through others', () => {
  expect(['running', 'completed', null, undefined].map(activityOfRun)).toEqual(['running', 'settled', 'open', 'open']);
});

describe('chanceOf', () => {
  it('is stable for a text and spread over texts', () => {
    expect(fractionOf('a')).toBe(fractionOf('a'));
    const values = Array.from({ length: 200 }, (_, index) => fractionOf(`key ${index}`));
    expect(Math.min(...values)).toBeLessThan(0.1);
    expect(Math.max(...values)).toBeGreaterThan(0.9);
  });
});
