/** The records of uploads, of run progress and of lists, and how long they are kept. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RememberedLists } from '../../src/store/lists.ts';
import { ProgressPoints } from '../../src/store/progress.ts';
import { type AccountUpload, SentRecord } from '../../src/store/sent-record.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { openTables, type Tables, tablesInMemory } from '../../src/store/tables.ts';
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

  it('in an unknown phase, as another version may write it, counts as being sent', () => {
    const tables = tablesInMemory('prod');
    const records = new UploadRecords(tables);
    records.begin('/d', 'bench_1');
    tables.run("update uploads set phase = 'thinking'");
    expect(records.get('/d')?.phase).toBe('sending');
  });

  it('is replaced by the next, and deleted by id or completely', () => {
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

  it('belongs to a profile, as another may have a key of another organization (attack35 B6)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'benchtop-records-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [mine, theirs] = ['mine', 'theirs'].map(profile => {
      const tables = openTables(join(folder, 'remembered.db'), { profile, service: 'https://one' });
      onTestFinished(() => tables.close());
      return new UploadRecords(tables);
    }) as [UploadRecords, UploadRecords];
    mine.begin('/d', 'bench_1');
    mine.note('/d', 'bench_1', [['a', 'mark']]);
    expect([theirs.get('/d'), theirs.unfinished(), theirs.files('/d', 'bench_1').size]).toEqual([undefined, [], 0]);
    theirs.setPhase('/d', 'bench_1', 'ingested');
    theirs.begin('/d', 'bench_2');
    theirs.forget('/d');
    expect([mine.get('/d')?.phase, mine.files('/d', 'bench_1').size]).toEqual(['sending', 1]);
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

  it('belongs to a file, a dataset, an account and an agent, and has for each request what must not be sent again', () => {
    const records = new TrajectoryRecords(tablesInMemory('prod'));
    const changed = vi.fn();
    records.subscribe(changed);
    const record = records.of(mine);
    record.begin('r1', ['AAAA.1', 'BBBB.1', 'CCCC.1', 'DDDD.1'], 'body');
    const common = { id: 'r1', isOwn: true, other: undefined, counted: none, sentAt: expect.any(Number) };
    expect(record.requests()).toEqual([
      { ...common, key: 'r1', body: 'body', unknown: ['AAAA.1', 'BBBB.1', 'CCCC.1', 'DDDD.1'] },
    ]);
    record.settle('r1', { stored: ['AAAA.1'], skipped: ['BBBB.1'], unknown: ['DDDD.1'], counted: none });
    record.begin('r2', ['EEEE.1', 'FFFF.1']);
    const settled = record.requests()?.at(-1);
    expect(settled).toEqual({ ...common, key: undefined, body: 'body', unknown: ['DDDD.1'] });
    const line = { number: 1, sentAt: expect.any(Number), isOwn: true, other: undefined };
    expect([record.lines('AAAA'), record.lines('BBBB')]).toEqual([
      [{ ...line, isSkipped: false }],
      [{ ...line, isSkipped: true }],
    ]);
    const counts = { stored: 1, skipped: 1, failed: 0, unknown: 3 };
    const { account: _, ...listed } = mine;
    expect(records.unfinished()).toEqual([{ ...listed, counts }]);
    record.repeat('r1', 'another', 'other body');
    expect(record.requests()?.at(-1)).toMatchObject({ key: 'another', body: 'other body' });
    record.settle('r1', { stored: ['DDDD.1'], skipped: [], unknown: [], counted: none });
    expect(record.requests()).toMatchObject([{ id: 'r2', key: 'r2' }]);
    // All of it was rejected, or not sent.
    record.settle('r2', { stored: [], skipped: [], unknown: [], counted: none });
    expect([record.requests(), record.counts]).toEqual([[], { stored: 2, skipped: 1, failed: 0, unknown: 0 }]);
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

  /** The record, and the known outcomes of lines. */
  function lineRecords(most?: number) {
    const tables = tablesInMemory('prod');
    let requests = 0;
    const recordOf = (upload: AccountUpload = mine) => new SentRecord(tables, upload, () => {}, most);
    const send = (record: SentRecord, stored: readonly string[]): void => {
      requests += 1;
      record.begin(`r${requests}`, stored);
      record.settle(`r${requests}`, { skipped: [], unknown: [], counted: none, stored });
    };
    /** Sends these, of no file. */
    const sent = (stored: readonly string[], upload: AccountUpload = mine): void => {
      const record = recordOf({ ...upload, path: '' });
      send(record, stored);
      record.prune();
    };
    const known = (...ids: string[]) => ids.filter(id => recordOf().lines(id)?.length !== 0);
    return { tables, recordOf, send, sent, known };
  }

  it('has the lines sent to the dataset, each with its number and its last answer', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1 });
    onTestFinished(() => void vi.useRealTimers());
    const { tables, recordOf, sent } = lineRecords();
    sent(['AAAA.1', 'AAAA.3', 'BBBB.1']);
    vi.setSystemTime(5);
    sent(['AAAA.1']);
    sent(['AAAA.7'], { ...mine, dataset: 'yours' });
    const lines = (id: string) => recordOf({ ...mine, path: '/other' }).lines(id);
    expect(lines('AAAA')).toEqual([
      { number: 1, isSkipped: false, sentAt: 5, isOwn: false, other: undefined },
      { number: 3, isSkipped: false, sentAt: 1, isOwn: false, other: undefined },
    ]);
    expect(lines('BBBB.2')).toHaveLength(1);
    expect([lines('CCCC'), rows(tables, 'sent_lines')]).toEqual([[], 4]);
  });

  it('finds what was sent for others, separately, and changes nothing', () => {
    const { recordOf, sent } = lineRecords();
    const two = { ...mine, account: 'two' };
    const others = (upload: AccountUpload) =>
      recordOf(upload)

        .lines('AAAA')
        ?.map(({ other }) => other);
    sent(['AAAA.1', 'AAAA.2']);
    recordOf().begin('unknown', ['BBBB.1']);
    sent(['AAAA.2', 'AAAA.3'], { ...mine, account: 'three', agent: 'b' });
    sent(['AAAA.3'], { ...mine, agent: 'b' });
    expect([others(two), others(mine)]).toEqual([
      ['with another API key', 'with another API key', 'with another API key'],
      [undefined, undefined, 'for another agent'],
    ]);
    sent(['AAAA.2'], two);
    // The own one counts where there are several.
    expect([others(two), others(mine)]).toEqual([
      ['with another API key', undefined, 'with another API key'],
      [undefined, undefined, 'for another agent'],
    ]);
    for (const [upload, other] of [
      [two, 'with another API key'],
      [{ ...mine, agent: 'b' }, 'for another agent'],
    ] as const) {
      const record = recordOf(upload);
      const request = { id: 'unknown', key: 'unknown', unknown: ['BBBB.1'] };
      expect(record.requests()).toMatchObject([{ ...request, isOwn: false, other }]);
      record.repeat('unknown', 'another', 'body');
      record.settle('unknown', { stored: ['BBBB.1'], skipped: [], unknown: [], counted: none });
      record.complete(true);
      record.startOver();
      expect([record.lines('AAAA'), record.requests(), record.isStartedOver]).toEqual([[], [], true]);
      expect(recordOf().requests()).toMatchObject([{ ...request, isOwn: true, other: undefined }]);
    }
    recordOf().startOver();
    recordOf(two).complete(true);
    expect([mine, two].map(upload => recordOf(upload).isStartedOver)).toEqual([true, false]);
  });

  it('keeps unknown outcomes of a file that was started over, for other files', () => {
    const { recordOf } = lineRecords();
    recordOf().begin('r1', ['AAAA.1']);
    recordOf().startOver();
    expect(recordOf().requests()).toEqual([]);
    expect(recordOf({ ...mine, path: '/other' }).requests()).toMatchObject([{ unknown: ['AAAA.1'], isOwn: false }]);
  });

  it('identifies an account by a hash of the key with a stored secret', async () => {
    const records = new TrajectoryRecords(tablesInMemory('prod'));
    const secrets: string[] = [];
    const account = () =>
      records.account(async secret => {
        secrets.push(secret);
        return 'one';
      });
    expect([await account(), await account()]).toEqual(['one', 'one']);
    expect([secrets[0]?.length, new Set(secrets).size]).toEqual([36, 1]);
  });

  it('forgets no request with an unknown outcome, however many there are', () => {
    const { recordOf } = lineRecords(0);
    recordOf().begin('first', ['AAAA.1']);
    const others = recordOf({ ...mine, dataset: 'yours' });
    for (let count = 0; count < 10_000; count += 1) others.begin(`r${count}`, ['BBBB.1']);
    others.prune();
    expect(recordOf().requests()).toMatchObject([{ unknown: ['AAAA.1'] }]);
  });

  it('keeps as many lines as fit, those last found in a file first, and all of the latest file', () => {
    const { tables, recordOf, send, sent, known } = lineRecords(3);
    sent(['AAAA.1']);
    sent(['BBBB.1']);
    sent(['CCCC.1']);
    const grown = recordOf();
    grown.lines('AAAA');
    send(grown, ['DDDD.1']);
    grown.prune();
    expect([known('AAAA', 'BBBB', 'CCCC', 'DDDD'), rows(tables, 'sent_answers')]).toEqual([
      ['AAAA', 'CCCC', 'DDDD'],
      3,
    ]);
    const large = recordOf();
    send(large, ['EEEE.1', 'EEEE.2']);
    send(large, ['FFFF.1', 'FFFF.2']);
    large.prune();
    expect(known('AAAA', 'CCCC', 'DDDD', 'EEEE', 'FFFF')).toEqual(['EEEE', 'FFFF']);
  });
});

