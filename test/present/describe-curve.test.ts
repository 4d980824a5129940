/** Curves in words. */
import { describe, expect, it } from 'vitest';
import { describeCurve, type StepValue } from '../../src/present/describe-curve.ts';
import { reward } from '../../src/text/numbers.ts';

const noise = (step: number) => ((step * 7_919) % 101) / 1_000;

describe('a curve in words', () => {
  it('names its first, last, highest and lowest value', () => {
    const points = [
      { step: 20, value: 0.5 },
      { step: 0, value: 0.1 },
      { step: 10, value: 0.7 },
    ];
    expect(describeCurve('held-out reward', points)).toEqual([
      'held-out reward: 3 values, from 0.100 at step 0 to 0.500 at step 20',
      'highest 0.700 at step 10, lowest 0.100 at step 0',
      'trend: unclear, too few values',
    ]);
    const tie = [0, 1, 2].map(step => ({ step, value: step === 0 ? 0.1 : 0.7 }));
    expect(describeCurve('held-out reward', tie)[1]).toBe('highest 0.700 at step 2, lowest 0.100 at step 0');
    expect(describeCurve('trainer reward', [])).toEqual(['trainer reward: no values yet']);
    expect(describeCurve('trainer reward', [{ step: 1, value: null }])).toEqual(['trainer reward: no values yet']);
  });

  it('names its trend, and the step at which it turns', () => {
    const rising = Array.from({ length: 100 }, (_, index) => ({ step: 3 * index, value: Math.min(index, 60) / 100 }));
    const trend = (points: readonly StepValue[]) => describeCurve('trainer reward', points).at(-1);
    expect(trend(rising)).toBe('trend: rises until step 180 (0.600), then level');
    expect(trend(rising.map(({ step }) => ({ step, value: 0.5 + noise(step) })))).toBe('trend: level');
    expect(trend(rising.map(({ step, value }) => ({ step, value: -value })))).toMatch(
      /^trend: falls until .*, then level$/,
    );
  });

  it('names only values of the curve, each at its step', () => {
    const shapes: readonly ((share: number) => number)[] = [
      share => 1 - Math.exp(-5 * share),
      share => (2 * share - 1) ** 2,
      share => Math.sin(20 * share),
      share => (share < 0.95 ? 0.1 : 0.9),
      share => (share < 0.7 ? Math.sqrt(share) : 0.1),
    ];
    for (const shape of shapes) {
      for (const length of [5, 12, 40, 450]) {
        for (const size of [0, 50]) {
          const points = Array.from({ length }, (_, index) => ({
            step: 5 * index,
            value: shape(index / length) + (size * noise(index)) / 100,
          }));
          const valueAt = new Map(points.map(({ step, value }) => [String(step), reward(value)]));
          const words = describeCurve('x', points).slice(1).join(', ');
          const named = [...words.matchAll(/until step (\d+) \(([^)]+)\)/g)].map(([, step, value]) => [step, value]);
          const extremes = [...words.matchAll(/(\S+) at step (\d+)/g)].map(([, value, step]) => [step, value]);
          for (const [step = '', value] of [...named, ...extremes]) expect(valueAt.get(step)).toBe(value);
          const turn = /rises until step \d+ \(([^)]+)\), then falls/.exec(words);
          if (turn && named.length === 1) expect(words).toContain(`highest ${turn[1]}`);
        }
      }
    }
  });

  it('names no trend for two values, and calls that of a few unclear', () => {
    const of = (...values: number[]) =>
      describeCurve(
        'x',
        values.map((value, step) => ({ step, value })),
      );
    expect(of(0.1, 0.5)).toHaveLength(1);
    expect(of(0.5, 0.52, 0.49).at(-1)).toBe('trend: unclear, too few values');
  });

  it('counts gaps and never draws over them (W2)', () => {
    const withGaps = (isGap: (step: number) => boolean) =>
      Array.from({ length: 9 }, (_, step) => ({ step, value: isGap(step) ? null : 1 }));
    expect(
      describeCurve(
        'x',
        withGaps(step => step === 3),
      ).at(-1),
    ).toBe('no value at step 3');
    expect(
      describeCurve(
        'x',
        withGaps(step => step > 2 && step < 6),
      ).at(-1),
    ).toBe('no value from step 3 to 5 (3 points)');
    expect(
      describeCurve(
        'x',
        withGaps(step => step % 2 === 1),
      ).at(-1),
    ).toBe('no value at 4 steps, in 4 gaps');
  });

  it('counts skipped steps as gaps if the others are evenly spaced', () => {
    const without = (isLeftOut: (step: number) => boolean, every = 1) =>
      Array.from({ length: 40 }, (_, index) => ({
        step: index * every,
        value: index === 25 || index === 26 ? null : 1,
      })).filter(({ step }) => !isLeftOut(step));
    const words = describeCurve(
      'x',
      without(step => step >= 10 && step < 20),
    );
    expect(words.slice(-2)).toEqual([
      'no value from step 10 to 19 (10 points)',
      'no value from step 25 to 26 (2 points)',
    ]);
    expect(words).toContain('trend: level');
    // Beside steps without a value, they are one gap.
    expect(
      describeCurve(
        'x',
        without(step => step >= 27 && step < 30),
      ).at(-1),
    ).toBe('no value from step 25 to 29 (5 points)');
    expect(
      describeCurve(
        'x',
        without(step => step === 50, 5),
      ).at(-2),
    ).toBe('no value at step 50');
    const uneven = [0, 1, 4, 9, 16, 25].map(step => ({ step, value: 1 }));
    expect(describeCurve('x', uneven).at(-1)).toBe('trend: level');
  });
});
