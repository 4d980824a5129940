/** Curves in words. */
import { describe, expect, it } from 'vitest';
import { curveWords } from '../../src/present/curve-words.ts';

const noise = (step: number) => ((step * 7_919) % 101) / 1_000;

describe('a curve in words', () => {
  it('names its ends, its highest and its lowest value', () => {
    const points = [
      { step: 20, value: 0.5 },
      { step: 0, value: 0.1 },
      { step: 10, value: 0.7 },
    ];
    expect(curveWords('held-out reward', points)).toEqual([
      'held-out reward: 3 values, from 0.100 at step 0 to 0.500 at step 20',
      'highest 0.700 at step 10, lowest 0.100 at step 0',
    ]);
    const tie = [0, 1, 2].map(step => ({ step, value: step === 0 ? 0.1 : 0.7 }));
    expect(curveWords('held-out reward', tie)[1]).toBe('highest 0.700 at step 2, lowest 0.100 at step 0');
    expect(curveWords('trainer reward', [])).toEqual(['trainer reward: no values yet']);
    expect(curveWords('trainer reward', [{ step: 1, value: null }])).toEqual(['trainer reward: no values yet']);
  });

  it('says how it goes, by the means of its fifths, and takes noise for level', () => {
    const rising = Array.from({ length: 100 }, (_, step) => ({ step, value: Math.min(step, 60) / 100 + noise(step) }));
    expect(curveWords('trainer reward', rising).at(-1)).toMatch(/: rises, then level$/);
    const level = Array.from({ length: 100 }, (_, step) => ({ step, value: 0.5 + noise(step) }));
    expect(curveWords('trainer reward', level).at(-1)).toMatch(
      /^mean of each fifth of the 100 values: (0\.5\d+, ){4}0\.5\d+: level$/,
    );
    const falling = rising.map(({ step, value }) => ({ step, value: -value }));
    expect(curveWords('trainer reward', falling).at(-1)).toMatch(/: falls, then level$/);
  });

  it('counts its gaps and never draws them (W2)', () => {
    const withGaps = (isGap: (step: number) => boolean) =>
      Array.from({ length: 9 }, (_, step) => ({ step, value: isGap(step) ? null : 1 }));
    expect(
      curveWords(
        'x',
        withGaps(step => step === 3),
      ).at(-1),
    ).toBe('no value at step 3');
    expect(
      curveWords(
        'x',
        withGaps(step => step > 2 && step < 6),
      ).at(-1),
    ).toBe('no value from step 3 to 5 (3 points)');
    expect(
      curveWords(
        'x',
        withGaps(step => step % 2 === 1),
      ).at(-1),
    ).toBe('no value at 4 steps, in 4 gaps');
  });

  it('counts steps that are left out as gaps where the others are equally far apart', () => {
    const without = (isLeftOut: (step: number) => boolean, every = 1) =>
      Array.from({ length: 40 }, (_, index) => ({
        step: index * every,
        value: index === 25 || index === 26 ? null : 1,
      })).filter(({ step }) => !isLeftOut(step));
    const words = curveWords(
      'x',
      without(step => step >= 10 && step < 20),
    );
    expect(words.slice(-2)).toEqual([
      'no value from step 10 to 19 (10 points)',
      'no value from step 25 to 26 (2 points)',
    ]);
    expect(words).toContain('mean of each fifth of the 28 values: 1.00, 1.00, 1.00, 1.00, 1.00: level');
    // Beside steps without a value, they are one gap.
    expect(
      curveWords(
        'x',
        without(step => step >= 27 && step < 30),
      ).at(-1),
    ).toBe('no value from step 25 to 29 (5 points)');
    expect(
      curveWords(
        'x',
        without(step => step === 50, 5),
      ).at(-2),
    ).toBe('no value at step 50');
    const uneven = [0, 1, 4, 9, 16, 25].map(step => ({ step, value: 1 }));
    expect(curveWords('x', uneven)).toHaveLength(2);
  });
});
