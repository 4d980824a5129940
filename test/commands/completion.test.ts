/** Completions, and the settings commands. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { commands } from '../../src/commands/table/commands.ts';
import { RememberedStore } from '../../src/store/store.ts';
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
    [
      ['list', 'runs', '--format', ''],
      ['table', 'json', 'jsonl', 'csv', 'markdown', 'lines'],
    ],
    [['list', 'runs', '--format', '=', 'cs'], ['csv']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['api', 'startE'], ['startEval']],
    [['upload', './x'], [':files']],
    [['list', '--ca-file', ''], [':files']],
    // A file has a place beside names (out31 B3).
    [['tasks', './o'], [':files']],
    [['report', ''], [':files']],
    // After --, every word is text (out31 C4).
    [['chat', 'm', '--', '--s'], []],
    [['chat', 'm', '--s'], ['--system']],
    [['notes', 'set', 'x', '--flag', 'ga'], ['gamed']],
    [['notes', 'list', '--flag', 'look'], ['look again']],
    [['regrade', 'x', '--with', 'ex'], ['exact']],
    [['open', 'wat'], ['watch']],
    [['list', 'runs', '--limit', ''], []],
    [['profile', 'use', ''], ['local']],
    [['--profile', 'lo'], ['local']],
    [['nonsense', ''], []],
    [['help', 'prof'], ['profile']],
    [['help', 'profile', 'a'], ['add']],
    [['help', 'list', ''], []],
    [['cancel', 'x', '--field', 'd'], ['done']],
    [
      ['list', 'runs', '--sort', 'st'],
      ['status', 'step'],
    ],
    [['list', 'runs', '--columns', 'id,stat'], ['id,status']],
    [
      ['list', 'training', '--filter', 'held'],
      ['held-out>', 'held-out-step>'],
    ],
    [['list', 'training', '--filter', "'one status:suc"], ['one status:succeeded']],
    [['list', 'training', '--filter', '/sta'], []],
    [['list', 'nothing', '--filter', 'sta'], []],
    [
      ['list', 'runs', '--field', 'reward'],
      ['reward_mean', 'reward_count'],
    ],
    [['evaluate', 'x', '--field', 'eval_r'], ['eval_run_id']],
    [['build', 'x', '--field', 'bench'], ['bench_id']],
    [['list', 'deployments', '--status', 'F'], ['FAILED']],
    [['list', 'training', '--status', 'wai'], ['waiting']],
    [['train', 'x', '-o', 'num_s'], ['num_steps=']],
    [['evaluate', 'x', '-o', 'evaluation_max'], ['evaluation_max_samples=']],
    [['config', 'set', 'poll.f'], ['poll.focusedSeconds']],
    [['config', 'set', 'theme', 'da'], ['dark']],
    [['config', 'set', 'keys.list.dow'], ['keys.list.down']],
    [
      ['config', 'set', 'mouse', ''],
      ['true', 'false'],
    ],
    [['config', 'get', ''], []],
    [['list', 'runs', '--format=cs'], ['--format=csv']],
    // Values that the command would refuse are not offered.
    [['list', 'models', '--stat'], []],
    [['list', 'runs', '--stat'], ['--status']],
    [['list', 'runs', '--ids', '--form'], []],
    [['list', 'runs', '--reve'], []],
    [['list', 'runs', '--sort', 'mean', '--reve'], ['--reverse']],
    [['version', 'x', ''], []],
  ])('complete %j', async (words, expected) => {
    expect(await offered(testFolder(), ...words)).toEqual(expected);
  });

  it('offer every command, and the names and ids seen before', async () => {
    const home = testFolder();
    const first = await offered(home, '');
    for (const name of Object.keys(commands)) expect(first).toContain(name.split(' ')[0]);
    const store = RememberedStore.open(
      join(home, '.local/state/benchtop/remembered.db'),
      `local ${join(home, '.local/share/benchtop')}`,
    );
    store.see([
      { kind: 'benchmark', id: 'bench_1', label: 't-words' },
      { kind: 'benchmark', id: 'bench_2', label: '-rf' },
      { kind: 'run', id: 'evr_1', label: 'my first run', record: { base_model_slug: 'acme/tutor' } },
      { kind: 'run', id: 'evr_2', label: 'my\u001b[2J\nother run' },
    ]);
    store.close();
    expect(await offered(home, 'evaluate', '')).toEqual(['t-words', 'bench_1', 'bench_2']);
    // A name that would be read as a flag is offered only where it is not (C6).
    expect(await offered(home, 'get', 'benchmark', '')).toEqual(['t-words', 'bench_1', 'bench_2']);
    expect(await offered(home, 'list', 'runs', '--benchmark', '')).toContain('-rf');
    // A name that cannot be typed safely is not offered.
    expect(await offered(home, 'compare', 'evr_1', 'my')).toEqual(['my first run']);
    expect((await cliIn(home)('__complete', ['compare', 'evr_'])).out).not.toContain('\u001b');
    expect(await offered(home, 'list', 'runs', '--benchmark', 't')).toEqual(['t-words']);
    expect(await offered(home, 'list', 'runs', '--filter', 'model:')).toEqual(['model:acme/tutor']);
  });
});

describe('completions on a service', () => {
  it('request lists that were not seen before, and leave out what the command would refuse', async () => {
    const service = await serviceDouble();
    const cli = cliOn({ baseUrl: service.url, apiKey: 'key-0123456789' });
    const values = async (...words: string[]) =>
      (await cli('__complete', words)).out.split('\n').flatMap(line => line.split('\t')[0] || []);
    expect(await values('evaluate', '')).toEqual(['t-words', 'bench_1']);
    expect(await values('get', 'benchmark', 't')).toEqual(['t-words']);
    expect(await values('evaluate', 't-words', '-m', '')).toContain('acme/small');
    // Two deployments have that slug: a chat reaches the active one, and only their ids are unambiguous otherwise.
    expect(await values('chat', '')).toEqual(['talker', 'acme/small']);
    expect(await values('undeploy', '')).toEqual(['dep_1', 'dep_2']);
    expect(await values('compare', '')).toEqual(['evr_1', 'evr_2']);
    expect(await values('cancel', 'evr')).toEqual(['evr_1']);
    expect(await values('deploy', 'first@')).toEqual([]);
    expect(await values('get', '--profile', 'nope', '')).toEqual([]);
  });

  it('offer nothing if the service fails, and print no error', async () => {
    for (const baseUrl of ['http://127.0.0.1:9', 'no address']) {
      const cli = cliOn({ baseUrl, apiKey: 'key-0123456789' });
      expect(await cli('__complete', ['evaluate', ''])).toEqual({ code: 0, out: '', notes: '' });
    }
  });
});

describe('the scripts', () => {
  it('are refused for an unknown shell', async () => {
    expect((await cliIn(testFolder())('completion', ['tcsh'])).code).toBe(exitCodes.usage);
  });
});

describe('profile and config', () => {
  it('add a profile once its service has answered, use it, and remove it', async () => {
    const home = testFolder();
    const service = await serviceDouble();
    const cli = (command: string, args: readonly string[]) =>
      cliOn({ baseUrl: '', apiKey: '', home })(command, args, { environment: { LAB_KEY: 'key-0123456789' } });
    const add = ['lab', '--base-url', service.url, '--api-key-env', 'LAB_KEY'];
    expect(
      (await cli('profile add', ['gone', '--base-url', 'http://127.0.0.1:9', '--api-key-env', 'LAB_KEY'])).code,
    ).toBe(exitCodes.unreachable);
    expect(JSON.parse((await cli('profile list', ['--json'])).out)).toMatchObject([{ name: 'local', default: true }]);
    expect((await cli('profile add', [...add, '--use'])).code).toBe(exitCodes.done);
    expect((await cli('profile add', add)).notes).toContain('There is already a profile lab');
    for (const name of ['local', '__proto__', '']) {
      const { code, notes } = await cli('profile add', [name, '--base-url', 'https://other.example', '--unchecked']);
      expect([code, notes]).toEqual([exitCodes.usage, expect.stringMatching(/^[^{]*choose (?:an)?o/)]);
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

  it('check and print settings', async () => {
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

  it('set an assumption, whose name has dots, and refuse an unknown one (C4)', async () => {
    const cli = cliIn(testFolder());
    const set = (name: string, value: string) => cli('config set', [`profiles.lab.assumptions.${name}`, value]);
    expect((await set('query.limit', 'page_size')).code).toBe(exitCodes.done);
    expect((await set('path.deleteEvalRun', '/api/v2/eval/{eval_run_id}')).code).toBe(exitCodes.done);
    expect((await cli('config get', ['profiles.lab.assumptions.query.limit'])).out).toBe('page_size\n');
    expect(await set('query.limits', 'page_size')).toMatchObject({
      code: exitCodes.usage,
      notes: expect.stringContaining(
        'profiles.lab.assumptions.query.limits is unknown; the known ones are query.cursor, ',
      ),
    });
    expect(await set('streamChat', 'maybe')).toMatchObject({ code: exitCodes.usage });
    expect((await set('streamChat', 'no')).code).toBe(exitCodes.done);
    expect((await cli('__complete', ['config', 'set', 'profiles.lab.assumptions.query.l'])).out).toContain(
      'profiles.lab.assumptions.query.limit',
    );
    expect((await cli('__complete', ['config', 'set', 'profiles.lab.assumptions.streamChat', 'n'])).out).toMatch(
      /^no\b/,
    );
    expect(JSON.parse((await cli('config get', ['profiles.lab.assumptions'])).out)).toEqual({
      'query.limit': 'page_size',
      'path.deleteEvalRun': '/api/v2/eval/{eval_run_id}',
      streamChat: 'no',
    });
  });

  it('unset settings, even of profiles and benchmarks with dots in their names (out31 B5, B6)', async () => {
    const cli = cliIn(testFolder());
    await cli('profile add', ['my.lab', '--base-url', 'https://lab.example', '--unchecked']);
    for (const [key, value] of [
      ['profiles.my.lab.readOnly', 'true'],
      ['profiles.my.lab.assumptions.query.limit', 'page_size'],
      ['alarms.benchmarks.math-v1.5.silentMinutes', '5'],
      ['keys.list.down', '["down"]'],
    ] as const)
      expect([key, (await cli('config set', [key, value])).code]).toEqual([key, exitCodes.done]);
    expect((await cli('config get', ['profiles.my.lab.baseUrl'])).out).toBe('https://lab.example\n');
    expect(JSON.parse((await cli('config get', ['profiles.my.lab'])).out)).toMatchObject({ readOnly: true });
    for (const key of ['profiles.my.lab.readOnly', 'alarms.benchmarks.math-v1.5.silentMinutes', 'keys.list.down'])
      expect([key, (await cli('config unset', [key])).code]).toEqual([key, exitCodes.done]);
    expect(JSON.parse((await cli('config get', [])).out)).toEqual({
      profiles: { 'my.lab': { baseUrl: 'https://lab.example', assumptions: { 'query.limit': 'page_size' } } },
    });
    expect((await cli('config set', ['profiles.my.lob.nonsense', '1'])).notes).toContain('There is no setting');
  });

  it('refuse a whole that loses the default profile or has two forms of a secret (out31 B4)', async () => {
    const cli = cliIn(testFolder());
    await cli('profile add', ['lab', '--base-url', 'https://lab.example', '--unchecked', '--use']);
    const { code, notes } = await cli('config set', ['profiles', '{}']);
    expect([code, notes]).toEqual([exitCodes.notFound, expect.stringContaining('There is no profile lab')]);
    const two = await cli('config set', ['profiles.x', '{"apiKeyEnv":"A","apiKeyFile":"b"}']);
    expect([two.code, two.notes]).toEqual([
      exitCodes.usage,
      expect.stringContaining('profiles.x takes apiKeyEnv or apiKeyFile, not both'),
    ]);
  });

  it('do not unset what a profile with an address or a key needs (attack35 B5)', async () => {
    const cli = cliIn(testFolder());
    const profile = { allowInsecureHttp: true, baseUrl: 'http://lab.example', apiKeyEnv: 'LAB_KEY' };
    await cli('config set', ['profiles.lab', JSON.stringify(profile)]);
    const insecure = {
      code: exitCodes.usage,
      notes: expect.stringContaining('profiles.lab.baseUrl cannot be used: http would send the key to lab.example'),
    };
    expect(await cli('config unset', ['profiles.lab.allowInsecureHttp'])).toMatchObject(insecure);
    expect(await cli('config set', ['profiles.lab.allowInsecureHttp', 'false'])).toMatchObject(insecure);
    expect(await cli('config unset', ['profiles.lab.baseUrl'])).toMatchObject({
      code: exitCodes.usage,
      notes: expect.stringContaining('does not take apiKeyEnv. First: benchtop config unset profiles.lab.apiKeyEnv'),
    });
    expect(JSON.parse((await cli('config get', ['profiles.lab'])).out)).toEqual(profile);
    for (const field of ['apiKeyEnv', 'baseUrl', 'allowInsecureHttp'])
      expect([field, (await cli('config unset', [`profiles.lab.${field}`])).code]).toEqual([field, exitCodes.done]);
  });

  it('refuse a setting that would break every later command', async () => {
    const cli = cliIn(testFolder());
    expect((await cli('config set', ['profiles.lab.apiKeyEnv', 'LAB_KEY'])).code).toBe(exitCodes.done);
    const unknown = await cli('config set', ['defaultProfile', 'lob']);
    expect(unknown).toMatchObject({ code: exitCodes.notFound, notes: expect.stringContaining('no profile lob') });
    expect((await cli('config set', ['defaultProfile', 'lab'])).code).toBe(exitCodes.done);
    const second = await cli('config set', ['profiles.lab.apiKeyFile', 'lab.key']);
    expect(second).toMatchObject({ code: exitCodes.usage, notes: expect.stringContaining('already has apiKeyEnv') });
    expect((await cli('config set', ['profiles.lab.apiKeyEnv', 'OTHER'])).code).toBe(exitCodes.done);
    expect(JSON.parse((await cli('config get', [])).out)).toEqual({
      defaultProfile: 'lab',
      profiles: { lab: { apiKeyEnv: 'OTHER' } },
    });
  });
});
