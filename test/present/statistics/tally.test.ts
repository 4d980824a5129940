import { expect, it } from 'vitest';
import {
  joinTallies,
  lowestIn,
  repeatTally,
  tallyOf,
  tallyOfSame,
  valuesBelow,
} from '../../../src/present/statistics/tally.ts';

it.each([-1, 0.2, 0.5, 0.7, 2])('adds %s as if it had been in the sample', value => {
  const sample = [0.5, 0.2, 0.5, 0.7];
  expect(joinTallies(tallyOf(sample), tallyOfSame(value, 3))).toEqual(tallyOf([...sample, value, value, value]));
  expect(joinTallies(tallyOf(sample), tallyOfSame(value, 0))).toEqual(tallyOf(sample));
  expect(joinTallies(tallyOf([]), tallyOfSame(value, 2))).toEqual(tallyOf([value, value]));
});

it('finds the lowest values of a sample, and those below a limit', () => {
  const sample = [0.7, 0.5, 0.2, 0.5];
  for (const size of [0, 1, 2, 3, 4, 5]) {
    expect(lowestIn(tallyOf(sample), size)).toEqual(tallyOf(sample.toSorted().slice(0, size)));
  }
  for (const limit of [0, 0.2, 0.5, 0.6, 1])
    expect(valuesBelow(tallyOf(sample), limit)).toEqual(tallyOf(sample.filter(value => value < limit)));
});

it('repeats a sample', () => {
  expect(repeatTally(tallyOf([0.5, 0.2, 0.5]), 2)).toEqual(tallyOf([0.5, 0.2, 0.5, 0.5, 0.2, 0.5]));
});
