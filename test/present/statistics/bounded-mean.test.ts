import { describe, expect, it } from 'vitest';
import { lowerLimit } from '../../../src/present/statistics/bounded-mean.ts';
import { chanceAtMost } from '../../../src/present/statistics/dirichlet-mean.ts';
import { tallyMean, tallyOf } from '../../../src/present/statistics/tally.ts';
import { Random } from '../../../tools/rig/random.ts';

const binary = (ones: number, zeros: number) => [...Array<number>(ones).fill(1), ...Array<number>(zeros).fill(0)];
const upperLimit = (values: readonly number[], risk: number): number =>
  -lowerLimit(tallyOf(values.map(value => -value)), -1, risk);

/** The closed form for distinct values: a sum of exponential variables with different rates. */
function distinctChance(values: readonly number[], floor: number, point: number): number {
  const distances = [floor, ...values].map(value => point - value);
  return distances
    .filter(distance => distance > 0)
    .reduce(
      (sum, own) =>
        sum + distances.reduce((product, each) => (each === own ? product : (product * own) / (own - each)), 1),
      0,
    );
}

/** P(B ≥ least) for a binomial B: the distribution of a beta variable with whole parameters. */
function binomialTail(draws: number, least: number, chance: number): number {
  let [logarithm, sum] = [draws * Math.log1p(-chance), 0];
  for (let hits = 0; hits <= draws; hits++) {
    if (hits >= least) sum += Math.exp(logarithm);
    logarithm += Math.log((draws - hits) / (hits + 1)) + Math.log(chance / (1 - chance));
  }
  return sum;
}

describe('chanceAtMost', () => {
  it('is the distribution of a mean with random weights', () => {
    const values = [0.1, 0.22, 0.35, 0.4, 0.55, 0.61, 0.77, 0.9];
    for (const point of [0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 0.89])
      expect(chanceAtMost(tallyOf(values), 0, point)).toBeCloseTo(distinctChance(values, 0, point), 10);
    expect(chanceAtMost(tallyOf([0.7]), 0, 0.35)).toBeCloseTo(0.5, 10);
  });

  it.each([2, 10, 100, 500, 1_000, 10_000])('is the beta distribution for a single 1 among %i values', size => {
    const sample = { values: Float64Array.of(0, 1), counts: Float64Array.of(size - 1, 1), size };
    for (const chance of [0.001, 0.025, 0.5, 0.9]) {
      const point = -Math.expm1(Math.log1p(-chance) / size);
      expect(Math.abs(chanceAtMost(sample, 0, point) / chance - 1)).toBeLessThan(1e-6);
    }
  });

  it.each([2, 10, 100, 500, 1_000, 10_000])('is the beta distribution for a single 0 among %i values', size => {
    const sample = { values: Float64Array.of(0, 1), counts: Float64Array.of(1, size - 1), size };
    for (const chance of [0.001, 0.025, 0.5, 0.9]) {
      // The floor adds a second 0: P(x) = n xⁿ⁻¹ - (n - 1) xⁿ.
      const point = chance ** (1 / size);
      const exact = size * point ** (size - 1) - (size - 1) * point ** size;
      const smaller = Math.min(exact, 1 - exact);
      expect(Math.abs(chanceAtMost(sample, 0, point) - exact) / smaller).toBeLessThan(1e-6);
    }
  });

  it.each([0.2, 0.5, 0.8])('is the binomial tail for a share of ones of %s', share => {
    const sample = {
      values: Float64Array.of(0, 1),
      counts: Float64Array.of(300 * (1 - share), 300 * share),
      size: 300,
    };
    for (const point of [share - 0.08, share - 0.02, share, share + 0.02, share + 0.08]) {
      const exact = binomialTail(300, 300 * share, point);
      const smaller = Math.min(exact, 1 - exact);
      expect(Math.abs(chanceAtMost(sample, 0, point) - exact) / smaller).toBeLessThan(1e-6);
    }
  });

  it('agrees with sampled weights', () => {
    const random = new Random('weights');
    const values = [-0.2, 0, 0, 0.3, 0.3, 0.3, 1];
    let hits = 0;
    const draws = 40_000;
    for (let draw = 0; draw < draws; draw++) {
      const sum = [-1, ...values].reduce((total, value) => total - Math.log(1 - random.next()) * (value - 0.05), 0);
      if (sum <= 0) hits += 1;
    }
    // Four standard errors.
    expect(Math.abs(hits / draws - chanceAtMost(tallyOf(values), -1, 0.05))).toBeLessThan(4 * Math.sqrt(0.25 / draws));
  });

  it('rises from 0 at the floor to 1 at the top', () => {
    const sample = tallyOf([0.2, 0.2, 0.5, 0.500_000_01, 1]);
    const chances = Array.from({ length: 101 }, (_, index) => chanceAtMost(sample, 0, index / 100));
    expect([chances[0], chances.at(-1)]).toEqual([0, 1]);
    expect(chances).toEqual(chances.toSorted((left, right) => left - right));
  });
});

describe('the limit for a single look', () => {
  it('is Clopper and Pearson’s for 0 and 1', () => {
    // By the beta quantiles in R: binom.test(19, 20), binom.test(1, 10), binom.test(50, 100).
    expect(lowerLimit(tallyOf(binary(19, 1)), 0, 0.025)).toBeCloseTo(0.751_267, 5);
    expect(upperLimit(binary(19, 1), 0.025)).toBeCloseTo(0.998_735, 5);
    expect(lowerLimit(tallyOf(binary(1, 9)), 0, 0.025)).toBeCloseTo(0.002_529, 5);
    expect(upperLimit(binary(1, 9), 0.025)).toBeCloseTo(0.445_016, 5);
    expect(lowerLimit(tallyOf(binary(50, 50)), 0, 0.025)).toBeCloseTo(0.398_321, 5);
  });

  it('has a width even if all values are equal (V44)', () => {
    expect(lowerLimit(tallyOf([1, 1]), 0, 0.025)).toBeCloseTo(Math.sqrt(0.025), 10);
    expect(upperLimit([1, 1], 0.025)).toBe(1);
    expect(lowerLimit(tallyOf(Array<number>(28).fill(0)), -1, 0.025)).toBeCloseTo(-(1 - 0.025 ** (1 / 28)), 10);
  });

  it('needs six gains without a loss, like the exact sign test', () => {
    expect(lowerLimit(tallyOf(binary(5, 0)), -1, 0.025)).toBeLessThan(0);
    expect(lowerLimit(tallyOf(binary(6, 0)), -1, 0.025)).toBeGreaterThan(0);
  });

  it('is close to the t interval for many values', () => {
    const random = new Random('many');
    const sample = tallyOf(Array.from({ length: 2_000 }, () => random.next()));
    const naive = tallyMean(sample) - 1.96 * Math.sqrt(1 / 12 / 2_000);
    expect(lowerLimit(sample, 0, 0.025)).toBeCloseTo(naive, 3);
  });

  it('stays below the lowest possible mean and within the range', () => {
    const random = new Random('range');
    for (let round = 0; round < 50; round++) {
      const sample = tallyOf(
        Array.from({ length: random.between(1, 30) }, () => random.next() ** random.between(0, 9)),
      );
      const limit = lowerLimit(sample, 0, 0.025);
      expect(limit).toBeGreaterThanOrEqual(0);
      expect(limit).toBeLessThan(tallyMean(sample));
    }
  });

  it('is the floor if no value is above it', () => {
    expect(lowerLimit(tallyOf([0, 0, 0]), 0, 0.025)).toBe(0);
    expect(lowerLimit(tallyOf([]), -1, 0.025)).toBe(-1);
  });
});
