/** Guarantees for scripts: typos fail, and each stream has only its own kind of output. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { startService, type TestService } from '../local/server/running.ts';
import { hostileServer, json } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

let service: TestService;
let cli: ReturnType<typeof cliOn>;
let runId: string;

beforeAll(async () => {
  service = await startService();
  cli = cliOn({ ...service, home: service.folder });
  await service.readyBenchmark('t-words');
  runId = (await cli('evaluate', ['t-words', '-m', 'benchtop/tutor-base', '--name', 'first', '-w'])).out.trim();
});
afterAll(() => service.end());

describe('a name in a filter', () => {
  it.each([
    ['trajectories --run evr_xxxxxxxxxxxx', /evr_xxxxxxxxxxxx/],
    ['trajectories --run nothing', /no .*run nothing/],
    ['trajectories --dataset nope', /no dataset nope/],
    ['trajectories --training nope', /no training run nope/],
    ['runs --benchmark bench_nope', /bench_nope/],
  ])('that does not exist exits with 5: list %s', async (line, words) => {
    const { code, out, notes } = await cli('list', line.split(' '));
    expect({ code, out }).toEqual({ code: exitCodes.notFound, out: '' });
    expect(notes).toMatch(words);
  });

  it('may be what the list shows: the title of a dataset, the status of any row', async () => {
    const shown = (await cli('list', ['datasets', '--columns', 'title'])).out.split('\n')[1] ?? '';
    expect(shown).toBe('Evaluations of t-words');
    const byTitle = await cli('list', ['trajectories', '--dataset', shown, '--ids', '--all']);
    expect(byTitle.out.trim().split('\n')).toHaveLength(28);
    expect((await cli('list', ['runs', '--status', 'COMPLETED', '--ids'])).out).toBe(`${runId}\n`);
    expect(await cli('list', ['runs', '--status', 'failed'])).toMatchObject({
      code: 0,
      notes: 'No runs match.',
    });
  });
});

describe('fields', () => {
  it('have the names of the contract wherever columns are named', async () => {
    const { out } = await cli('list', [
      'runs',
      '--columns',
      'display_name,status,eval_run_id',
      '--sort',
      'display_name',
    ]);
    expect(out).toBe(`display_name\tSTATUS\teval_run_id\nfirst\tcompleted\t${runId}\n`);
    expect((await cli('list', ['runs', '--field', 'display_name'])).out).toBe('first\n');
    expect((await cli('list', ['runs', '--field', 'id'])).out).toBe(`${runId}\n`);
    for (const flag of ['--columns', '--sort', '--field']) {
      expect(await cli('list', ['runs', flag, 'display_nam'])).toMatchObject({ code: exitCodes.usage, out: '' });
    }
  });
});

describe('a field of the contract', () => {
  it.each([
    ['runs', 'eval_run_id'],
    ['runs --status failed', 'failure'],
    ['training', 'training_run_id'],
    ['deployments', 'model_slug'],
    ['deployments --status failed', 'playground_endpoint_url'],
    ['secrets', 'byte_length'],
    ['images --benchmark t-words', 'failure_message'],
  ])('may be requested for no rows: list %s --field %s', async (line, name) => {
    for (const flags of [
      ['--field', name],
      ['--columns', name],
      ['--sort', name, '--ids'],
    ]) {
      const { code, notes } = await cli('list', [...line.split(' '), '--filter', 'nothing has this', ...flags]);
      expect({ code, notes }).toEqual({
        code: 0,
        notes: expect.stringMatching(/^No [\w ]+ match\.$/),
      });
      const wrong = flags.map(flag => (flag === name ? `${name}s` : flag));
      expect((await cli('list', [...line.split(' '), ...wrong])).code).toBe(exitCodes.usage);
    }
  });
});

it('list --field prints text as it is, and other values as JSON', async () => {
  const said = 'say "hi" \\ twice';
  const row = { secret_id: 's1', name: 'A', description: said, tags: { of: ['a "b"'] } };
  const { url } = await hostileServer(json({ items: [row, { secret_id: 's2', name: 'B' }], has_more: false }));
  const list = async (field: string) =>
    (await cliOn({ baseUrl: url, apiKey: 'key' })('list', ['secrets', '--field', field])).out;
  expect(await list('description')).toBe(`${said}\n\n`);
  expect(await list('tags')).toBe('{"of":["a \\"b\\""]}\n\n');
});

it.each([
  [{ BENCHTOP_BASE_URL: '' }, /BENCHTOP_API_KEY is set, but no address is/],
  [{ BENCHTOP_BASE_URL: '', BENCHTOP_API_KEY: '' }, /BENCHTOP_BASE_URL is set but empty/],
])('never lets the local service answer in place of another: %j', async (environment, words) => {
  const outcome = await cli('list', ['models'], { environment });
  expect(outcome).toMatchObject({ code: exitCodes.usage, out: '' });
  expect(outcome.notes).toMatch(words);
});

it.each([
  ['profiles.lab.apiKey', 'sk-very-secret', 'apiKeyEnv, apiKeyFile or apiKeyCommand'],
  ['profiles.lab', '{"inferenceToken": "sk-very-secret"}', 'inferenceTokenEnv, inferenceTokenFile'],
])('takes no key from the arguments: %s (out26 C5)', async (key, value, advice) => {
  const environment = { BENCHTOP_CONFIG_DIR: testFolder() };
  const { code, notes } = await cli('config set', [key, value], { environment });
  expect([code, notes]).toEqual([exitCodes.usage, expect.stringContaining(`profiles.lab.${advice}`)]);
  expect(notes).not.toContain('sk-very-secret');
  expect((await cli('config get', [], { environment })).out).not.toContain('lab');
  expect((await cli('config set', ['profiles.apiKey.baseUrl', 'https://lab.example'], { environment })).code).toBe(0);
});

it('never prints keys, of the settings or of a body that is not JSON', async () => {
  const home = testFolder();
  const profiles = { lab: { baseUrl: 'https://lab.example', apiKey: 'sk-very-secret' } };
  const environment = { BENCHTOP_CONFIG_DIR: home };
  writeFileSync(join(home, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  expect((await cli('config get', [], { environment })).out).not.toContain('sk-very-secret');
  expect((await cli('config get', ['profiles.lab'], { environment })).out).toContain('https://lab.example');
  expect((await cli('config get', ['profiles.lab.apiKey'], { environment })).out).toBe('********\n');
  const body = await cli('api', ['createSecret', '--body', '-'], { input: '{"value": sk-very-secret}' });
  expect(body).toMatchObject({ code: exitCodes.usage, out: '' });
  expect(body.notes).toMatch(/The body is not JSON.*Nothing was sent\./);
  expect(body.notes).not.toContain('sk-');
});

it('prints the version as JSON on request', async () => {
  expect(JSON.parse((await cli('--json --version', [])).out)).toMatchObject({ version: expect.any(String) });
});

it('does not compare runs of different benchmarks', async () => {
  await service.readyBenchmark('opposites');
  const words = ['opposites', '-m', 'benchtop/tutor-base', '-w'];
  const other = (await cli('evaluate', words)).out.trim();
  const { code, out, notes } = await cli('compare', [runId, other]);
  await cli('delete', [other, '--yes']);
  expect({ code, out }).toEqual({ code: exitCodes.failed, out: '' });
  expect(notes).toMatch(/Only runs of one benchmark can be compared: /);
});

it('returns the same run for the same start with the same key, under the same name', async () => {
  const words = ['t-words', '-m', 'benchtop/tutor-base', '--idempotency-key', 'K1'];
  const first = await cli('evaluate', [...words, '-w']);
  // The name is taken now.
  expect(await cli('evaluate', words)).toMatchObject({ code: exitCodes.done, out: first.out });
  await cli('delete', [first.out.trim(), '--yes']);
});

describe('conflicting flags', () => {
  it.each([
    ['runs --json --columns name', /--columns is for tables/],
    ['runs --json --format csv', /--format cannot be used with --json/],
    ['runs --ids --json', /--json cannot be used with --ids/],
    ['runs --limit 1 --all', /--limit cannot be used with --all/],
    ['runs --wide --columns name', /cannot be used with/],
    ['runs --reverse', /--reverse needs --sort/],
    ['trajectories --run first --dataset x', /--run cannot be used with --dataset/],
    ['runs --theme dark', /Unknown option '--theme'/],
  ])('are refused: list %s', async (line, words) => {
    const outcome = await cli('list', line.split(' '));
    expect(outcome).toMatchObject({ code: exitCodes.usage, out: '' });
    const { notes } = outcome;
    expect(line.includes('--json') ? JSON.parse(notes).error.message : notes).toMatch(words);
  });
});

describe('streams', () => {
  it('have tabs and full times in a pipe, columns and colours on a terminal', async () => {
    const piped = (await cli('list', ['runs', '--columns', 'name,status,started'])).out.split('\n')[1] ?? '';
    expect(piped).toMatch(/^first\tcompleted\t\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const onTerminal = (environment: Record<string, string>) =>
      cli('list', ['runs', '--columns', 'name,status'], { columns: 60, environment });
    expect((await onTerminal({})).out).toContain('\u001b[32mcompleted');
    expect((await onTerminal({ NO_COLOR: '1' })).out).not.toContain('\u001b');
    const forced = await cli('list', ['runs', '--columns', 'status'], { environment: { FORCE_COLOR: '1' } });
    expect(forced.out).toContain('\u001b[32mcompleted');
  });

  it('have the full time at which a record was seen in a pipe, if the service does not return it again', async () => {
    const home = testFolder();
    let isServed = true;
    const { url } = await hostileServer((response, request) => {
      const answers: Record<string, object> = {
        '/api/v1/benchmarks': { items: [], has_more: false },
        '/api/v1/eval/evr_1/trajectory-rewards': { eval_run_id: 'evr_1', trajectory_rewards: [] },
        ...(isServed && { '/api/v1/eval/evr_1': { eval_run_id: 'evr_1', display_name: 'first', status: 'completed' } }),
      };
      const answer = answers[request.url.replace(/\?.*/, '')];
      return json(answer ?? {}, answer ? 200 : 405)(response, request);
    });
    const get = (columns?: number) =>
      cliOn({ baseUrl: url, apiKey: 'key', home })('get', ['evr_1'], columns === undefined ? {} : { columns });
    expect((await get()).out).not.toMatch(/^seen/m);
    isServed = false;
    expect((await get()).out).toMatch(/^seen +\d{4}-\d\d-\d\dT[\d:.]+Z$/m);
    expect((await get(80)).out).toMatch(/^seen .* ago$/m);
  });

  it('have notes and errors as JSON lines too with --json', async () => {
    const { out, notes } = await cli('list', ['benchmarks', '--limit', '1', '--json']);
    expect(JSON.parse(out)).toHaveLength(1);
    expect(JSON.parse(notes)).toEqual({ note: 'There is more than this row: use --limit N or --all.' });
    for (const [words, name, args] of [
      [/argument is missing/, 'list', ['--json']],
      [/evr_none/, 'get', ['evr_none', '--json']],
      [/Unknown command 'lsit'/, 'lsit', ['--json']],
      [/One of the ids is empty/, 'watch', ['', '--json']],
    ] as const) {
      const wrong = await cli(name, args);
      expect(wrong.out).toBe('');
      expect(JSON.parse(wrong.notes).error.message).toMatch(words);
    }
    for (const flags of [['--format', 'json'], ['--format=json'], ['-f', 'json'], ['-fjson']]) {
      const { notes: wrong } = await cli('list', ['runs', ...flags, '--sort', 'x y']);
      expect(JSON.parse(wrong).error.name).toBe('CommandError');
    }
    expect(JSON.parse((await cli('watch', ['--json'])).notes)).toEqual({ note: 'Nothing is running.' });
  });
});

