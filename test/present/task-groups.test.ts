/** Which of a task's rollouts pass. */
import { expect, it } from 'vitest';
import { countFull } from '../../src/present/statistics/full-reward.ts';
import { groupOf, tasksOf } from '../../src/present/task-groups.ts';

const range = [0, 1] as const;
const under = 0.7 + 0.2 + 0.1;
const rollouts = (...rewards: readonly number[]) => rewards.map(reward => ({ task_id: 't', reward }));

it('counts a reward below the top by rounding as passed and full (attack32 A6)', () => {
  expect(under).toBeLessThan(1);
  expect(groupOf('t', rollouts(under, 1, 0.99), range, { passAt: 1 }).passed).toBe(2);
  expect(groupOf('t', rollouts(0.1 + 0.2, 0.3, 0.29), range, { passAt: 0.1 + 0.2 }).passed).toBe(2);
  expect(countFull([under, 1, 0.99], range)).toBe(2);
});

it('counts a reward at the top of the settings as passed, even beside rewards above it (attack32 A5)', () => {
  const [task] = tasksOf({ step: 6, rewards: rollouts(1, 1, 1.5, 0) }, range);
  expect(task?.passed).toBe(3);
});
