/** The held-out curve of a training run whose service measures the tasks of several splits. */
import { expect, it } from 'vitest';
import type { HeldOutReward } from '../../src/contract/training.ts';
import { decidingSplit, heldOutMeans, otherSplits, worstOf } from '../../src/queries/held-out.ts';
import { heldOutRewardsQuery } from '../../src/queries/training-curves.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';

const rowsOf = (split: string | null, rewards: readonly (number | null)[]): HeldOutReward[] =>
  rewards.map((held_out_reward, index) => ({ step: index * 10, split, held_out_reward, completed_samples: 100 }));
const splitsOf = (rows: readonly HeldOutReward[]) => {
  const deciding = decidingSplit(rows);
  return [deciding, ...otherSplits(deciding)].map(each => `${each[0]?.split ?? 'none'} ${each.length}`);
};

it('uses the validation tasks, before all others', () => {
  const rows = [...rowsOf('test', [0.1, 0.9, 0.5]), ...rowsOf('validation', [0.2, 0.4, 0.8])];
  const means = heldOutMeans(decidingSplit(rows.toSorted((left, right) => left.step - right.step)));
  expect(means).toMatchObject({
    last: { step: 20, reward: 0.8, split: 'validation' },
    best: { step: 20, reward: 0.8 },
    curve: [0.2, 0.4, 0.8],
  });
  expect(splitsOf(rows)).toEqual(['validation 3', 'test 3']);
  // The newest round of the validation tasks may come later than that of other tasks.
  expect(splitsOf([...rowsOf('test', [0.1, 0.9]), ...rowsOf('validation', [0.2])])).toEqual(['validation 1', 'test 2']);
});

it('uses the other tasks if a row or none belongs to the validation tasks', () => {
  expect(splitsOf(rowsOf('test', [0.1, 0.2]))).toEqual(['test 2']);
  expect(splitsOf([...rowsOf('test', [0.1, 0.2, 0.3]), ...rowsOf('validation', [1])])).toEqual([
    'test 3',
    'validation 1',
  ]);
  expect(splitsOf([...rowsOf(null, [0.1, 0.2, 0.3]), ...rowsOf('test', [1])])).toEqual(['none 3', 'test 1']);
  expect(splitsOf([...rowsOf('validation', [null, null]), ...rowsOf('test', [1, 1])])).toEqual([
    'test 2',
    'validation 2',
  ]);
});

it('uses the test tasks last, in a fixed order of the splits, for any order and number of rows', () => {
  const names = ['validation', 'val', 'valid', 'Dev', 'eval', 'a', 'b', null, 'train', 'test'];
  const splits = names.map(name => rowsOf(name, [0.1, 0.2]));
  const all = names.map(name => `${name ?? 'none'} 2`);
  expect(splitsOf(splits.flat())).toEqual(all);
  expect(splitsOf(splits.toReversed().flat())).toEqual(all);
  expect(splitsOf([...rowsOf('test', Array(9).fill(0.5)), ...rowsOf('dev', [0.1, 0.2])])).toEqual(['dev 2', 'test 9']);
});

it.each([
  'dev-small test-set',
  'training test_easy',
  'validation-set Testing',
  'easy-val easy-test',
  'a test2',
  'val eval-tasks',
  'valid.1 b',
])('recognises them by a word in their names: %s', names => {
  const splits = names.split(' ').map(name => rowsOf(name, [0.1, 0.2]));
  expect(splitsOf(splits.toReversed().flat())).toEqual(names.split(' ').map(name => `${name} 2`));
});

it('stays the same while the rows of a step arrive one by one', () => {
  const rows = [0, 1, 2, 3].flatMap(at =>
    ['test', 'dev'].flatMap(split => rowsOf(split, [0.1, 0.3, 0.2, 0.4])[at] ?? []),
  );
  // The first row is the only one.
  for (let count = 2; count <= rows.length; count += 1)
    expect(heldOutMeans(decidingSplit(rows.slice(0, count)))?.last.split).toBe('dev');
});

it('is read again if only another split has changed', async () => {
  const test = rowsOf('test', [0.1, 0.2]);
  const answer = { held_out_rewards: [...rowsOf('validation', [0.3, 0.4]), ...test] };
  const query = heldOutRewardsQuery('trn_1', false);
  const read = () =>
    query.read({
      service: fakeService({ getHeldOutRewards: () => answer }),
      signal: new AbortController().signal,
      memory: RememberedStore.inMemory('test'),
    });
  const before = await read();
  expect(query.share?.(before, await read())).toBe(before);
  answer.held_out_rewards = [...answer.held_out_rewards, { ...test[1], step: 20, held_out_reward: 0.3 }];
  const after = query.share?.(before, await read());
  expect(otherSplits(after ?? [])[0]).toHaveLength(3);
});

it('counts missing samples as the lowest reward: 0, or less if the curve is lower', () => {
  const mean = { step: 1, reward: 0.5, samples: 10, expected: 20 };
  expect(worstOf(mean)).toBe(0.25);
  expect(worstOf({ ...mean, extremes: [-1, 0.5] })).toBe(-0.25);
  expect(worstOf({ ...mean, samples: 20 })).toBe(0.5);
  expect(worstOf({ ...mean, samples: undefined })).toBe(0.5);
});

it('tells rounds in which every rollout failed after the last reward from those that may still get one', () => {
  const failed = { held_out_reward: null, expected_samples: 10, completed_samples: 0, failed_samples: 10 };
  const since = (...points: object[]) =>
    heldOutMeans([
      { step: 0, ...failed },
      { step: 1, held_out_reward: 0.5 },
      ...points.map((point, index) => ({ step: index + 2, ...failed, ...point })),
    ])?.last.failedSince;
  expect(since()).toBeUndefined();
  expect(since({}, {})).toEqual({ step: 3, failed: 10, rounds: 2, isSame: true });
  expect(since({}, { expected_samples: 12, failed_samples: 12 })).toMatchObject({ failed: 12, isSame: false });
  expect(since({ failed_samples: 4 })).toBeUndefined();
  expect(since({ round_completed: false })).toBeUndefined();
  expect(since({}, { held_out_reward: 0.4 })).toBeUndefined();
});

it('makes the means of a curve once, because every key in the view of its run asks for them', () => {
  const curve = [{ step: 2, held_out_reward: 0.5 }];
  expect(heldOutMeans(curve)).toBe(heldOutMeans(curve));
  expect(heldOutMeans([...curve])).not.toBe(heldOutMeans(curve));
});
