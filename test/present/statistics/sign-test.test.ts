import { expect, it } from 'vitest';
import { signTest } from '../../../src/present/statistics/sign-test.ts';

it('is the exact two-sided probability of a split at least as uneven', () => {
  // Binomial tails by hand: 2 * (1 + 9 + 36) / 512, 2 / 32, 2 * (1 + 10) / 1024.
  expect(signTest(7, 2)).toBeCloseTo(92 / 512, 12);
  expect(signTest(0, 5)).toBeCloseTo(2 / 32, 12);
  expect(signTest(9, 1)).toBeCloseTo(22 / 1024, 12);
});

it('is 1 for an even split, the same for both sides, and unknown without a decision', () => {
  for (const count of [1, 2, 50]) expect(signTest(count, count)).toBe(1);
  expect(signTest(3, 8)).toBe(signTest(8, 3));
  expect(signTest(0, 0)).toBeUndefined();
});

it('does not underflow for thousands of decisions', () => {
  expect(signTest(2_000, 2_000)).toBe(1);
  expect(signTest(1_950, 2_050)).toBeCloseTo(0.1176, 3);
});
