import { chmod, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makePrivateFolder } from '../../src/base/ownership.ts';
import { findPaths, settingPath, tightenDefaultFolders } from '../../src/config/paths.ts';
import { temporaryFolder } from './folder.ts';

describe('findPaths', () => {
  it('follows the XDG defaults', () => {
    expect(findPaths({ HOME: '/home/u' })).toEqual({
      config: '/home/u/.config/benchtop',
      state: '/home/u/.local/state/benchtop',
      cache: '/home/u/.cache/benchtop',
      data: '/home/u/.local/share/benchtop',
    });
  });

  it('uses the home folder of the system if HOME is not set', () => {
    const { config } = findPaths({});
    expect(isAbsolute(config)).toBe(true);
    for (const HOME of ['', 'relative', './here']) expect(findPaths({ HOME }).config).toBe(config);
    expect(findPaths({ HOME: '/home/v' }).config).not.toBe(config);
  });

  it('takes XDG folders, unless relative, and its own variables before them', () => {
    const paths = findPaths({
      HOME: '/h',
      XDG_CONFIG_HOME: '/x',
      XDG_STATE_HOME: 'relative',
      XDG_DATA_HOME: '/y',
      BENCHTOP_DATA_DIR: '/z',
    });
    expect(paths).toMatchObject({ config: '/x/benchtop', state: '/h/.local/state/benchtop', data: '/z' });
  });
});

describe('folders', () => {
  it('are created for this user only, and left alone if they exist', async () => {
    const folder = await temporaryFolder();
    makePrivateFolder(join(folder, 'a/b'));
    expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'a/b'))).mode & 0o777).toBe(0o700);
    await chmod(join(folder, 'a'), 0o755);
    makePrivateFolder(join(folder, 'a'));
    expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o755);
  });

  it('are made private under their default names, but not if a variable names them (X5)', async () => {
    const HOME = await temporaryFolder();
    const config = join(HOME, '.config/benchtop');
    const data = join(HOME, 'data');
    for (const folder of [config, data]) {
      makePrivateFolder(folder);
      await chmod(folder, 0o775);
    }
    tightenDefaultFolders({ HOME, BENCHTOP_DATA_DIR: data });
    expect((await stat(config)).mode & 0o777).toBe(0o700);
    expect((await stat(data)).mode & 0o777).toBe(0o775);
  });

  it('may be relative to the home folder or to a base', () => {
    vi.stubEnv('HOME', '/home/u');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(settingPath('~/k', '/base')).toBe('/home/u/k');
    expect(settingPath('k', '/base')).toBe('/base/k');
    expect(settingPath('/k', '/base')).toBe('/k');
  });
});
