import { describe, expect, it } from 'vitest';
import { tallyOf } from '../../../src/present/statistics/tally.ts';
import { studentLimits, tQuantile } from '../../../tools/bench/student.ts';

describe('tQuantile', () => {
  it('agrees with printed tables', () => {
    // t(0.975) from Abramowitz and Stegun, table 26.10.
    const table: [number, number][] = [
      [1, 12.706],
      [2, 4.303],
      [3, 3.182],
      [4, 2.776],
      [5, 2.571],
      [10, 2.228],
      [30, 2.042],
      [120, 1.98],
    ];
    for (const [degrees, expected] of table) expect(tQuantile(0.975, degrees)).toBeCloseTo(expected, 3);
    expect(tQuantile(0.995, 4)).toBeCloseTo(4.604, 3);
    expect(tQuantile(0.025, 5)).toBeCloseTo(-2.571, 3);
    expect(tQuantile(0.5, 7)).toBeCloseTo(0, 10);
    expect(tQuantile(0.975, 1e6)).toBeCloseTo(1.96, 3);
  });
});

describe('studentLimits', () => {
  it('match the t test', () => {
    // Mean 3, s = √2.5, s/√5 = √0.5, t(0.975, 4) = 2.776445.
    const [low = 0, high = 0] = studentLimits(tallyOf([1, 2, 3, 4, 5]), 0.025) ?? [];
    expect(low).toBeCloseTo(3 - 2.776_445 * Math.SQRT1_2, 5);
    expect(high).toBeCloseTo(3 + 2.776_445 * Math.SQRT1_2, 5);
  });

  it('are undefined if all values are equal (V44)', () => {
    expect(studentLimits(tallyOf([1, 1, 1]), 0.025)).toBeUndefined();
    expect(studentLimits(tallyOf([1]), 0.025)).toBeUndefined();
  });
});
