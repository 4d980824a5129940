/** The mean of a run that was cancelled or failed: in a list as in its record, where the service gives none. */
import { expect, it } from 'vitest';
import type { EvalRun } from '../../src/contract/evaluations.ts';
import { everyRun, runsOfBenchmark } from '../../src/queries/evaluations.ts';
import type { ListSource } from '../../src/queries/lists/list-source.ts';
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
  const service = fakeService({
    listBenchmarks: () => ({ items: [{ bench_id: 'b' }], has_more: false, next_cursor: null, dropped: 0 }),
    listEvalRuns: () => [...runs],
    getTrajectoryRewards: ({ params }) => {
      asked.push(String(params.eval_run_id));
      if (isBroken) throw new Error('no rewards today');
      const trajectory_rewards = [0.9, null, 1].map((reward, index) => ({ trajectory_id: `t${index}`, reward }));
      return { trajectory_rewards };
    },
  });
  const memory = RememberedStore.inMemory('test');
  const read = async (): Promise<(string | number | null | undefined)[]> => {
    const signal = new AbortController().signal;
    const { items } = await source.readPage({ service, signal, memory, query: {} });
    memory.see(items.flatMap(row => source.observes?.(row) ?? []));
    return items.map(({ reward_mean, reward_count }) =>
      reward_count == null ? reward_mean : `${reward_mean} of ${reward_count}`,
    );
  };
  return { read, asked };
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
])('is that of the rewards in the list %s, which are read once', async (_, source) => {
  const { read, asked } = open(runs, source);
  const shown = ['0.95 of 2', '0.95 of 2', 0.5, 0.7, null];
  expect(await read()).toEqual(shown);
  expect(asked.sort()).toEqual(['cancelled', 'failed']);
  expect(await read()).toEqual(shown);
  expect(asked).toHaveLength(2);
});

it('is left out where the rewards cannot be read, which is tried but few times', async () => {
  const many = Array.from({ length: 50 }, (_, index) => run(`run ${index}`, 'failed'));
  const { read, asked } = open(many, runsOfBenchmark('b'), true);
  expect(await read()).toEqual(many.map(() => null));
  expect(asked.length).toBeLessThanOrEqual(4);
});

it('is read again once the run has ended in another way than it is remembered', async () => {
  const listed = [run('again', 'failed')];
  const { read, asked } = open(listed, runsOfBenchmark('b'));
  await read();
  listed[0] = run('again', 'cancelled');
  expect(await read()).toEqual(['0.95 of 2']);
  expect(asked).toEqual(['again', 'again']);
});
