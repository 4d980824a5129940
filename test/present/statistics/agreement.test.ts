/** Agreement of two graders: kappa against its published example, and what its interval covers. */
import { describe, expect, it } from 'vitest';
import { createPrng } from '../../../src/local/model/prng.ts';
import { agreementOf, type Judged } from '../../../src/present/statistics/agreement.ts';

/** Rollouts by what the first and the second grader say, each a task of its own. */
function table(both: number, first: number, second: number, neither: number): Judged[] {
  const of = (count: number, one: boolean, other: boolean, name: string): Judged[] =>
    Array.from({ length: count }, (_, index) => ({ task: `${name} ${index}`, first: one, second: other }));
  return [
    ...of(both, true, true, 'both'),
    ...of(first, true, false, 'first'),
    ...of(second, false, true, 'second'),
    ...of(neither, false, false, 'neither'),
  ];
}

describe('agreement', () => {
  it('is that of the textbook example: 20, 5, 10 and 15 of 50 have a kappa of 0.4', () => {
    expect(agreementOf(table(20, 5, 10, 15))).toMatchObject({ count: 50, agreed: 35, lost: 5, gained: 10 });
    expect(agreementOf(table(20, 5, 10, 15)).kappa).toBeCloseTo(0.4, 12);
  });

  it('is 1 without a disagreement, 0 by chance, and unknown where nothing can disagree', () => {
    expect(agreementOf(table(3, 0, 0, 4))).toMatchObject({ kappa: 1, interval: undefined });
    expect(agreementOf(table(4, 4, 4, 4)).kappa).toBe(0);
    expect(agreementOf(table(9, 0, 0, 0))).toMatchObject({ kappa: undefined, interval: undefined });
    expect(agreementOf([])).toMatchObject({ count: 0, kappa: undefined, interval: undefined });
    expect(agreementOf(table(3, 1, 1, 3)).interval).toBeUndefined();
  });

  it('has an interval that holds the true kappa in about 95 of 100 samples, rollouts of a task being alike', () => {
    // A task passes both or neither with 0.35 each and splits otherwise: kappa is (0.7 - 0.5) / 0.5.
    const { next } = createPrng(7);
    let held = 0;
    for (let sample = 0; sample < 400; sample += 1) {
      const judged = Array.from({ length: 80 }, (_, task) => {
        const drawn = next();
        const first = drawn < 0.35 || (drawn >= 0.7 && drawn < 0.85);
        const second = drawn < 0.35 || drawn >= 0.85;
        return [0, 1, 2].map(() => ({ task: String(task), first, second }));
      }).flat();
      const { interval } = agreementOf(judged);
      if (interval && interval.low <= 0.4 && interval.high >= 0.4) held += 1;
    }
    expect(held / 400).toBeGreaterThan(0.92);
    expect(held / 400).toBeLessThan(0.98);
  });
});
