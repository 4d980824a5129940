/** Listed rollouts without a reward are missing rewards of their task. */
import { expect, it } from 'vitest';
import { compareTasks } from '../../src/queries/compare.ts';
import { evalRunQuery } from '../../src/queries/evaluations.ts';
import { readRunRewards } from '../../src/queries/run-extent.ts';
import { runMeanOf } from '../../src/queries/run-mean.ts';
import { runResultsQuery } from '../../src/queries/run-results.ts';
import { compareRuns, describeTaskMean } from '../../src/resources/comparison.ts';
import type { MeasuredRun } from '../../src/resources/measured-run.ts';
import { withCertainty } from '../../src/resources/run-certainty.ts';
import { describeCertainty, readRunMean } from '../../src/resources/run-mean.ts';
import { runs } from '../../src/resources/runs.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { type Answers, pageOf, scriptedService } from './scripted-service.ts';

const record = { eval_run_id: 'evr_1', bench_id: 'b', status: 'completed', reward_mean: 0.5 };
const rewards = [1, 0].map((reward, index) => ({ trajectory_id: `r${index}`, task_id: `t${index}`, reward }));
const rated = rewards.map(row => ({ ...row, status: 'completed', eval_run_id: 'evr_1' }));
const row = (index: number, more: object = {}) => ({
  ...{ trajectory_id: `f${index}`, task_id: `t${index}`, status: 'failed', reward: null, eval_run_id: 'evr_1' },
  ...more,
});

function reading(
  listed: readonly object[],
  { total = 4, status = 'completed', ...more }: { total?: number; status?: string } & Answers = {},
) {
  const scripted = scriptedService({
    getTrajectoryRewards: () => ({ trajectory_rewards: rewards }),
    getRolloutStatistics: () => ({ snapshots: [] }),
    getEvalProgress: () => ({ eval_run_id: 'evr_1', status, total_rollouts: total }),
    getEvalRun: () => ({ ...record, status }),
    listTrajectories: () => pageOf([...rated, ...listed]),
    ...more,
  });
  const memory = RememberedStore.inMemory('test');
  return { ...scripted, context: { ...scripted, signal: new AbortController().signal, memory } };
}

const boundsOf = async (...of: Parameters<typeof reading>) => {
  const read = await readRunRewards('evr_1', reading(...of).context);
  return runMeanOf(read.rewards, read).bounds;
};

it('counts a listed rollout without a reward as missing from its task', async () => {
  expect(await boundsOf([row(2), row(3)])).toEqual([0.25, 0.75]);
  // Otherwise, they may be second rollouts of the other tasks.
  expect((await boundsOf([]))?.[0]).toBeLessThan(0.25);
});

it('does so during the run, for completed rollouts', async () => {
  const both = await boundsOf([row(2), row(3)], { status: 'running' });
  expect(both).toEqual([0.25, 0.75]);
  const pending = await boundsOf([row(2), row(3, { status: 'running' })], { status: 'running' });
  expect(pending?.[0]).toBeLessThan(0.25);
});

it('says how many are to come, and how many failed', async () => {
  const { context } = reading([row(2), row(3, { status: 'completed' })], { status: 'running', total: 9 });
  const { runMean, failed } = await readRunMean({ id: 'evr_1', status: 'running', mean: undefined, total: 9 }, context);
  expect(describeCertainty(runMean, 0.5)).toMatch(/ with the 6 to come and the 1 that failed$/);
  expect(failed).toBe(1);
  const read = await readRunRewards('evr_1', context);
  expect(describeTaskMean(compareRuns(compareTasks(read, read)).base)).toContain(
    'with the 6 to come and the 1 that failed',
  );
});

it('has the number of rewards of the mean, not of the list (attack34 C)', async () => {
  const { context } = reading([], {});
  const run = { id: 'evr_1', status: 'completed', total: 9 };
  const read = async (own: { mean: number | undefined; graded: number | undefined }) => {
    const { mean, graded } = await readRunMean({ ...run, ...own }, context);
    return [mean, graded];
  };
  const [mean, count] = await read({ mean: undefined, graded: undefined });
  expect(await read({ mean: 0.9, graded: 9 })).toEqual([0.9, 9]);
  expect(await read({ mean: 0.9, graded: undefined })).toEqual([0.9, undefined]);
  expect(await read({ mean, graded: undefined })).toEqual([mean, count]);
});

it('leaves them out if they may belong to another run, or exceed the total', async () => {
  const none = await boundsOf([]);
  expect(await boundsOf([row(2, { eval_run_id: 'evr_2' }), row(3, { eval_run_id: 'evr_2' })])).toEqual(none);
  expect(await boundsOf([2, 3, 4].map(index => row(index)))).toEqual(none);
});

it('takes a failed rollout of a task with a reward as a first attempt', async () => {
  const retried = [row(2, { task_id: 't0' }), row(3, { task_id: 't1' })];
  expect(await boundsOf(retried)).toEqual(await boundsOf([]));
  // With two rollouts a task, it is the other one.
  const options = { evaluation_samples_per_task: 2 };
  expect(await boundsOf(retried, { getEvalRun: () => ({ ...record, options }) })).toEqual([0.25, 0.75]);
});

it('gives every reader the same certainty, and reads the list once for each', async () => {
  const { context, asked } = reading([row(2), row(3)]);
  const { certainty } = await readRunRewards('evr_1', context);
  // Remembered.
  const listed = await withCertainty<MeasuredRun>(record, context);
  expect(listed.certainty?.interval).toEqual(certainty?.interval);
  expect(asked('listTrajectories')).toBe(1);
  const results = await runResultsQuery('evr_1', true).read(context);
  expect(results.certainty?.interval).toEqual(certainty?.interval);
  expect(asked('listTrajectories')).toBe(2);
  const facts = await runs.wholeFacts?.(await evalRunQuery('evr_1').read(context), context);
  expect(facts?.fields).toMatchObject({ mean_bounds: { low: 0.25, high: 0.75 }, interval: certainty?.interval });
  expect(asked('listTrajectories')).toBe(3);
  expect(compareRuns(compareTasks(results, results)).base.bounds).toEqual([0.25, 0.75]);
});

it('does not read the list for a run with all rewards, or for a running row of a list', async () => {
  const whole = reading([], { total: 2 });
  await readRunRewards('evr_1', whole.context);
  expect(whole.asked('listTrajectories')).toBe(0);
  const running = reading([row(2)], { status: 'running' });
  await withCertainty({ ...record, status: 'running' }, running.context);
  expect(running.asked('listTrajectories')).toBe(0);
});

it('remembers nothing while the list cannot be read', async () => {
  const { context } = reading([], {
    listTrajectories: () => {
      throw new Error('no list today');
    },
  });
  const read = await readRunRewards('evr_1', context);
  expect(read.unread).toEqual(new Error('no list today'));
  expect(read.certainty).toBeUndefined();
});
