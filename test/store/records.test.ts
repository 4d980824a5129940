/** The records of uploads, of the progress of runs and of lists, and how long they are kept. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RememberedLists } from '../../src/store/lists.ts';
import { ProgressPoints } from '../../src/store/progress.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { type Tables, tablesInMemory } from '../../src/store/tables.ts';
import { TrajectoryRecords } from '../../src/store/trajectory-records.ts';
import { UploadRecords } from '../../src/store/upload-records.ts';

const day = 24 * 60 * 60_000;
const rows = (tables: Tables, table: string) => Number(tables.all(`select count(*) as n from ${table}`)[0]?.['n']);

describe('the record of a benchmark upload', () => {
  it('has the phase, the manifest and the files of its own id', () => {
    const records = new UploadRecords(tablesInMemory('prod'));
    const changed = vi.fn();
    records.subscribe(changed);
    expect(records.get('/d')).toBeUndefined();
    records.begin('/d', 'bench_1', 1);
    expect(records.get('/d')).toEqual({ benchId: 'bench_1', phase: 'sending', manifest: undefined });
    for (const phase of ['ingesting', 'ingested', 'sending'] as const) {
      records.setPhase('/d', 'bench_1', phase, 'm');
      expect(records.get('/d')).toEqual({ benchId: 'bench_1', phase, manifest: 'm' });
    }
    records.setPhase('/d', 'bench_1', 'ingesting');
    records.setPhase('/d', 'bench_0', 'ingested', 'old');
    expect(records.get('/d')).toEqual({ benchId: 'bench_1', phase: 'ingesting', manifest: undefined });
    records.note('/d', 'bench_1', [
      ['a', 'mark'],
      ['b', undefined],
    ]);
    records.note('/d', 'bench_0', [['c', 'old']]);
    records.note('/d', 'bench_1', []);
    expect(records.files('/d', 'bench_1')).toEqual(
      new Map([
        ['a', 'mark'],
        ['b', undefined],
      ]),
    );
    expect(changed).toHaveBeenCalledTimes(2);
  });

  it('of another phase, as another version may write it, is of one that is being sent', () => {
    const tables = tablesInMemory('prod');
    const records = new UploadRecords(tables);
    records.begin('/d', 'bench_1');
    tables.run("update uploads set phase = 'thinking'");
    expect(records.get('/d')?.phase).toBe('sending');
  });

  it('is replaced by the next, and forgotten by its id or whatever it is', () => {
    const tables = tablesInMemory('prod');
    const records = new UploadRecords(tables);
    const begun = (id: string) => {
      records.begin('/d', id, 1);
      records.note('/d', id, [['a', 'mark']]);
    };
    records.begin('/other', 'bench_9', 0);
    begun('bench_1');
    begun('bench_2');
    expect([records.get('/d')?.benchId, rows(tables, 'upload_files')]).toEqual(['bench_2', 1]);
    records.forget('/d', 'bench_1');
    expect([records.get('/d')?.benchId, rows(tables, 'upload_files')]).toEqual(['bench_2', 1]);
    expect(records.unfinished()).toEqual([
      { folder: '/d', benchId: 'bench_2' },
      { folder: '/other', benchId: 'bench_9' },
    ]);
    const changed = vi.fn();
    records.subscribe(changed);
    records.forget('/d', 'bench_2');
    expect([records.get('/d'), rows(tables, 'upload_files'), changed.mock.calls.length]).toEqual([undefined, 0, 1]);
    begun('bench_3');
    records.forget('/d');
    expect([records.get('/d'), rows(tables, 'upload_files')]).toEqual([undefined, 0]);
  });

  it('is kept for 90 days', () => {
    const tables = tablesInMemory('prod');
    const records = new UploadRecords(tables);
    records.begin('/old', 'bench_1', 10 * day - 1);
    records.note('/old', 'bench_1', [['a', 'mark']]);
    records.begin('/new', 'bench_2', 10 * day);
    records.begin('/now', 'bench_3', 100 * day);
    expect(records.unfinished().map(({ folder }) => folder)).toEqual(['/now', '/new']);
    expect(rows(tables, 'upload_files')).toBe(0);
  });
});

describe('the record of an upload of trajectories', () => {
  const mine = { path: '/f', dataset: 'mine', agent: 'a', account: 'one' };
  const none = { stored: 0, skipped: 0 };

  it('is of a file, a dataset and an agent, and of each request what is not to be sent again', () => {
    const records = new TrajectoryRecords(tablesInMemory('prod'));
    const changed = vi.fn();
    records.subscribe(changed);
    const record = records.of(mine);
    record.begin('r1', ['1', '2', '3', '4']);
    const common = { id: 'r1', isOwn: true, isOfOtherKey: false, counted: none, sentAt: expect.any(Number) };
    expect(record.requests()).toEqual([
      { ...common, key: 'r1', stored: [], skipped: [], unknown: ['1', '2', '3', '4'] },
    ]);
    record.settle('r1', { stored: ['1'], skipped: ['2'], unknown: ['4'], counted: none });
    record.begin('r2', ['5', '6']);
    const [first] = record.requests();
    expect(first).toEqual({ ...common, key: undefined, stored: ['1'], skipped: ['2'], unknown: ['4'] });
    const counts = { stored: 1, skipped: 1, failed: 0, unknown: 3 };
    const { account: _, ...listed } = mine;
    expect(records.unfinished()).toEqual([{ ...listed, counts }]);
    record.repeat('r1', 'another');
    expect(record.requests()[0]?.key).toBe('another');
    record.settle('r1', { stored: ['4'], skipped: [], unknown: [], counted: none });
    expect(record.requests()[0]).toMatchObject({ key: undefined, stored: ['1', '4'], unknown: [] });
    // All of it was rejected, or not sent.
    record.settle('r2', { stored: [], skipped: [], unknown: [], counted: none });
    expect(record.requests().map(({ id }) => id)).toEqual(['r1']);
    for (const other of [
      { path: '/g' },
      { dataset: 'yours' },
      { agent: 'b' },
      { agent: undefined },
      { account: 'two' },
    ])
      expect(records.of({ ...mine, ...other }).hasBegun).toBe(false);
    expect(record.hasBegun).toBe(true);
    record.startOver();
    expect([record.hasBegun, changed.mock.calls.length]).toEqual([false, 3]);
    records.of({ ...mine, agent: undefined }).begin('r3', ['1']);
    expect(records.unfinished()).toMatchObject([{ agent: undefined }]);
  });

  it('is kept for 90 days', () => {
    let at = 10 * day - 1;
    const now = vi.spyOn(Date, 'now').mockImplementation(() => at);
    onTestFinished(() => now.mockRestore());
    const records = new TrajectoryRecords(tablesInMemory('prod'));
    records.of({ ...mine, path: '/old' }).begin('old', ['1']);
    at = 10 * day;
    records.of({ ...mine, path: '/new' }).begin('new', ['1']);
    at = 100 * day;
    records.of({ ...mine, path: '/now' }).begin('now', ['1']);
    expect(records.unfinished().map(({ path }) => path)).toEqual(['/now', '/new']);
  });

  /** Records with a clock, and the known lines. */
  function lineRecords(most?: number) {
    const clock = { at: 0 };
    const now = vi.spyOn(Date, 'now').mockImplementation(() => clock.at);
    onTestFinished(() => now.mockRestore());
    const tables = tablesInMemory('prod');
    const records = new TrajectoryRecords(tables, most);
    /** Sends these, and returns the run. */
    const sent = (stored: readonly string[], upload = mine): number => {
      const record = records.of(upload);
      const lines = record.beginLines() ?? 0;
      record.settle('', { skipped: [], unknown: [], counted: none, stored }, lines);
      records.keepLines([lines]);
      return lines;
    };
    const known = (...ids: string[]) => ids.filter(id => records.of(mine).lines(id).length > 0);
    return { clock, tables, records, sent, known };
  }

  it('has the lines that were sent into the dataset, each with its number and its last run', () => {
    const { clock, records, sent } = lineRecords();
    const first = sent(['AAAA.1', 'AAAA.3', 'BBBB.1']);
    clock.at = 5;
    const second = sent(['AAAA.1']);
    sent(['AAAA.7'], { ...mine, dataset: 'yours' });
    sent(['AAAA.8'], { ...mine, agent: 'b' });
    const lines = (id: string) => records.of({ ...mine, path: '/other' }).lines(id);
    expect(lines('AAAA')).toEqual([
      { number: 1, isSkipped: false, sentAt: 5, upload: second, isOfOtherKey: false },
      { number: 3, isSkipped: false, sentAt: 0, upload: first, isOfOtherKey: false },
    ]);
    expect(lines('BBBB.2')).toHaveLength(1);
    expect(lines('CCCC')).toEqual([]);
  });

  it('finds what another account was sent, told apart, and changes nothing of it', () => {
    const { records, sent } = lineRecords();
    const [one, two] = [mine, { ...mine, account: 'two' }].map(upload => records.of(upload));
    const ofKeys = (record = two) => record?.lines('AAAA').map(({ isOfOtherKey }) => isOfOtherKey);
    sent(['AAAA.1', 'AAAA.2']);
    one?.begin('r1', ['BBBB.1']);
    sent(['AAAA.2'], { ...mine, account: 'three' });
    expect([ofKeys(), ofKeys(one)]).toEqual([
      [true, true],
      [false, false],
    ]);
    sent(['AAAA.2'], { ...mine, account: 'two' });
    // The own one counts where there are several.
    expect([ofKeys(), ofKeys(one)]).toEqual([
      [true, false],
      [false, false],
    ]);
    two?.repeat('r1', 'another');
    two?.settle('r1', { stored: ['BBBB.1'], skipped: [], unknown: [], counted: none });
    two?.complete();
    two?.startOver();
    expect([one?.startedOverAt, two?.startedOverAt]).toEqual([undefined, expect.any(Number)]);
    expect(one?.requests()).toMatchObject([{ isOwn: true, isOfOtherKey: false, key: 'r1', unknown: ['BBBB.1'] }]);
    expect(two?.requests()).toMatchObject([{ isOwn: false, isOfOtherKey: true, key: 'r1', unknown: ['BBBB.1'] }]);
    one?.startOver();
    two?.complete();
    expect([one?.startedOverAt, two?.startedOverAt]).toEqual([expect.any(Number), undefined]);
  });

  it('knows an account by a hash of the key with a secret that stays', async () => {
    const { records } = lineRecords();
    const secrets: string[] = [];
    const account = () =>
      records.account(async secret => {
        secrets.push(secret);
        return 'one';
      });
    expect([await account(), await account()]).toEqual(['one', 'one']);
    expect([secrets[0]?.length, new Set(secrets).size]).toEqual([36, 1]);
  });

  it('keeps lines for 90 days after they were last found in a file', () => {
    const { clock, tables, records, sent, known } = lineRecords();
    const found = sent(['AAAA.1']);
    sent(['BBBB.1']);
    clock.at = 60 * day;
    records.keepLines([found]);
    clock.at = 90 * day + 1;
    sent(['CCCC.1']);
    expect([known('AAAA', 'BBBB', 'CCCC'), rows(tables, 'trajectory_lines')]).toEqual([['AAAA', 'CCCC'], 2]);
  });

  it('keeps no more lines than fit, the latest first, but those of the latest file whole', () => {
    const { clock, records, sent, known } = lineRecords(3);
    const first = sent(['AAAA.1', 'AAAA.2']);
    clock.at = 1;
    const second = sent(['BBBB.1']);
    clock.at = 2;
    sent(['CCCC.1']);
    expect(known('AAAA', 'BBBB', 'CCCC')).toEqual(['BBBB', 'CCCC']);
    expect(first).toBeLessThan(second);
    clock.at = 3;
    const parts = [sent(['DDDD.1', 'DDDD.2']), sent(['EEEE.1', 'EEEE.2'])];
    records.keepLines(parts);
    expect(known('BBBB', 'CCCC', 'DDDD', 'EEEE')).toEqual(['DDDD', 'EEEE']);
  });
});

