import { spawnSync } from 'node:child_process';
import { chmodSync, lchownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { takeLock } from '../../src/base/file-lock.ts';
import { fileSharing, folderSharing, makePrivateFolder, sharingOf, tightenFolder } from '../../src/base/ownership.ts';

const me = process.getuid?.() ?? 0;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-own-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

describe('files with an owner and a mode (X5)', () => {
  it.each([
    [{ uid: me, mode: 0o100600 }, 'read', undefined],
    [{ uid: me, mode: 0o100640 }, 'read', 'can be read or changed by other users (mode 0640)'],
    [{ uid: me, mode: 0o100644 }, 'change', undefined],
    [{ uid: me, mode: 0o100664 }, 'change', 'can be changed by other users (mode 0664)'],
    [{ uid: 0, mode: 0o100600 }, 'read', undefined],
    [{ uid: me + 4711, mode: 0o100600 }, 'change', `belongs to another user (uid ${me + 4711})`],
  ] as const)('finds for %j, which others must not %s: %s', (stats, danger, words) => {
    expect(sharingOf('/f', stats, danger, '600')?.words).toBe(words);
  });
});

describe('a folder', () => {
  it('is created with its parents for this user only, and refused if others can change it (X5)', () => {
    const path = join(folder, 'a/b');
    makePrivateFolder(path);
    expect([join(folder, 'a'), path].map(each => statSync(each).mode & 0o777)).toEqual([0o700, 0o700]);
    for (const mode of [0o777, 0o770, 0o702]) {
      chmodSync(path, mode);
      expect(() => makePrivateFolder(path)).toThrow(`can be changed by other users (mode 0${mode.toString(8)})`);
      expect(() => makePrivateFolder(path)).toThrow(`chmod go-rwx ${path}`);
    }
    chmodSync(path, 0o755);
    makePrivateFolder(path);
    expect(statSync(path).mode & 0o777).toBe(0o755);
  });

  it('may be a link that the user owns, but not a file', () => {
    mkdirSync(join(folder, 'real'), { mode: 0o700 });
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    expect(folderSharing(join(folder, 'link'))).toBeUndefined();
    writeFileSync(join(folder, 'file'), '');
    expect(() => makePrivateFolder(join(folder, 'file'))).toThrow('is not a folder');
  });

  it.skipIf(process.platform === 'win32')('is shared if the link to it belongs to another user', () => {
    const link = join(folder, 'link');
    // Root may own a file.
    symlinkSync('/', link);
    if (me === 0) lchownSync(link, 4711, 4711);
    else vi.spyOn(process, 'getuid').mockReturnValue(me + 1);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(folderSharing('/')).toBeUndefined();
    expect(folderSharing(link)?.words).toBe(`belongs to another user (uid ${me || 4711})`);
  });

  it('is made private if the user owns it', () => {
    chmodSync(folder, 0o755);
    tightenFolder(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    tightenFolder(join(folder, 'missing'));
  });

  it.skipIf(process.platform !== 'linux')('gives an error below /proc, without endless attempts (C24)', () => {
    const script = `
      const { makePrivateFolder } = await import('./src/base/ownership.ts');
      try { makePrivateFolder('/proc/nowhere/deep/folder'); } catch (error) { process.stdout.write(error.code); }
    `;
    const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
      timeout: 60_000,
      killSignal: 'SIGKILL',
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    });
    expect({ stdout, signal }).toEqual({ stdout: 'ENOENT', signal: null });
  });
});

describe('a file that only this program writes (X5)', () => {
  it('is not a link, and others cannot change it', () => {
    const path = join(folder, 'key');
    expect(fileSharing(path, 'read')).toBeUndefined();
    writeFileSync(path, 'x', { mode: 0o600 });
    expect(fileSharing(path, 'read')).toBeUndefined();
    chmodSync(path, 0o666);
    expect(fileSharing(path, 'read')?.fix).toContain(`chmod 600 ${path}`);
    symlinkSync(path, join(folder, 'link'));
    expect(fileSharing(join(folder, 'link'), 'change')?.words).toBe('is not a plain file');
  });

  it('is not a lock that links to another file', () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'mine', { mode: 0o644 });
    symlinkSync(other, join(folder, 'lock.db'));
    expect(() => takeLock(join(folder, 'lock.db'))).toThrow('is not a plain file');
    expect(statSync(other).mode & 0o777).toBe(0o644);
  });
});
