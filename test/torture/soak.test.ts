import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../tools/torture/proxy.ts';
import { asking, growth } from '../../tools/torture/soak.ts';

const samples = (memory: (index: number) => number, handles: (index: number) => number) =>
  Array.from({ length: 90 }, (_, index) => ({ memory: memory(index) * 1e6, handles: handles(index) }));

describe('growth', () => {
  it('lets pass what warms up, and what goes up and down', () => {
    expect(
      growth(
        'it',
        samples(
          index => Math.min(150, 60 + 5 * index),
          index => 30 + (index % 3),
        ),
      ).failures,
    ).toEqual([]);
    expect(
      growth(
        'it',
        samples(
          index => 150 + (index % 20),
          () => 30,
        ),
      ).words,
    ).toBe('162 → 157 MB, 30 → 30 handles');
  });

  it('finds what does not stop', () => {
    expect(
      growth(
        'it',
        samples(
          index => 100 + index,
          () => 30,
        ),
      ).failures,
    ).toEqual([expect.stringContaining('it grows: 145 MB, then 175 MB')]);
    expect(
      growth(
        'it',
        samples(
          () => 100,
          index => 30 + Math.floor(index / 5),
        ),
      ).failures,
    ).toHaveLength(1);
  });
});

describe('asking', () => {
  const asked = (url: string, times: number): Exchange[] =>
    Array.from({ length: times }, () => ({
      at: 0,
      method: 'GET',
      url,
      headers: {},
      requestBody: '',
      status: 200,
      sent: '',
      done: [],
    }));
  const minute = 60_000;

  it('lets pass a poll every two seconds of what runs, and every ten of a list', () => {
    const seen = [...asked('/api/v1/eval/evr_1/progress', 35), ...asked('/api/v1/benchmarks?limit=50', 8)];
    expect(asking(seen, minute, 0).failures).toEqual([]);
  });

  it.each([
    ['/api/v1/eval/evr_1/progress', 50],
    ['/api/v1/benchmarks?limit=50', 14],
    ['/api/v1/train/bench_1/runs', 14],
    ['/api/v1/deploy?limit=200', 14],
  ])('finds %s asked for %i times in a minute', (url, times) => {
    expect(asking(asked(url, times), minute, 0).failures).toHaveLength(1);
  });

  it('allows for what starts and ends', () => {
    expect(asking(asked('/api/v1/benchmarks?limit=50', 14), minute, 3).failures).toEqual([]);
  });
});
