import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { makeDataFolder, readAddress, writeAddress } from '../../../src/local/daemon/files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-data-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

describe('a data folder', () => {
  it('that others can change is refused with what to run (X5)', () => {
    chmodSync(folder, 0o777);
    expect(() => makeDataFolder(folder)).toThrow(
      expect.objectContaining({
        name: 'DataFolderError',
        message: expect.stringContaining(`Run: chmod go-rwx ${folder}, or set BENCHTOP_DATA_DIR`),
      }),
    );
  });

  it.each(['api-key', 'master-key', 'service.json', 'lock.db'])('with a %s of others is refused (X5)', name => {
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
