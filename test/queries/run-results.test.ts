/** Rewards and statistics of a run are one answer, and rewards without ids are included. */
import { expect, it } from 'vitest';
import { trajectoryRewards } from '../../src/contract/evaluations.ts';
import { comparedRuns, comparison } from '../../src/queries/compare.ts';
import { isOfMean } from '../../src/queries/run-mean.ts';
import { runResultsQuery } from '../../src/queries/run-results.ts';
import { stepRewardList, stepTrajectories } from '../../src/queries/training.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { type Answers, fakeService } from '../service/fake-service.ts';

const context = (answers: Answers) => ({
  service: fakeService(answers),
  signal: new AbortController().signal,
  memory: RememberedStore.inMemory('test'),
});
const rewards = trajectoryRewards.parse({
  trajectory_rewards: [
    { reward: 1, trajectory_id: null, task_id: null },
    { reward: 0, task_id: 'a' },
    { reward: 0.5, trajectory_id: 'traj_1', task_id: 'a' },
  ],
});

it('reads rewards that name neither trajectory nor task', () => {
  expect(rewards.trajectory_rewards.map(({ reward }) => reward)).toEqual([1, 0, 0.5]);
});

it('keeps the rewards without the statistics, and says why', async () => {
  const answers: Answers = {
    getTrajectoryRewards: () => rewards,
    getRolloutStatistics: () => {
      throw new Error('no statistics today');
    },
  };
  const results = await runResultsQuery('evr_1', false).read(context(answers));
  expect(results.rewards).toHaveLength(3);
  expect(results).toMatchObject({ snapshots: [], statisticsError: 'no statistics today' });
});

it('is not final from reads before the end', async () => {
  const running = { eval_run_id: 'evr_1', status: 'running', total_rollouts: 4 };
  const query = runResultsQuery('evr_1', false);
  const results = await query.read(
    context({
      getTrajectoryRewards: () => rewards,
      getRolloutStatistics: () => ({ snapshots: [] }),
      getEvalProgress: () => running,
      getEvalRun: () => ({ ...running, bench_id: 'b' }),
    }),
  );
  expect(results.certainty?.isFinal).toBe(false);
  expect(runResultsQuery('evr_1', true).activity(results)).toBe('settling');
});

it('is not final from rewards requested before the end that arrived after it', async () => {
  const ended = { eval_run_id: 'evr_1', status: 'completed', total_rollouts: 3 };
  const results = await runResultsQuery('evr_1', false).read(
    context({
      getTrajectoryRewards: () => rewards,
      getRolloutStatistics: () => ({ snapshots: [] }),
      getEvalProgress: () => ended,
    }),
  );
  expect(results.certainty).toBeUndefined();
  expect(runResultsQuery('evr_1', true).activity(results)).toBe('settling');
});

it('is not final while a completed run lacks rewards that its mean lacks too', async () => {
  const ended = { eval_run_id: 'evr_1', bench_id: 'b', status: 'completed', reward_mean: 0.5, reward_count: 3 };
  const query = (total: number, ms: number, failed = 0) => {
    const recorded = { mean: 0.5, graded: 3 };
    const rows = Array.from({ length: failed }, (_, index) => ({ trajectory_id: `f${index}`, status: 'failed' }));
    const extent = { status: 'completed', total, recorded, endedAt: Date.now() - ms };
    return runResultsQuery('evr_1', true, { extent, rows: rows as never });
  };
  const results = await query(4, 0).read(
    context({
      getTrajectoryRewards: () => rewards,
      getRolloutStatistics: () => ({ snapshots: [] }),
      getEvalRun: () => ended,
    }),
  );
  const activities = [query(4, 0), query(3, 0), query(4, 7_200_000), query(4, 0, 1)].map(each =>
    each.activity(results),
  );
  expect(activities).toEqual(['settling', 'settled', 'settled', 'settled']);
});

it('keeps the mean of the seen record, which may not be that of the listed rewards (attack37 B1)', async () => {
  const of = context({
    getTrajectoryRewards: () => rewards,
    getRolloutStatistics: () => ({ snapshots: [] }),
    getEvalProgress: () => ({ eval_run_id: 'evr_1', status: 'completed', total_rollouts: 3 }),
  });
  const record = { status: 'completed', reward_mean: 0.9, reward_count: 3 };
  of.memory.see([{ kind: 'run', id: 'evr_1', status: 'completed', record }]);
  const { certainty } = await runResultsQuery('evr_1', true).read(of);
  expect(certainty && isOfMean(certainty, { mean: 0.9, graded: 3 })).toBe(true);
});

it('fails without rewards', async () => {
  const answers: Answers = {
    getTrajectoryRewards: () => {
      throw new Error('no rewards today');
    },
    getRolloutStatistics: () => ({ snapshots: [] }),
  };
  await expect(runResultsQuery('evr_1', false).read(context(answers))).rejects.toThrow('no rewards today');
});

it('gives every rollout of a step its own row', async () => {
  const source = stepRewardList('trn_1', 2);
  const { items } = await source.readPage({
    ...context({ getStepTrajectoryRewards: () => rewards }),
    query: {},
  });
  expect(new Set(items.map(source.id)).size).toBe(3);
});

it('has the trajectories of a step, and the number of unreadable rows', async () => {
  const answer = trajectoryRewards.parse({
    trajectory_rewards: [{ trajectory_id: 'traj_1', reward: 1 }, { reward: 0 }, 'unreadable'],
  });
  const answers = { getStepTrajectoryRewards: () => answer };
  const page = await stepTrajectories('trn_1', 2).readPage({ ...context(answers), query: {} });
  expect(page).toMatchObject({ items: [{ trajectory_id: 'traj_1', reward: 1, policy_step: 2 }], dropped: 1 });
});

it.each([undefined, '2026-01-01T00:00:00Z'])('of a comparison is final long after the end (%s)', async completed_at => {
  const of = context({
    getTrajectoryRewards: () => rewards,
    getEvalProgress: () => ({ eval_run_id: 'evr_1', status: 'completed', total_rollouts: 4 }),
  });
  const ended = { kind: 'run', id: 'evr_1', status: 'completed' };
  of.memory.see([{ ...ended, record: { completed_at, reward_mean: 0.5, reward_count: 3 } }]);
  const { mayChange } = await comparison(['evr_1'], ['evr_1']).readPage({ ...of, query: {} });
  expect(mayChange).toBe(completed_at === undefined);
});

it('says which rewards a comparison leaves out', async () => {
  const answers = context({
    getTrajectoryRewards: () => rewards,
    getEvalProgress: () => ({ eval_run_id: 'evr_1', status: 'completed', total_rollouts: 3 }),
  });
  const { note, items } = await comparison(['evr_1'], ['evr_2']).readPage({ ...answers, query: {} });
  expect(items).toHaveLength(1);
  const mean = '0.500 over 3 rewards';
  expect(note).toBe(`2 rewards have no task and cannot be compared. The means are ${mean} and ${mean}`);
  const three = ['evr_1', 'evr_2', 'evr_3'].map(id => ({ id, name: id }));
  const grid = await comparedRuns(three).readPage({ ...answers, query: {} });
  expect(grid.note).toBe(`3 rewards have no task and cannot be compared. The means are ${mean}, ${mean} and ${mean}`);
});
