import { expect, it } from 'vitest';
import { decimalsOf, multipleOf, roundStep } from '../../src/base/scale.ts';

it('picks the next round step', () => {
  const steps = [0.001, 0.0011, 0.3, 0.5, 0.51, 1, 2.1, 7, 10, 10.1, 54_000];
  expect(steps.map(step => roundStep(step))).toEqual([0.001, 0.002, 0.5, 0.5, 1, 1, 5, 10, 10, 20, 100_000]);
  expect([0.21, 2.1, 2.6].map(step => roundStep(step, { quarters: true }))).toEqual([0.25, 2.5, 5]);
  // A round step with a rounding error counts as one.
  expect(roundStep(0.1 + 0.2 - 0.1)).toBe(0.2);
});

it('keeps multiples free of floating-point noise', () => {
  expect([multipleOf(0.1, 3), multipleOf(0.25, 3), multipleOf(20, -3)]).toEqual([0.3, 0.75, -60]);
  expect([0.25, 0.5, 0.01, 1, 2.5, 100].map(decimalsOf)).toEqual([2, 1, 2, 0, 1, 0]);
});
