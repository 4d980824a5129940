/** What the shells offer, and the settings commands. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { commands } from '../../src/commands/table/commands.ts';
import { RememberedStore } from '../../src/queries/remembered/store.ts';
import { serviceDouble } from '../service/double.ts';
import { cliOn, testFolder } from './cli.ts';

const cliIn = (home: string) => cliOn({ baseUrl: '', apiKey: '', home });
const offered = async (home: string, ...words: string[]): Promise<string[]> =>
  (await cliIn(home)('__complete', words)).out
    .split('\n')
    .slice(0, -1)
    .map(line => line.split('\t')[0] ?? '');

describe('completions', () => {
  it.each([
    [['ev'], ['evaluate']],
    [['prof'], ['profile']],
    [
      ['profile', ''],
      ['list', 'use', 'add', 'remove'],
    ],
    [['--profile', 'x', 'li'], ['list']],
    [
      ['list', 'run'],
      ['runs', 'runtimes'],
    ],
    [['list', 'runs', '--rev'], ['--reverse']],
    [
      ['list', 'runs', '--format', ''],
      ['table', 'json', 'jsonl', 'csv', 'markdown'],
    ],
    [['list', 'runs', '--format', '=', 'cs'], ['csv']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['api', 'startE'], ['startEval']],
    [['upload', './x'], [':files']],
    [['list', '--ca-file', ''], [':files']],
    [['list', 'runs', '--limit', ''], []],
    [['profile', 'use', ''], ['local']],
    [['--profile', 'lo'], ['local']],
    [['nonsense', ''], []],
  ])('of %j', async (words, expected) => {
    expect(await offered(testFolder(), ...words)).toEqual(expected);
  });

  it('offer every command, and the names and ids of what was seen', async () => {
    const home = testFolder();
    const first = await offered(home, '');
    for (const name of Object.keys(commands)) expect(first).toContain(name.split(' ')[0]);
    const store = RememberedStore.open(join(home, '.local/state/benchtop/remembered.db'), 'local');
    store.see([
      { kind: 'benchmark', id: 'bench_1', label: 't-words' },
      { kind: 'run', id: 'evr_1', label: 'my first run' },
      { kind: 'run', id: 'evr_2', label: 'my\u001b[2J\nother run' },
    ]);
    store.close();
    expect(await offered(home, 'evaluate', '')).toEqual(['t-words', 'bench_1']);
    // A name that could not be typed, or that the terminal would act on, is none to offer.
    expect(await offered(home, 'compare', 'evr_1', 'my')).toEqual(['my first run']);
    expect((await cliIn(home)('__complete', ['compare', 'evr_'])).out).not.toContain('\u001b');
    expect(await offered(home, 'list', 'runs', '--benchmark', 't')).toEqual(['t-words']);
  });
});

describe('the scripts', () => {
  it('for another shell is refused', async () => {
    expect((await cliIn(testFolder())('completion', ['tcsh'])).code).toBe(exitCodes.usage);
  });
});

describe('profile and config', () => {
  it('add a profile once its service has answered, use it, and remove it', async () => {
    const home = testFolder();
    const service = await serviceDouble();
    const cli = (command: string, args: readonly string[]) =>
      cliOn({ baseUrl: '', apiKey: '', home })(command, args, { environment: { LAB_KEY: 'key-0123456789' } });
    const add = ['lab', '--url', service.url, '--key-env', 'LAB_KEY'];
    expect((await cli('profile add', ['gone', '--url', 'http://127.0.0.1:9', '--key-env', 'LAB_KEY'])).code).toBe(
      exitCodes.unreachable,
    );
    expect(JSON.parse((await cli('profile list', ['--json'])).out)).toMatchObject([{ name: 'local', default: true }]);
    expect((await cli('profile add', [...add, '--use'])).code).toBe(exitCodes.done);
    expect((await cli('profile add', add)).notes).toContain('There is a profile lab already');
    for (const name of ['local', '__proto__']) {
      const { code, notes } = await cli('profile add', [name, '--url', 'https://other.example', '--unchecked']);
      expect([code, notes]).toEqual([exitCodes.usage, expect.stringContaining('choose another')]);
    }
    expect((await cli('profile list', [])).out).toBe(
      `PROFILE\tADDRESS\tKEY\tDEFAULT\nlab\t${service.url}\tvariable LAB_KEY\tyes\nlocal\tthe local service\t\t\n`,
    );
    const path = (await cli('config path', [])).out.trim();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await cli('profile use', ['lob'])).toMatchObject({
      code: exitCodes.notFound,
      notes: expect.stringContaining('Did you mean lab?'),
    });
    expect((await cli('profile use', ['local'])).code).toBe(exitCodes.done);
    expect((await cli('profile remove', ['lab'])).notes).toContain('add --yes');
    expect((await cli('profile remove', ['lab', '--yes'])).code).toBe(exitCodes.done);
    expect(JSON.parse(readFileSync(path, 'utf8')).profiles).toEqual({});
    expect((await cli('profile remove', ['local', '--yes'])).code).toBe(exitCodes.usage);
  });

  it('set settings that are checked, and print them', async () => {
    const cli = cliIn(testFolder());
    expect((await cli('config set', ['theme', 'dark'])).code).toBe(exitCodes.done);
    expect((await cli('config set', ['poll.focusedSeconds', '5'])).code).toBe(exitCodes.done);
    expect((await cli('config get', ['poll.focusedSeconds'])).out).toBe('5\n');
    expect(JSON.parse((await cli('config get', [])).out)).toEqual({ theme: 'dark', poll: { focusedSeconds: 5 } });
    expect((await cli('config set', ['theme', 'mauve'])).code).toBe(exitCodes.usage);
    expect((await cli('config get', ['theme'])).out).toBe('dark\n');
    expect((await cli('config set', ['nonsense', '1'])).code).toBe(exitCodes.usage);
    expect((await cli('config set', ['__proto__.x', '1'])).code).toBe(exitCodes.usage);
  });
});
