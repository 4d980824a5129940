import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ensureLocalService } from '../../../src/local/daemon/client.ts';
import { lockFolder, makeDataFolder, readAddress, writeAddress } from '../../../src/local/daemon/files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-data-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

describe('a data folder', () => {
  it('that others can change is refused with the command that fixes it (X5)', () => {
    chmodSync(folder, 0o777);
    expect(() => makeDataFolder(folder)).toThrow(
      expect.objectContaining({
        name: 'DataFolderError',
        message: expect.stringContaining(`Run: chmod go-rwx ${folder}, or set BENCHTOP_DATA_DIR`),
      }),
    );
  });

  it.each([
    [13, 'database or disk is full', 'Free some space, or set BENCHTOP_DATA_DIR'],
    [8, 'attempt to write a readonly database', 'Set BENCHTOP_DATA_DIR'],
  ])('with an unwritable lock is not repaired by deleting the lock: %i (B8, B9)', (errcode, reason, advice) => {
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(() => {
      throw Object.assign(new Error(reason), { errcode });
    });
    onTestFinished(() => exec.mockRestore());
    expect(() => lockFolder(folder)).toThrow(`The data folder ${folder} cannot be used: ${reason}. ${advice}`);
  });

  it('with an unwritable log is reported as unusable, with what to do (B9)', async () => {
    mkdirSync(join(folder, 'service.log'));
    const starting = ensureLocalService({ dataFolder: folder, entry: { command: 'none', args: [] }, version: '1' });
    await expect(starting).rejects.toThrow(/^The data folder .* cannot be used: EISDIR.*\. Set BENCHTOP_DATA_DIR/);
  });

  it.each(['api-key', 'master-key', 'service.json', 'lock.db'])('with a %s of another user is refused (X5)', name => {
    makeDataFolder(folder);
    writeFileSync(join(folder, name), 'planted');
    chmodSync(join(folder, name), 0o666);
    expect(() => makeDataFolder(folder)).toThrow(`${join(folder, name)} can be`);
  });

  it('has an address only if nobody else can have written it (X5)', () => {
    const service = { base_url: 'http://127.0.0.1:1', api_key: 'k', pid: 1, instance_id: 'i' };
    writeAddress(folder, service);
    expect(readAddress(folder)).toEqual(service);
    chmodSync(join(folder, 'service.json'), 0o666);
    expect(readAddress(folder)).toBeUndefined();
    chmodSync(join(folder, 'service.json'), 0o600);
    chmodSync(folder, 0o777);
    expect(readAddress(folder)).toBeUndefined();
  });
});