describe('the progress of a run', () => {
  it('is of whole steps; thinned-out ones are gone on disk as well', () => {
    const tables = tablesInMemory('prod');
    const points = new ProgressPoints(tables);
    expect([points.record('t', 0.5, 1), points.record('t', Number.NaN, 1), points.record('t', 0, 1)]).toEqual([
      false,
      false,
      true,
    ]);
    expect(points.record('t', 0, 2)).toBe(false);
    for (let step = 1; step < 2_000; step += 1) points.record('t', step, step + 1);
    expect(points.of('t')).toHaveLength(2_000);
    points.flush();
    expect(rows(tables, 'progress')).toBe(2_000);
    points.record('t', 2_000, 2_001);
    points.flush();
    // Every second one of the older half is gone.
    expect(points.of('t')).toHaveLength(1_501);
    expect(
      points
        .of('t')
        .map(({ at }) => at)
        .slice(498, 502),
    ).toEqual([997, 999, 1_001, 1_002]);
    expect(new ProgressPoints(tables).of('t')).toEqual(points.of('t'));
    tables.run('delete from progress where at = 1');
    points.flush();
    expect(rows(tables, 'progress')).toBe(1_500);
  });

  it('has one point at a time, and is of this service and run', () => {
    const tables = tablesInMemory('prod');
    const points = new ProgressPoints(tables);
    points.record('t', 1, 5);
    points.record('t', 2, 5);
    points.record('u', 7, 5);
    points.flush();
    tables.run("insert into progress values ('other', 't', 6, 8)");
    const read = new ProgressPoints(tables);
    expect([read.of('t'), read.of('u'), read.of('v')]).toEqual([
      [{ at: 5, completed_steps: 2 }],
      [{ at: 5, completed_steps: 7 }],
      [],
    ]);
    read.prune(6);
    expect(new ProgressPoints(tables).of('t')).toEqual([]);
    expect(rows(tables, 'progress')).toBe(1);
  });
});

