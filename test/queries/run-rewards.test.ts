/** Unlisted rollouts belong to a task only if that is certain, and none counts twice. */
import { describe, expect, it } from 'vitest';
import { type EvalRun, trajectoryRewards } from '../../src/contract/evaluations.ts';
import { unreadableIn } from '../../src/contract/lists.ts';
import { evalRunQuery } from '../../src/queries/evaluations.ts';
import { readingOnce, readShared } from '../../src/queries/query-context.ts';
import { extentOfRecord, readRunRewards } from '../../src/queries/run-extent.ts';
import { runMeanOf } from '../../src/queries/run-mean.ts';
import { runResultsQuery } from '../../src/queries/run-results.ts';
import { describeContradictions, eachOnce, rewardsByTask } from '../../src/queries/run-rewards.ts';
import { trajectoriesOfRun } from '../../src/queries/trajectories.ts';
import { Capabilities } from '../../src/service/capabilities.ts';
import { CapabilityMissingError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { type Answers, fakeService } from '../service/fake-service.ts';

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
  ['a task without a listed rollout', ['a', 'a'], 4, ['b'], { a: 0, b: 2, nameless: 0 }],
  ['no whole number of each', ['a', 'a', 'b'], 5, [], { a: 0, b: 0, nameless: 2 }],
  ['more of one task than of each', ['a', 'a', 'a'], 4, ['b'], { a: 0, b: 0, nameless: 1 }],
  ['some without a task', ['a', null], 4, ['b'], { a: 0, b: 0, nameless: 2 }],
  ['some without a task, and as many of another as of each', ['a', 'a', null], 4, ['b'], { a: 0, b: 0, nameless: 1 }],
  ['half of all tasks, one rollout of each', ['a', 'b'], 4, [], { a: 0, b: 0, nameless: 2 }],
  ['tasks that only the other run lists, and more', ['a', 'b'], 5, ['c'], { a: 0, b: 0, c: 0, nameless: 3 }],
  ['fewer in the total than listed', ['a', 'a', 'b'], 1, [], { a: 0, b: 0, nameless: 0 }],
])('%s', (_, tasks, total, more, expected) => {
  expect(unlistedOf(tasks, total, more)).toEqual(expected);
});

const notOffered = () => {
  throw new CapabilityMissingError('getEvalRun');
};
const contextOf = (answers: Answers) => ({
  service: fakeService(answers, {
    capabilities: Object.assign(new Capabilities(), { has: () => false }),
  }),
  signal: new AbortController().signal,
  memory: RememberedStore.inMemory('test'),
});

describe('a trajectory that is listed twice', () => {
  const listed = [
    { trajectory_id: 'one', task_id: 'a', reward: 1 },
    { trajectory_id: 'two', task_id: 'b', reward: 0 },
    { trajectory_id: 'one', task_id: 'a', reward: 1 },
  ];
  const once = listed.slice(0, 2);
  const context = (answers: Answers = {}) =>
    contextOf({ getTrajectoryRewards: () => ({ trajectory_rewards: listed }), ...answers });

  it('is one rollout, in its first place', () => {
    expect(eachOnce(listed)).toEqual(once);
    expect(eachOnce(once)).toBe(once);
  });

  it('has the later reward, if there is one, and the fields of both rows', () => {
    const row = (reward: number | null, task_id: string | null = 'a') => ({ trajectory_id: 'one', task_id, reward });
    expect(eachOnce([row(0.2), row(0.7)])).toEqual([row(0.7)]);
    expect(describeContradictions(eachOnce([row(0.2), row(0.7), row(0.2)]))).toMatch(
      /^1 trajectory has several rewards .*last one/,
    );
    expect(describeContradictions(eachOnce([row(0.2), row(null), row(0.2)]))).toBe('');
    expect(eachOnce([row(0.2), row(null)])).toEqual([row(0.2)]);
    expect(eachOnce([row(null), row(0, null)])).toEqual([row(0)]);
  });

  it('is two rollouts if its rows belong to two tasks', () => {
    const row = (task_id: string | null, reward: number | null) => ({ trajectory_id: 'none', task_id, reward });
    const rows = [row('a', 1), row('b', 0), row('b', 0.5), row(null, 0.7)];
    expect(eachOnce(rows)).toEqual([row('a', 0.7), row('b', 0.5)]);
  });

  it('is not another one without an id', () => {
    const nameless = [
      { trajectory_id: null, task_id: 'a', reward: 1 },
      { trajectory_id: '', task_id: 'a', reward: 1 },
      { task_id: 'a', reward: 1 },
    ];
    expect(eachOnce(nameless)).toEqual(nameless);
  });

  it('hides none of the unreadable rows', () => {
    const { trajectory_rewards: rewards } = trajectoryRewards.parse({ trajectory_rewards: [...listed, 'no row'] });
    expect(unreadableIn(eachOnce(rewards))).toBe(1);
  });

  it('counts once in a comparison, on the screen of the run, among its trajectories and in its record', async () => {
    const progress = { getEvalProgress: () => ({ total_rollouts: 2, status: 'completed' }) };
    expect(await readRunRewards('evr_1', context(progress))).toMatchObject({ rewards: once, total: 2 });
    const snapshots = { getRolloutStatistics: () => ({ snapshots: [] }) };
    expect(await runResultsQuery('evr_1', true).read(context(snapshots))).toMatchObject({ rewards: once });
    const page = await trajectoriesOfRun('evr_1', true).readPage({ ...context(), query: {} });
    expect(page.items.map(({ trajectory_id }) => trajectory_id)).toEqual(['one', 'two']);
    const run = await evalRunQuery('evr_1').read(context({ getEvalRun: notOffered }));
    expect(run).toMatchObject({ reward_mean: 0.5, reward_count: 2 });
  });
});

