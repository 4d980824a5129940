import { describe, expect, it } from 'vitest';
import { summariseRewards } from '../../../../src/resources/run-outcome.ts';

const rewards = [
  { trajectory_id: '1', task_id: 'b', reward: 1 },
  { trajectory_id: '2', task_id: 'a', reward: 0 },
  { trajectory_id: '3', task_id: 'c', reward: null },
  { trajectory_id: '4', task_id: 'b', reward: 0.5 },
];

describe('summariseRewards', () => {
  it('takes a 0 as a result and a missing reward as none', () => {
    expect(summariseRewards(rewards, 10)).toEqual({
      values: [1, 0, 0.5],
      mean: 0.5,
      missing: 1,
      unreadable: 0,
      contradictions: '',
      total: 10,
    });
  });

  it('counts each of many rewards, including the first and last (B1)', () => {
    for (let count = 1; count <= 12; count += 1) {
      const values = Array.from({ length: count }, (_, index) => 2 ** index);
      const many = values.map((reward, index) => ({ trajectory_id: `t${index}`, task_id: 'a', reward }));
      const { mean, values: counted } = summariseRewards(many, null);
      expect(counted).toEqual(values);
      expect(mean).toBeCloseTo((2 ** count - 1) / count, 9);
    }
  });

  it('has no mean if nothing was scored', () => {
    expect(summariseRewards([], null)).toEqual({
      values: [],
      mean: undefined,
      missing: 0,
      unreadable: 0,
      contradictions: '',
      total: 0,
    });
  });

  it('never reports fewer rollouts than trajectories', () => {
    expect(summariseRewards(rewards, 2).total).toBe(4);
    expect(summariseRewards(rewards, 2, 3)).toMatchObject({ unreadable: 3, total: 7 });
  });
});
