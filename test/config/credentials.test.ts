import { execFileSync } from 'node:child_process';
import { constants, readFileSync } from 'node:fs';
import { chmod, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CredentialSource, credentialAt } from '../../src/config/credentials.ts';
import type { ProfileSettings } from '../../src/config/schema.ts';
import { temporaryFolder } from './folder.ts';

function sourceOf(
  settings: ProfileSettings,
  options: { environment?: Record<string, string>; secrets?: Set<string>; base?: string } = {},
): CredentialSource {
  const { environment = {}, secrets = new Set<string>(), base = '/' } = options;
  const originOf = (key: string) => ({ kind: 'file', path: 'config.json', place: `profiles.p.${key}` }) as const;
  const source = credentialAt({ settings, originOf, base }, 'apiKey', { environment, secrets });
  if (!source) throw new Error('no credential');
  return source;
}

/** The message of the rejection. */
async function failure(source: CredentialSource): Promise<string> {
  const error: unknown = await source.get().catch((reason: unknown) => reason);
  if (!(error instanceof Error)) throw new Error('it did not fail');
  expect(error.name).toBe('ConfigError');
  return error.message;
}

const node = process.execPath;

/** The state of a process in Linux; empty if it has ended. */
function readStatus(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

describe('the four forms of a credential', () => {
  it('include values and names of variables, known to redaction at once', async () => {
    const secrets = new Set<string>();
    expect(await sourceOf({ apiKey: ' sk-1 ' }, { secrets }).get()).toBe('sk-1');
    const variable = sourceOf({ apiKeyEnv: 'KEY' }, { environment: { KEY: 'sk-2' }, secrets });
    expect(secrets).toContain('sk-2');
    expect(await variable.get()).toBe('sk-2');
    expect(variable.origin).toMatchObject({ place: 'profiles.p.apiKeyEnv' });
  });

  it('include files, relative to the folder of the settings, read when needed', async () => {
    const base = await temporaryFolder();
    const secrets = new Set<string>();
    const source = sourceOf({ apiKeyFile: 'key' }, { base, secrets });
    expect(await failure(source)).toMatch(/key does not exist; profiles\.p\.apiKeyFile in config\.json/);
    await writeFile(join(base, 'key'), 'sk-file\n', { mode: 0o600 });
    expect(await source.get()).toBe('sk-file');
    expect([...secrets]).toEqual(['sk-file']);
  });

  it('include commands, run each time and without a shell', async () => {
    const base = await temporaryFolder();
    const script = `require('fs').appendFileSync(process.argv[1], 'x'); console.log(process.argv[2].length + 'sk-$HOME')`;
    const log = join(base, 'log');
    const source = sourceOf({ apiKeyCommand: [node, '-e', script, log, '$(a b) *'] });
    expect(await source.get()).toBe('8sk-$HOME');
    expect(await source.get()).toBe('8sk-$HOME');
    expect(await readFile(log, 'utf8')).toBe('xx');
  });

  it('exclude each other', () => {
    expect(() => sourceOf({ apiKey: 'sk-1', apiKeyFile: 'key' })).toThrow(
      /Two settings set the same secret: profiles\.p\.apiKey in .* and profiles\.p\.apiKeyFile/,
    );
  });
});

describe('a credential that cannot be read', () => {
  it('names the variable that is not set', async () => {
    expect(await failure(sourceOf({ apiKeyEnv: 'KEY' }))).toMatch(
      /apiKeyEnv in config\.json names .* KEY, which is not set/,
    );
  });

  it('is refused in a file that others can read', async () => {
    const base = await temporaryFolder();
    const file = join(base, "it's key");
    await writeFile(file, 'sk-open');
    await chmod(file, 0o640);
    const message = await failure(sourceOf({ apiKeyFile: file }));
    expect(message).toContain('mode 0640');
    expect(message).toContain(String.raw`chmod 600 '${base}/it'\''s key'`);
    expect(message).not.toContain('sk-open');
  });

  it('never shows the output of a command', async () => {
    const commands = [
      [`console.log('sk-secret'); console.error('sk-secret'); process.exit(3)`, 'exit code 3'],
      [`console.log('sk-secret\\nsk-secret')`, 'one line'],
      [`console.log('')`, 'an empty secret'],
      [`console.log('sk-secret'.repeat(20000)); setInterval(() => {}, 1000)`, 'more than 64 KiB'],
      [`process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)`, 'SIGTERM'],
    ] as const;
    for (const [script, expected] of commands) {
      const message = await failure(sourceOf({ apiKeyCommand: [node, '-e', script] }));
      expect(message).toContain(expected);
      expect(message).not.toContain('sk-secret');
    }
    expect(await failure(sourceOf({ apiKeyCommand: ['/no/such/program'] }))).toContain('was not found');
  });

  it('gives its command no input to wait for', async () => {
    const script = `process.stdin.resume().on('end', () => console.log('sk-done'))`;
    expect(await sourceOf({ apiKeyCommand: [node, '-e', script] }).get()).toBe('sk-done');
  });

  it('is refused, unread, if it is not a file or too large for a secret (C21)', async () => {
    const folder = await temporaryFolder();
    const [pipe, large] = [join(folder, 'pipe'), join(folder, 'large')];
    execFileSync('mkfifo', ['-m', '600', pipe]);
    await writeFile(large, 'k'.repeat(64 * 1_024 + 1), { mode: 0o600 });
    const messages = await Promise.all(
      [pipe, large, '/dev/null', folder].map(path => failure(sourceOf({ apiKeyFile: path }))),
    );
    expect(messages).toEqual([
      expect.stringContaining(`${pipe} is a named pipe, not a file: use a file or a command; `),
      expect.stringContaining(`${large} is larger than 64 KiB, the limit for a secret; `),
      expect.stringContaining('/dev/null is not a file; '),
      expect.stringContaining(`${folder} is not a file; `),
    ]);
  });

  it('may be read from the pipe of a shell (X12)', async () => {
    const path = join(await temporaryFolder(), 'pipe');
    execFileSync('mkfifo', ['-m', '600', path]);
    const reading = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const source = sourceOf({ apiKeyFile: `/proc/self/fd/${reading.fd}` });
    await writeFile(path, 'sk-piped\n');
    expect(await source.get()).toBe('sk-piped');
    await expect(source.get(AbortSignal.abort())).rejects.toThrow('returned no secret');
    await reading.close();
  });

  it('kills its command with all children once the call is stopped (V14)', async () => {
    const base = await temporaryFolder();
    const script = `
      const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
      require('fs').writeFileSync(process.argv[1] + '.new', process.pid + ' ' + child.pid);
      require('fs').renameSync(process.argv[1] + '.new', process.argv[1]);
      setInterval(() => {}, 1000)`;
    const stop = new AbortController();
    const read = sourceOf({ apiKeyCommand: [node, '-e', script, join(base, 'pids')] }).get(stop.signal);
    const failed = expect(read).rejects.toThrow('was stopped before it ended');
    const pids = async () => (await readFile(join(base, 'pids'), 'utf8').catch(() => '')).split(' ').filter(Boolean);
    await expect.poll(async () => (await pids()).length).toBe(2);
    stop.abort();
    await failed;
    // A child of init may stay a zombie in a container without one that waits for it.
    const isAlive = (pid: string) => /^State:\s+[^ZX]/m.test(readStatus(pid));
    for (const pid of await pids()) await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('kills its command when this process exits (V14)', async () => {
    const base = await temporaryFolder();
    const pidFile = join(base, 'pid');
    const script = `require('fs').writeFileSync(process.argv[1], String(process.pid)); setInterval(() => {}, 1000)`;
    const settings = { apiKeyCommand: [node, '-e', script, pidFile] };
    const program = `
      const { credentialAt } = await import('./src/config/credentials.ts');
      const { existsSync, readFileSync } = await import('node:fs');
      const place = { settings: ${JSON.stringify(settings)}, originOf: () => ({ kind: 'default' }), base: '/' };
      credentialAt(place, 'apiKey', { environment: {}, secrets: new Set() }).get().catch(() => {});
      const file = ${JSON.stringify(pidFile)};
      setInterval(() => existsSync(file) && readFileSync(file, 'utf8') !== '' && process.exit(0), 10);
    `;
    execFileSync(node, ['--input-type=module', '--eval', program], { stdio: 'ignore' });
    const pid = await readFile(pidFile, 'utf8');
    await expect.poll(() => /^State:\s+[^ZX]/m.test(readStatus(pid))).toBe(false);
  });

  it('is refused if a header cannot carry it', async () => {
    expect(await failure(sourceOf({ apiKey: 'sk-ü' }))).toContain('one line of ASCII');
    expect(await failure(sourceOf({ apiKey: 'a\r\nX-Evil: 1' }))).toContain('one line of ASCII');
  });
});
