/** The rollouts of a run, joined with its rewards while some pages are unread. */
import { expect, it } from 'vitest';
import type { Trajectory } from '../../src/contract/trajectories.ts';
import { rewardsSoFar, withRewards } from '../../src/queries/trajectories.ts';

const read: readonly Trajectory[] = [
  { trajectory_id: 'a', reward: 0.5, status: 'completed' },
  { trajectory_id: 'b', status: 'running' },
  { trajectory_id: 'c', status: 'failed' },
];

it('includes every reward, even for unread trajectories', () => {
  const rewards = [
    { trajectory_id: 'a', reward: 0.5 },
    { trajectory_id: 'b', reward: 1 },
    { trajectory_id: 'd', reward: 0, task_id: 'the fourth' },
    { trajectory_id: null, reward: 0.25 },
  ];
  const joined = withRewards(read, rewards);
  expect(joined).toEqual([
    read[0],
    { trajectory_id: 'b', status: 'running', reward: 1 },
    read[2],
    { trajectory_id: 'd', reward: 0, task_id: 'the fourth' },
  ]);
  expect(joined[0]).toBe(read[0]);
});

it('is what was read if rewards add nothing, or are unknown', () => {
  expect(withRewards(read, undefined)).toBe(read);
  expect(withRewards(read, [{ trajectory_id: 'a', reward: 0.5 }])).toBe(read);
});

it('corrects a reward that comes from earlier rewards only', () => {
  const [row, rated] = [{ trajectory_id: 'x', reward: 1 }, read[0]];
  expect(withRewards([row], [{ trajectory_id: 'x', reward: 0 }])).toEqual([{ trajectory_id: 'x', reward: 0 }]);
  expect(withRewards(rated ? [rated] : [], [{ trajectory_id: 'a', reward: 0 }])).toEqual([rated]);
});

it('counts what is listed as ended before it is among the rewards', () => {
  const rewards = [{ trajectory_id: 'x', reward: 1 }];
  expect(rewardsSoFar(rewards, read)).toEqual([
    ...rewards,
    { trajectory_id: 'a', reward: 0.5 },
    { trajectory_id: 'c', reward: undefined },
  ]);
  expect(rewardsSoFar(undefined, read)).toHaveLength(2);
  expect(rewardsSoFar(undefined, [{ trajectory_id: 'b', status: 'running' }])).toBeUndefined();
});
