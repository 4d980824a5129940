/** The course of a curve: where it rises, falls or stays level. */
import { describe, expect, it } from 'vitest';
import { courseOf } from '../../../src/present/statistics/course.ts';
import { Random } from '../../../tools/rig/random.ts';

const turns = (values: readonly number[]): string =>
  courseOf(values)
    .map(({ turn, last }, index, all) => (index === all.length - 1 ? turn : `${turn} to ${last}`))
    .join(', ');
/** Roughly normal, with a standard deviation of 1: the sum of twelve uniform numbers. */
const noise = (random: Random): number => Array.from({ length: 12 }, () => random.next()).reduce((a, b) => a + b, -6);

describe('the course of a curve', () => {
  it('sees a rise within the first tenth, and where it ends', () => {
    const plateau = new Array<number>(97).fill(0.671);
    expect(courseOf([0.12, 0.423, 0.642, ...plateau])).toEqual([
      { turn: 'rises', last: 3, end: expect.closeTo(0.671) },
      { turn: 'level', last: 99, end: expect.closeTo(0.671) },
    ]);
    expect(turns([3.13, ...plateau])).toBe('falls to 1, level');
  });

  it.each<[string, readonly number[]]>([
    ['rises', [0.12, 0.423, 0.642]],
    ['falls', [3.13, 3.11, 3.05, 2.92, 2.73]],
    ['rises to 2, level', [0.1, 0.5, 0.9, 0.9, 0.9, 0.9]],
    ['rises', [0.236, 0.736, 0.964, 1, 0.991]],
    ['rises to 2, level', [0.1, 0.1, 0.9, 0.9, 0.9]],
    ['rises to 4, falls to 5, level', [0.1, 0.3, 0.5, 0.7, 0.9, 0.1, 0.1, 0.1]],
    ['unclear', [0.5, 0.6, 0.4, 0.5, 0.55]],
    ['unclear', [0.5, 0.52, 0.49]],
    ['level', [1, 1, 1]],
    ['level', [0.1 + 0.2, 0.3, 0.3]],
    ['', [0, 1]],
    ['', [-1e308, 1e308, 0]],
  ])('of few values: %s', (course, values) => {
    expect(turns(values)).toBe(course);
  });

  it('tells a plateau before and after a collapse, however small the values are', () => {
    const values = Array.from({ length: 100 }, (_, index) => (index < 20 ? index / 20 : index < 60 ? 1 : 0.1));
    expect(turns(values.map(value => value * 1e-9))).toBe('rises to 20, level to 59, falls to 60, level');
  });

  it('says of waves on which it goes nowhere that it swings', () => {
    expect(turns(Array.from({ length: 200 }, (_, index) => Math.sin(index / 5)))).toMatch(/swings$/);
  });

  it('names the step also in a curve of many values', () => {
    const [rise] = courseOf(Array.from({ length: 100_000 }, (_, index) => Math.min(1, index / 20_000)));
    expect(rise?.turn).toBe('rises');
    expect(Math.abs((rise?.last ?? 0) - 20_000)).toBeLessThan(1_000);
  });

  it.each([10, 12, 20, 50, 100, 300])('takes noise alone for level in 19 of 20 curves of %d values', length => {
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
  ])('finds in noise, in 9 of 10 curves: %s', (course, shape) => {
    const random = new Random(course);
    const curves = Array.from({ length: 100 }, () =>
      Array.from({ length: 60 }, (_, index) => shape(index / 59) + 0.1 * noise(random)),
    );
    const right = curves.filter(values => turns(values).replaceAll(/ to \d+/g, '') === course);
    expect(right.length).toBeGreaterThanOrEqual(90);
  });
});
