import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../../src/local/server/rate-limit.ts';

describe('the rate limit of a key', () => {
  it('refills by the second', () => {
    let now = 0;
    const limiter = new RateLimiter({ perSecond: 2, burst: 2 }, () => now);
    expect([limiter.take('a'), limiter.take('a'), limiter.take('a')]).toEqual([0, 0, 1]);
    now = 500;
    expect([limiter.take('a'), limiter.take('a')]).toEqual([0, 1]);
  });

  it('survives ten thousand other keys', () => {
    const limiter = new RateLimiter({ perSecond: 1, burst: 1 }, () => 0);
    limiter.take('a');
    for (let key = 0; key < 20_000; key += 1) {
      limiter.take(`other ${key}`);
      if (key % 5_000 === 0) expect(limiter.take('a')).toBe(1);
    }
    expect(limiter.take('a')).toBe(1);
  });
});
