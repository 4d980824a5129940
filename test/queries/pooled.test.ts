/** Several runs read as one. */
import { expect, it } from 'vitest';
import type { TrajectoryReward } from '../../src/contract/evaluations.ts';
import { isOpen } from '../../src/present/statistics/tasks.ts';
import { compareTasks } from '../../src/queries/compare.ts';
import { poolRewards } from '../../src/queries/pooled.ts';
import type { ReadRewards } from '../../src/queries/run-extent.ts';
import { describeContradictions, eachOnce } from '../../src/queries/run-rewards.ts';
import { compareRuns } from '../../src/resources/comparison.ts';
import { Random } from '../../tools/rig/random.ts';

const rewardOf = (task: number, reward: number | null): TrajectoryReward => ({
  ...{ task_id: `t${task}`, trajectory_id: null, reward },
});

interface Shape {
  readonly tasks: number;
  readonly each: number;
  /** The share of rollouts that have no reward, and of those that the service does not list. */
  readonly lacking?: number;
  readonly unlisted?: number;
}

/** A finished run with random rewards. */
function randomRun(random: Random, { tasks, each, lacking = 0, unlisted = 0 }: Shape): ReadRewards {
  const all = Array.from({ length: tasks * each }, (_, at) =>
    rewardOf(at % tasks, random.chance(lacking) ? null : random.next()),
  );
  const rewards = all.filter(() => !random.chance(unlisted));
  return { rewards, listed: rewards.length, status: 'completed', total: all.length };
}

/** The data of a comparison, without its functions. */
function compareData(base: ReadRewards, fresh: ReadRewards) {
  const { gate, tasksForHalf, ...compared } = compareRuns(compareTasks(base, fresh));
  return { ...compared, gate: gate(0), half: tasksForHalf() };
}

/** One run that has the rollouts of all. */
function asOne(runs: readonly ReadRewards[], each?: number): ReadRewards {
  const rewards = runs.flatMap(run => run.rewards);
  const total = runs.reduce((sum, run) => sum + (run.total ?? 0), 0);
  const samplesPerTask = each === undefined ? {} : { samplesPerTask: { each, isSent: false } };
  return { rewards, listed: rewards.length, status: 'completed', total, ...samplesPerTask };
}

it.each([
  ['whole', {}],
  ['without some rewards', { lacking: 0.2 }],
  ['without some rows', { unlisted: 0.1 }],
  ['without some of both', { lacking: 0.1, unlisted: 0.1 }],
])('compares like one run with the same rollouts: %s', (name, more) => {
  for (let round = 0; round < 60; round += 1) {
    const random = new Random(`pooled ${name} ${round}`);
    const tasks = random.between(2, 12);
    const poolOf = (): readonly ReadRewards[] =>
      Array.from({ length: random.between(2, 4) }, () =>
        randomRun(random, { tasks, each: random.between(1, 3), ...more }),
      );
    const [base, fresh] = [poolOf(), poolOf()];
    expect(compareData(poolRewards(base), poolRewards(fresh))).toEqual(compareData(asOne(base), asOne(fresh)));
  }
});

it('knows the rollouts of each task if every run lists all its tasks', () => {
  for (let round = 0; round < 60; round += 1) {
    const random = new Random(`each ${round}`);
    const tasks = random.between(2, 8);
    const runOf = (): ReadRewards => {
      const { rewards, total } = randomRun(random, { tasks, each: 3 });
      // A rollout of the first task is not listed.
      const listed = random.chance(0.5) ? rewards.slice(1) : rewards;
      return {
        rewards: listed,
        listed: listed.length,
        total,
        status: 'completed',
        samplesPerTask: { each: 3, isSent: false },
      };
    };
    const [base, fresh] = [
      [runOf(), runOf()],
      [runOf(), runOf(), runOf()],
    ];
    expect(compareData(poolRewards(base), poolRewards(fresh))).toEqual(compareData(asOne(base, 6), asOne(fresh, 9)));
  }
});

it('allows a missing rollout to belong to another task if a run does not list all its tasks', () => {
  const samplesPerTask = { each: 1, isSent: false };
  const whole = { rewards: [rewardOf(0, 1), rewardOf(1, 1)], total: 2, status: 'completed', samplesPerTask };
  const part = { ...whole, rewards: [rewardOf(0, 1)] };
  expect(poolRewards([whole, part]).samplesPerTask).toBeUndefined();
  expect(poolRewards([whole, whole]).samplesPerTask).toEqual({ each: 2, isSent: false });
});

const ended = { rewards: [rewardOf(0, 1)], listed: 1, total: 1, status: 'completed' };

it.each([
  [['completed', 'completed'], 'completed'],
  [['completed', 'failed'], 'failed'],
  [['failed', null], null],
  [[null, 'running', 'failed'], 'running'],
])('has the status of the run that leaves most open: %j', (statuses, status) => {
  const runs = statuses.map(each => ({ ...ended, total: 2, status: each }));
  expect(poolRewards(runs)).toMatchObject({ status, total: 2 * statuses.length, listed: statuses.length });
});

it('is open if one of its runs is, even if the others lack a known number of rewards', () => {
  const open = { ...ended, status: 'failed' };
  expect(isOpen({ tasks: [[1]], total: 1, end: 'stopped' })).toBe(true);
  const pool = poolRewards([open, { ...ended, total: 3 }]);
  expect(compareData(pool, ended).verdict.words).toContain('does not report how many rewards are missing');
  expect(compareData(poolRewards([ended, { ...ended, total: 3 }]), ended).verdict.words).toContain(
    'of 4 rollouts of the base run',
  );
});

it('counts the rewards that some runs are known to lack if the total of another is unknown', () => {
  const pool = poolRewards([
    { ...ended, total: undefined },
    { ...ended, total: 3 },
  ]);
  expect(pool).toMatchObject({ total: undefined, listed: 4 });
  const { base, verdict } = compareData(pool, poolRewards([ended, ended]));
  expect([base.rated, base.rollouts, base.isUncounted]).toEqual([2, 4, true]);
  expect(verdict.kind).toBe('undecided');
});

it('adds up failed rollouts, and trajectories with several rewards', () => {
  const several = eachOnce([0, 1].map(reward => ({ ...rewardOf(0, reward), trajectory_id: 'traj_1' })));
  const pool = poolRewards([{ ...ended, failed: 2 }, ended, { ...ended, failed: 1, rewards: several }]);
  expect(pool.failed).toBe(3);
  expect(describeContradictions(pool.rewards)).toMatch(/^1 trajectory has several rewards/);
});

it('has the fields of any of its runs', () => {
  const unread = new Error('not read');
  expect(poolRewards([ended, { ...ended, unread, isMeasuredAsChosen: true }])).toMatchObject({
    ...{ unread, isMeasuredAsChosen: true },
  });
  const without = poolRewards([ended, { ...ended, failed: 0 }]);
  expect(Object.keys(without)).not.toEqual(expect.arrayContaining([expect.stringMatching(/failed|unread|Chosen/)]));
});

it('is the run itself if there is only one', () => {
  expect(poolRewards([ended])).toBe(ended);
});
