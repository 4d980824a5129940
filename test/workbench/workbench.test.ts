/** When data on screen is read again. */
import { QueryObserver } from '@tanstack/react-query';
import { expect, it, onTestFinished, vi } from 'vitest';
import { datasetKeys } from '../../src/queries/datasets.ts';
import { listQuery } from '../../src/queries/lists/list-query.ts';
import { optionsOf } from '../../src/queries/live-query.ts';
import { datasets } from '../../src/resources/datasets.ts';
import { recordOfLine, watchedLine } from '../../src/resources/watch.ts';
import { NetworkError } from '../../src/service/errors.ts';
import type { ConnectionMonitor, ConnectionState } from '../../src/service/supervisor.ts';
import { fixedConnection } from '../../src/service/supervisor.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { TrajectoryUpload } from '../../src/uploads/trajectory-upload.ts';
import { Job, type JobState } from '../../src/workbench/jobs.ts';
import { eventually } from '../eventually.ts';
import { pageOf } from '../queries/scripted-service.ts';
import { fakeService } from '../service/fake-service.ts';
import { newWorkbench } from './new-workbench.ts';
import { storeFolder } from './store-folder.ts';

it('reads what is on screen once for each restart of the service, and not when it is only found', async () => {
  let state: ConnectionState = { kind: 'starting', since: 0 };
  let tell = (): void => {};
  const connection: ConnectionMonitor = {
    get state() {
      return state;
    },
    subscribe: listener => {
      tell = listener;
      return () => {};
    },
    retry: () => {},
  };
  const workbench = newWorkbench({ service: async () => fakeService(), connection });
  let reads = 0;
  const observer = new QueryObserver(workbench.cache, { queryKey: ['shown'], queryFn: () => (reads += 1) });
  const stop = observer.subscribe(() => {});
  onTestFinished(() => {
    stop();
    workbench.close();
  });
  const become = async (generation: number): Promise<number> => {
    state = { kind: 'connected', generation, note: undefined };
    tell();
    await eventually(() => expect(workbench.cache.isFetching()).toBe(0));
    return reads;
  };
  await eventually(() => expect(reads).toBe(1));
  expect([await become(1), await become(1), await become(2), await become(2), await become(3)]).toEqual([
    1, 1, 2, 2, 3,
  ]);
});

it('reads at once what failed before the service first started (B10)', async () => {
  let state: ConnectionState = { kind: 'failed', message: 'The disk is full.', retryAt: 0 };
  let tell = (): void => {};
  const connection: ConnectionMonitor = {
    ...fixedConnection,
    get state() {
      return state;
    },
    subscribe: listener => {
      tell = listener;
      return () => {};
    },
  };
  const workbench = newWorkbench({ service: async () => fakeService(), connection });
  const reads = [() => Promise.reject(new NetworkError('The disk is full.', {})), async () => 'read'];
  const queryFn = () => reads.shift()?.();
  const observer = new QueryObserver(workbench.cache, { queryKey: ['shown'], queryFn, retry: false });
  const stop = observer.subscribe(() => {});
  onTestFinished(() => {
    stop();
    workbench.close();
  });
  await eventually(() => expect(observer.getCurrentResult().status).toBe('error'));
  state = { kind: 'connected', generation: 1, note: undefined };
  tell();
  await eventually(() => expect(observer.getCurrentResult().data).toBe('read'));
});

it('still shows a failure while it reads again', async () => {
  const workbench = newWorkbench({ service: async () => fakeService() });
  const goOn = Promise.withResolvers<number>();
  const reads = [() => Promise.reject(new Error('refused')), () => goOn.promise];
  const read = async () => reads.shift()?.() ?? 0;
  const query = optionsOf(workbench, { key: ['shown'], read, activity: () => 'settled' });
  const observer = new QueryObserver(workbench.cache, query);
  const stop = observer.subscribe(() => {});
  onTestFinished(() => {
    stop();
    workbench.close();
  });
  const isRefused = (error: unknown): boolean => error instanceof Error && error.message === 'refused';
  await eventually(() => expect(workbench.fails(isRefused)).toBe(true));
  void observer.refetch();
  expect([observer.getCurrentResult().status, workbench.fails(isRefused)]).toEqual(['pending', true]);
  goOn.resolve(1);
  await eventually(() => expect(workbench.fails(isRefused)).toBe(false));
});

