/** What is stored between two starts. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { rememberedAt, type SeenFilter } from '../../src/store/seen.ts';
import { RememberedStore, type SeenResource } from '../../src/store/store.ts';
import { newWorkbench } from '../workbench/new-workbench.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-remembered-'));
  path = join(folder, 'state', 'remembered.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (id: string, more: Partial<SeenResource> = {}): SeenResource => ({
  kind: 'run',
  id,
  label: `name of ${id}`,
  status: 'running',
  parent: 'bench_1',
  record: { eval_run_id: id },
  ...more,
});

/** What the list shows of a conversation besides its title. */
const ofModel = { model: 'acme/small', isIncomplete: false };

describe('resources seen before', () => {
  it('are there after a restart, the last seen first, separated by profile', () => {
    const first = RememberedStore.open(path, 'prod');
    first.see([run('a')], 1_000);
    first.see([run('b', { parent: 'bench_2' })], 2_000);
    first.close();
    const second = RememberedStore.open(path, 'prod');
    expect(second.seen.list('run').map(({ id }) => id)).toEqual(['b', 'a']);
    expect(second.seen.list('run', 'bench_1').map(({ id }) => id)).toEqual(['a']);
    expect(second.seen.find('run', 'a')).toEqual({ ...run('a'), seenAt: 1_000, firstSeenAt: 1_000 });
    expect(second.seen.list('training')).toEqual([]);
    const other = RememberedStore.open(path, 'lab');
    expect(other.seen.list('run')).toEqual([]);
    second.close();
    other.close();
  });

  it('are written again only when they have changed, or after a while', () => {
    const store = RememberedStore.open(path, 'prod');
    const written = () => store.seen.list('run')[0];
    store.see([run('a')], 1_000);
    expect(written()?.seenAt).toBe(1_000);
    store.see([run('a')], 2_000);
    expect(written()?.seenAt).toBe(1_000);
    store.see([run('a', { status: 'completed' })], 3_000);
    expect(written()).toMatchObject({ seenAt: 3_000, status: 'completed' });
    store.see([run('a', { status: 'completed' })], 100_000);
    expect(written()?.seenAt).toBe(100_000);
    store.forget('run', 'a');
    expect(store.seen.find('run', 'a')).toBeUndefined();
    store.close();
  });

  it('are merged with partial reads of them', () => {
    const store = RememberedStore.open(path, 'prod');
    store.see([run('a')], 1_000);
    store.see([{ kind: 'run', id: 'a', status: 'completed' }], 2_000);
    expect(store.seen.find('run', 'a')).toEqual({
      ...run('a'),
      status: 'completed',
      record: { eval_run_id: 'a', status: 'completed' },
      firstSeenAt: 1_000,
      seenAt: 2_000,
    });
    store.see([{ kind: 'run', id: 'b', status: 'running' }], 3_000);
    expect(store.seen.find('run', 'b')).toMatchObject({ label: 'b', record: { status: 'running' } });
    store.close();
  });

  it('lose their progress once the status has changed', () => {
    const store = RememberedStore.open(path, 'prod');
    const training: SeenResource = { kind: 'training', id: 't', label: 't', status: 'running' };
    store.see([{ ...training, record: { training_run_id: 't', status: 'running', completed_steps: 25 } }], 1_000);
    store.see([{ ...training, status: 'succeeded' }], 2_000);
    expect(store.seen.find('training', 't')?.record).toEqual({ training_run_id: 't', status: 'succeeded' });
    store.see([{ ...training, status: 'failed', record: { status: 'failed', completed_steps: 35 } }], 3_000);
    store.see([{ ...training, status: 'failed', record: { status: 'failed' } }], 4_000);
    expect(store.seen.find('training', 't')?.record).toMatchObject({ status: 'failed', completed_steps: 35 });
    store.close();
  });

  it('are restored with the fields that were sent, and the time since which they have so many rewards', () => {
    const first = RememberedStore.open(path, 'prod');
    const record = { eval_run_id: 'a', reward_count: 3, '': 'without a name' };
    first.see([run('a', { record })], 1_000);
    first.see([run('a', { record })], 100_000);
    first.close();
    const second = RememberedStore.open(path, 'prod');
    expect(second.seen.find('run', 'a')).toMatchObject({ record, seenAt: 100_000, gradedAt: 1_000 });
    second.close();
  });

  it('are written on close, without waiting', () => {
    const store = RememberedStore.open(path, 'prod');
    store.see([run('a')], 1_000);
    store.recordProgress('t', 3, 1_000);
    const other = RememberedStore.open(path, 'prod');
    expect([other.seen.list('run'), other.progress.of('t')]).toEqual([[], []]);
    store.close();
    expect(other.seen.list('run')).toHaveLength(1);
    other.close();
    const later = RememberedStore.open(path, 'prod');
    expect(later.progress.of('t')).toEqual([{ at: 1_000, completed_steps: 3 }]);
    later.close();
  });

  it('are deleted after a long time', () => {
    const store = RememberedStore.open(path, 'prod');
    const day = 24 * 60 * 60_000;
    store.see([run('old')], 9 * day);
    store.see([run('new')], 11 * day);
    store.prune(100 * day);
    expect(store.seen.list('run').map(({ id }) => id)).toEqual(['new']);
    store.close();
  });

  it('are read no further than needed (U43)', () => {
    const store = RememberedStore.open(path, 'prod');
    for (let number = 1; number <= 5; number += 1) {
      store.see([run(`run ${number}`), { ...run(`traj ${number}`), kind: 'trajectory' }], number * 1_000);
    }
    const ids = (filter: SeenFilter) => store.seen.since(1_500, filter).map(({ id }) => id);
    expect(ids({ limit: 2 }).map(id => id.replace(/\D/g, ''))).toEqual(['5', '5']);
    expect(ids({ kinds: ['run'] })).toEqual(['run 5', 'run 4', 'run 3', 'run 2']);
    expect(ids({ kinds: [] })).toEqual([]);
    expect(ids({})).toHaveLength(8);
    store.close();
  });

  it('can be used by several programs at once', () => {
    const one = RememberedStore.open(path, 'prod');
    const two = RememberedStore.open(path, 'prod');
    one.see([run('a')], 1);
    two.see([run('b')], 2);
    one.flush();
    two.flush();
    expect([one.seen.list('run').length, two.seen.list('run').length]).toEqual([2, 2]);
    one.close();
    two.close();
  });
});

