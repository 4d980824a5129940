/** Agreement of two graders: kappa against its published example, and the coverage of its interval. */
import { describe, expect, it } from 'vitest';
import { createPrng } from '../../../src/base/prng.ts';
import { agreementOf, type GradedPair } from '../../../src/present/statistics/agreement.ts';
import { isBroken } from '../../../tools/bench/statistics-simulation.ts';

/** Rollouts by the grades of the first and the second grader, each a task of its own. */
function table(both: number, first: number, second: number, neither: number): GradedPair[] {
  const of = (count: number, one: boolean, other: boolean, name: string): GradedPair[] =>
    Array.from({ length: count }, (_, index) => ({ task: `${name} ${index}`, first: one, second: other }));
  return [
    ...of(both, true, true, 'both'),
    ...of(first, true, false, 'first'),
    ...of(second, false, true, 'second'),
    ...of(neither, false, false, 'neither'),
  ];
}

/** Shares of rollouts that pass both graders, the first, the second, neither. */
const kappas = [0.5, 0.7, 0.85, 0.9, 0.95].flatMap(first =>
  [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.4].flatMap(disagree =>
    [0.5, 0.9, 1].flatMap(lost => {
      const shares = [
        first - disagree * lost,
        disagree * lost,
        disagree * (1 - lost),
        1 - first - disagree * (1 - lost),
      ];
      if (Math.min(...shares) < 0) return [];
      const second = first - disagree * (2 * lost - 1);
      const chance = first * second + (1 - first) * (1 - second);
      return [{ shares, kappa: (1 - disagree - chance) / (1 - chance) }];
    }),
  ),
);

/** Each table of so many tasks, with its interval and the number of orders in which they can be drawn. */
function everyTable(tasks: number) {
  const factorial = (of: number): number => (of < 2 ? 1 : of * factorial(of - 1));
  const known = new Map<string, ReturnType<typeof agreementOf>['interval']>();
  // Kappa is the same with passes for failures, or the graders exchanged.
  const intervalOf = ([both, first, second, neither]: readonly [number, number, number, number]) => {
    const [low, high] = [Math.min(both, neither), Math.max(both, neither)];
    const [less, more] = [Math.min(first, second), Math.max(first, second)];
    const key = [low, high, less, more].join();
    if (!known.has(key)) known.set(key, agreementOf(table(low, less, more, high)).interval);
    return known.get(key);
  };
  const upTo = (most: number): readonly number[] => Array.from({ length: most + 1 }, (_, count) => count);
  return upTo(tasks).flatMap(both =>
    upTo(tasks - both).flatMap(first =>
      upTo(tasks - both - first).map(second => {
        const counts = [both, first, second, tasks - both - first - second] as const;
        const ways = counts.reduce((ways, count) => ways / factorial(count), factorial(tasks));
        return { counts, ways, interval: intervalOf(counts) };
      }),
    ),
  );
}

describe('agreement', () => {
  it('matches the textbook example: 20, 5, 10 and 15 of 50 have a kappa of 0.4', () => {
    expect(agreementOf(table(20, 5, 10, 15))).toMatchObject({ count: 50, agreed: 35, lost: 5, gained: 10 });
    expect(agreementOf(table(20, 5, 10, 15)).kappa).toBeCloseTo(0.4, 12);
  });

  it('is 1 without a disagreement, 0 by chance, and unknown if nothing can disagree', () => {
    expect(agreementOf(table(3, 0, 0, 4))).toMatchObject({ kappa: 1, interval: { high: 1 } });
    expect(agreementOf(table(4, 4, 4, 4)).kappa).toBe(0);
    expect(agreementOf(table(9, 0, 0, 0))).toMatchObject({ kappa: undefined, interval: undefined });
    expect(agreementOf([])).toMatchObject({ count: 0, kappa: undefined, interval: undefined });
    expect(agreementOf(table(2, 0, 0, 2)).interval).toBeUndefined();
  });

  it.each([5, 12, 20])('has an interval that covers kappa in at least 95 of 100 samples of %i tasks (B19)', tasks => {
    const tables = everyTable(tasks);
    const least = kappas.map(({ shares, kappa }) => {
      let missed = 0;
      for (const { counts, ways, interval } of tables) {
        if (!interval || (interval.low <= kappa && kappa <= interval.high)) continue;
        missed += ways * counts.reduce((product, count, cell) => product * (shares[cell] ?? 0) ** count, 1);
      }
      return { shares, held: 1 - missed };
    });
    expect(least.length).toBeGreaterThan(60);
    for (const { shares, held } of least) expect(held, shares.join()).toBeGreaterThanOrEqual(0.95);
  });

  it('covers kappa for tasks with many similar rollouts, in different numbers (B19)', () => {
    const { next } = createPrng(7);
    const seen = { drawn: 0, missed: 0 };
    for (const { shares, kappa } of kappas.filter((_, index) => index % 6 === 0)) {
      for (let sample = 0; sample < 40; sample += 1) {
        const judged = Array.from({ length: 25 }, (_, task) => {
          const drawn = next();
          const cell = shares.findIndex((_share, index) => drawn < shares.slice(0, index + 1).reduce((a, b) => a + b));
          const each = { task: String(task), first: cell === 0 || cell === 1, second: cell === 0 || cell === 2 };
          return Array.from({ length: 1 + Math.floor(next() * 6) }, () => each);
        }).flat();
        const { interval } = agreementOf(judged);
        if (!interval) continue;
        seen.drawn += 1;
        if (interval.low > kappa || interval.high < kappa) seen.missed += 1;
      }
    }
    expect(seen.drawn).toBeGreaterThan(350);
    expect(isBroken(seen.missed, seen.drawn, 0.05)).toBe(false);
  });

  it('has an interval that narrows with more tasks, not with more similar rollouts', () => {
    const once = table(20, 5, 10, 15);
    const { interval } = agreementOf(once);
    expect(interval?.low).toBeCloseTo(0.124, 3);
    expect(interval?.high).toBeCloseTo(0.632, 3);
    expect(agreementOf([...once, ...once, ...once]).interval).toEqual(interval);
  });
});