it.each([
  ['watch', [''], exitCodes.usage, /One of the ids is empty/],
  ['watch', ['first'], exitCodes.done, /^$/],
  ['watch', ['model', 'benchtop/tutor-base'], exitCodes.usage, /models cannot be watched: benchmarks, runs, /],
  ['watch', ['secrets'], exitCodes.usage, /secrets cannot be watched/],
  ['get', [''], exitCodes.usage, /is empty/],
  ['get', ['evals', 'first'], exitCodes.done, /^$/],
  ['get', ['Run', 'first'], exitCodes.done, /^$/],
  ['get', ['rnu', 'first'], exitCodes.usage, /There is no resource rnu\. Did you mean .*run/],
  ['api', ['listBenchmarks', '--body', '@nope.json'], exitCodes.usage, /cannot be read from nope\.json \(ENOENT\)/],
  ['serve', ['--port', 'abc'], exitCodes.usage, /--port takes a whole number/],
  ['serve', ['--rate-limit', 'x'], exitCodes.usage, /--rate-limit takes a number above 0/],
  [
    'serve',
    ['--api-key-env', 'NOPE', '--data', '/nowhere'],
    exitCodes.forbidden,
    /names the environment variable NOPE, which is not set/,
  ],
  ['secret', [], exitCodes.usage, /benchtop secret needs one of these words: set/],
  ['secret', ['get'], exitCodes.usage, /Unknown command 'get'/],
  ['', [], exitCodes.usage, /needs a terminal/],
  ['', ['--theme', 'mauve'], exitCodes.usage, /--theme takes one of terminal, dark/],
])('%s %j exits with %i', async (command, args, code, words) => {
  const outcome = await cli(command, args);
  expect(outcome.code).toBe(code);
  expect(outcome.notes).toMatch(words);
});