describe('the file', () => {
  it('is readable by its user only', () => {
    RememberedStore.open(path, 'prod').close();
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it('is set aside if an earlier version wrote it, and left alone if a newer one did', () => {
    RememberedStore.open(path, 'prod').close();
    const database = new DatabaseSync(path);
    const setVersion = (version: number) => database.exec(`pragma user_version = ${version}`);
    const newer = Number(database.prepare('pragma user_version').get()?.['user_version']) + 1;
    setVersion(newer);
    const refused = RememberedStore.open(path, 'prod');
    expect(refused.file.problem).toBe('History is kept only while the program runs: it belongs to a newer benchtop.');
    refused.close();
    setVersion(0);
    database.close();
    const store = RememberedStore.open(path, 'prod');
    const words = expect.stringContaining(`The earlier history could not be read, and is in ${path}.broken-`);
    expect([store.file.problem, store.file.setAside]).toEqual([undefined, words]);
    expect(store.notes.lack).toContain('Notes may be missing.');
    store.close();
  });

  it('has a version that changes with its tables', () => {
    RememberedStore.open(path, 'prod').close();
    const database = new DatabaseSync(path);
    const tables = database.prepare('select sql from sqlite_schema where sql is not null order by name').all();
    const hash = createHash('sha256').update(JSON.stringify(tables)).digest('hex').slice(0, 8);
    // If the hash changes, raise the version in src/store/database.ts.
    expect([database.prepare('pragma user_version').get()?.['user_version'], hash]).toEqual([7, 'de9522b5']);
    database.close();
  });

  it('is set aside if it is damaged, and the program keeps running', () => {
    RememberedStore.open(path, 'prod').close();
    writeFileSync(path, 'this is no database, and is long enough to be looked at as one');
    const store = RememberedStore.open(path, 'prod');
    store.see([run('a')], 1);
    expect(store.seen.list('run')).toHaveLength(1);
    const broken = readdirSync(join(folder, 'state')).filter(name => name.includes('.broken-'));
    expect(broken).toHaveLength(1);
    store.close();
    // Every later program says so, until the file is moved.
    const later = RememberedStore.open(path, 'prod');
    expect([later.file.problem, later.file.setAside, later.notes.lack]).toEqual([
      undefined,
      expect.stringContaining(`is in ${path}.broken-`),
      expect.stringContaining('Notes may be missing.'),
    ]);
    for (const name of broken) rmSync(join(folder, 'state', name));
    expect([later.file.setAside, later.notes.lack]).toEqual([undefined, undefined]);
    later.close();
  });

  it('is left alone if another program has locked it', () => {
    const before = RememberedStore.open(path, 'prod');
    before.see([run('a')], 1);
    before.close();
    const holder = new DatabaseSync(path);
    holder.exec('pragma locking_mode = exclusive; begin exclusive');
    const store = RememberedStore.open(path, 'prod', 1);
    expect(store.file.problem).toContain('only while the program runs');
    expect(readdirSync(join(folder, 'state')).filter(name => name.includes('.broken-'))).toEqual([]);
    store.close();
    holder.exec('rollback');
    holder.close();
    const after = RememberedStore.open(path, 'prod');
    expect(after.seen.list('run').map(({ id }) => id)).toEqual(['a']);
    after.close();
  });

  it('waits once for a program that keeps it locked, however many writes follow', async () => {
    const busyMs = 300;
    const store = RememberedStore.open(path, 'prod', busyMs);
    const hold = `const { DatabaseSync } = require('node:sqlite');
      new DatabaseSync(${JSON.stringify(path)}).exec('begin immediate');
      console.log('held');
      setInterval(() => {}, 1_000);`;
    const holder = spawn(process.execPath, ['-e', hold], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(holder.stdout, 'data');
      const writes = 20;
      const began = performance.now();
      for (let write = 0; write < writes; write += 1) store.rememberCommand(`command ${write}`);
      // One after the other, they would take all of this twice.
      expect(performance.now() - began).toBeLessThan(writes * busyMs);
      expect(store.file.problem).toContain('locked');
    } finally {
      holder.kill('SIGKILL');
    }
    await once(holder, 'exit');
    store.rememberCommand('after it');
    expect(store.recentCommands(5)).toEqual(['after it']);
    store.close();
  });

  it('may be missing: then everything stays in memory', () => {
    writeFileSync(join(folder, 'state'), 'a file where a folder should be');
    const store = RememberedStore.open(path, 'prod');
    expect(store.file.problem).toContain('only while the program runs');
    store.see([run('a')], 1);
    expect(store.seen.list('run')).toHaveLength(1);
    store.close();
  });
});

it('waits for the disk with what prevents duplicates, but not with resources seen', () => {
  const store = RememberedStore.open(path, 'prod');
  const levels: Record<string, Set<unknown>> = {};
  const prepare = DatabaseSync.prototype.prepare;
  const spy = vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, sql) {
    const table = /^(?:insert.* into|update|delete from) (\w+)/.exec(sql)?.[1];
    const level = prepare.call(this, 'pragma synchronous').get()?.['synchronous'];
    if (table) levels[table] = (levels[table] ?? new Set()).add(level);
    return prepare.call(this, sql);
  });
  onTestFinished(() => spy.mockRestore());

  store.see([run('evr_1')]);
  store.recordProgress('trn_1', 1);
  store.keepList('runs', { rows: [], complete: true, dropped: 0, repeated: 0, notes: [] }, 1);
  store.flush();
  store.startKeys.settle('startEval', {}, store.startKeys.take('startEval', {}), 'unknown');
  store.uploads.begin('/folder', 'bench_1');
  store.uploads.note('/folder', 'bench_1', [['a', undefined]]);
  store.uploads.setPhase('/folder', 'bench_1', 'ingesting');
  const record = store.trajectoryUploads.of({ path: '/file', dataset: 'd', agent: undefined, account: '' });
  record.begin('key', ['t1']);
  record.repeat('key', 'key 2', 'body');
  const sent = { stored: ['AAAA.1'], skipped: [], unknown: [], counted: { stored: 0, skipped: 0 } };
  record.settle('key', sent);
  record.startOver();
  store.pin({ kind: 'run', id: 'evr_1', label: 'evr_1' });
  store.setSetting('generation', 'playground');
  store.close();

  const [normal, full] = [new Set([1]), new Set([2])];
  expect(levels).toEqual({
    seen: normal,
    progress: normal,
    pages: normal,
    settings: normal,
    starts: full,
    uploads: full,
    upload_files: full,
    sent_requests: full,
    sent_restarts: full,
    sent_answers: full,
    sent_lines: full,
    pins: full,
  });
});

