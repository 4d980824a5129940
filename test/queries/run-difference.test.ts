/** The remembered difference of a run: one from an older method is computed again, not shown. */
import { expect, it } from 'vitest';
import { intervalMethod } from '../../src/present/statistics/interval.ts';
import { rememberedDifference } from '../../src/queries/run-difference.ts';

const whole = {
  baseline: 'evr_0',
  difference: 0.1,
  interval: { low: 0, high: 0.2, confidence: 0.95 },
  range: [0, 1],
  method: intervalMethod,
  means: { base: { mean: 0.4, graded: 28 }, new: { mean: 0.5, graded: 28 } },
};

const remembered = (difference: unknown, status = 'completed') =>
  rememberedDifference({ seen: { find: () => ({ status, difference }) } as never }, 'evr_1', 'completed');

it('is found only while the run has the status that it ended with', () => {
  expect(remembered(whole)).toEqual(whole);
  expect(remembered({ ...whole, difference: undefined, interval: undefined })).toBeDefined();
  expect(remembered(whole, 'running')).toBeUndefined();
});

it.each([
  ['nothing', undefined],
  ['another method', { ...whole, method: 1 }],
])('is not taken from %s', (_, difference) => {
  expect(remembered(difference)).toBeUndefined();
});
