/** Lists by benchmark that a service answers page by page, where the document's generation sends a bare array. */
import { expect, it } from 'vitest';
import type { EvalRun } from '../../src/contract/evaluations.ts';
import { lastCheckpoint } from '../../src/queries/checkpoints.ts';
import { type ListSource, restKey } from '../../src/queries/lists/list-source.ts';
import { ListReader } from '../../src/queries/lists/reader.ts';
import type { QueryContext } from '../../src/queries/query-context.ts';
import { everyRun, runsOfBenchmark } from '../../src/queries/run-lists.ts';
import { everyTrainingRun } from '../../src/queries/training.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { hostileServer, json, serviceAt } from '../service/hostile-server.ts';

const rowsInPage = 2;

/** Run `n` of a benchmark; the benchmark `ring` answers each page with the cursor of its second page. */
function pageOf(benchId: string, count: number, cursor: string | null) {
  const from = Number(cursor ?? 0);
  const items = Array.from({ length: count }, (_, index) => ({
    eval_run_id: `evr_${benchId}_${index}`,
    training_run_id: `tr_${benchId}_${index}`,
    checkpoint_id: `ckpt_${index}`,
    step_index: index,
    bench_id: benchId,
    status: 'completed',
    created_at: `2026-01-01T00:00:00.${String(100 + index)}Z`,
  })).slice(from, from + rowsInPage);
  const next = benchId === 'ring' ? rowsInPage : from + rowsInPage;
  const has_more = benchId === 'ring' || next < count;
  return { items, has_more, next_cursor: has_more ? String(next) : null };
}

const counts = new Map([
  ['b1', 7],
  ['ring', 4],
  ['b3', 1],
]);

async function world() {
  const { url, requests } = await hostileServer((response, request) => {
    const { pathname, searchParams } = new URL(request.url, 'http://service.test');
    const [, , , area, id = ''] = pathname.split('/');
    const answer =
      area === 'benchmarks'
        ? { items: [...counts.keys()].map(bench_id => ({ bench_id })), has_more: false, next_cursor: null }
        : pageOf(id, counts.get(id) ?? 5, searchParams.get('cursor'));
    return json(answer)(response, request);
  });
  const { service } = serviceAt(url);
  const memory = RememberedStore.inMemory('test');
  const context: QueryContext = { service, memory, signal: new AbortController().signal };
  const reading = <Row>(source: ListSource<Row>) =>
    new ListReader<Row>(source, { context: async () => context, publish: () => {} });
  return { service, context, reading, asked: () => requests.map(request => request.url) };
}

it('reads the runs of a benchmark to the end, and requests the first page without a query', async () => {
  const { context, reading, asked } = await world();
  const reader = reading<EvalRun>(runsOfBenchmark('b1'));
  expect((await reader.poll(context)).complete).toBe(false);
  expect(await reader.readRest()).toBe('complete');
  expect(reader.data.rows).toHaveLength(7);
  expect(asked().slice(0, 2)).toEqual(['/api/v1/eval/b1/runs', '/api/v1/eval/b1/runs?cursor=2&limit=200']);
});

it('reads all runs of all benchmarks, and stops at a repeated cursor, with a note (C16)', async () => {
  const { context, reading, asked } = await world();
  const reader = reading<EvalRun>(everyRun);
  const { notes } = await reader.poll(context);
  expect(notes).toEqual([`These benchmarks have more runs: ${restKey} reads the rest`]);
  expect(await reader.readRest()).toBe('complete');
  expect(reader.data).toMatchObject({
    complete: false,
    notes: ['There may be more rows, but the service gives no way to read them'],
  });
  expect(reader.data.rows).toHaveLength(7 + 4 + 1);
  expect(asked().filter(url => url.includes('/ring/')).length).toBeLessThan(4);
});

it('reads all training runs, and finds the last checkpoint on a later page', async () => {
  const { service, context, reading } = await world();
  const reader = reading(everyTrainingRun);
  await reader.poll(context);
  await reader.readRest();
  expect(reader.data.rows).toHaveLength(7 + 4 + 1);
  expect((await lastCheckpoint(service, 'tr_1')).checkpoint_id).toBe('ckpt_4');
});