describe('the progress of a run', () => {
  const rewards = () => ({ trajectory_rewards: [{ trajectory_id: 'one', task_id: 'a', reward: 1 }] });
  const read = (answers: Answers) => readRunRewards('evr_1', contextOf({ getTrajectoryRewards: rewards, ...answers }));
  const progress = (status: string | null, total_rollouts: number) => ({
    getEvalProgress: () => ({ eval_run_id: 'evr_1', status, total_rollouts }),
  });
  const failing = () => {
    throw new Error('no progress today');
  };

  it('has no total if there are more rollouts than that', async () => {
    expect(await read(progress('running', 2))).toMatchObject({ status: 'running', total: 2 });
    expect(await read(progress('running', 0))).toMatchObject({ status: 'running', total: undefined });
  });

  it('counts unreadable rewards', async () => {
    const { trajectory_rewards } = trajectoryRewards.parse({
      trajectory_rewards: [...rewards().trajectory_rewards, 'no row'],
    });
    const answers = { ...progress('completed', 1), getTrajectoryRewards: () => ({ trajectory_rewards }) };
    expect(await read(answers)).toMatchObject({ rewards: rewards().trajectory_rewards, total: undefined, listed: 2 });
  });

  it('comes from the record if progress is not offered', async () => {
    const record = { getEvalProgress: notOffered, getEvalRun: () => ({ eval_run_id: 'evr_1', status: 'completed' }) };
    expect(await read(record)).toMatchObject({ status: 'completed', total: undefined, listed: 1 });
  });

  it('includes the rollouts per task, if some are missing and the record has not been read before', async () => {
    let records = 0;
    const options = { evaluation_samples_per_task: 3 };
    const record = () => {
      records += 1;
      return { eval_run_id: 'evr_1', status: 'completed', options };
    };
    const ended = progress('completed', 6);
    const service = fakeService({ getTrajectoryRewards: rewards, ...ended, getEvalRun: record });
    const context = { ...contextOf({}), service };
    const short = await readRunRewards('evr_1', context);
    expect(short).toMatchObject({ total: 6, samplesPerTask: { each: 3, isSent: false } });
    expect(runMeanOf(short.rewards, short)).toMatchObject({ tasks: 1, allTasks: 2 });
    context.memory.see([{ kind: 'run', id: 'evr_1', status: 'completed', record: record() }]);
    records = 0;
    expect(await readRunRewards('evr_1', context)).toMatchObject({ samplesPerTask: { each: 3 } });
    expect(await read({ ...progress('completed', 1), getEvalRun: record })).not.toHaveProperty('samplesPerTask');
    expect(records).toBe(0);
    // A record that was just read has it too, even if its total had to be read.
    const known = extentOfRecord({ ...record(), reward_mean: 1 } as unknown as EvalRun);
    expect(await readRunRewards('evr_1', { ...contextOf({}), service }, known)).toMatchObject({
      total: 6,
      samplesPerTask: { each: 3, isSent: false },
    });
    // The interval is wider without it, but right.
    const listTrajectories = () => ({ items: [], has_more: false, next_cursor: null, dropped: 0 });
    const unread = fakeService({ getTrajectoryRewards: rewards, ...ended, getEvalRun: failing, listTrajectories });
    const without = await readRunRewards('evr_1', { ...contextOf({}), service: unread });
    expect(without).toMatchObject({ total: 6 });
    expect(without).not.toHaveProperty('unread');
  });

  it('includes the rollouts per task if rows of a list have no options, with one more request per run', async () => {
    for (const options of [{ evaluation_samples_per_task: 3 }, undefined]) {
      const asked: string[] = [];
      const service = fakeService({
        getTrajectoryRewards: rewards,
        getEvalRun: () => {
          asked.push('record');
          return { eval_run_id: 'evr_1', status: 'running', options };
        },
        getRolloutStatistics: () => ({ snapshots: [] }),
      });
      const context = { ...contextOf({}), service };
      const row = { eval_run_id: 'evr_1', status: 'running', total_rollouts: 6, reward_mean: 1 } as unknown as EvalRun;
      context.memory.see([{ kind: 'run', id: 'evr_1', status: 'running', record: { ...row } }]);
      const samplesPerTask = options && { each: 3, isSent: false };
      const read = async () => (await readRunRewards('evr_1', context, extentOfRecord(row))).samplesPerTask;
      expect([await read(), await read()]).toEqual([samplesPerTask, samplesPerTask]);
      const results = runResultsQuery('evr_1', false, { extent: extentOfRecord(row) });
      expect((await results.read(context)).samplesPerTask).toEqual(samplesPerTask);
      expect(asked).toEqual(['record']);
    }
  });

  it('is not trusted for a completed run with an unreadable number of rollouts', async () => {
    const of = (status: string) => ({ getEvalProgress: failing, getEvalRun: () => ({ eval_run_id: 'evr_1', status }) });
    expect(await read(of('completed'))).toMatchObject({ status: undefined, total: undefined });
    expect(await read(of('running'))).toMatchObject({ status: 'running', total: undefined });
    expect(await read({ getEvalProgress: failing, getEvalRun: failing })).toMatchObject({ status: undefined });
  });

  it('has the number of rollouts of an answer without a status, whether the record can be read or not', async () => {
    const record = () => ({ eval_run_id: 'evr_1', status: 'running' });
    expect(await read({ ...progress(null, 2), getEvalRun: record })).toMatchObject({ status: 'running', total: 2 });
    expect(await read({ ...progress(null, 2), getEvalRun: failing })).toMatchObject({ status: undefined, total: 2 });
  });
});

