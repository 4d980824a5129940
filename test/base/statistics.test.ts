import { describe, expect, it } from 'vitest';
import { histogram, mean, summarise } from '../../src/base/statistics.ts';

describe('mean and quantiles', () => {
  it('interpolate as R type 7 does', () => {
    // quantile(c(1,2,3,4,10), c(.5,.95)) in R: 3, 8.8
    const values = [10, 2, 4, 1, 3];
    expect(summarise(values)).toMatchObject({ p50: 3, p95: expect.closeTo(8.8, 12), minimum: 1, maximum: 10 });
    expect(summarise([1, 2, 3, 4])?.p50).toBe(2.5);
    expect(values).toEqual([10, 2, 4, 1, 3]);
  });

  it('are undefined for an empty list', () => {
    expect(mean([])).toBeUndefined();
    expect(summarise([])).toBeUndefined();
    expect(summarise([Number.NaN])).toBeUndefined();
    expect(mean([1, Number.NaN, 3])).toBe(2);
  });

  it('stay finite if the sum of the values overflows', () => {
    expect(mean([1.6e308, 1.6e308])).toBe(1.6e308);
  });

  it('sort by number, not by text', () => {
    expect(summarise([100, 9, 20])).toEqual({ count: 3, mean: 43, p50: 20, p95: 92, minimum: 9, maximum: 100 });
  });
});

describe('histogram', () => {
  const edges = (values: readonly number[], most = 10) => {
    const bins = histogram(values, most);
    return [...bins.map(({ low }) => low), bins.at(-1)?.high];
  };

  it('counts every value once, in bins with round edges', () => {
    const values = Array.from({ length: 1_000 }, (_, i) => (i * 7_919) % 997);
    const bins = histogram(values, 10);
    expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(1_000);
    expect(edges(values)).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]);
    expect(edges([0, 1 / 7, 2 / 7, 3 / 7, 4 / 7])).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
    expect(edges([-0.31, 0.02, 0.11, 0.2, 0.47])).toEqual([-0.4, -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    expect(edges([1.05, 1.06, 1.11, 1.12, 1.2, 1.95], 3)).toEqual([1, 1.5, 2]);
  });

  it('puts a value at an edge into the bin that starts there, and the largest into the last bin', () => {
    const values = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
    expect(histogram(values, 10).map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
  });

  it('gives each value its own bin if there are few', () => {
    expect(histogram([0, 1, 1, 0.5, 1], 10)).toEqual([
      { low: 0, high: 0, count: 1 },
      { low: 0.5, high: 0.5, count: 1 },
      { low: 1, high: 1, count: 3 },
    ]);
    expect(histogram([3, 1, 4, 2], 10).map(({ low, high }) => [low, high])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
    ]);
    expect(histogram([0.5, 0.5], 10)).toEqual([{ low: 0.5, high: 0.5, count: 2 }]);
    expect(histogram([Number.NaN], 10)).toEqual([]);
  });

  it.each([2, 3, 7, 40])('never has more than %i bins', most => {
    for (const scale of [1e-7, 0.3, 1, 17, 1e9]) {
      const values = Array.from({ length: 50 }, (_, index) => Math.sin(index) * scale);
      const bins = histogram(values, most);
      expect(bins.length).toBeLessThanOrEqual(most);
      expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(50);
      for (const { low, high } of bins) expect(high).toBeGreaterThan(low);
    }
  });
});
