/** The mean of a cancelled or failed run: the same in a list and in its record if the service reports none. */
import { expect, it, onTestFinished, vi } from 'vitest';
import type { EvalRun } from '../../src/contract/evaluations.ts';
import type { ListSource } from '../../src/queries/lists/list-source.ts';
import { extentOfRecord, readRunRewards } from '../../src/queries/run-extent.ts';
import { everyRun, runsOfBenchmark } from '../../src/queries/run-lists.ts';
import { pagesOf } from '../../src/resources/pages.ts';
import { CapabilityMissingError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';

const run = (id: string, status: string, reward_mean: number | null = null): EvalRun => ({
  eval_run_id: id,
  bench_id: 'b',
  status,
  reward_mean,
});

function open(runs: readonly EvalRun[], source: ListSource<EvalRun>, isBroken = false) {
  const asked: string[] = [];
  let rewards: readonly (number | null)[] = [0.9, null, 1];
  const service = fakeService({
    listBenchmarks: () => ({ items: [{ bench_id: 'b' }], has_more: false, next_cursor: null, dropped: 0 }),
    listEvalRuns: () => [...runs],
    getEvalProgress: () => {
      throw new CapabilityMissingError('getEvalProgress');
    },
    getEvalRun: ({ params }) => runs.find(({ eval_run_id }) => eval_run_id === params.eval_run_id),
    getTrajectoryRewards: ({ params }) => {
      asked.push(String(params.eval_run_id));
      if (isBroken) throw new Error('no rewards today');
      return { trajectory_rewards: rewards.map((reward, index) => ({ trajectory_id: `t${index}`, reward })) };
    },
  });
  const signal = new AbortController().signal;
  const memory = RememberedStore.inMemory('test');
  const read = async (): Promise<(string | number | null | undefined)[]> => {
    const { items } = await source.readPage({ service, signal, memory, query: {} });
    memory.see(items.flatMap(row => source.observes?.(row) ?? []));
    return items.map(({ reward_mean, reward_count }) =>
      reward_count == null ? reward_mean : `${reward_mean} of ${reward_count}`,
    );
  };
  const grade = (...next: typeof rewards): void => {
    rewards = next;
  };
  return { read, asked, grade, context: { service, signal, memory } };
}

const runs = [
  run('cancelled', 'cancelled'),
  run('failed', 'failed'),
  run('with its own', 'cancelled', 0.5),
  run('completed', 'completed', 0.7),
  run('running', 'running'),
];

it.each([
  ['of a benchmark', runsOfBenchmark('b')],
  ['of all benchmarks', everyRun],
])('counts the rewards in the list %s, which are read once', async (_, source) => {
  const { read, asked } = open(runs, source);
  const shown = ['0.95 of 2', '0.95 of 2', 0.5, 0.7, null];
  expect(await read()).toEqual(shown);
  expect(asked.sort()).toEqual(['cancelled', 'failed']);
  expect(await read()).toEqual(shown);
  expect(asked).toHaveLength(2);
});

it('is read once more if the clock of the service is hours behind', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const behind = (ms: number): string => new Date(Date.now() - 7_200_000 + ms).toISOString();
  const times = { created_at: behind(-60_000), completed_at: behind(0) };
  const { read, grade } = open([{ ...run('failed', 'failed'), total_rollouts: 3, ...times }], runsOfBenchmark('b'));
  expect(await read()).toEqual(['0.95 of 2']);
  grade(0.9, 0.8, 1);
  vi.setSystemTime(Date.now() + 180_000);
  expect(await read()).toEqual(['0.9 of 3']);
});

it('is not read again by a command after the screen has read it with the range of the settings', async () => {
  const source = runsOfBenchmark('b');
  const { asked, context } = open([run('failed', 'failed')], source);
  const ranged = { ...context, compare: { equalWithin: 0.05, rewardRange: [0, 2] } } as const;
  await readRunRewards('failed', ranged, extentOfRecord(run('failed', 'failed')));
  for await (const { rows } of pagesOf({ list: () => source }, {}, ranged))
    expect(rows.map(({ reward_mean }) => reward_mean)).toEqual([0.95]);
  expect(asked).toEqual(['failed']);
});

it('is left out if the rewards cannot be read, after a few retries', async () => {
  const many = Array.from({ length: 50 }, (_, index) => run(`run ${index}`, 'failed'));
  const { read, asked } = open(many, runsOfBenchmark('b'), true);
  expect(await read()).toEqual(many.map(() => null));
  expect(asked.length).toBeLessThanOrEqual(4);
});

