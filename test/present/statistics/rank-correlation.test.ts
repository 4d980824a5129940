/** The rank correlation: its value, and the coverage of its interval. */
import { describe, expect, it } from 'vitest';
import { createPrng } from '../../../src/base/prng.ts';
import {
  type Correlation,
  groupedCorrelation,
  rankCorrelation,
} from '../../../src/present/statistics/rank-correlation.ts';
import { isBroken } from '../../../tools/bench/statistics-simulation.ts';

type Draw = () => readonly [number, number];

/** How to draw lengths and rewards, from little to full correlation, with and without ties. */
function shapesOf(next: () => number): Readonly<Record<string, Draw>> {
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const normals = (correlation: number, length = (value: number) => value, reward = length): Draw => {
    const rest = Math.sqrt(1 - correlation ** 2);
    return () => {
      const x = normal();
      return [length(x), reward(correlation * x + rest * normal())];
    };
  };
  const above = (limit: number) => (value: number) => Number(value > limit);
  const same = (value: number): number => value;
  return {
    none: normals(0),
    some: normals(-0.6),
    'nearly all': normals(0.99),
    'a pass or a failure': normals(0.9, same, above(0)),
    'two lengths': normals(0.97, above(0)),
    'few are long and pass': normals(-0.97, above(1.3)),
    'few lengths': normals(0.6, Math.round, above(0.5)),
    'best in the middle': () => {
      const x = next();
      return [x, normal() / 10 - Math.abs(x - 0.5)];
    },
    'all but one in twenty': () => {
      const x = next();
      return next() < 0.05 ? [x, -x] : [x, x];
    },
  };
}

const misses = ({ interval: { low, high } }: Correlation, truth: number): boolean => low > truth || high < truth;

describe('the interval of a rank correlation', () => {
  const { next } = createPrng(7);
  const drawn = (draw: Draw, count: number) => Array.from({ length: count }, draw);
  for (const [name, draw] of Object.entries(shapesOf(next))) {
    it(`keeps its promise, from 5 pairs on: ${name}`, () => {
      const truth = rankCorrelation(drawn(draw, 40_000))?.value ?? Number.NaN;
      for (const pairs of [5, 8, 12, 48]) {
        const found = Array.from({ length: 200 }, () => rankCorrelation(drawn(draw, pairs)) ?? []).flat();
        const missed = found.filter(each => misses(each, truth)).length;
        expect([pairs, missed, isBroken(missed, found.length, 0.05)]).toEqual([pairs, missed, false]);
      }
    });

    it(`keeps its promise for groups: ${name}`, () => {
      for (const size of [2, 5, 16]) {
        const group = () => drawn(draw, size);
        const truth = groupedCorrelation(Array.from({ length: 40_000 / size }, group))?.value ?? Number.NaN;
        for (const groups of [5, 12, 20]) {
          const found = Array.from(
            { length: 200 },
            () => groupedCorrelation(Array.from({ length: groups }, group)) ?? [],
          );
          const missed = found.flat().filter(each => misses(each, truth)).length;
          expect([size, groups, missed, isBroken(missed, 200, 0.05)]).toEqual([size, groups, missed, false]);
        }
      }
    });
  }

  it('does not depend on the order of the pairs (rev38data B1)', () => {
    const pairs = drawn(shapesOf(next)['best in the middle'] ?? (() => [0, 0]), 300);
    expect(rankCorrelation(pairs.toSorted(([one], [other]) => one - other))).toEqual(rankCorrelation(pairs));
  });

  it('has a width for a few pairs or groups that all agree', () => {
    const pairs = Array.from({ length: 11 }, (_, index) => [index, index] as const);
    expect(rankCorrelation(pairs)).toMatchObject({ value: 1, interval: { high: 1 } });
    expect(rankCorrelation(pairs)?.interval.low).toBeLessThan(0.5);
    const [one, two] = [pairs.slice(0, 2), pairs.slice(0, 2)];
    expect(groupedCorrelation([one, two, one, two, one])?.interval.low).toBeCloseTo(2 * 0.025 ** (1 / 5) - 1, 6);
  });
});

describe('the correlation within groups', () => {
  it('is Spearman’s for one group, and leaves out groups without a difference', () => {
    const group = [3, 1, 4, 1.5, 9, 2, 6].map((value, index) => [index, value] as const);
    const equal = [
      [1, 1],
      [2, 1],
    ] as const;
    // Ranks 4 1 5 2 7 3 6 against 1 to 7: 1 − 6·Σd²/(n³ − n), with Σd² = 9 + 1 + 4 + 4 + 4 + 9 + 1.
    expect(groupedCorrelation([group, equal])?.value).toBeCloseTo(1 - (6 * 32) / (343 - 7), 10);
    expect(groupedCorrelation([equal])).toBeUndefined();
  });
});
