/** Rollouts that a service left out belong to a task only where that is certain. */
import { expect, it } from 'vitest';
import { rewardsByTask } from '../../src/queries/run-rewards.ts';

const rewards = (...tasks: (string | null)[]) => tasks.map(task_id => ({ task_id, reward: 1, trajectory_id: 't' }));

const unlistedOf = (tasks: readonly (string | null)[], total: number, more: string[] = []) => {
  const { tasks: byTask, nameless } = rewardsByTask({ rewards: rewards(...tasks), total }, more);
  return {
    ...Object.fromEntries([...byTask].map(([id, { unlisted }]) => [id, unlisted])),
    nameless: nameless.unlisted,
  };
};

it.each<[string, (string | null)[], number, string[], object]>([
  ['all are there', ['a', 'a', 'b', 'b'], 4, [], { a: 0, b: 0, nameless: 0 }],
  ['as many of each task', ['a', 'a', 'b'], 4, [], { a: 0, b: 1, nameless: 0 }],
  ['a task of which none is listed', ['a', 'a'], 4, ['b'], { a: 0, b: 2, nameless: 0 }],
  ['no whole number of each', ['a', 'a', 'b'], 5, [], { a: 0, b: 0, nameless: 2 }],
  ['more of one task than of each', ['a', 'a', 'a'], 4, ['b'], { a: 0, b: 0, nameless: 0 }],
  ['some without a task', ['a', null], 4, ['b'], { a: 0, b: 0, nameless: 1 }],
  ['half of all tasks, one rollout of each', ['a', 'b'], 4, [], { a: 0, b: 0, nameless: 2 }],
  ['tasks that only the other run lists, and more', ['a', 'b'], 5, ['c'], { a: 0, b: 0, c: 0, nameless: 2 }],
  ['fewer in the total than listed', ['a', 'a', 'b'], 1, [], { a: 0, b: 0, nameless: 0 }],
])('%s', (_, tasks, total, more, expected) => {
  expect(unlistedOf(tasks, total, more)).toEqual(expected);
});