it('reads what an upload has changed once it has ended, even after a failure', async () => {
  const workbench = newWorkbench({ service: async () => fakeService() });
  let reads = 0;
  const options = { queryKey: datasetKeys.list, queryFn: () => (reads += 1), staleTime: Number.POSITIVE_INFINITY };
  const stop = new QueryObserver(workbench.cache, options).subscribe(() => {});
  onTestFinished(() => {
    stop();
    workbench.close();
  });
  await eventually(() => expect(reads).toBe(1));
  const upload = new TrajectoryUpload('job', '/nowhere/at/all.jsonl', 'mine');
  workbench.jobs.add(upload);
  await upload.run(workbench.service);
  expect(upload.state.phase).toBe('failed');
  await eventually(() => expect(reads).toBe(2));
});

it('forgets what the program has deleted', () => {
  const workbench = newWorkbench({ service: async () => fakeService() });
  onTestFinished(() => workbench.close());
  const run = { kind: 'run', id: 'evr_1' };
  workbench.records.started({ ...run, label: 'baseline', status: 'running' });
  for (const of of ['evr_1', 'evr_2'])
    workbench.texts.keep({ trajectoryId: of, steps: 1, record: JSON.stringify({ eval_run_id: of }), parts: [] });
  workbench.records.deleted(run, []);
  expect([...workbench.texts.known().keys()]).toEqual(['evr_2']);
  expect([workbench.statuses.get(run), workbench.remembered.seen.find('run', 'evr_1')]).toEqual([undefined, undefined]);
});

it('remembers no late answer over the end of a run (attack35)', () => {
  const remembered = RememberedStore.inMemory('test');
  const workbench = newWorkbench({ remembered: () => remembered });
  onTestFinished(() => workbench.close());
  const answer = (status: string, at: number): void => {
    const record = { eval_run_id: 'evr_1', status };
    const observed = [{ kind: 'run', id: 'evr_1', status, record, endTime: null }];
    const times = { askedAt: at, at: at + 5 };
    workbench.records.observed(workbench.statuses.report(observed, times), times);
  };
  answer('running', 1);
  answer('completed', 3);
  answer('running', 2);
  expect(remembered.seen.find('run', 'evr_1')).toMatchObject({ status: 'completed', record: { status: 'completed' } });
});

it('takes the status and the progress of the answer that was requested last, not of the one that arrives last', () => {
  const remembered = RememberedStore.inMemory('test');
  const workbench = newWorkbench({ remembered: () => remembered });
  onTestFinished(() => workbench.close());
  const run = { kind: 'training', id: 'trn_1' };
  const answer = (status: string, done: number, [askedAt, at]: readonly [number, number], more: object = {}): void => {
    const record = { training_run_id: 'trn_1', status };
    const times = { askedAt, at };
    workbench.records.observed(workbench.statuses.report([{ ...run, status, done, record, ...more }], times), times);
  };
  const known = () => workbench.statuses.get(run);
  answer('pending', 0, [10, 20]);
  answer('running', 3, [40, 50]);
  const { beganAt } = known() ?? {};
  // A slow list.
  answer('pending', 0, [30, 60], { label: 'nightly' });
  expect(known()).toMatchObject({ status: 'running', done: 3, label: 'nightly', beganAt });
  expect(remembered.seen.find('training', 'trn_1')).toMatchObject({ status: 'running', record: { status: 'running' } });
  expect(remembered.progress.of('trn_1').map(({ completed_steps }) => completed_steps)).toEqual([0, 3]);
  // The service made it after the other one, however early it was requested.
  answer('running', 4, [35, 70]);
  expect(known()?.done).toBe(4);
  answer('succeeded', 5, [36, 80]);
  expect(known()).toMatchObject({ status: 'succeeded', done: 5 });
  // The clock was set back.
  const other = { ...run, id: 'trn_2' };
  for (const [status, at] of [
    ['pending', 1_000],
    ['running', 500],
  ] as const)
    workbench.statuses.report([{ ...other, status }], { askedAt: at, at: at + 5 });
  expect(workbench.statuses.get(other)?.status).toBe('running');
});

it('lets no late answer to a start replace what a list has shown of the run', () => {
  const remembered = RememberedStore.inMemory('test');
  const workbench = newWorkbench({ remembered: () => remembered });
  onTestFinished(() => workbench.close());
  const observe = (status: string, done: number) => ({
    ...{ kind: 'training', id: 'trn_1', label: 'nightly', status, done, total: 10 },
    record: { training_run_id: 'trn_1', status, completed_steps: done },
  });
  const listed = [observe('running', 3)];
  workbench.statuses.report(listed, { askedAt: 1, at: 2 });
  workbench.records.observed(listed, { askedAt: 1, at: 2 });
  const started = observe('pending', 0);
  const record = { ...started.record, base_model_slug: 'acme/small' };
  workbench.records.started({ ...started, parent: 'b1', record }, 3);
  expect(workbench.statuses.get(started)).toMatchObject({ status: 'running', done: 3, parent: 'b1' });
  expect(remembered.seen.find('training', 'trn_1')).toMatchObject({
    ...{ status: 'running', parent: 'b1', startedAt: 3 },
    record: { status: 'running', completed_steps: 3, base_model_slug: 'acme/small' },
  });
  expect(remembered.progress.of('trn_1').map(({ completed_steps }) => completed_steps)).toEqual([3]);
});