describe('a damaged row', () => {
  it('is left out of its list, and hides no other', () => {
    const before = RememberedStore.open(path, 'prod');
    before.see([run('a'), run('b')], 1_000);
    before.saveChat({ id: 'c', title: 'tea', ...ofModel, talk: { turns: [] } });
    before.saveChat({ id: 'd', title: 'toast', ...ofModel, talk: { turns: [] } });
    before.close();
    const file = new DatabaseSync(path);
    file.exec(`update seen set record = '{"half' where id = 'a'; update chats set talk = 'nothing' where id = 'c'`);
    file.close();
    const store = RememberedStore.open(path, 'prod');
    expect(store.seen.list('run').map(({ id }) => id)).toEqual(['b']);
    expect(store.seen.find('run', 'a')).toBeUndefined();
    expect(
      store
        .chats()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['c', 'd']);
    expect([store.chat('c')?.talk, store.chat('d')?.talk]).toEqual([undefined, { turns: [] }]);
    store.close();
  });
});

it('says once that it cannot write any more, and for each pin that it was not saved', () => {
  RememberedStore.open(path, 'prod').close();
  const store = RememberedStore.open(path, 'prod', 1);
  const problems: string[] = [];
  store.file.onProblem(problem => problems.push(problem));
  const holder = new DatabaseSync(path);
  holder.exec('begin immediate');
  expect(store.pin({ kind: 'run', id: 'a', label: 'A' })).toBe(false);
  expect(store.unpin('run', 'a')).toBe(false);
  expect(problems).toEqual([expect.stringContaining('History cannot be saved')]);
  holder.exec('rollback');
  expect(store.pin({ kind: 'run', id: 'a', label: 'A' })).toBe(true);
  holder.close();
  store.close();
});