describe('the progress of a run', () => {
  it('has whole steps; thinned-out ones are gone on disk too', () => {
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

  it('has one point per time, of this service and run', () => {
    const tables = tablesInMemory('prod');
    const points = new ProgressPoints(tables);
    points.record('t', 1, 5);
    points.record('t', 2, 5);
    points.record('u', 7, 5);
    points.flush();
    tables.run("insert into progress values ('other', 't', 6, 8, null)");
    const read = new ProgressPoints(tables);
    expect([read.of('t'), read.of('u'), read.of('v')]).toEqual([
      [{ at: 5, completed_steps: 2, since: 5 }],
      [{ at: 5, completed_steps: 7 }],
      [],
    ]);
    read.prune(6);
    expect(new ProgressPoints(tables).of('t')).toEqual([]);
    expect(rows(tables, 'progress')).toBe(1);
  });
});

it('keeps the newest hundred lists, and shows no unusable ones', () => {
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

it('forgets everything that was not seen for 90 days', () => {
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
  expect(store.seen.list('run').map(({ id }) => id)).toEqual(['new']);
  expect([...store.lists.counts().keys()]).toEqual(['new']);
  store.close();
  const later = RememberedStore.open(join(folder, 'state.db'), 'prod');
  expect(later.progress.of('t').map(({ at }) => at)).toEqual([10 * day]);
  later.close();
});

it('writes observations together a quarter of a second later', async () => {
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

it('unpins what is deleted, and identifies rewards by number', () => {
  const store = RememberedStore.inMemory('prod');
  const a = { kind: 'run', id: 'a', label: 'A' };
  store.pin(a, 1);
  store.see([{ ...a, record: { reward_count: 2 } }], 5);
  expect([store.gradedAt(a, 2), store.gradedAt(a, 3), store.gradedAt({ ...a, id: 'b' }, 2)]).toEqual([
    5,
    undefined,
    undefined,
  ]);
  store.forget('run', 'a');
  expect([store.pinned(), store.seen.find('run', 'a')]).toEqual([[], undefined]);
});

it('keeps the last hundred commands', () => {
  const store = RememberedStore.inMemory('prod');
  for (let index = 0; index < 102; index += 1) store.rememberCommand(`c${index}`, index);
  expect([store.recentCommands(500).length, store.recentCommands(1)]).toEqual([100, ['c101']]);
});
