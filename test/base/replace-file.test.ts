import fs, {
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { replaceFile } from '../../src/base/replace-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-replace-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('writes the new content for this user only, and leaves no other file', () => {
  const path = join(folder, 'settings');
  writeFileSync(path, 'a longer text before', { mode: 0o644 });
  replaceFile(path, 'after');
  expect(readFileSync(path, 'utf8')).toBe('after');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  replaceFile(path, 'ä\u{1f600}');
  expect(readFileSync(path, 'utf8')).toBe('ä\u{1f600}');
  replaceFile(path, new Uint8Array([1, 2, 3]));
  expect([...readFileSync(path)]).toEqual([1, 2, 3]);
  expect(readdirSync(folder)).toEqual(['settings']);
});

it('leaves no other file if it fails', () => {
  mkdirSync(join(folder, 'taken'));
  expect(() => replaceFile(join(folder, 'taken'), 'text')).toThrow();
  expect(() => replaceFile(join(folder, 'missing', 'file'), 'text')).toThrow(/ENOENT/);
  expect(readdirSync(folder)).toEqual(['taken']);
});

it('flushes the file before it is renamed, and then the folder', () => {
  const flushed: string[] = [];
  const flush = vi.spyOn(fs, 'fsyncSync').mockImplementation(descriptor => {
    const kind = fstatSync(descriptor).isDirectory() ? 'folder' : 'file';
    flushed.push(`${kind}: ${readdirSync(folder).some(name => name.endsWith('.part')) ? 'unfinished' : 'renamed'}`);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    flush.mockRestore();
    syncBuiltinESMExports();
  });
  replaceFile(join(folder, 'settings'), 'text');
  expect(flushed).toEqual(['file: unfinished', 'folder: renamed']);
});

it('skips the folder on systems that cannot flush folders', () => {
  const flush = vi.spyOn(fs, 'fsyncSync').mockImplementation(descriptor => {
    if (fstatSync(descriptor).isDirectory()) throw Object.assign(new Error('EINVAL'), { code: 'EINVAL' });
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    flush.mockRestore();
    syncBuiltinESMExports();
  });
  replaceFile(join(folder, 'settings'), 'text');
  expect(readFileSync(join(folder, 'settings'), 'utf8')).toBe('text');
});