it('closes at an exit by a signal without waiting for a program that has it locked', { timeout: 15_000 }, () => {
  RememberedStore.open(path, 'prod').close();
  // As long as no test may take.
  const store = RememberedStore.open(path, 'prod', 60_000);
  const workbench = newWorkbench({
    service: () => new Promise(() => {}),
    profile: 'prod',
    remembered: () => store,
  });
  const holder = new DatabaseSync(path);
  holder.exec('begin immediate');
  workbench.records.started({ kind: 'run', id: 'a', label: 'A', record: {} });
  workbench.closeNow();
  expect(store.file.problem).toContain('locked');
  holder.close();
});

it('keeps the first rows of a list, and no lists too long to be worth reading', () => {
  const store = RememberedStore.open(path, 'prod');
  const facts = { complete: true, dropped: 1, repeated: 0, notes: ['why'], remembered_at: undefined, version: 3 };
  const { version: _, remembered_at: __, ...kept } = facts;
  store.keepList('rows', { ...facts, rows: [{ id: 'a' }] }, 1_000);
  store.flush();
  expect(store.lists.find('rows')).toEqual({ list: { format: 1, ...kept, rows: [{ id: 'a' }] }, readAt: 1_000 });
  expect(store.lists.counts()).toEqual(new Map([['rows', { rows: 1, complete: false, readAt: 1_000 }]]));
  // Read in the future: the clock was set back.
  expect(store.lists.find('rows', 999)).toBeUndefined();
  store.keepList('rows', { ...facts, rows: Array.from({ length: 201 }, (_, id) => ({ id })) }, 2_000);
  store.flush();
  expect(store.lists.find('rows')?.list).toMatchObject({ complete: false, rows: { length: 200 } });
  store.keepList('rows', { ...facts, rows: [{ id: 'x'.repeat(2_000_000) }] }, 3_000);
  store.flush();
  expect(store.lists.find('rows')).toBeUndefined();
  store.close();
});

