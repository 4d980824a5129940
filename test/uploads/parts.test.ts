/** Parts of an upload that need no service: the file table, the record, the names in a refusal. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConflictError, ValidationError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { FileTable } from '../../src/uploads/file-table.ts';
import { isIngested } from '../../src/uploads/ingest.ts';
import { listFolder, pathsNamedIn } from '../../src/uploads/local-files.ts';
import { Occurrences } from '../../src/uploads/occurrences.ts';
import { SentFiles } from '../../src/uploads/sent-files.ts';
import { TrajectoryUpload } from '../../src/uploads/trajectory-upload.ts';
import { Jobs } from '../../src/workbench/jobs.ts';
import { inTime } from '../in-time.ts';

const fileOf = (index: number) => ({ path: `d/${index}.txt`, absolute: `/d/${index}.txt`, size: 10, mtimeMs: index });
const many = Array.from({ length: 1_000 }, (_, index) => fileOf(index));

describe('the table of files', () => {
  it('updates the number of sent files, and returns the same rows otherwise', () => {
    const table = new FileTable();
    table.reset(many, () => false);
    const before = table.rows;
    expect(table.rows).toBe(before);
    table.change('d/3.txt', { state: 'sending', sent: 4 });
    expect([table.bytes, table.sent]).toEqual([4, 0]);
    table.change('d/3.txt', { state: 'sent', sent: 10 });
    table.change('d/4.txt', { state: 'failed', sent: 0, error: 'no' });
    table.change('not there', { state: 'sent', sent: 10 });
    expect([table.bytes, table.sent]).toEqual([10, 1]);
    expect(table.rows).not.toBe(before);
    expect(before[3]?.state).toBe('waiting');
    table.change('d/3.txt', { state: 'waiting', sent: 0 });
    expect([table.bytes, table.sent]).toEqual([0, 0]);
  });
});

describe('the record of an upload', () => {
  it('drops its ingest once it is started over, even for a benchmark without files', () => {
    const store = RememberedStore.inMemory('test');
    onTestFinished(() => store.close());
    const sent = new SentFiles(store.uploads, '/d');
    const whole = { manifestFingerprint: 'm', files: [] };
    sent.declare('bench_1', [], []);
    sent.setPhase('ingested', 'm');
    expect([sent.isAllOf(whole), sent.isIngested()]).toEqual([true, true]);
    sent.startOver();
    expect([sent.isAllOf(whole), sent.isIngested(), sent.benchId]).toEqual([false, false, undefined]);
    sent.load();
    expect(sent.isAllOf(whole)).toBe(false);
  });

  it('is written once for each sent file, however many there are', () => {
    const store = RememberedStore.inMemory('test');
    let rows = 0;
    const counting: ConstructorParameters<typeof SentFiles>[0] = {
      get: folder => store.uploads.get(folder),
      files: (folder, id) => store.uploads.files(folder, id),
      begin: (folder, id) => store.uploads.begin(folder, id),
      setPhase: (...order) => store.uploads.setPhase(...order),
      forget: (...which) => store.uploads.forget(...which),
      note: (folder, id, files) => {
        rows += files.length;
        store.uploads.note(folder, id, files);
      },
    };
    const sent = new SentFiles(counting, '/d');
    sent.load();
    sent.declare('bench_1', many, many);
    for (const file of many) sent.add(file.path, `${file.size} ${file.mtimeMs}`);
    sent.flush();
    expect(rows).toBe(2 * many.length);
    const again = new SentFiles(store.uploads, '/d');
    again.load();
    expect(many.every(file => again.holds(file))).toBe(true);
    store.close();
  });

  it('is written after 32 files, or after half a second', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { uploads } = RememberedStore.inMemory('test');
    const sent = new SentFiles(uploads, '/d');
    sent.declare('bench_1', many, many);
    const note = vi.spyOn(uploads, 'note');
    const [first, ...others] = many.slice(0, 34).map(
      ({ path }) =>
        () =>
          sent.add(path, 'mark'),
    );
    first?.();
    for (const add of others.slice(0, 32)) add();
    vi.setSystemTime(Date.now() + 501);
    others.at(-1)?.();
    expect(note.mock.calls.map(([, , files]) => files.length)).toEqual([1, 32, 1]);
  });

  it('belongs to the newest id, undisturbed by a program that still sends for an older one', () => {
    const store = RememberedStore.inMemory('test');
    const [old, fresh] = [new SentFiles(store.uploads, '/d'), new SentFiles(store.uploads, '/d')];
    old.declare('bench_old', many.slice(0, 1), many.slice(0, 1));
    fresh.declare('bench_new', many.slice(0, 1), many.slice(0, 1));
    old.add('d/0.txt', '10 0');
    old.setPhase('ingested', 'mark');
    const read = new SentFiles(store.uploads, '/d');
    read.load();
    expect([read.benchId, read.isIngested(), read.holds(fileOf(0))]).toEqual(['bench_new', false, false]);
    fresh.add('d/0.txt', '10 0');
    fresh.flush();
    old.forget();
    read.load();
    expect([read.benchId, store.uploads.files('/d', 'bench_new').get('d/0.txt')]).toEqual(['bench_new', '10 0']);
    fresh.forget();
    expect(store.uploads.unfinished()).toEqual([]);
    store.close();
  });

  it('counts a file that is being resent as not sent until it is', () => {
    const store = RememberedStore.inMemory('test');
    const sent = new SentFiles(store.uploads, '/d');
    const file = fileOf(0);
    const whole = { manifestFingerprint: 'mark', files: [file] };
    sent.declare('bench_1', [file], [file]);
    sent.add(file.path, `${file.size} ${file.mtimeMs}`);
    sent.setPhase('ingesting', 'mark');
    expect(sent.isAllOf(whole)).toBe(true);
    sent.begin([file.path]);
    const read = new SentFiles(store.uploads, '/d');
    read.load();
    expect([read.holds(file), read.isAllOf(whole)]).toEqual([false, false]);
    store.close();
  });
});

describe('the names in a refusal', () => {
  const paths = new Set(['data/a.txt', 'my file.txt', 'b.txt', 'never.txt']);
  it.each([
    ['tasks[0].files[0]: data/a.txt was not uploaded', ['data/a.txt']],
    [{ issues: [{ path: 'files: b.txt', message: 'declared with 5 bytes, never came' }] }, ['b.txt']],
    ['The file "my file.txt", and (b.txt).', ['my file.txt', 'b.txt']],
    [['nothing', { of: ['this', 3, null] }], []],
    ['other-data/a.txt data/a.txt.bak', []],
  ])('%j', (value, found) => {
    expect(pathsNamedIn(value, paths).sort()).toEqual([...found].sort());
  });
});

it('finds names in a refusal of punctuation alone in one pass', () => {
  const value = Array.from({ length: 10_000 }, () => `a${'!'.repeat(1_990)}b`);
  expect(inTime('the search', () => pathsNamedIn(value, new Set(['a'])))).toEqual([]);
});

it('recognises that a benchmark was already ingested by a code, or by a conflict in words', () => {
  const code = 'benchmark_already_ingested';
  expect(isIngested(new ValidationError('It is there.', { status: 400, code }))).toBe(true);
  expect(isIngested(new ConflictError('It was ingested.', { status: 409 }))).toBe(true);
  expect(isIngested(new ConflictError('It is busy.', { status: 409 }))).toBe(false);
  expect(isIngested(new ValidationError('It cannot be ingested.', { status: 400 }))).toBe(false);
});

it('tells equal trajectories apart by number, or by trace', () => {
  const occurrences = new Occurrences();
  const [plain, traced] = [{ reward: 1 }, { reward: 1, trace_id: 't' }];
  const found = [plain, plain, traced, traced].map(each => occurrences.next(each));
  expect(found.map(({ number }) => number)).toEqual([1, 2, 1, 2]);
  expect(new Set(found.map(({ hash }) => hash)).size).toBe(2);
});

it('keeps the last twenty completed jobs', () => {
  const jobs = new Jobs();
  for (let index = 1; index <= 23; index += 1) jobs.add(new TrajectoryUpload(`job ${index}`, '/file', 'mine'));
  expect(jobs.list().map(({ id }) => id)).toEqual(Array.from({ length: 21 }, (_, index) => `job ${index + 3}`));
});

it('lists a folder with its folders first, by name, without hidden or unwanted entries', () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-listed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['b', 'C', '.git']) mkdirSync(join(folder, name));
  for (const name of ['a.jsonl', 'D.jsonl', 'a.txt', '.x.jsonl']) writeFileSync(join(folder, name), 'five!');
  const { entries, error } = listFolder(folder, name => name.endsWith('.jsonl'));
  expect(error).toBeUndefined();
  expect(entries).toEqual([
    { name: 'b/', path: join(folder, 'b'), kind: 'folder', size: undefined },
    { name: 'C/', path: join(folder, 'C'), kind: 'folder', size: undefined },
    { name: 'a.jsonl', path: join(folder, 'a.jsonl'), kind: 'file', size: 5 },
    { name: 'D.jsonl', path: join(folder, 'D.jsonl'), kind: 'file', size: 5 },
  ]);
  expect(listFolder(join(folder, 'nowhere'), () => true)).toMatchObject({ entries: [], error: expect.anything() });
});
