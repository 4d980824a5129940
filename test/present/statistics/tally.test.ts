import { expect, it } from 'vitest';
import { repeated, tallyOf, withMore } from '../../../src/present/statistics/tally.ts';

it.each([-1, 0.2, 0.5, 0.7, 2])('counts more of %s as if it had been in the sample', value => {
  const sample = [0.5, 0.2, 0.5, 0.7];
  expect(withMore(tallyOf(sample), value, 3)).toEqual(tallyOf([...sample, value, value, value]));
  expect(withMore(tallyOf(sample), value, 0)).toEqual(tallyOf(sample));
  expect(withMore(tallyOf([]), value, 2)).toEqual(tallyOf([value, value]));
});

it('repeats a sample', () => {
  expect(repeated(tallyOf([0.5, 0.2, 0.5]), 2)).toEqual(tallyOf([0.5, 0.2, 0.5, 0.5, 0.2, 0.5]));
});