it('writes a list again only if it has changed, or after a minute', () => {
  const store = RememberedStore.open(path, 'prod');
  const data = { rows: [], complete: true, dropped: 0, repeated: 0, notes: [], remembered_at: undefined, version: 1 };
  const readAt = (at: number) => {
    store.keepList('same', data, at);
    store.flush();
    return store.lists.find('same')?.readAt;
  };
  expect([1_000, 60_000, 61_000].map(readAt)).toEqual([1_000, 1_000, 61_000]);
  store.close();
});

it('keeps pins in their order', () => {
  const store = RememberedStore.inMemory('prod');
  store.pin({ kind: 'training', id: 'b', label: 'B' }, 1);
  store.pin({ kind: 'run', id: 'a', label: 'A' }, 2);
  expect(store.pinned()?.map(({ id }) => id)).toEqual(['b', 'a']);
  store.unpin('training', 'b');
  expect(store.pinned()).toEqual([{ kind: 'run', id: 'a', label: 'A' }]);
  store.close();
  expect(store.pinned()).toBeUndefined();
});

it.each([3_600_000, -3_600_000])('counts no silence if the clock is set by %i ms', set => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 10_000_000 });
  onTestFinished(() => void vi.useRealTimers());
  const store = RememberedStore.inMemory('prod');
  const answer = (steps: number, laterMs: number): void => {
    vi.advanceTimersByTime(laterMs);
    store.recordProgress('t', steps);
  };
  answer(4, 0);
  answer(5, 10_000);
  vi.setSystemTime(Date.now() + set);
  answer(5, 10_000);
  expect(Date.now() - (store.progress.of('t').at(-1)?.at ?? 0)).toBe(10_000);
  answer(5, 120_000);
  store.flush();
  const last = store.progress.of('t').at(-1);
  const { at, completed_steps } = last ?? {};
  expect(store.progress.silencesOf('t')).toEqual([{ at, completed_steps, until: Date.now() }]);
  expect(Date.now() - (last?.at ?? 0)).toBe(130_000);
});

it('records the progress of a run when it changes, and thins out old points', () => {
  const store = RememberedStore.inMemory('prod');
  store.recordProgress('t', 0, 1);
  store.recordProgress('t', 0, 2);
  store.recordProgress('t', 1, 3);
  expect(store.progress.of('t')).toEqual([
    { at: 1, completed_steps: 0 },
    { at: 3, completed_steps: 1, since: 2 },
  ]);
  for (let step = 2; step < 2_100; step += 1) store.recordProgress('t', step, step * 10);
  const points = store.progress.of('t');
  expect(points.length).toBeLessThan(2_001);
  expect(points[0]).toEqual({ at: 1, completed_steps: 0 });
  expect(points.at(-1)).toEqual({ at: 20_990, completed_steps: 2_099, since: 20_980 });
  expect(points.slice(-1_000).map(({ completed_steps }) => completed_steps)).toEqual(
    Array.from({ length: 1_000 }, (_, index) => 1_100 + index),
  );
});

