/** The completed steps of each run in a list: read if the record lacks them, and not again once final. */
import { describe, expect, it } from 'vitest';
import type { TrainingRun } from '../../src/contract/training.ts';
import { cellText } from '../../src/present/column.ts';
import {
  everyTrainingRun,
  observeTraining,
  type ProgressedRun,
  trainingProgressQuery,
  trainingRunQuery,
  trainingRunsOf,
} from '../../src/queries/training.ts';
import { trainingColumns } from '../../src/resources/training-columns.ts';
import { Capabilities } from '../../src/service/capabilities.ts';
import { CapabilityMissingError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';

const run = (id: string, status: string): TrainingRun => ({
  training_run_id: id,
  status,
  bench_id: 'bench_1',
  options: { num_steps: 600 },
});

function open(runs: readonly TrainingRun[], progress: (id: string) => Promise<{ completed_steps: number }>) {
  const asked: string[] = [];
  const service = fakeService({
    listTrainingRuns: () => [...runs],
    getTrainingProgress: ({ params: { training_run_id: id } }) => {
      asked.push(String(id));
      return progress(String(id));
    },
  });
  const memory = RememberedStore.inMemory('test');
  const source = trainingRunsOf('bench_1');
  const context = () => ({ service, signal: new AbortController().signal, memory, query: {}, readsProgress: true });
  const read = async (): Promise<readonly ProgressedRun[]> => {
    const { items } = await source.readPage(context());
    memory.see(items.map(observeTraining));
    return items;
  };
  return { read, asked, memory, source, context };
}

const progress = trainingColumns.filter(({ id }) => id === 'done' || id === 'steps');
const shown = (rows: readonly ProgressedRun[]) =>
  rows.map(row => progress.map(column => cellText(column, row)).join(' of '));

it('shows completed steps of the total', async () => {
  const runs = [
    run('cancelled', 'cancelled'),
    run('running', 'running'),
    run('done', 'succeeded'),
    run('new', 'pending'),
  ];
  const { read, asked } = open(runs, async id => ({ completed_steps: id === 'cancelled' ? 35 : 7 }));
  expect(shown(await read())).toEqual(['35 of 600', '7 of 600', '600 of 600', ' of 600']);
  expect(asked).toEqual(['cancelled', 'running']);
  asked.length = 0;
  // Finished runs are remembered.
  expect(shown(await read())).toEqual(['35 of 600', '7 of 600', '600 of 600', ' of 600']);
  expect(asked).toEqual(['running']);
});

it('mixes no steps of another status into those of the end, or of a success', async () => {
  const runs = [run('cancelled', 'cancelled'), run('done', 'succeeded')];
  const { read, asked, memory } = open(runs, async () => ({ completed_steps: 40 }));
  memory.see([
    observeTraining({ ...run('cancelled', 'running'), completed_steps: 35 }),
    observeTraining({ ...run('done', 'succeeded'), completed_steps: 590 }),
  ]);
  expect(shown(await read())).toEqual(['40 of 600', '600 of 600']);
  expect(asked).toEqual(['cancelled']);
});

it('shows the list even without the progress, after a few tries', async () => {
  const runs = Array.from({ length: 50 }, (_, index) => run(`run_${index}`, 'failed'));
  const { read, asked } = open(runs, async () => {
    throw new Error('no progress today');
  });
  expect(shown(await read())).toEqual(runs.map(() => ' of 600'));
  expect(asked.length).toBeLessThanOrEqual(4);
});

it('requests no progress for a list that is not printed, e.g. on screen or to find a name', async () => {
  const { source, context, asked } = open([run('failed', 'failed')], async () => ({ completed_steps: 40 }));
  await source.readPage({ ...context(), readsProgress: false });
  expect(asked).toEqual([]);
});

it('shows no step budget that overflows', () => {
  const unbounded = { ...run('odd', 'running'), options: { num_steps: Number.POSITIVE_INFINITY } };
  expect(shown([{ ...unbounded, completed_steps: 7 }, unbounded])).toEqual(['7 of ', ' of ']);
});

describe('a service that reports the number of steps only in the progress', () => {
  const { options: _, ...bare } = run('trn_1', 'running');
  const answer = { training_run_id: 'trn_1', status: 'running', completed_steps: 8, total_steps: 10 };
  const { signal } = new AbortController();

  it('lists them with its rows, and remembers them', async () => {
    const memory = RememberedStore.inMemory('test');
    const answers = { listTrainingRuns: () => [bare], getTrainingProgress: () => answer };
    const source = trainingRunsOf('bench_1');
    const read = async () => {
      const context = { service: fakeService(answers), signal, memory, query: {}, readsProgress: true };
      const { items } = await source.readPage(context);
      return { items, followed: (await source.readPage({ ...context, readsProgress: false })).items };
    };
    const { items } = await read();
    expect(shown(items)).toEqual(['8 of 10']);
    memory.see([trainingProgressQuery('trn_1').observes?.(answer)].filter(said => said !== undefined));
    expect(shown((await read()).followed)).toEqual([' of 10']);
  });

  it('shows them if it lists no training runs', async () => {
    const memory = RememberedStore.inMemory('test');
    const missing = (operation: 'getTrainingRun' | 'listTrainingRuns') => () => {
      throw new CapabilityMissingError(operation);
    };
    const answers = {
      listTrainingRuns: missing('listTrainingRuns'),
      getTrainingRun: missing('getTrainingRun'),
      getTrainingProgress: () => answer,
    };
    const service = fakeService(answers, { capabilities: new Capabilities() });
    const context = { service, signal, memory, query: {}, readsProgress: true };
    memory.see([observeTraining(await trainingRunQuery('trn_1').read(context))]);
    const listed = await everyTrainingRun.fallback?.(context);
    expect(shown(listed?.items ?? [])).toEqual(['8 of 10']);
  });
});

it.each(['running', 'succeeded', 'cancelled', 'cancel_signaled'])(
  'has no failure or end time of an earlier status once it is %s (out29 A3)',
  async status => {
    const memory = RememberedStore.inMemory('test');
    const failure = { message: 'out of memory', code: 'oom' };
    let progress: object = { status: 'failed', completed_steps: 4, failure };
    const answers = {
      getTrainingRun: () => {
        throw new CapabilityMissingError('getTrainingRun');
      },
      getTrainingProgress: () => progress,
    };
    const service = fakeService(answers, { capabilities: new Capabilities() });
    const { signal } = new AbortController();
    const read = async () => {
      const row = await trainingRunQuery('trn_1').read({ service, signal, memory });
      memory.see([observeTraining(row)]);
      return row;
    };
    memory.see([
      { kind: 'training', id: 'trn_1', record: { completed_at: '2026-01-01T10:00:00Z', waits_because: 'disk' } },
    ]);
    const before = { status: 'failed', failure, completed_at: '2026-01-01T10:00:00Z' };
    expect(await read()).toMatchObject(before);
    // An answer without a reason keeps the known one.
    progress = { status: 'failed', completed_steps: 4 };
    expect(await read()).toMatchObject(before);
    progress = { status, completed_steps: 5 };
    for (const row of [await read(), memory.seen.find('training', 'trn_1')?.record])
      for (const name of ['failure', 'completed_at', 'waits_because']) expect(row).not.toHaveProperty(name);
  },
);

it('has the time at which it left the queue, in the record and in the list (C3)', async () => {
  const times = { created_at: '2026-01-01T10:00:00Z', completed_at: '2026-01-01T10:00:55Z' };
  const ended: TrainingRun = { ...run('r', 'cancelled'), ...times };
  const began_at = Date.parse('2026-01-01T10:00:02Z');
  const { read, memory } = open([ended], async () => ({ completed_steps: 1 }));
  memory.see([{ kind: 'training', id: 'r', beganAt: began_at }]);
  const service = fakeService({ getTrainingRun: () => ended });
  const record = await trainingRunQuery('r').read({ service, memory, signal: new AbortController().signal });
  const [listed] = await read();
  expect([record.began_at, listed?.began_at]).toEqual([began_at, began_at]);
  // `read` remembers the row, without its own field (attack35).
  expect(memory.seen.find('training', 'r')).toMatchObject({ beganAt: began_at, record: times });
  expect(memory.seen.find('training', 'r')?.record).not.toHaveProperty('began_at');
  const texts = trainingColumns
    .filter(({ id }) => id === 'took' || id === 'queued')
    .map(each => cellText(each, record));
  expect(texts).toEqual(['53s', '2s']);
});
