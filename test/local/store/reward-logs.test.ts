/** The reward that a trajectory gets from those logged to it. */
import { expect, it } from 'vitest';
import { weightedMean } from '../../../src/local/store/reward-logs.ts';

const most = Number.MAX_VALUE;
const least = Number.MIN_VALUE;

it.each<[why: string, rewards: [value: number, weight: number][], mean: number | null]>([
  ['none is logged', [], null],
  ['none has a weight', [[1, 0]], null],
  [
    'they have weights',
    [
      [1, 3],
      [0.5, 1],
      [100, 0],
    ],
    0.875,
  ],
  ['ten count alike', Array.from({ length: 10 }, (_, index) => [index < 8 ? 1 : 0, 1]), 0.8],
  [
    'their weights add up to too much',
    [
      [1, most],
      [0, most],
    ],
    0.5,
  ],
  [
    'a weight times its value is too much',
    [
      [4, 2 ** 1023],
      [1, 2 ** 1022],
    ],
    3,
  ],
  [
    'their weights are tiny',
    [
      [1, least],
      [0.5, least],
    ],
    0.75,
  ],
  [
    'their values add up to too much',
    [
      [most, 1],
      [most, 1],
      [-most, 2],
    ],
    0,
  ],
  [
    'each of them is as large as can be',
    [
      [most, most],
      [most, most],
      [most, most],
    ],
    most,
  ],
  [
    'they are all 0',
    [
      [0, 1],
      [0, 2],
    ],
    0,
  ],
  [
    'only one without a weight is large',
    [
      [most, 0],
      [1e-300, 1],
    ],
    1e-300,
  ],
])('is their weighted mean where %s', (_, rewards, mean) => {
  expect(weightedMean(rewards.map(([value, weight]) => ({ value, weight })))).toBe(mean);
});
