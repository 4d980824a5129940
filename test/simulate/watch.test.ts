import { describe, expect, it } from 'vitest';
import { growth, tooOften } from '../../tools/simulate/watch.ts';

const samples = (memory: (index: number) => number, sockets: (index: number) => number) =>
  Array.from({ length: 90 }, (_, index) => ({ memory: memory(index) * 1e6, sockets: sockets(index) }));

describe('growth', () => {
  it.each([
    [
      'warms up',
      samples(
        index => Math.min(150, 60 + 5 * index),
        index => 30 + (index % 3),
      ),
    ],
    [
      'goes up and down',
      samples(
        index => 150 + (index % 20),
        () => 30,
      ),
    ],
  ])('accepts what %s', (_, some) => {
    expect(growth(some)).toEqual([]);
  });

  it('finds what never stops', () => {
    expect(
      growth(
        samples(
          index => 100 + index,
          () => 30,
        ),
      ),
    ).toEqual(['memory grows: 145 MB, then 175 MB']);
    expect(
      growth(
        samples(
          () => 100,
          index => 30 + Math.floor(index / 5),
        ),
      ),
    ).toEqual(['there are 41 sockets, then 47']);
  });
});

describe('tooOften', () => {
  const minute = 60_000;
  const asked = (url: string, times: number) => new Map([[url, times]]);

  it('accepts a poll every two seconds of running resources, and every ten of a list', () => {
    const seen = new Map([
      ['/api/v1/eval/evr_1/progress', 35],
      ['/api/v1/benchmarks?limit=50', 8],
    ]);
    expect(tooOften(seen, minute, 0)).toEqual([]);
  });

  it.each([
    ['/api/v1/eval/evr_1/progress', 50],
    ['/api/v1/benchmarks?limit=50', 14],
    ['/api/v1/train/bench_1/runs', 14],
    ['/api/v1/deploy?limit=200', 14],
  ])('finds %s requested %i times in a minute', (url, times) => {
    expect(tooOften(asked(url, times), minute, 0)).toHaveLength(1);
  });

  it('allows for starts and ends', () => {
    expect(tooOften(asked('/api/v1/benchmarks?limit=50', 14), minute, 3)).toEqual([]);
  });
});