/** What a command reads of a run on this service, and how often it has asked for the rewards. */
function onceOf(answers: Answers = {}) {
  let asked = 0;
  const service = fakeService({
    getTrajectoryRewards: () => ({ trajectory_rewards: [], asked: ++asked }),
    ...answers,
  });
  const memory = RememberedStore.inMemory('test');
  const context = readingOnce({ service, memory, signal: new AbortController().signal });
  return { context, asked: () => asked };
}

it('are shared within a command, but not with those requested before the end', async () => {
  const { context, asked } = onceOf();
  const read = (status: string) => readRunRewards('r', context, { status, total: 0 });
  await Promise.all([read('running'), read('running')]);
  await read('running');
  expect(asked()).toBe(1);
  await read('completed');
  await read('completed');
  expect(asked()).toBe(2);
});

it('are read again for a page of the trajectories of the run, which may have newer ones', async () => {
  const items = [{ trajectory_id: 't1', eval_run_id: 'other' }];
  const { context, asked } = onceOf({ listTrajectories: () => ({ items }) });
  await readRunRewards('r', context, { status: 'running', total: 0 });
  await trajectoriesOfRun('r', false).readPage({ ...context, query: {} });
  expect(asked()).toBe(2);
});

it('are read again after an interrupted read', async () => {
  const { context, asked } = onceOf();
  const late = AbortSignal.abort();
  const interrupted = { read: () => Promise.reject(new Error('interrupted')), key: ['one'] };
  const read = { read: () => Promise.resolve('read'), key: ['one'] };
  await expect(readShared(interrupted, { ...context, signal: late })).rejects.toThrow('interrupted');
  expect([await readShared(read, context), asked()]).toEqual(['read', 0]);
});