it('is read again once the run has ended with another status than the remembered one', async () => {
  const listed = [run('again', 'failed')];
  const { read, asked } = open(listed, runsOfBenchmark('b'));
  await read();
  listed[0] = run('again', 'cancelled');
  expect(await read()).toEqual(['0.95 of 2']);
  expect(asked).toEqual(['again', 'again']);
});

it('is read again once the run has failed a second time', async () => {
  const at = (completed_at: string): EvalRun => ({ ...run('again', 'failed'), completed_at });
  const listed = [at('2026-03-01T10:00:00Z')];
  const { read, grade } = open(listed, runsOfBenchmark('b'));
  expect(await read()).toEqual(['0.95 of 2']);
  grade(0.5, 0.5, 0.5);
  listed[0] = at('2026-03-01T11:00:00Z');
  expect(await read()).toEqual(['0.5 of 3']);
});

it.each(['1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z'])(
  'is read again if rewards may be late and the end is %s, an impossible time',
  async completed_at => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const ended = { ...run('failed', 'failed'), total_rollouts: 3, completed_at };
    const { read, grade } = open([ended], runsOfBenchmark('b'));
    expect(await read()).toEqual(['0.95 of 2']);
    grade(0.9, 0.8, 1);
    vi.setSystemTime(Date.now() + 10_000);
    expect(await read()).toEqual(['0.9 of 3']);
  },
);

it.each(['failed', 'completed'])('is the last one that was read of a %s run, with its number', async status => {
  const listed = [run('one', status)];
  const { read, asked, grade, context } = open(listed, runsOfBenchmark('b'));
  expect(await read()).toEqual([status === 'failed' ? '0.95 of 2' : null]);
  grade(0.1, 0.1, 0.1, 0.1);
  await readRunRewards('one', context, extentOfRecord(run('one', status)));
  asked.length = 0;
  expect(await read()).toEqual(['0.1 of 4']);
  expect(asked).toEqual([]);
  // The record counts rewards that were not read.
  listed[0] = { ...run('one', status), reward_count: 5 };
  expect(await read()).toEqual([status === 'failed' ? '0.1 of 4' : 'null of 5']);
  expect(asked).toEqual(status === 'failed' ? ['one'] : []);
});

it('is absent if no rollout has a reward, after one read', async () => {
  const { read, asked, grade } = open([run('none', 'failed')], runsOfBenchmark('b'));
  grade(null);
  expect([await read(), await read()]).toEqual([['null of 0'], ['null of 0']]);
  expect(asked).toEqual(['none']);
});

it('is read again at growing intervals, for some minutes, if rewards may be late', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const ended = { ...run('completed', 'completed'), total_rollouts: 3 };
  const { read, asked, grade, context } = open([ended], runsOfBenchmark('b'));
  expect(await read()).toEqual([null]);
  await readRunRewards('completed', context, extentOfRecord(ended));
  expect(await read()).toEqual(['0.95 of 2']);
  expect(asked).toHaveLength(1);
  const after = async (seconds: number) => {
    vi.setSystemTime(Date.now() + seconds * 1_000);
    return [(await read())[0], asked.length];
  };
  expect(await after(10)).toEqual(['0.95 of 2', 2]);
  expect(await after(9)).toEqual(['0.95 of 2', 2]);
  grade(0.9, 0.8, 1);
  expect(await after(1)).toEqual(['0.9 of 3', 3]);
  // Now it has all.
  expect(await after(3_600)).toEqual(['0.9 of 3', 3]);
});

it('is no longer read again once it has been the same for some minutes', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const ended = { ...run('completed', 'completed'), total_rollouts: 3 };
  const old = { ...ended, eval_run_id: 'old', completed_at: new Date(Date.now() - 7_200_000).toISOString() };
  const { read, asked, context } = open([ended, old], runsOfBenchmark('b'));
  for (const each of [ended, old]) await readRunRewards(each.eval_run_id, context, extentOfRecord(each));
  for (let poll = 0; poll < 600; poll++) {
    vi.setSystemTime(Date.now() + 10_000);
    await read();
  }
  // The clock of the service may be slow.
  expect(asked.filter(id => id === 'old')).toHaveLength(2);
  expect(asked.filter(id => id === 'completed')).toHaveLength(7);
});
