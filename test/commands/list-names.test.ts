/** A filter of a list finds a benchmark by its name and by its id, although the list has only ids. */
import { expect, it } from 'vitest';
import { answering } from '../answering.ts';
import { pageOf } from '../queries/scripted-service.ts';
import { hostileServer } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

/** Two benchmarks, each with a run and a training run. */
async function serving() {
  const ids = ['bench_1', 'bench_2'];
  const server = await hostileServer(
    answering({
      listBenchmarks: () =>
        pageOf(ids.map(bench_id => ({ bench_id, label: bench_id === 'bench_1' ? 't-words' : 'sums' }))),
      listEvalRuns: ({ bench_id }) => pageOf([{ eval_run_id: `evr_${bench_id}`, bench_id, status: 'completed' }]),
      listTrainingRuns: () =>
        pageOf(ids.map(bench_id => ({ training_run_id: `trn_${bench_id}`, bench_id, status: 'succeeded' }))),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  return async (list: string, filter: string) => (await cli('list', [list, '--filter', filter, '--ids'])).out;
}

it.each(['benchmark:t-words', 'benchmark=t-words', 'benchmark:bench_1', 't-words', '/t-w', 'bench:t-w'])(
  '%s',
  async filter => {
    const listed = await serving();
    expect(await listed('runs', filter)).toBe('evr_bench_1\n');
    expect(await listed('training', filter)).toBe('trn_bench_1\n');
  },
);

it('leaves those of a name out', async () => {
  const listed = await serving();
  expect(await listed('training', '!benchmark:t-words')).toBe('trn_bench_2\n');
  expect(await listed('runs', '!t-words')).toBe('evr_bench_2\n');
});
