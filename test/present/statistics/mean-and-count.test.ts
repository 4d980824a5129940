import { expect, it } from 'vitest';
import { lowerLimit } from '../../../src/present/statistics/bounded-mean.ts';
import { intervalOfMean } from '../../../src/present/statistics/mean-and-count.ts';
import { tallyMean, tallyOf } from '../../../src/present/statistics/tally.ts';
import { Random } from '../../../tools/rig/random.ts';

it('is Clopper and Pearson’s (V50)', () => {
  // In R: binom.test(56, 112) and binom.test(19, 20).
  expect(intervalOfMean(0.5, 112)).toMatchObject({
    low: expect.closeTo(0.404_025, 4),
    high: expect.closeTo(0.595_975, 4),
  });
  expect(intervalOfMean(0.95, 20)).toMatchObject({ low: expect.closeTo(0.751_267, 5) });
  expect(intervalOfMean(1, 2)).toMatchObject({ low: expect.closeTo(Math.sqrt(0.025), 10), high: 1 });
});

it('is the widest over all samples with this mean (V50)', () => {
  const random = new Random('widest');
  for (let round = 0; round < 200; round++) {
    const power = random.between(1, 8);
    const sample = tallyOf(Array.from({ length: random.between(1, 60) }, () => random.next() ** power));
    const widest = intervalOfMean(tallyMean(sample), sample.size)?.low ?? Number.NaN;
    expect(lowerLimit(sample, 0, 0.025)).toBeGreaterThanOrEqual(widest - 1e-9);
  }
});

it('counts missing samples as the lowest and as the highest reward', () => {
  const { low, high } = intervalOfMean(0.5, 10, 2) ?? {};
  expect(low).toBeCloseTo(intervalOfMean(5 / 12, 12)?.low ?? 0, 10);
  expect(high).toBeCloseTo(intervalOfMean(7 / 12, 12)?.high ?? 0, 10);
});

it('is undefined without samples, and outside the range', () => {
  expect(intervalOfMean(0.5, 0)).toBeUndefined();
  expect(intervalOfMean(3, 10)).toBeUndefined();
  expect(intervalOfMean(Number.NaN, 10)).toBeUndefined();
  expect(intervalOfMean(3, 10, 0, [0, 10])).toBeDefined();
  expect(intervalOfMean(1.0000000000000002, 10)).toEqual(intervalOfMean(1, 10));
});
