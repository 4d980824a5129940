import { expect, it } from 'vitest';
import { chosenRuns, seedsIn } from '../../src/resources/several-runs.ts';

it.each([
  ['7', [7]],
  ['1,2,3', [1, 2, 3]],
  ['1-3', [1, 2, 3]],
  [' 5 , 1 - 2, 2', [5, 1, 2]],
  ['0-99', Array.from({ length: 100 }, (_, seed) => seed)],
])('reads the seeds %s', (text, seeds) => {
  expect(seedsIn(text)).toEqual(seeds);
});

it.each(['', ',', '1,', '3-1', '-1', '1.5', '1-', 'a', '1;2', '1-2-3', '0-100', '1-99,200,300', '9007199254740993'])(
  'does not take %j for seeds',
  text => {
    expect(seedsIn(text)).toBeUndefined();
  },
);

it('makes a run of each model with each seed, and one of neither', () => {
  expect(chosenRuns(['a', 'b', 'a'], [1, 2, 1], { x: 0 })).toEqual([
    { model: 'a', seed: 1, options: { seed: 1, x: 0 } },
    { model: 'a', seed: 2, options: { seed: 2, x: 0 } },
    { model: 'b', seed: 1, options: { seed: 1, x: 0 } },
    { model: 'b', seed: 2, options: { seed: 2, x: 0 } },
  ]);
  expect(chosenRuns([], [])).toEqual([{ model: undefined, seed: undefined, options: {} }]);
});