it('keeps the status of a run whose start was answered without one', () => {
  const remembered = RememberedStore.inMemory('test');
  const run = { kind: 'run', id: 'evr_1' };
  remembered.see([{ ...run, status: 'running', record: { eval_run_id: 'evr_1', status: 'running' } }]);
  remembered.see([{ ...run, record: { eval_run_id: 'evr_1', status: null, sent_options: {} } }]);
  const record = { status: 'running', sent_options: {} };
  expect(remembered.seen.find('run', 'evr_1')).toMatchObject({ status: 'running', record });
});

it('gives a line the record of its current status (attack35)', () => {
  const remembered = RememberedStore.inMemory('test');
  const record = { training_run_id: 'trn_1', bench_id: 'b1', status: 'failed', failure: { message: 'out of memory' } };
  remembered.see([{ kind: 'training', id: 'trn_1', status: 'failed', record }]);
  const workbench = newWorkbench({ remembered: () => remembered });
  onTestFinished(() => workbench.close());
  const line = { ...watchedLine({ kind: 'training', id: 'trn_1' }, 'sweep'), status: 'running' };
  expect(recordOfLine(workbench, line)).toEqual({ training_run_id: 'trn_1', bench_id: 'b1', status: 'running' });
  expect(recordOfLine(workbench, { ...line, status: 'FAILED' })).toEqual(record);
});

it('recalls the same for a pinned run as for any running one', () => {
  const remembered = RememberedStore.inMemory('test');
  const mean = { step: 2, reward: 0.5, samples: 8 };
  const measured = { last: mean, best: mean, curve: [], everySteps: 2, upTo: 2 };
  const ids = ['trn_pinned', 'trn_other'];
  remembered.see(ids.map(id => ({ kind: 'training', id, status: 'running', beganAt: 5, measured })));
  remembered.pin({ kind: 'training', id: 'trn_pinned', label: 'pinned' });
  const workbench = newWorkbench({ remembered: () => remembered });
  onTestFinished(() => workbench.close());
  const known = ids.map(id => workbench.statuses.get({ kind: 'training', id }));
  for (const each of known)
    expect(each).toMatchObject({ status: 'running', beganAt: 5, measured: { last: { ...mean, isOld: true } } });
  expect(known.map(each => each?.label)).toEqual(['pinned', 'trn_other']);
});

it('unpins what is gone, but keeps the pin of another account, which still has it (B4)', () => {
  const workbench = newWorkbench();
  onTestFinished(() => workbench.close());
  const [own, other] = ['evr_1', 'evr_2'].map(id => ({ kind: 'run', id, label: id }));
  for (const run of [own, other]) if (run) workbench.pins.toggle(run);
  workbench.records.started({ kind: 'run', id: 'evr_1', label: 'evr_1', status: 'running' });
  for (const run of [own, other]) if (run) workbench.records.gone(run);
  expect(workbench.pins.list()).toEqual([other]);
});

it('forgets datasets that the whole list lacks', async () => {
  const names = ['one', 'two', 'three'];
  let [listed, more] = [names, false];
  const service = fakeService({
    listDatasets: () => ({
      ...pageOf(listed.map(dataset_name => ({ dataset_id: `ds_${dataset_name}`, dataset_name }))),
      has_more: more,
    }),
  });
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const seen = async () => {
    await workbench.cache.fetchQuery({
      ...optionsOf(workbench, listQuery(workbench, datasets.list({}))),
      staleTime: 0,
    });
    return workbench.remembered.seen.since(0, { kinds: ['dataset'] }).map(({ label }) => label);
  };
  expect((await seen()).sort()).toEqual([...names].sort());
  [listed, more] = [['two'], true];
  expect(await seen()).toHaveLength(3);
  more = false;
  vi.setSystemTime(Date.now() + 1_000);
  onTestFinished(() => void vi.useRealTimers());
  expect(await seen()).toEqual(['two']);
});