it('has no manifest and no agent for an upload without them', () => {
  const store = RememberedStore.inMemory('prod');
  store.uploads.begin('/folder', 'bench_1');
  expect(store.uploads.get('/folder')).toEqual({ benchId: 'bench_1', phase: 'sending', manifest: undefined });
  const upload = { path: '/file', dataset: 'mine', agent: undefined };
  store.trajectoryUploads.of({ ...upload, account: '' }).begin('r', ['1']);
  expect(store.trajectoryUploads.unfinished()).toMatchObject([upload]);
});

it('accepts only valid times', () => {
  const times = [5, '1970-01-01T00:00:01Z', 'soon', ['1970-01-01T00:00:01Z'], null, undefined];
  expect(times.map(at => rememberedAt({ remembered_at: at }))).toEqual([5, 1_000, ...Array(4)]);
});

it('remembers commands and settings', () => {
  const store = RememberedStore.inMemory('prod');
  for (const [index, command] of ['runs', 'models', 'runs'].entries()) store.rememberCommand(command, index);
  expect(store.recentCommands(5)).toEqual(['runs', 'models']);
  expect(store.setting('table.runs')).toBeUndefined();
  store.setSetting('table.runs', { choice: { id: true } });
  expect(store.setting('table.runs')).toEqual({ choice: { id: true } });
});

it('keeps conversations, the last one first, each with the time of its last change', () => {
  const store = RememberedStore.inMemory('prod');
  store.saveChat({ id: 'a', title: 'tea', ...ofModel, talk: { turns: [1] } }, 1);
  store.saveChat({ id: 'b', title: 'toast', ...ofModel, talk: { turns: [] } }, 2);
  store.saveChat({ id: 'a', title: 'tea', ...ofModel, talk: { turns: [1] } }, 3);
  expect(store.chats().map(({ id, at }) => [id, at])).toEqual([
    ['b', 2],
    ['a', 1],
  ]);
  store.saveChat({ id: 'a', title: 'tea', ...ofModel, talk: { turns: [1, 2] } }, 4);
  expect(store.chats()[0]).toEqual({ id: 'a', title: 'tea', ...ofModel, at: 4 });
  expect(store.chat('a')).toEqual({ talk: { turns: [1, 2] }, at: 4 });
  // A version of another screen is merged, unless this one has been opened since (B2).
  const merge = (theirs: unknown) => [theirs, 'mine'];
  const other = (talk: unknown) => ({ id: 'a', title: 'tea', ...ofModel, talk });
  store.saveChat(other('unmerged'), 5, merge);
  expect(store.chat('a')).toEqual({ talk: 'unmerged', at: 5 });
  store.openedChat({ id: 'a', at: 4 });
  store.saveChat(other('mine'), 5, merge);
  expect(store.chat('a')).toEqual({ talk: ['unmerged', 'mine'], at: 6 });
  store.openedChat({ id: 'a', at: 6 });
  store.saveChat(other('last'), 7, merge);
  expect(store.chat('a')).toEqual({ talk: 'last', at: 7 });
  store.forgetChat('a');
  expect([store.chats().map(({ id }) => id), store.chat('a')]).toEqual([['b'], undefined]);
  for (let index = 0; index < 300; index += 1)
    store.saveChat({ id: `c${index}`, title: '', ...ofModel, talk: {} }, 10 + index);
  // None is deleted without a word (A12).
  expect(store.chats()).toHaveLength(301);
  expect(store.chats()[0]?.id).toBe('c299');
});
