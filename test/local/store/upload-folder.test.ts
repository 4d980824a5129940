/** Files of uploads: what is refused leaves nothing behind. */
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { UploadFolder } from '../../../src/local/store/upload-folder.ts';

const descriptors = '/proc/self/fd';

it.runIf(existsSync(descriptors))('closes the file of a refused upload, and removes it (D1)', async () => {
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

it('knows no files of an upload that was removed, or never started', () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-unknown-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  expect(new UploadFolder(folder).declared('bench_1')).toEqual([]);
});
