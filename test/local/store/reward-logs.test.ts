/** The reward of a trajectory from those logged to it, and how it ends. */
import { describe, expect, it } from 'vitest';
import {
  completeTrajectory,
  logReward,
  RewardIdTaken,
  rewardsOf,
  storeRewards,
  TrajectoryTerminal,
  weightedMean,
} from '../../../src/local/store/reward-logs.ts';
import { storesInMemory } from './memory.ts';

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
  [
    'rounding would put it beyond every value',
    [
      [0.85, 0.4],
      [0.85, 0.2],
      [0.85, 0.4],
      [0.85, 0.5],
    ],
    0.85,
  ],
])('is the weighted mean if %s', (_, rewards, mean) => {
  expect(weightedMean(rewards.map(([value, weight]) => ({ value, weight })))).toBe(mean);
});

describe('a live trajectory', () => {
  const reward = { reward_id: 'rwd_1', name: 'quality', value: 1, weight: 1, explanation: 'good' };

  function opened(status = 'running') {
    const { stores, organizationId } = storesInMemory();
    const id = stores.trajectories.add({
      organization_id: organizationId,
      source: 'live',
      status,
      steps: [],
      dataset_id: null,
      dataset_name: null,
    });
    const { database } = stores;
    const row = () => {
      const found = stores.trajectories.row(organizationId, id);
      if (!found) throw new Error('It is gone.');
      return found;
    };
    const log = (more: Partial<typeof reward> = {}) => logReward(database, row(), { ...reward, ...more });
    return { database, id, row, log, end: (reason: string) => completeTrajectory(database, row(), reason) };
  }

  it('has the mean of its rewards, each of which counts once', () => {
    const { database, id, row, log } = opened();
    expect([log(), log(), log({ reward_id: 'rwd_2', value: 0 })]).toEqual(['running', 'running', 'running']);
    expect(row().reward).toBe(0.5);
    expect(rewardsOf(database, id)).toMatchObject([reward, { ...reward, reward_id: 'rwd_2', value: 0 }]);
  });

  it.each([{ value: 0 }, { name: 'other' }, { weight: 2 }, { explanation: '' }])(
    'refuses a different reward with the id of another: %j',
    other => {
      const { row, log } = opened();
      log();
      const again = () => log(other);
      expect(again).toThrow(RewardIdTaken);
      expect(again).toThrow('The reward rwd_1 has already been logged with other values.');
      expect(row().reward).toBe(1);
    },
  );

  it.each([
    ['ENV_DONE', 'completed'],
    ['ERROR', 'failed'],
  ])('that ends with %s is %s, and takes no other end and no other reward', (reason, status) => {
    const { row, log, end } = opened();
    log();
    expect([end(reason), end(reason), log()]).toEqual([status, status, status]);
    expect(row()).toMatchObject({ status, termination_reason: reason, reward: 1 });
    const words = `The trajectory has ended as ${status}.`;
    for (const late of [() => end('TRUNCATED'), () => log({ reward_id: 'rwd_2' })]) {
      expect(late).toThrow(TrajectoryTerminal);
      expect(late).toThrow(words);
    }
    expect(row()).toMatchObject({ status, termination_reason: reason, reward: 1 });
  });

  it('keeps its initial rewards in order, before those logged later', () => {
    const { database, id, log } = opened();
    log({ reward_id: 'rwd_a' });
    const uploaded = { name: 'n', value: 0, weight: 1, explanation: '' };
    storeRewards(database, id, [
      { ...uploaded, reward_id: 'rwd_z', created_at: '2026-01-01', details: { kind: 'judge', name: 'hidden' } },
      { ...uploaded, reward_id: undefined, created_at: undefined, details: {} },
    ]);
    expect(rewardsOf(database, id)).toEqual([
      { ...uploaded, kind: 'judge', reward_id: 'rwd_z', created_at: '2026-01-01' },
      { ...uploaded, reward_id: expect.stringMatching(/^rwd_/), created_at: expect.stringMatching(/T.*Z$/) },
      { ...reward, reward_id: 'rwd_a', created_at: expect.stringMatching(/T.*Z$/) },
    ]);
  });
});

it('names refusals when it prints them', () => {
  expect([new TrajectoryTerminal('a'), new RewardIdTaken('b')].map(String)).toEqual([
    'TrajectoryTerminal: a',
    'RewardIdTaken: b',
  ]);
});