it('--debug prints each request, and no secrets', async () => {
  for (const [flags, environment] of [
    [['--debug'], {}],
    [[], { BENCHTOP_DEBUG: '1' }],
  ] as const) {
    const { out, notes } = await cli('get', ['run', 'first', '--field', 'id', ...flags], { environment });
    expect(out).toBe(`${runId}\n`);
    expect(notes).toMatch(/^debug: GET \/api\/v1\/eval\/evr_\w+ \(getEvalRun\): 200, \d+ ms, req_/m);
    expect(notes).not.toContain(service.apiKey);
  }
  expect((await cli('', ['--debug', '--read-only'])).code).toBe(exitCodes.usage);
});

it('line mode takes answers to its questions from a pipe', async () => {
  const { code, out } = await cli('--lines', [], {
    input: `benchmarks\nevaluate 1\nbenchtop/tutor-base\npiped run\n${'evaluate 1\nbenchtop/tutor-base\n\n'.repeat(2)}quit\n`,
  });
  expect(code).toBe(exitCodes.done);
  expect(out.match(/Model: .*evr_\w+$/gm)).toHaveLength(3);
  const names = (await cli('list', ['runs', '--field', 'display_name'])).out.split('\n');
  // Runs started without a name get distinct names.
  expect(names).toEqual(expect.arrayContaining(['piped run', 't-words tutor-base', 't-words tutor-base 2']));
  const cut = await cli('--lines', [], { input: 'benchmarks\nevaluate 1\n' });
  expect(cut.out).toContain('The input ended before the answer. Nothing was sent.');
});

