/** A filter finds a benchmark by name and by id, even if the list contains only ids. */
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

it('leaves out the names of one kind', async () => {
  const listed = await serving();
  expect(await listed('training', '!benchmark:t-words')).toBe('trn_bench_2\n');
  expect(await listed('runs', '!t-words')).toBe('evr_bench_2\n');
});

it('tells training runs of one name apart, on any page or on none (attack29 C4)', async () => {
  const training = ['trn_aaaaaa01', 'trn_bbbbbb02', 'trn_cccccc03'];
  const names = ['words', 'words', 'sums'];
  const evaluated = training.map((training_run_id, index) => ({
    ...{ eval_run_id: `evr_${index}`, bench_id: 'b1', status: 'completed' },
    ...{ training_run_id, parent_checkpoint_id: `ckpt_${index}`, step: 3 },
  }));
  const server = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'b1', label: 'sums' }]),
      listTrainingRuns: () =>
        pageOf(
          training.map((training_run_id, index) => ({ training_run_id, bench_id: 'b1', display_name: names[index] })),
        ),
      listEvalRuns: (_, { cursor } = {}) => {
        const page = Number(cursor ?? 0);
        const next = page < 2 ? String(page + 1) : null;
        return { items: evaluated.slice(page, page + 1), has_more: next !== null, next_cursor: next };
      },
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  await cli('list', ['training', '--benchmark', 'b1']);
  const models = async (...more: readonly string[]) =>
    (await cli('list', ['runs', '--benchmark', 'b1', '--columns', 'model,id', ...more], { columns: 120 })).out
      .trimEnd()
      .split('\n')
      .slice(1)
      .map(line => line.trim().split(/ {2,}/));
  const first = ['words (…aaa01) step 3', 'evr_0'];
  expect(await models()).toEqual([first, ['words (…bbb02) step 3', 'evr_1'], ['sums step 3', 'evr_2']]);
  expect(await models('--limit', '1')).toEqual([first]);
  // A filter finds what the column shows, and JSON has only what the service sent.
  expect(await models('--filter', 'model:words', '--sort', 'model')).toEqual([
    first,
    ['words (…bbb02) step 3', 'evr_1'],
  ]);
  const json = await cli('list', ['runs', '--benchmark', 'b1', '--json', '--filter', 'model:sums']);
  expect(JSON.parse(json.out)).toEqual([evaluated[2]]);
});
