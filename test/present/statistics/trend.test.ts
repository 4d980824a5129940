/** The trend of a curve: where it rises, falls or stays level. */
import { describe, expect, it } from 'vitest';
import { trendOf } from '../../../src/present/statistics/trend.ts';
import { Random } from '../../../tools/rig/random.ts';

const turns = (values: readonly number[]): string =>
  trendOf(values)
    .map(({ turn, last }, index, all) => (index === all.length - 1 ? turn : `${turn} to ${last}`))
    .join(', ');
/** Roughly normal, with a standard deviation of 1: the sum of twelve uniform numbers. */
const noise = (random: Random): number => Array.from({ length: 12 }, () => random.next()).reduce((a, b) => a + b, -6);

describe('the trend of a curve', () => {
  it('finds a rise within its first tenth, and its end', () => {
    const plateau = new Array<number>(97).fill(0.671);
    expect(turns([0.12, 0.423, 0.642, ...plateau])).toBe('rises to 3, level');
    expect(turns([3.13, ...plateau])).toBe('falls to 1, level');
  });

  it.each<[string, readonly number[]]>([
    ['unclear', [0.12, 0.423, 0.642]],
    ['unclear', [0.1, 0.4, 0.6, 0.9]],
    ['rises', [0.1, 0.4, 0.6, 0.9, 1]],
    ['falls', [3.13, 3.11, 3.05, 2.92, 2.73]],
    ['rises to 2, level', [0.1, 0.5, 0.9, 0.9, 0.9, 0.9]],
    ['rises to 2, level', [0.236, 0.736, 0.964, 1, 0.991]],
    ['rises to 2, level', [0.1, 0.1, 0.9, 0.9, 0.9]],
    ['rises to 4, falls to 5, level', [0.1, 0.3, 0.5, 0.7, 0.9, 0.1, 0.1, 0.1]],
    ['unclear', [0.5, 0.6, 0.4, 0.5, 0.55]],
    ['unclear', [0.5, 0.52, 0.49]],
    ['unclear', [1, 1, 1]],
    ['level', [1, 1, 1, 1, 1]],
    ['level', [0.1 + 0.2, 0.3, 0.3, 0.3, 0.3]],
    ['', [0, 1]],
    ['', [-1e308, 1e308, 0, 0, 0]],
  ])('of few values: %s', (trend, values) => {
    expect(turns(values)).toBe(trend);
  });

  it('tells a plateau before and after a collapse, for values of any size', () => {
    const values = Array.from({ length: 100 }, (_, index) => (index < 20 ? index / 20 : index < 60 ? 1 : 0.1));
    expect(turns(values.map(value => value * 1e-9))).toBe('rises to 20, level to 59, falls to 60, level');
  });

  it('says that waves without a trend swing', () => {
    const waves = (pace: number, length = 200) => Array.from({ length }, (_, index) => Math.sin(index / pace));
    expect(turns(waves(5))).toBe('swings');
    expect(turns(waves(11.8))).toBe('swings to 169, falls');
    expect(turns(waves(3.18, 100))).toBe('swings');
  });

  it('turns at its highest and lowest value', () => {
    const valley = Array.from({ length: 21 }, (_, index) => ((index - 10) / 10) ** 2);
    expect(turns(valley)).toBe('falls to 10, rises');
    expect(turns(valley.map(value => 1 - value))).toBe('rises to 10, falls');
  });

  it.each([20, 300, 1_003])('dates a jump of one of %d values at its step, even at the last', length => {
    for (const at of [length / 4, length / 2 + 1, length - 10, length - 2, length - 1].map(Math.floor)) {
      const values = Array.from({ length }, (_, index) => (index < at ? 0.7 : 0));
      expect(turns(values)).toMatch(new RegExp(`^level to ${at - 1}, falls`));
    }
  });

  it('ends each rise and fall of any shape after its start, and says if it goes back', () => {
    const random = new Random('shapes');
    const shapes: readonly ((share: number) => number)[] = [
      share => 1 - Math.exp(-5 * share),
      share => 1 / (1 + Math.exp(10 - 20 * share)),
      share => Math.exp(-((4 * share - 2) ** 2)),
      share => (2 * share - 1) ** 2,
      share => Math.sin(20 * share),
      share => share + 0.3 * Math.sin(30 * share),
      share => Math.floor(share * 5),
      share => (share < 0.7 ? Math.sqrt(share) : 0.1),
    ];
    for (const shape of shapes) {
      for (const length of [5, 12, 40, 200, 201, 1_000]) {
        const [stretched, moved] = [0.5 + random.next(), random.next() / 3];
        const values = Array.from({ length }, (_, index) => shape((index / length) * stretched + moved));
        const range = Math.max(...values) - Math.min(...values);
        let from = 0;
        for (const { turn, last } of trendOf(values)) {
          const part = values.slice(from, last + 1).map(value => value * (turn === 'falls' ? -1 : 1));
          expect(part.length).toBeGreaterThan(0);
          if (turn === 'rises' || turn === 'falls') {
            const back = part.map((value, index) => Math.max(...part.slice(0, index + 1)) - value);
            expect((part.at(-1) as number) - (part[0] as number)).toBeGreaterThan(0);
            expect(Math.max(...back)).toBeLessThan(0.3 * range);
          }
          from = last;
        }
        expect(from).toBe(length - 1);
      }
    }
  });

  it('names the step even in a long curve', () => {
    const [rise] = trendOf(Array.from({ length: 100_000 }, (_, index) => Math.min(1, index / 20_000)));
    expect(rise?.turn).toBe('rises');
    expect(Math.abs((rise?.last ?? 0) - 20_000)).toBeLessThan(1_000);
  });

  it.each([10, 12, 20, 50, 100, 300])('calls pure noise level in 19 of 20 curves of %d values', length => {
    const random = new Random(`noise ${length}`);
    const count = length > 100 ? 100 : 400;
    const curves = Array.from({ length: count }, () => Array.from({ length }, () => noise(random)));
    expect(curves.filter(values => turns(values) !== 'level').length).toBeLessThanOrEqual(count / 20);
  });

  it.each<[string, (share: number) => number]>([
    ['rises', share => share],
    ['rises, level', share => Math.min(1, share * 10)],
    ['level, rises, level', share => (share < 0.5 ? 0 : 1)],
    ['rises, falls', share => 1 - Math.abs(share - 0.5) * 2],
  ])('finds in noise, in 9 of 10 curves: %s', (trend, shape) => {
    const random = new Random(trend);
    const curves = Array.from({ length: 100 }, () =>
      Array.from({ length: 60 }, (_, index) => shape(index / 59) + 0.1 * noise(random)),
    );
    const right = curves.filter(values => turns(values).replaceAll(/ to \d+/g, '') === trend);
    expect(right.length).toBeGreaterThanOrEqual(90);
  });
});