it('api --paginate reads every page of a list', async () => {
  const all = JSON.parse(
    (await cli('api', ['listTrajectories', `eval_run_id=${runId}`, 'limit=10', '--paginate'])).out,
  );
  expect(new Set(all.map((row: { trajectory_id: string }) => row.trajectory_id)).size).toBe(28);
  expect((await cli('api', ['getEvalRun', `eval_run_id=${runId}`, '--paginate'])).code).toBe(exitCodes.usage);
});

it('open finds what to show before it opens the screen', async () => {
  expect((await cli('open', ['evr_none'])).code).toBe(exitCodes.notFound);
  expect(await cli('open', ['first'])).toMatchObject({
    code: exitCodes.usage,
    notes: expect.stringContaining('terminal'),
  });
});

it('upload takes standard input, and a single record on several lines', async () => {
  const record = JSON.stringify({ trace_id: 't1', messages: [{ role: 'user', content: 'hello' }] }, undefined, 2);
  const piped = await cli('upload', ['-', '--dataset', 'piped', '--json'], { input: record });
  expect(piped).toMatchObject({ code: exitCodes.done });
  expect(JSON.parse(piped.out).trajectories).toMatchObject([{ line: 1, status: 'uploaded' }]);
  const file = join(testFolder(), 'one.json');
  writeFileSync(file, record.replace('t1', 't2'));
  expect((await cli('upload', [file, '--dataset', 'piped'])).out).toBe('1 stored, 0 skipped, 0 failed\n');
});

it('upload reads a named pipe to its end, once', async () => {
  const pipe = join(testFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const lines = ['a', 'b'].map(trace_id =>
    JSON.stringify({ trace_id, messages: [{ role: 'user', content: 'hello' }] }),
  );
  // It opens once there is a reader.
  const written = writeFile(pipe, `${lines.join('\n')}\n`);
  expect((await cli('upload', [pipe, '--dataset', 'fifo'])).out).toBe('2 stored, 0 skipped, 0 failed\n');
  await written;
});

it('invalid files and settings exit with 2', async () => {
  const folder = testFolder();
  expect((await cli('upload', [folder])).code).toBe(exitCodes.usage);
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ keys: { 'nope.nothing': ['x'] }, profiles: 1 }));
  const environment = { BENCHTOP_CONFIG_DIR: folder };
  expect((await cli('list', ['runs'], { environment })).code).toBe(exitCodes.usage);
});

it('an error about a field of another name suggests the command for it (C4)', async () => {
  const bench = { bench_id: 'b_1', name: 'words', model_slug: 'acme/small' };
  const missing = json({ detail: [{ loc: ['body', 'model'], msg: 'Field required' }] }, 422);
  const started = json({ eval_run_id: 'e_1' });
  const server = await hostileServer((response, request) => {
    if (request.method === 'GET') return json({ ...bench, items: [bench] })(response, request);
    return ('model' in JSON.parse(request.body) ? started : missing)(response, request);
  });
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key-0123456789', home: testFolder() });
  const { code, notes } = await cli('evaluate', ['b_1', '--model', 'acme/small']);
  expect([code, notes]).toEqual([exitCodes.usage, expect.stringContaining("If that is this service's name for")]);
  const [, name = '', value = ''] = /config set (\S+) ([^']+)'/.exec(notes) ?? [];
  expect((await cli('config set', [name.replace('PROFILE', 'local'), value])).code).toBe(exitCodes.done);
  expect(await cli('evaluate', ['b_1', '--model', 'acme/small', '--field', 'eval_run_id'])).toMatchObject({
    code: exitCodes.done,
    out: 'e_1\n',
  });
});