it('of lists the newest hundred are kept, and none that is unusable is shown', () => {
  const tables = tablesInMemory('prod');
  const lists = new RememberedLists(tables);
  const data = { rows: [{ id: 'a' }], complete: true, dropped: 0, repeated: 0, notes: [], version: 1 };
  const whole = { ...data, remembered_at: undefined };
  for (let index = 0; index < 102; index += 1) lists.keep(`list ${index}`, whole, 1_000 + index);
  lists.flush();
  expect(lists.find('list 0', 1_000)?.list.rows).toEqual([{ id: 'a' }]);
  lists.prune(1_001);
  expect([lists.find('list 0', 9_999), rows(tables, 'pages')]).toEqual([undefined, 100]);
  expect([lists.find('list 1', 9_999), lists.find('list 2', 9_999)?.readAt]).toEqual([undefined, 1_002]);
  for (const page of ['{"half', '{}', '{"format":1}']) {
    tables.run("update pages set page = ? where list = 'list 2'", page);
    expect(lists.find('list 2', 9_999)).toBeUndefined();
  }
});

it('what is not seen for 90 days is forgotten, of every sort', () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-kept-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = RememberedStore.open(join(folder, 'state.db'), 'prod');
  const data = { rows: [], complete: true, dropped: 0, repeated: 0, notes: [], remembered_at: undefined, version: 1 };
  for (const [name, at] of [
    ['old', 10 * day - 1],
    ['new', 10 * day],
  ] as const) {
    store.see([{ kind: 'run', id: name }], at);
    store.recordProgress('t', at, at);
    store.keepList(name, data, at);
  }
  store.flush();
  store.prune(100 * day);
  expect(store.list('run').map(({ id }) => id)).toEqual(['new']);
  expect([...store.listCounts().keys()]).toEqual(['new']);
  store.close();
  const later = RememberedStore.open(join(folder, 'state.db'), 'prod');
  expect(later.progressOf('t').map(({ at }) => at)).toEqual([10 * day]);
  later.close();
});

