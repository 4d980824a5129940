/** The first counts of lists off screen: a failed or hung one does not affect the others. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { listQuery } from '../../src/queries/lists/list-query.ts';
import { fetchOnce } from '../../src/queries/live-query.ts';
import { resourceNamed } from '../../src/resources/catalogue.ts';
import { roundsQuery } from '../../src/resources/rotation.ts';
import { Counts } from '../../src/resources/section-counts.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { eventually } from '../eventually.ts';
import { type Answers, pageOf, scriptedService } from '../queries/scripted-service.ts';
import { newWorkbench } from '../workbench/new-workbench.ts';

const dataset = { dataset_id: 'ds_1', dataset_name: 'walks' };

function counting(answers: Answers) {
  const scripted = scriptedService({
    listBenchmarks: () => pageOf([]),
    listTrainingRuns: () => [],
    listDeployments: () => pageOf([]),
    ...answers,
  });
  const call = vi.spyOn(scripted.service, 'call');
  const poll = { focusedMs: 2, visibleMs: 2 };
  const workbench = newWorkbench({ service: async () => scripted.service, poll });
  onTestFinished(() => workbench.close());
  const counts = new Counts(workbench);
  const round = () => {
    // As if the wait after a failure were over.
    workbench.failed.forget();
    return fetchOnce(workbench, roundsQuery(workbench, { counted: true, atHome: false }));
  };
  const rowsOf = (name: string) => workbench.lists.countOf(resourceNamed(name)?.list({}).key ?? [])?.rows;
  return { ...scripted, call, workbench, counts, round, rowsOf };
}

it('are requested again after a temporary failure', async () => {
  let failures = 0;
  const { round, rowsOf } = counting({
    listDatasets: () => {
      if (failures > 0) return pageOf([dataset]);
      failures += 1;
      throw new ServiceError('server', 'The store is out.', { status: 503 });
    },
  });
  await eventually(async () => {
    await round();
    expect([failures, rowsOf('datasets')]).toEqual([1, 1]);
  });
});

it('are requested once if they are refused for good, and again after a refresh', async () => {
  const { round, rowsOf, asked, workbench } = counting({
    listDatasets: () => pageOf([dataset]),
    listSecrets: () => {
      throw new ServiceError('permission', 'Secrets are for owners.', { status: 403 });
    },
  });
  await eventually(async () => {
    await round();
    expect([asked('listSecrets'), rowsOf('datasets')]).toEqual([1, 1]);
  });
  for (let rounds = 0; rounds < 5; rounds += 1) await round();
  expect(asked('listSecrets')).toBe(1);
  await workbench.retryMissing();
  await eventually(async () => {
    await round();
    expect(asked('listSecrets')).toBe(2);
  });
});

it('are requested again after a refresh that came before the refusal', async () => {
  const refusal = Promise.withResolvers<never>();
  // A refresh may give up the request that waits for it.
  refusal.promise.catch(() => {});
  const { round, asked, workbench } = counting({ listSecrets: () => refusal.promise });
  await eventually(async () => {
    await round();
    expect(asked('listSecrets')).toBe(1);
  });
  await workbench.retryMissing();
  await round();
  refusal.reject(new ServiceError('permission', 'Secrets are for owners.', { status: 403 }));
  await eventually(async () => {
    await round();
    expect(asked('listSecrets')).toBe(2);
  });
});

it('block no round while one of them hangs, and stop with the program', async () => {
  const { round, rowsOf, asked, call, workbench, requests } = counting({
    listDatasets: () => new Promise(() => {}),
    listSecrets: () => pageOf([{ secret_id: 'sec_1', name: 'key' }]),
  });
  const recall = vi.spyOn(workbench.records, 'recall');
  await eventually(async () => {
    await round();
    expect([asked('listDatasets'), rowsOf('secrets')]).toEqual([1, 1]);
  });
  const before = recall.mock.calls.length;
  await round();
  await round();
  expect([recall.mock.calls.length - before, asked('listDatasets')]).toEqual([2, 1]);
  const [, , options] = call.mock.calls.find(([operation]) => operation === 'listDatasets') ?? [];
  expect(options?.signal?.aborted).toBe(false);
  workbench.close();
  const sent = requests.length;
  await new Promise(resolve => setImmediate(resolve));
  expect([options?.signal?.aborted, requests.length]).toEqual([true, sent]);
});

it('are looked up once per list, however many resources of it are known', () => {
  const { counts, workbench } = counting({ listEvalRuns: () => [] });
  const start = (id: string) => workbench.records.started({ kind: 'run', id, label: id, status: 'running' });
  for (let id = 0; id < 20; id += 1) start(`evr_${id}`);
  onTestFinished(counts.follow());
  const lookedUp = vi.spyOn(workbench.lists, 'countOf');
  start('evr_20');
  const keys = lookedUp.mock.calls.map(([key]) => JSON.stringify(key));
  expect(keys).toEqual([JSON.stringify(resourceNamed('runs')?.list({}).key)]);
});

it('follow what the rows of one list say about another, and check only changed rows', async () => {
  const rows = Array.from({ length: 5 }, (_, index) => ({ bench_id: `bench_${index}`, eval_run_count: 1 }));
  const { counts, workbench, asked } = counting({ listBenchmarks: () => pageOf(rows), listEvalRuns: () => [] });
  onTestFinished(counts.follow());
  const of = vi.spyOn(resourceNamed('benchmarks')?.tally as { of: (row: object) => unknown }, 'of');
  const read = () => fetchOnce(workbench, listQuery(workbench, resourceNamed('benchmarks')?.list({}) as never));
  await read();
  await read();
  expect([of.mock.calls.length, asked('listEvalRuns')]).toEqual([0, 0]);
  // Once the first view was read.
  await eventually(async () => {
    rows[2] = { bench_id: 'bench_2', eval_run_count: (rows[2]?.eval_run_count ?? 0) + 1 };
    await read();
    expect(asked('listEvalRuns')).toBeGreaterThan(0);
  });
  expect(new Set(of.mock.calls.map(([row]) => (row as { bench_id: string }).bench_id))).toEqual(new Set(['bench_2']));
});

it('keep only counts of the rows of a list of names', async () => {
  const rows = Array.from({ length: 5 }, (_, index) => ({ bench_id: `bench_${index}`, label: `walk ${index}` }));
  const { round, rowsOf, workbench } = counting({ listBenchmarks: () => pageOf(rows) });
  await eventually(async () => {
    await round();
    expect(rowsOf('benchmarks')).toBe(5);
  });
  expect(workbench.statuses.all()).toEqual([]);
});
