import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { jsonFile } from '../../src/config/json-file.ts';
import { temporaryFolder } from './folder.ts';

const disk = vi.hoisted(() => ({ full: false }));
vi.mock('node:fs/promises', async importActual => {
  const actual = await importActual<typeof import('node:fs/promises')>();
  return {
    ...actual,
    open: async (path: string, flags: string, mode: number) => {
      const file = await actual.open(path, flags, mode);
      if (disk.full) file.sync = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
      return file;
    },
  };
});

const numbers = (json: unknown): number[] | undefined =>
  Array.isArray(json) && json.every(item => typeof item === 'number') ? json : undefined;

let folder = '';
let path = '';
beforeEach(async () => {
  disk.full = false;
  folder = await temporaryFolder();
  path = join(folder, 'state', 'pins.json');
});

describe('jsonFile', () => {
  it('reads what it wrote, for this user alone', async () => {
    const file = jsonFile(path, numbers);
    expect(await file.read()).toEqual({ value: undefined });
    await file.write([1, 2]);
    expect(await file.read()).toEqual({ value: [1, 2] });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'state'))).mode & 0o777).toBe(0o700);
  });

  it('keeps the order of writes and leaves nothing else behind', async () => {
    const file = jsonFile(path, numbers);
    await Promise.all(Array.from({ length: 20 }, (_, i) => file.write([i])));
    expect((await file.read()).value).toEqual([19]);
    expect(await readdir(join(folder, 'state'))).toEqual(['pins.json']);
  });

  it('moves a torn or foreign file aside and says so', async () => {
    await mkdir(join(folder, 'state'));
    for (const content of ['[1, 2', '{"a":1}', '']) {
      await writeFile(path, content);
      const { value, notice } = await jsonFile(path, numbers).read();
      expect(value).toBeUndefined();
      expect(notice).toContain(`${path}.corrupt`);
      expect(await readFile(`${path}.corrupt`, 'utf8')).toBe(content);
      expect(await jsonFile(path, numbers).read()).toEqual({ value: undefined });
    }
  });

  it('takes a throwing check for a foreign file', async () => {
    await jsonFile(path, numbers).write([1]);
    const picky = jsonFile<number>(path, () => {
      throw new Error('no');
    });
    expect((await picky.read()).notice).toContain('damaged');
  });

  it('says that the disk is full, keeps the former content, and works again afterwards', async () => {
    const file = jsonFile(path, numbers);
    await file.write([1]);
    disk.full = true;
    await expect(file.write([2])).rejects.toMatchObject({ name: 'FileError', code: 'ENOSPC', path });
    await expect(file.write([2])).rejects.toThrow(/what was in it before is intact: the disk is full/);
    expect((await file.read()).value).toEqual([1]);
    expect(await readdir(join(folder, 'state'))).toEqual(['pins.json']);
    disk.full = false;
    await file.write([3]);
    expect((await file.read()).value).toEqual([3]);
  });

  it('says what is wrong with the place', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(jsonFile(join(folder, 'file', 'x.json'), numbers).write([1])).rejects.toThrow(
      /is a file, not a folder/,
    );
    await mkdir(join(folder, 'x.json'));
    await expect(jsonFile(join(folder, 'x.json'), numbers).write([1])).rejects.toThrow(/folder of that name/);
    expect((await jsonFile(join(folder, 'x.json'), numbers).read()).notice).toContain('EISDIR');
  });

  it('writes through a symbolic link', async () => {
    await writeFile(join(folder, 'real.json'), '[1]');
    await symlink(join(folder, 'real.json'), join(folder, 'link.json'));
    await jsonFile(join(folder, 'link.json'), numbers).write([2]);
    expect(await readFile(join(folder, 'real.json'), 'utf8')).toBe('[2]\n');
  });
});
