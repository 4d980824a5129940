/** Files of uploads: a refused file leaves nothing behind. */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UnknownUpload, UploadClosed, UploadFolder, UploadMismatch } from '../../../src/local/store/upload-folder.ts';

const descriptors = '/proc/self/fd';

it.runIf(existsSync(descriptors))('closes and removes the file of a refused upload (D1)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-refused-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const uploads = new UploadFolder(folder);
  const benchId = 'bench_1';
  const notYet = () => false;
  uploads.declare(benchId, [{ path: 'a.txt', content_type: 'text/plain', size_bytes: 4 }]);
  async function* bytes(...parts: string[]) {
    for (const part of parts) yield Buffer.from(part);
  }
  async function* broken() {
    yield Buffer.from('ab');
    throw new Error('the connection is gone');
  }
  /** Open files of the folder. A file that was removed while it was open is listed with its old name. */
  const open = (): string[] =>
    readdirSync(descriptors).filter(name => {
      try {
        return readlinkSync(join(descriptors, name)).startsWith(folder);
      } catch {
        return false;
      }
    });
  for (const source of [() => bytes('ab'), () => bytes('abc', 'def'), broken]) {
    await expect(uploads.receive(benchId, 'a.txt', 4, source(), notYet)).rejects.toThrow();
    expect(open()).toEqual([]);
  }
  await uploads.receive(benchId, 'a.txt', 4, bytes('ab', 'cd'), notYet);
  expect(open()).toEqual([]);
  expect(uploads.size(benchId, 'a.txt')).toBe(4);
  const stored = readdirSync(join(folder, 'uploads'), { recursive: true }).map(String);
  expect(stored.filter(name => name.endsWith('.part'))).toEqual([]);
});

it('finds no files of an upload that was removed, or never started', () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-unknown-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  expect(new UploadFolder(folder).declared('bench_1')).toEqual([]);
});

describe('the files of an upload', () => {
  const file = (path: string, size_bytes = 3) => ({ path, content_type: 'text/plain', size_bytes });
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  async function* bytes(...parts: string[]) {
    for (const part of parts) yield Buffer.from(part);
  }

  function opened() {
    const folder = mkdtempSync(join(tmpdir(), 'benchtop-files-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const uploads = new UploadFolder(folder);
    const root = join(folder, 'uploads');
    const receive = (path: string, text: string, isIngested = () => false, benchId = 'bench_1') =>
      uploads.receive(benchId, path, 3, bytes(...text), isIngested);
    return { uploads, root, receive };
  }

  it('are the declared ones, by path, the last of each; a line that was cut off is ignored', () => {
    const { uploads, root } = opened();
    uploads.declare('bench_1', [file('b'), file('a'), file('c')]);
    const [folder = ''] = readdirSync(root);
    appendFileSync(join(root, folder, 'declared.jsonl'), '\n{"path":"d","cont');
    uploads.declare('bench_1', [file('a', 7)]);
    expect(uploads.declared('bench_1')).toEqual([file('a', 7), file('b'), file('c')]);
    expect([uploads.has('bench_1'), uploads.has('bench_2')]).toEqual([true, false]);
  });

  it('are identified by their bytes', async () => {
    const { uploads, receive } = opened();
    uploads.declare('bench_1', [file('a')]);
    expect([uploads.size('bench_1', 'a'), await uploads.hash('bench_1', 'a')]).toEqual([undefined, undefined]);
    await receive('a', 'abc');
    expect([uploads.size('bench_1', 'a'), await uploads.hash('bench_1', 'a')]).toEqual([3, sha256('abc')]);
    await uploads.verify('bench_1', { path: 'a', sha256: sha256('abc') });
    const gone = new UploadMismatch('The file a is missing, or has changed since the upload.');
    await expect(uploads.verify('bench_1', { path: 'a', sha256: sha256('abd') })).rejects.toEqual(gone);
    await expect(receive('a', 'ab')).rejects.toEqual(
      new UploadMismatch('a ended after 2 of the 3 bytes that were declared.'),
    );
    await expect(receive('a', 'abcd')).rejects.toEqual(
      new UploadMismatch('a has more than the 3 bytes that were declared.'),
    );
    await expect(receive('a', 'abc', undefined, 'bench_2')).rejects.toEqual(
      new UnknownUpload('The upload bench_2 is unknown.'),
    );
    expect(await uploads.hash('bench_1', 'a')).toBe(sha256('abc'));
  });

  it('are not replaced while any reader works, nor after ingest', async () => {
    const { uploads, receive } = opened();
    uploads.declare('bench_1', [file('a')]);
    const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    const reads = [first, second].map(({ promise }) => uploads.whileUnchanged('bench_1', () => promise));
    await expect(receive('a', 'abc')).rejects.toEqual(new UploadClosed());
    first.resolve('one');
    expect(await reads[0]).toBe('one');
    await expect(receive('a', 'abc')).rejects.toEqual(new UploadClosed());
    second.reject(new Error('two'));
    await expect(reads[1]).rejects.toThrow('two');
    await receive('a', 'abc');
    await expect(receive('a', 'abd', () => true)).rejects.toEqual(new UploadClosed());
    let asked = 0;
    await expect(
      receive('a', 'abd', () => {
        asked += 1;
        return asked > 1;
      }),
    ).rejects.toEqual(new UploadClosed());
    expect(await uploads.hash('bench_1', 'a')).toBe(sha256('abc'));
  });

  it('are removed a day after the last of them, unless they belong to a benchmark', async () => {
    const { uploads, root, receive } = opened();
    uploads.sweep([]);
    const age = (name: string, hours: number) => {
      const at = Date.now() / 1_000 - hours * 3_600;
      utimesSync(join(root, name), at, at);
    };
    const folderOf = (benchId: string) => {
      const before = existsSync(root) ? readdirSync(root) : [];
      uploads.declare(benchId, [file('a')]);
      return readdirSync(root).find(name => !before.includes(name)) ?? '';
    };
    const [kept, old, young] = [folderOf('bench_1'), folderOf('bench_2'), folderOf('bench_3')];
    await receive('a', 'abc');
    for (const name of [kept, young]) writeFileSync(join(root, name, 'x.part'), '');
    mkdirSync(join(root, 'left.swept'));
    writeFileSync(join(root, 'left.swept', 'file'), '');
    writeFileSync(join(root, 'notes.txt'), 'a user put this here');
    age(kept, 25);
    age(old, 25);
    age(young, 23);
    uploads.sweep(['bench_1']);
    expect(readdirSync(root).toSorted()).toEqual([kept, young, 'notes.txt'].toSorted());
    const files = [kept, young].map(name => readdirSync(join(root, name)).length);
    expect([files, uploads.size('bench_1', 'a')]).toEqual([[2, 1], 3]);
  });
});
