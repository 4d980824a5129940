import { execFileSync } from 'node:child_process';
import { chmod, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/origin.ts';
import { changeSettings, readSettings } from '../../src/config/settings-file.ts';
import { temporaryFolder } from './folder.ts';

let path = '';
beforeEach(async () => {
  path = join(await temporaryFolder(), 'config.json');
});

async function save(settings: unknown, mode: number = 0o600): Promise<void> {
  await writeFile(path, typeof settings === 'string' ? settings : JSON.stringify(settings), { mode });
}

function errorOf(): string {
  try {
    readSettings(path);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('no error was found');
}

describe('readSettings', () => {
  it('treats a missing file as an empty one', () => {
    expect(readSettings(path)).toEqual({ path, settings: {}, warnings: [] });
  });

  it('reads every kind of setting', async () => {
    const settings = {
      $schema: './config.schema.json',
      defaultProfile: 'prod',
      profiles: { prod: { baseUrl: 'https://h', apiKeyCommand: ['pass', 'show'], assumptions: { a: 'b' } } },
      theme: 'light',
      mouse: true,
      notices: 'desktop',
      keys: { quit: ['q', 'ctrl+q'], pin: [] },
      poll: { focusedSeconds: 5 },
    };
    await save(settings);
    expect(readSettings(path)).toEqual({ path, settings, warnings: [] });
  });

  it('warns about unknown keys and reads the rest', async () => {
    await save({ teme: 'dark', theme: 'dark', profiles: { p: { baseURL: 'x', readOnly: true } } });
    const { settings, warnings } = readSettings(path);
    expect(settings).toEqual({ theme: 'dark', profiles: { p: { readOnly: true } } });
    expect(warnings).toEqual([
      expect.stringContaining('profiles.p.baseURL is not a setting'),
      expect.stringContaining('teme is not a setting'),
    ]);
  });

  it('names every error by its place, without the value', async () => {
    await save({
      theme: 'purple',
      poll: { focusedSeconds: 0 },
      profiles: { p: { baseUrl: 5, apiKeyCommand: 'sk-secret', apiKey: ['sk-secret'], apiKeyFile: '' } },
      keys: { quit: 'q' },
    });
    const error = errorOf();
    expect(error).toContain('theme must be one of terminal, dark, light, high-contrast, plain');
    expect(error).toContain('poll.focusedSeconds must be at least 1');
    expect(error).toContain('profiles.p.baseUrl must be text');
    expect(error).toContain('profiles.p.apiKeyCommand must be a list of a program');
    expect(error).toContain('profiles.p.apiKeyFile must not be empty');
    expect(error).toContain('keys.quit must be a list');
    expect(error).not.toContain('sk-secret');
  });

  it.each([[[0, 10]], [10], ['1..0'], ['high']])(
    'explains what a range of rewards is, not only that %j is none',
    async rewardRange => {
      await save({ compare: { rewardRange } });
      expect(errorOf()).toContain('compare.rewardRange must be a range of rewards as a string, such as "0..1"');
    },
  );

  it('explains the limits of alarms, for a benchmark too', async () => {
    await save({ alarms: { belowBest: 1.5, benchmarks: { 'web-*': { heldOut: '1..0', failedPercent: 200 } } } });
    expect(errorOf()).toContain('alarms.belowBest must be a whole number');
    expect(errorOf()).toContain('alarms.benchmarks.web-*.failedPercent must be at most 100');
    expect(errorOf()).toContain(
      'alarms.benchmarks.web-*.heldOut must be a range of means as a string, such as "0.2..1", or "off"',
    );
  });

  it.each(['', ' \n', '\uFEFF'])('takes an empty file as one without settings (out31 C6)', async text => {
    await save(text);
    expect(readSettings(path).settings).toEqual({});
  });

  it('names the place of broken JSON without quoting it', async () => {
    await save('{\n  "profiles": {"p": {"apiKey": "sk-secret" "x"}}\n}');
    expect(errorOf()).toMatch(/not valid JSON at line 2, column \d+/);
    expect(errorOf()).not.toContain('sk-secret');
    await save('sk-secret');
    expect(errorOf()).not.toContain('sk-secret');
    await save('{"theme":');
    expect(errorOf()).toContain('not valid JSON: it ends too early.');
    await save('[]');
    expect(errorOf()).toContain('the whole file must be an object');
  });

  it('refuses a file with secrets that others can read, and says how to fix it', async () => {
    for (const mode of [0o644, 0o640, 0o604, 0o620]) {
      await save({ profiles: { p: { apiKey: 'sk-secret' } } }, 0o600);
      await chmod(path, mode);
      expect(errorOf()).toContain(`mode 0${mode.toString(8)}`);
      expect(errorOf()).toContain('profiles.p.apiKey in it is secret');
      expect(errorOf()).toContain(`chmod 600 ${path}`);
    }
  });

  it('changes nothing if others can change a command in the file, as the change would hide that', async () => {
    await save({ profiles: { lab: { apiKeyCommand: ['pass', 'show', 'lab'] } } });
    await chmod(path, 0o666);
    const before = await readFile(path, 'utf8');
    const change = changeSettings(path, settings => {
      settings.theme = 'dark';
    });
    await expect(change).rejects.toThrow(`chmod go-w ${path}`);
    expect(await readFile(path, 'utf8')).toBe(before);
    expect((await stat(path)).mode & 0o777).toBe(0o666);
  });

  it('allows others to read a file with a command, but not to change it', async () => {
    const settings = { profiles: { lab: { apiKeyCommand: ['pass', 'show', 'lab'] } } };
    await save(settings, 0o644);
    expect(readSettings(path).settings).toEqual(settings);
    for (const mode of [0o664, 0o646]) {
      await chmod(path, mode);
      expect(errorOf()).toContain(`can be changed by other users (mode 0${mode.toString(8)})`);
      expect(errorOf()).toContain('profiles.lab.apiKeyCommand in it is run');
      expect(errorOf()).toContain(`chmod go-w ${path}`);
    }
  });

  it.each(['apiKeyEnv', 'apiKeyFile', 'inferenceTokenEnv', 'upstreamKeyFile'])(
    'does not allow others to change a file that names a key by %s, as another address there would get the key',
    async name => {
      await save({ profiles: { lab: { baseUrl: 'https://lab.example', [name]: 'key' } } }, 0o644);
      expect(readSettings(path).settings.profiles).toHaveProperty('lab');
      await chmod(path, 0o666);
      expect(errorOf()).toContain('can be changed by other users (mode 0666)');
      expect(errorOf()).toContain(`profiles.lab.${name}`);
    },
  );

  it('does not allow others to change a file with an address, as the key of the environment would go there', async () => {
    await save({ defaultProfile: 'lab', profiles: { lab: { baseUrl: 'https://lab.example' } } }, 0o644);
    expect(readSettings(path).settings.profiles).toHaveProperty('lab');
    await chmod(path, 0o666);
    expect(errorOf()).toContain('another address in it would get your key');
    await save({ theme: 'dark' }, 0o666);
    expect(readSettings(path).settings.theme).toBe('dark');
  });

  it('refuses a file with a command in a folder that others can change (X5)', async () => {
    await save({ profiles: { lab: { apiKeyCommand: ['pass', 'show', 'lab'] } } });
    const folder = dirname(path);
    await chmod(folder, 0o777);
    expect(errorOf()).toContain(`${folder} can be changed by other users (mode 0777)`);
    expect(errorOf()).toContain('profiles.lab.apiKeyCommand in its config.json is run');
    expect(errorOf()).toContain(`chmod go-rwx ${folder}`);
  });

  it.skipIf(process.platform === 'win32')('reads only regular files, up to a limit (X12)', async () => {
    execFileSync('mkfifo', [path]);
    expect(errorOf()).toContain('is not a plain file');
    await rm(path);
    await symlink('/dev/zero', path);
    expect(errorOf()).toContain('is not a plain file');
    await expect(changeSettings(path, () => {})).rejects.toThrow('is not a plain file');
    await rm(path);
    await writeFile(path, '');
    await truncate(path, 1024 ** 3);
    expect(errorOf()).toContain('is larger than 4 MB');
  });

  it('allows everybody to read a file without secrets', async () => {
    await save({ theme: 'dark', profiles: { p: { apiKeyEnv: 'KEY', apiKeyFile: 'key' } } }, 0o644);
    expect(readSettings(path).settings.theme).toBe('dark');
  });
});

describe('changeSettings', () => {
  it('creates the file with mode 0600', async () => {
    await changeSettings(path, settings => {
      settings.theme = 'dark';
    });
    expect(readSettings(path).settings).toEqual({ theme: 'dark' });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('keeps unknown settings, and the whole file if the result is invalid', async () => {
    await save({ later: 1, theme: 'dark' });
    await changeSettings(path, settings => {
      settings.mouse = true;
    });
    const kept = JSON.parse(await readFile(path, 'utf8'));
    expect(kept).toEqual({ later: 1, theme: 'dark', mouse: true });
    const failing = changeSettings(path, settings => {
      settings.defaultProfile = '';
    });
    await expect(failing).rejects.toThrow('defaultProfile must not be empty');
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(kept);
  });

  it('loses nothing of concurrent changes', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `p${index}`);
    const add = (name: string) =>
      changeSettings(path, settings => {
        settings.profiles = { ...settings.profiles, [name]: { baseUrl: `https://${name}.example` } };
      });
    await Promise.all(names.map(add));
    expect(Object.keys(readSettings(path).settings.profiles ?? {}).sort()).toEqual(names);
  });

  it('releases the file if a change fails', async () => {
    const refused = changeSettings(path, () => {
      throw new Error('changed my mind');
    });
    await expect(refused).rejects.toThrow('changed my mind');
    await changeSettings(path, settings => {
      settings.theme = 'dark';
    });
    expect(readSettings(path).settings).toEqual({ theme: 'dark' });
  });

  it.each([
    ['local', /local is the service on this machine/],
    ['__proto__', /__proto__ cannot be the name of a profile/],
  ])('refuses an address for a profile %s', async (name, words) => {
    await save({ theme: 'dark' });
    const refused = changeSettings(path, settings => {
      settings.profiles = Object.fromEntries([[name, { baseUrl: 'https://other.example' }]]);
    });
    await expect(refused).rejects.toThrow(words);
    expect(readSettings(path).settings).toEqual({ theme: 'dark' });
  });

  it('changes other settings if the profile local was given an address by hand', async () => {
    const profiles = { local: { baseUrl: 'https://other.example' } };
    await save({ profiles });
    await changeSettings(path, settings => {
      settings.theme = 'dark';
    });
    expect(readSettings(path).settings).toEqual({ profiles, theme: 'dark' });
  });
});
