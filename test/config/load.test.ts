import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { temporaryFolder } from './folder.ts';

describe('loadConfig', () => {
  it('works on a machine without settings', async () => {
    const config = loadConfig({}, { HOME: await temporaryFolder() });
    expect(config.profile.service.kind).toBe('local');
    expect(config.warnings).toEqual([]);
  });

  it('merges the file, the environment and the flags, and redacts their secrets', async () => {
    const folder = await temporaryFolder();
    const profiles = { prod: { baseUrl: 'https://prod.example', apiKeyFile: 'key', odd: 1 } };
    await writeFile(join(folder, 'config.json'), JSON.stringify({ defaultProfile: 'prod', profiles, theme: 'dark' }));
    await writeFile(join(folder, 'key'), 'hunter-twenty-two', { mode: 0o600 });
    const config = loadConfig({ readOnly: true }, { BENCHTOP_CONFIG_DIR: folder, BENCHTOP_THEME: 'light' });
    expect(config.profile).toMatchObject({ name: 'prod', readOnly: true });
    expect(config.preferences.theme).toBe('light');
    expect(config.warnings).toEqual([expect.stringContaining('profiles.prod.odd')]);
    const { service } = config.profile;
    if (service.kind !== 'remote') throw new Error('it is local');
    const key = await service.apiKey?.get();
    expect(key).toBe('hunter-twenty-two');
    expect(config.redact(`sent ${key}`)).toBe('sent [redacted]');
  });
});