it('follows the progress of training runs, and forgets the answers of a query that is no longer shown', async () => {
  const workbench = newWorkbench({ service: async () => fakeService() });
  onTestFinished(() => workbench.close());
  const said = (kind: string, done: number): Promise<unknown> => {
    const observes = () => ({ kind, id: `${kind}_1`, label: 'long', status: 'running', done });
    return workbench.cache.fetchQuery({
      queryKey: [kind],
      meta: { observes },
      queryFn: () => ({ done }),
      staleTime: 0,
    });
  };
  for (const done of [39, 30]) {
    await said('training', done);
    await said('run', done);
  }
  expect(workbench.restarts.of('training_1')).toMatchObject({ from: 39, step: 30 });
  expect(workbench.restarts.of('run_1')).toBeUndefined();
  workbench.cache.removeQueries({ queryKey: ['training'] });
  await said('training', 20);
  expect(workbench.restarts.of('training_1')).toMatchObject({ from: 39, step: 30 });
});

it('notices that a training run restarted while the program was closed, but not from one lagging query', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const path = storeFolder(onTestFinished);
  const session = async (...said: readonly (readonly [by: string, done: number])[]) => {
    const remembered = () => RememberedStore.open(path, 'test');
    const workbench = newWorkbench({ service: async () => fakeService(), remembered });
    const steps: number[] = [];
    workbench.restarts.subscribe(({ step }) => steps.push(step));
    for (const [by, done] of said) {
      const observes = () => ({ kind: 'training', id: 'trn_1', label: 'long', status: 'running', done });
      await workbench.cache.fetchQuery({ queryKey: [by], meta: { observes }, queryFn: () => ({ done }), staleTime: 0 });
    }
    workbench.close();
    await workbench.closed;
    return steps;
  };
  expect(await session(['progress', 39])).toEqual([]);
  // A list may be a few seconds behind.
  vi.setSystemTime(Date.now() + 10_000);
  expect(await session(['list', 38], ['progress', 40])).toEqual([]);
  vi.setSystemTime(Date.now() + 60_000);
  expect(await session(['list', 30], ['progress', 32])).toEqual([30]);
  vi.setSystemTime(Date.now() + 60_000);
  expect(await session(['list', 32], ['progress', 33])).toEqual([]);
});

it('remembers until a training run has recovered that it restarted, even across a restart of the program', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const path = storeFolder(onTestFinished);
  const session = async (done: number) => {
    vi.setSystemTime(Date.now() + 60_000);
    const remembered = () => RememberedStore.open(path, 'test');
    const workbench = newWorkbench({ service: async () => fakeService(), remembered });
    const observes = () => ({ kind: 'training', id: 'trn_1', label: 'long', status: 'running', done });
    await workbench.cache.fetchQuery({ queryKey: ['progress'], meta: { observes }, queryFn: () => ({ done }) });
    const { from, step } = workbench.restarts.of('trn_1') ?? {};
    workbench.close();
    await workbench.closed;
    return from === undefined ? 'none' : `${from} to ${step}`;
  };
  expect([await session(39), await session(30), await session(34)]).toEqual(['none', '39 to 30', '39 to 30']);
  expect([await session(40), await session(41)]).toEqual(['none', 'none']);
});

it('does not reopen the store once it is closed', () => {
  const remembered = vi.fn(() => RememberedStore.inMemory('test'));
  const workbench = newWorkbench({ service: async () => fakeService(), remembered });
  workbench.close();
  expect(workbench.remembered.chats()).toEqual([]);
  expect(remembered).toHaveBeenCalledTimes(1);
});

it('closes the store once no upload writes to it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const record = Promise.withResolvers<void>();
  class Slow extends Job<JobState> {
    readonly share = 0;
    readonly hasStarted = true;
    readonly outcome = '';
    protected begin = () => ({ phase: 'uploading' });
    protected work = () => record.promise.then(() => ({}));
    protected end = () => ({ phase: 'cancelled' });
  }
  const store = RememberedStore.inMemory('test');
  const close = vi.spyOn(store, 'close');
  const remembered = () => store;
  const workbench = newWorkbench({ service: async () => fakeService(), remembered });
  const upload = new Slow('job', { label: 'mine', touches: [] }, { phase: 'waiting', error: undefined });
  workbench.jobs.add(upload);
  const run = upload.run(workbench.service);
  workbench.close();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(close).not.toHaveBeenCalled();
  record.resolve();
  await run;
  await vi.advanceTimersByTimeAsync(1_000);
  await workbench.closed;
  expect(close).toHaveBeenCalledTimes(1);
});