it('observations are written by themselves a quarter of a second later, together', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const store = RememberedStore.inMemory('prod');
  const flush = vi.spyOn(store, 'flush');
  store.see([], 1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(flush).not.toHaveBeenCalled();
  store.see([{ kind: 'run', id: 'a' }], 1);
  store.recordProgress('t', 1, 1);
  await vi.advanceTimersByTimeAsync(249);
  expect(flush).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(flush).toHaveBeenCalledTimes(1);
  store.recordProgress('t', 2, 1);
  store.flush();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(flush).toHaveBeenCalledTimes(2);
});

it('what is forgotten is no longer pinned, and rewards are known by their number', () => {
  const store = RememberedStore.inMemory('prod');
  const a = { kind: 'run', id: 'a', label: 'A' };
  store.pin(a, 1);
  store.see([{ ...a, record: { reward_count: 2 } }], 5);
  expect([store.rewardsSince(a, 2), store.rewardsSince(a, 3), store.rewardsSince({ ...a, id: 'b' }, 2)]).toEqual([
    5,
    undefined,
    undefined,
  ]);
  store.forget('run', 'a');
  expect([store.pinned(), store.find('run', 'a')]).toEqual([[], undefined]);
});

it('the last hundred commands are kept', () => {
  const store = RememberedStore.inMemory('prod');
  for (let index = 0; index < 102; index += 1) store.rememberCommand(`c${index}`, index);
  expect([store.recentCommands(500).length, store.recentCommands(1)]).toEqual([100, ['c101']]);
});
