/** The command line on a real local service, as a script sees it. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes, Interruption } from '../../src/commands/exit.ts';
import { follow } from '../../src/commands/follow.ts';
import { endpoints } from '../../src/contract/endpoints.ts';
import { defaultIntervals } from '../../src/queries/polling.ts';
import { resources } from '../../src/resources/catalogue.ts';
import { NetworkError, RateLimitError, ServerError } from '../../src/service/errors.ts';
import type { GateState } from '../../src/service/gate.ts';
import { startService, type TestService } from '../local/server/running.ts';
import { openGate } from '../service/fake-service.ts';
import { hostileServer, json } from '../service/hostile-server.ts';
import { cliOn, testFolder, timeIsUp } from './cli.ts';

let service: TestService;
let cli: ReturnType<typeof cliOn>;
let benchId: string;
let runId: string;

beforeAll(async () => {
  service = await startService();
  cli = cliOn({ ...service, home: service.folder });
  benchId = await service.readyBenchmark('t-words');
  const started = await cli('api', [
    'startEval',
    `bench_id=${benchId}`,
    'model_slug=benchtop/tutor-base',
    'display_name=first',
  ]);
  runId = JSON.parse(started.out).eval_run_id;
  expect((await cli('watch', [runId])).code).toBe(0);
});
afterAll(() => service.end());

const lines = (text: string): string[] => text.split('\n').slice(0, -1);

describe('list', () => {
  it.each(resources.filter(({ needs }) => !needs).map(({ names }) => names[0]))(
    'prints %s as valid JSON',
    async name => {
      const { code, out } = await cli('list', [name, '--json']);
      expect(code).toBe(0);
      expect(Array.isArray(JSON.parse(out))).toBe(true);
    },
  );

  it('prints a table with a header, whole in a pipe and cut in a terminal', async () => {
    const whole = lines((await cli('list', ['benchmarks', '--wide'])).out);
    expect(whole[0]).toMatch(/^BENCHMARK\tFAMILY\t.*\tID$/);
    expect(whole).toHaveLength(8);
    expect(whole.some(line => line.includes(benchId))).toBe(true);
    const cut = lines((await cli('list', ['benchmarks', '--wide'], { columns: 40 })).out);
    expect(cut).toHaveLength(8);
    expect(Math.max(...cut.map(line => line.length))).toBeLessThanOrEqual(40);
  });

  it('filters, sorts, chooses columns and counts', async () => {
    const { out } = await cli('list', ['benchmarks', '--filter', '!words', '--columns', 'label', '--sort', 'label']);
    expect(lines(out)).toEqual(['BENCHMARK', 'next-number', 'opposites', 'shop-prices', 'small-sums', 'what-is-it']);
    const reverse = await cli('list', [
      'benchmarks',
      '--sort',
      'label',
      '--reverse',
      '--limit',
      '1',
      '--columns',
      'label',
    ]);
    expect(lines(reverse.out)).toEqual(['BENCHMARK', 'what-is-it']);
    expect(reverse.notes).toContain('There is more than this row');
    const all = await cli('list', ['images', '--benchmark', 't-words', '--ids', '--all']);
    expect(lines(all.out)).toHaveLength(96);
    expect(all.notes).toBe('');
  });

  it('pages through long lists', async () => {
    const { out } = await cli('list', ['trajectories', '--run', 'first', '--ids', '--limit', '20']);
    expect(new Set(lines(out)).size).toBe(20);
  });

  it('writes files: CSV with the times of the service', async () => {
    const { out } = await cli('list', [
      'runs',
      '--benchmark',
      benchId,
      '--format',
      'csv',
      '--columns',
      'name,status,started',
    ]);
    expect(out).toMatch(/^run,status,started\r\nfirst,completed,\d{4}-\d\d-\d\dT[\d:.]+Z\r\n$/);
  });

  it.each([
    [['things'], /There is no resource things\./],
    [['images'], /images are listed by benchmark: add --benchmark ID/],
    [['runs', '--dataset', 'x'], /--dataset is not for runs/],
    [['runs', '--limit', '0'], /--limit takes a whole number/],
    [['runs', '--format', 'xml'], /--format takes one of table, json/],
    [
      ['runs', '--sort', 'size'],
      /There is no column or field size. Columns: name \(RUN\), status, .* difference \(VS BASE\).* flag, note/,
    ],
    [['runs', '--nonsense'], /Unknown option '--nonsense'/],
    [['runs', '--filter', '/(/'], /Not a regular expression: Unterminated group/],
    [[], /An argument is missing\. Usage: benchtop list WHAT/],
  ])('explains what is wrong with %j', async (args, words) => {
    const { code, out, notes } = await cli('list', args);
    expect({ code, out }).toEqual({ code: exitCodes.usage, out: '' });
    expect(notes).toMatch(words);
  });

  it('says that a list is empty', async () => {
    const { code, notes } = await cli('list', ['deployments', '--status', 'FAILED']);
    expect(code).toBe(0);
    expect(notes).toContain('No deployments match.');
  });
});

describe('get', () => {
  it('shows one resource by its id or its name', async () => {
    const byId = await cli('get', [runId]);
    expect(byId.out).toMatch(/^name +first\nid +evr_/);
    expect(byId.out).toMatch(/progress +28 of 28/);
    expect((await cli('get', ['run', 'first', '--json'])).out).toContain(runId);
    expect(JSON.parse((await cli('get', ['benchmark', 't-words', '--json'])).out).bench_id).toBe(benchId);
    expect((await cli('get', ['model', 'benchtop/tutor-base'])).out).toContain('Tutor Base');
  });

  it('prints one field alone, for a shell', async () => {
    expect((await cli('get', [runId, '--field', 'status'])).out).toBe('completed\n');
    const { out } = await cli('api', ['getEvalRun', `eval_run_id=${runId}`, '--field', 'reward_mean']);
    expect(Number(out)).toBeGreaterThanOrEqual(0);
    // Has not failed.
    expect(await cli('get', [runId, '--field', 'failure.code'])).toEqual({ code: 0, out: 'null\n', notes: '' });
    const asked = await cli('api', ['getEvalRun', `eval_run_id=${runId}`, '--field', 'failure.code']);
    expect(asked).toEqual({ code: 0, out: 'null\n', notes: '' });
    const missing = await cli('get', [runId, '--field', 'failure.code.more']);
    expect(missing).toMatchObject({ code: exitCodes.usage, out: '' });
    expect(missing.notes).toContain('There is no field failure.code.more');
  });

  it('shows a trajectory with all its messages', async () => {
    const [id = ''] = lines((await cli('list', ['trajectories', '--run', runId, '--ids', '--limit', '1'])).out);
    const { out } = await cli('get', [id], { columns: 60 });
    expect(out).toMatch(/Step 0 [^\n]*\nsystem[^\n]*\n.*\nuser[^\n]*\n.*\nassistant/s);
    expect(JSON.parse((await cli('get', [id, '--json'])).out).steps).toHaveLength(1);
  });

  it.each([
    [['evr_nothing'], exitCodes.notFound, /no evaluation run evr_nothing|no run evr_nothing/i],
    [['benchmark', 'nothing'], exitCodes.notFound, /no benchmark nothing/],
    [['secret', 'nothing'], exitCodes.notFound, /There is no secret nothing/],
    [['what'], exitCodes.notFound, /There is no benchmark, .* or deployment what/],
    [['images', 'x'], exitCodes.usage, /benchtop list images --benchmark ID lists them/],
    [[], exitCodes.usage, /Usage: benchtop get \[WHAT\] ID\|NAME/],
  ])('explains what is wrong with %j', async (args, code, words) => {
    const outcome = await cli('get', args);
    expect(outcome).toMatchObject({ code, out: '' });
    expect(outcome.notes).toMatch(words);
  });

  it('finds names that look like ids of the same or another kind (B1)', async () => {
    const evaluation = ['startEval', `bench_id=${benchId}`, 'model_slug=benchtop/tutor-base', 'display_name=train-1'];
    const { eval_run_id: id } = JSON.parse((await cli('api', evaluation)).out);
    const options = JSON.stringify({ num_steps: 1, train_batch_size: 2, samples_per_instance: 2 });
    const training = [`bench_id=${benchId}`, 'base_model_slug=benchtop/tutor-base', 'display_name=train-2'];
    const { training_run_id: trained } = JSON.parse(
      (await cli('api', ['startTraining', ...training, `options=${options}`])).out,
    );
    // Another machine has seen none of them.
    const elsewhere = cliOn(service);
    expect(await elsewhere('watch', ['train-1'])).toMatchObject({ code: 0 });
    expect(await elsewhere('watch', ['train-2'])).toMatchObject({ code: 0 });
    expect((await elsewhere('get', ['train-1', '--field', 'id'])).out).toBe(`${id}\n`);
    for (const words of [['train-2'], ['training', 'train-2']]) {
      expect((await elsewhere('get', [...words, '--field', 'id'])).out).toBe(`${trained}\n`);
    }
    expect((await elsewhere('describe', ['train-2'])).code).toBe(0);
    expect((await elsewhere('deploy', ['train-2@latest', '--dry-run'])).code).toBe(0);
    expect((await elsewhere('tree', ['train-2'])).out).toContain('train-2');
    const refused = await elsewhere('delete', ['train-1', '--yes']);
    expect(refused).toMatchObject({ code: exitCodes.usage, out: '' });
    expect(refused.notes).toContain(
      `train-1 looks like the id of a training run, but is the name of run train-1 (${id}): give its id. Nothing was deleted.`,
    );
    expect(await elsewhere('delete', ['train-2', '--yes'])).toMatchObject({ code: 0, out: `${trained}\n` });
    expect(await elsewhere('delete', [id, '--yes'])).toMatchObject({ code: 0 });
  });

  it('does not choose between two resources of one name', async () => {
    const start = ['startEval', `bench_id=${benchId}`, 'model_slug=benchtop/tutor-base', 'display_name=twice'];
    for (let time = 0; time < 2; time += 1) await cli('api', start);
    const { code, notes } = await cli('get', ['run', 'twice']);
    expect(code).toBe(exitCodes.usage);
    expect(notes).toMatch(
      /2 runs are named twice\. Give the id of one: evr_\w+ \(.*started .*\), evr_\w+ \(.*started .*\)\.$/,
    );
  });
});

describe('watch', () => {
  const train = async (num_steps: number): Promise<string> => {
    const words = [`bench_id=${benchId}`, 'base_model_slug=benchtop/tutor-base', 'display_name=watched'];
    const options = { num_steps, train_batch_size: 2, samples_per_instance: 2 };
    return JSON.parse((await cli('api', ['startTraining', ...words, `options=${JSON.stringify(options)}`])).out)
      .training_run_id;
  };

  it('prints each change until the end, as lines and as JSON', async () => {
    const id = await train(3);
    const { code, out } = await cli('watch', [id, runId, '--json']);
    expect(code).toBe(0);
    const watched = lines(out).map(line => JSON.parse(line));
    expect(watched.filter(each => each.id === runId)).toMatchObject([{ kind: 'run', status: 'completed', done: 28 }]);
    expect(watched.filter(each => each.id === id).at(-1)).toMatchObject({ status: 'succeeded', done: 3, total: 3 });
    expect((await cli('watch', [id])).out).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}watched {2}succeeded, 3 of 3, trainer reward 0\.\d+, held-out reward 0\.\d+ at step 3, on the \w+ tasks, from .*\n$/,
    );
  });

  it('exits with 1 for a bad end, with 124 if the end does not come in time', async () => {
    const id = await train(2_000);
    const late = await cli('watch', [id, '--timeout', '2'], { onPrint: timeIsUp() });
    expect(late.code).toBe(exitCodes.timeout);
    expect(late.notes).toContain('is still running after 2 seconds');
    await cli('api', ['cancelTraining', `training_run_id=${id}`]);
    expect((await cli('watch', [id])).code).toBe(exitCodes.failed);
  });

  it('exits with 130 if the user interrupts it', async () => {
    const id = await train(2_000);
    const stop = new AbortController();
    const { code, notes } = await cli('watch', [id], { signal: stop.signal, onPrint: () => stop.abort() });
    expect([code, notes]).toEqual([exitCodes.interrupted, expect.stringMatching(/keeps running\.$/)]);
    await cli('api', ['cancelTraining', `training_run_id=${id}`]);
    await cli('watch', [id]);
  });

  it.each([
    [new Interruption(exitCodes.terminated), exitCodes.terminated],
    [new Interruption(exitCodes.hungUp), exitCodes.hungUp],
    [undefined, exitCodes.interrupted],
  ])('names what --wait has started if it is interrupted by %s', async (reason, expected) => {
    const stop = new AbortController();
    const words = ['t-words', '-m', 'benchtop/tutor-base', '-o', 'num_steps=2000', '--name', 'endless', '--wait'];
    const onNote = (text: string): void => void (text.startsWith('endless is trn_') && stop.abort(reason));
    const { code, out, notes } = await cli('train', words, { signal: stop.signal, onNote });
    expect([code, out]).toEqual([expected, expect.stringMatching(/^trn_\w+\n$/)]);
    expect(notes).toContain('endless keeps running.');
    expect((await cli('cancel', [out.trim(), '--yes'])).code).toBe(exitCodes.done);
    await cli('watch', [out.trim()]);
  });

  /** Watches a run that is cancelled once it was printed. */
  const watchOne = async (...args: readonly string[]): Promise<void> => {
    const id = await train(2_000);
    let cancelled: Promise<unknown> | undefined;
    const onPrint = (text: string): void => {
      if (text.includes(id)) cancelled ??= cli('api', ['cancelTraining', `training_run_id=${id}`]);
    };
    expect((await cli('watch', [...args, '--json'], { onPrint })).out).toContain(id);
    await cancelled;
  };

  it('finds what is running by itself, and says if nothing is', async () => {
    await watchOne();
    expect(await cli('watch', [])).toEqual({ code: 0, out: '', notes: 'Nothing is running.' });
  });

  it('watches everything of a kind that runs', async () => {
    await watchOne('training');
    expect(await cli('watch', ['runs'])).toEqual({ code: 0, out: '', notes: 'Nothing is running.' });
  });

  it('reads no trajectories to find a name', async () => {
    const { code, notes } = await cli('watch', ['nothing', '--debug']);
    expect(code).toBe(exitCodes.notFound);
    expect(notes).toContain('(listTrainingRuns)');
    expect(notes).not.toContain('(listTrajectories)');
  });

  it('keeps polling if the service does not answer for a while, less and less often', async () => {
    const seen = { id: 'trn_1', label: 'first', done: 2, total: 2, mean: undefined };
    const answers = [
      () => Promise.reject(new NetworkError('the service is not there', {})),
      () => Promise.reject(new NetworkError('the service is not there', {})),
      () => Promise.reject(new RateLimitError('slow down', {})),
      () => Promise.resolve({ ...seen, status: 'running' }),
      () => Promise.resolve({ ...seen, status: 'completed' }),
    ];
    const notes: string[] = [];
    const statuses: (string | undefined)[] = [];
    const slept: number[] = [];
    const status = await follow({
      label: 'first',
      readState: () => answers.shift()?.() ?? Promise.reject(new Error('asked too often')),
      onChange: async ({ status: now }) => void statuses.push(now),
      note: text => notes.push(text),
      intervals: defaultIntervals,
      gate: openGate.state,
      signal: new AbortController().signal,
      sleep: async ms => void slept.push(ms),
    });
    expect(status).toBe('completed');
    expect(statuses).toEqual(['running', 'completed']);
    expect(notes).toEqual([expect.stringMatching(/^first: the service is not there Retrying in [45] s\.$/)]);
    expect(slept[1]).toBeGreaterThan(slept[0] ?? 0);
    expect(slept[2]).toBeGreaterThan(slept[1] ?? 0);
  });

  it('says once a minute that the service still does not answer', async () => {
    const notes: string[] = [];
    let now = 0;
    let left = 8;
    const readState = () => {
      left -= 1;
      if (left > 0) return Promise.reject(new NetworkError('The line is cut.', {}));
      return Promise.resolve({ id: 'trn_1', label: 'first', status: 'failed', done: 1, total: 2, mean: undefined });
    };
    const sleep = async (): Promise<void> => {
      now += 30_000;
    };
    const { signal } = new AbortController();
    const note = (text: string): void => void notes.push(text);
    const onChange = async (): Promise<void> => {};
    const common = {
      label: 'first',
      readState,
      onChange,
      note,
      intervals: defaultIntervals,
      gate: openGate.state,
      signal,
    };
    await follow({ ...common, sleep, now: () => now });
    expect(notes.map(words => words.replace(/\d+ s\.$/, 'N s.'))).toEqual([
      'first: The line is cut. Retrying in N s.',
      'first: still failing after 1m. The line is cut. Retrying in N s.',
      'first: still failing after 2m. The line is cut. Retrying in N s.',
      'first: still failing after 3m. The line is cut. Retrying in N s.',
    ]);
  });

  const rateLimit = { kind: 'limited', reason: 'rate_limit' } as const;
  it.each<readonly [string, Error, GateState, RegExp]>([
    [
      'waits a minute for an endpoint that asks for an hour',
      new ServerError('Down.', { retryAfterMs: 3_600_000 }),
      { kind: 'open' },
      /^first: Down\. Retrying in 6[0-2] s\.$/,
    ],
    [
      'says until when the rate is limited',
      new RateLimitError('Slow.', { retryAfterMs: 40_000 }),
      { ...rateLimit, until: 41_000 },
      /^first: Slow\. Retrying in 40 s\.$/,
    ],
    [
      'says when it asks again, and for how long the service asks to wait',
      new RateLimitError('Slow.', { retryAfterMs: 3_600_000 }),
      { ...rateLimit, until: 58_400, requestedUntil: 3_601_000 },
      /^first: Slow\. The service asks to wait 60 min\. Retrying in 58 s\.$/,
    ],
  ])('%s (B3, N6)', async (_, error, gate, words) => {
    const answers = [
      () => Promise.reject(error),
      () => Promise.resolve({ id: 'trn_1', label: 'first', status: 'failed', done: 1, total: 2, mean: undefined }),
    ];
    const notes: string[] = [];
    const slept: number[] = [];
    await follow({
      label: 'first',
      readState: () => answers.shift()?.() ?? Promise.reject(new Error('asked too often')),
      onChange: async () => {},
      note: text => notes.push(text),
      intervals: defaultIntervals,
      gate: () => gate,
      signal: new AbortController().signal,
      sleep: async ms => void slept.push(ms),
      now: () => 1_000,
    });
    expect(notes).toEqual([expect.stringMatching(words)]);
    expect(slept).toHaveLength(1);
    expect(slept[0]).toBeLessThanOrEqual(62_000);
  });

  it.each([
    [['nothing-here'], exitCodes.notFound, /There is no .* nothing-here/],
    [['evr_nothing'], exitCodes.notFound, /evr_nothing/],
    [[' '], exitCodes.usage, /One of the ids is empty/],
    [['evr_nothing', '--timeout', 'soon'], exitCodes.usage, /--timeout takes a number above 0/],
  ])('explains what is wrong with %j', async (args, code, words) => {
    const outcome = await cli('watch', args);
    expect(outcome.code).toBe(code);
    expect(outcome.notes).toMatch(words);
  });

  it('takes a name, with a kind before it', async () => {
    for (const words of [['t-words'], ['benchmark', 't-words']]) {
      const { code, out } = await cli('watch', words);
      expect([code, out]).toEqual([exitCodes.done, expect.stringContaining('ready')]);
    }
  });

  it('takes a kind alone for all running ones of that kind', async () => {
    for (const kind of ['deployments', 'runs']) {
      expect(await cli('watch', [kind])).toMatchObject({
        code: exitCodes.done,
        out: '',
        notes: expect.stringContaining('Nothing is running'),
      });
    }
  });

  it('ends at an end time even if the status is unknown', async () => {
    const notes: string[] = [];
    const seen = { id: 'evr_1', label: 'odd', status: 'exploded', done: 1, total: 4, mean: undefined };
    const readState = async () => ({ ...seen, endTime: '2026-03-04T05:06:07Z' });
    const { signal } = new AbortController();
    const intervals = { focusedMs: 1, visibleMs: 1 };
    const { state: gate } = openGate;
    const common = {
      gate,
      label: 'odd',
      readState,
      onChange: async () => {},
      intervals,
      signal,
      sleep: async () => {},
    };
    expect(await follow({ ...common, note: text => notes.push(text) })).toBe('exploded');
    expect(notes).toEqual([expect.stringContaining('its status exploded does not show how it ended')]);
  });

  it('ends if the service reports no status', async () => {
    const notes: string[] = [];
    const none = { status: undefined, done: undefined, total: undefined, mean: undefined };
    const readState = async () => ({ id: 'evr_1', label: 'old', ...none });
    const { signal } = new AbortController();
    const intervals = { focusedMs: 1, visibleMs: 1 };
    const { state: gate } = openGate;
    const common = {
      gate,
      label: 'old',
      readState,
      onChange: async () => {},
      intervals,
      signal,
      sleep: async () => {},
    };
    expect(await follow({ ...common, note: text => notes.push(text) })).toBe('');
    expect(notes).toEqual([expect.stringContaining('no status')]);
  });
});

describe('chat', () => {
  it('prints the answer of a model, asked by arguments or through a pipe', async () => {
    const asked = ['benchtop/tutor-base', '--max-tokens', '4', '--temperature', '0'];
    const byArguments = await cli('chat', [...asked, 'opposite:', 'hot?']);
    expect(byArguments.code).toBe(0);
    expect(byArguments.out).toMatch(/^\w.*\n$/);
    const piped = await cli('chat', asked, { input: 'opposite: hot?\n' });
    expect(piped.out).toBe(byArguments.out);
    const whole = await cli('chat', [...asked, '--json', 'opposite: hot?']);
    expect(`${JSON.parse(whole.out).choices[0].message.content}\n`).toBe(byArguments.out);
  });

  it('takes any word of the text literally, and known flags even after it', async () => {
    const server = await hostileServer(json({ choices: [{ message: { role: 'assistant', content: 'helps' } }] }));
    const { code } = await cliOn({ baseUrl: server.url, apiKey: 'key' })(
      'chat',
      ['acme/m', 'what', 'does', '-h', 'do', 'in', 'ls', '-lh', '--max-tokens', '7', '--', '--json', '--json'],
      {},
    );
    expect(code).toBe(0);
    const sent = server.requests.map(({ body }) => JSON.parse(body));
    expect(sent[0].messages).toEqual([{ role: 'user', content: 'what does -h do in ls -lh --json --json' }]);
    expect(sent[0].max_tokens).toBe(7);
  });

  it.each([
    [[], exitCodes.usage, /Usage: benchtop chat MODEL/],
    [['benchtop/tutor-base', '-x', 'hello'], exitCodes.usage, /Unknown option '-x'/],
    [['benchtop/tutor-base'], exitCodes.usage, /nothing to ask/],
    [['benchtop/tutor-base', 'x', '--temperature', 'hot'], exitCodes.usage, /--temperature takes a number/],
    [['benchtop/tutor-base', 'x', '--top-p', '3'], exitCodes.usage, /top_p/],
    [['no-such-model', 'x'], exitCodes.notFound, /no-such-model/],
  ])('explains what is wrong with %j', async (args, code, words) => {
    const outcome = await cli('chat', args);
    expect(outcome.code).toBe(code);
    expect(outcome.notes).toMatch(words);
  });
});

describe('upload', () => {
  const task = (name: string) => ({
    name,
    split: 'test',
    input_messages: [{ role: 'user', content: 'say yes' }],
    run_command: 'x',
    grader: { kind: 'exact', expected: 'yes' },
    files: ['data/a.txt'],
  });

  it('makes a benchmark from a folder, which can be watched until it is ready', async () => {
    const folder = testFolder();
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'a.txt'), 'hello');
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ name: 'sent', tasks: [task('one')] }));
    const { code, out } = await cli('upload', [folder]);
    expect(code).toBe(0);
    const id = out.trim();
    expect((await cli('watch', [id])).code).toBe(0);
    expect((await cli('list', ['images', '--benchmark', id, '--columns', 'task,status'])).out).toMatch(/one\tready/);
  });

  it('names a missing secret once, even if it waits', async () => {
    const folder = testFolder();
    const manifest = {
      name: 'locked',
      tasks: [{ ...task('one'), files: [], environment: [{ name: 'T', secret_name: 'LOCKED_TOKEN' }] }],
    };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    const { code, notes } = await cli('upload', [folder, '--wait']);
    expect(code).toBe(exitCodes.failed);
    expect(notes.match(/.*LOCKED_TOKEN.*/g)).toEqual([
      'The secret LOCKED_TOKEN is missing. Create it: benchtop secret set LOCKED_TOKEN',
    ]);
  });

  it('names every error of a manifest', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'b.txt'), 'hello');
    const write = (tasks: object[]): void =>
      writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ name: 'failing', tasks }));
    write([{ name: 'one' }, { split: 'dev', run_command: 'x' }]);
    const early = await cli('upload', [folder]);
    expect(early.code).toBe(exitCodes.usage);
    expect(early.notes).toMatch(/manifest\.json.*tasks\[0\]\.run_command.*tasks\[1\]\.name.*tasks\[1\]\.split/s);
    write([{ name: 'one', run_command: 'x', grader: { kind: 'exact' } }]);
    const { code, notes } = await cli('upload', [folder]);
    // The files are on the service, so the code must not be that of a usage error.
    expect(code).toBe(exitCodes.failed);
    expect(notes).toMatch(/tasks\[0\]\.grader\.expected[\s\S]*bench_id: bench_/);
    const asData = await cli('upload', [folder, '--wait', '--json']);
    expect(asData.code).toBe(exitCodes.failed);
    expect(asData.notes).toContain(`"exit_code":${exitCodes.failed}`);
  });

  it('names the id even if everything was sent before and the manifest is refused', async () => {
    const folder = testFolder();
    const words = { kind: 'word_share', letter: 't' };
    const say = (name: string, split: string, grader: object) => ({
      name,
      split,
      input_messages: [{ role: 'user', content: 'say t' }],
      run_command: 'answer',
      grader,
    });
    const write = (manifest: object): void => writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'data.txt'), 'hi\n');
    const tasks = [say('a', 'train', words), say('b', 'test', words)];
    write({ label: 'x', tasks });
    expect((await cli('upload', [folder])).code).toBe(exitCodes.usage);
    // Only the service rejects this one, once everything is sent.
    write({ name: 'x', label: 'x', tasks: [say('a', 'train', { kind: 'exact' })] });
    expect((await cli('upload', [folder])).code).toBe(exitCodes.failed);
    write({ name: 'x', label: 'x', tasks });
    const { code, out } = await cli('upload', [folder]);
    expect([code, out]).toEqual([exitCodes.done, expect.stringMatching(/^bench_\w+\n$/)]);
    const again = JSON.parse((await cli('upload', [folder, '--json'])).out);
    expect(again).toMatchObject({ bench_id: expect.stringMatching(/^bench_/), files: 1, phase: 'done' });
  });

  it('makes a second benchmark from a folder that was ingested with other options only with --new', async () => {
    const folder = testFolder();
    const write = (name: string): void =>
      writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ name: 'other', tasks: [task(name)] }));
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'a.txt'), 'hello');
    writeFileSync(
      join(folder, 'manifest.json'),
      JSON.stringify({ name: 'other', tasks: [{ ...task('one'), grader: { kind: 'exact' } }] }),
    );
    const { bench_id: benchId } = JSON.parse((await cli('upload', [folder, '--json'])).out);
    await cli('api', [
      'ingestBenchmark',
      `bench_id=${benchId}`,
      '--body',
      JSON.stringify({ name: 'o', tasks: [task('two')] }),
    ]);
    write('one');
    const typed = `${folder}/data/..`;
    const refused = await cli('upload', [typed]);
    expect(refused.code).toBe(exitCodes.failed);
    expect(refused.notes).toContain('was already ingested');
    expect(refused.notes).toContain(`benchtop upload --new ${typed} makes`);
    const { code, out } = await cli('upload', [folder, '--new']);
    expect(code).toBe(exitCodes.done);
    expect(out).not.toContain(benchId);
  });

  it('sends trajectories, reports the outcome of each line and saves those that failed', async () => {
    const folder = testFolder();
    const path = join(folder, 'talk.jsonl');
    const good = { messages: [{ role: 'user', content: 'hi' }], status: 'completed' };
    writeFileSync(path, `${JSON.stringify(good)}\nnonsense\n${JSON.stringify(good)}\n`);
    const failures = join(folder, 'failed.jsonl');
    const { code, out, notes } = await cli('upload', [path, '--dataset', 'talks', '--failures', failures]);
    expect(code).toBe(exitCodes.failed);
    // Equal answers are samples of their own.
    expect(out).toBe('2 stored, 0 skipped, 1 failed\n');
    expect(notes).toMatch(/line 2: It is not JSON/);
    expect(readFileSync(failures, 'utf8')).toBe('nonsense\n');
    expect(lines((await cli('list', ['trajectories', '--dataset', 'talks', '--ids'])).out)).toHaveLength(2);
    const link = join(folder, 'link.jsonl');
    symlinkSync('nowhere.jsonl', link);
    const linked = await cli('upload', [path, '--dataset', 'talks', '--failures', link]);
    expect([linked.code, linked.out]).toEqual([exitCodes.usage, '']);
    expect(linked.notes).toContain('link.jsonl already exists. Name a new file with --failures.');
  });

  it.each([
    [['/no/such/folder'], /There is no file or folder/],
    [['.', '--dataset', 'x'], /A folder is a benchmark/],
    [['package.json'], /add --dataset NAME/],
    [['package.json', '--dataset', 'x', '--read-only'], /read-only/],
    [['package.json', '--dataset', 'x', '--new', '--resend-unknown'], /--new cannot be used with/],
    [['.', '--resend-unknown'], /--resend-unknown is for a file of trajectories/],
    [[], /Usage: benchtop upload PATH/],
  ])('explains what is wrong with %j', async (args, words) => {
    const { code, notes } = await cli('upload', args);
    expect(code).toBe(exitCodes.usage);
    expect(notes).toMatch(words);
  });
});

describe('api', () => {
  it('lists every operation of the contract', async () => {
    const { out } = await cli('api', []);
    for (const operation of Object.keys(endpoints)) expect(out).toMatch(new RegExp(`^${operation} `, 'm'));
    const asJson: { operation: string }[] = JSON.parse((await cli('api', ['--json'])).out);
    expect(asJson.map(({ operation }) => operation).sort()).toEqual(Object.keys(endpoints).sort());
    expect(asJson).toContainEqual({
      operation: 'getEvalRun',
      method: 'GET',
      path: endpoints.getEvalRun.path,
      fields: ['eval_run_id'],
    });
  });

  it('takes operations by name and by path, and values as the contract defines them', async () => {
    const byName = JSON.parse((await cli('api', ['listBenchmarks', 'limit=2', 'search=words'])).out);
    const byPath = JSON.parse((await cli('api', ['get', '/api/v1/benchmarks?limit=2&search=words'])).out);
    expect(byPath).toEqual(byName);
    expect(byName.items).toHaveLength(2);
    const { path } = endpoints.getEvalRun;
    const run = await cli('api', ['GET', path.replace('{eval_run_id}', runId)]);
    expect(JSON.parse(run.out).eval_run_id).toBe(runId);
  });

  it('takes a whole body from a file or a pipe, and prints no secret', async () => {
    const body = { name: 'TOKEN', value: 'very-secret-value' };
    const piped = await cli('api', ['createSecret', '--body', '-'], { input: JSON.stringify(body) });
    expect(JSON.parse(piped.out).secret).toMatchObject({ name: 'TOKEN', byte_length: 17 });
    expect(piped.out + piped.notes).not.toContain('very-secret-value');
    const file = join(testFolder(), 'body.json');
    writeFileSync(file, JSON.stringify(body));
    expect((await cli('api', ['createSecret', '--body', `@${file}`, 'description=again'])).out).toContain('again');
  });

  it.each([
    [['noSuchOperation'], exitCodes.usage, /no operation noSuchOperation/],
    [['GET', '/nowhere'], exitCodes.notFound, /nowhere/],
    [['getEvalRun'], exitCodes.usage, /needs eval_run_id=/],
    [['getEvalRun', 'eval_run_id=evr_1', 'colour=red'], exitCodes.usage, /has no colour/],
    [['getEvalRun', 'evr_1'], exitCodes.usage, /evr_1 is not NAME=VALUE/],
    [['listBenchmarks', 'limit=many'], exitCodes.usage, /Nothing was sent.*limit/],
    [['createSecret', '--body', '{'], exitCodes.usage, /The body is not JSON/],
    [['createSecret', 'name=x', 'value=y', '--read-only'], exitCodes.usage, /read-only/],
    [['createChatCompletion', 'model=m', 'messages=[]', 'stream=true'], exitCodes.usage, /benchtop chat/],
    [['logReward', 'trajectory_id=t', 'reward=1', '--token-env', 'NOT_SET'], exitCodes.forbidden, /NOT_SET is not set/],
    [['getEvalRun', 'eval_run_id=evr_1'], exitCodes.notFound, /evr_1/],
  ])('explains what is wrong with %j', async (args, code, words) => {
    const outcome = await cli('api', args);
    expect(outcome).toMatchObject({ code, out: '' });
    expect(outcome.notes).toMatch(words);
  });
});

describe('doctor', () => {
  it('finds nothing wrong with a working service, including a model', async () => {
    const { code, out } = await cli('doctor', ['--model', 'benchtop/tutor-base']);
    expect(out).toMatch(/^ok +service +http.* responds and accepts the key/m);
    expect(out).toMatch(/^ok +inference/m);
    expect(out).not.toMatch(/^fail/m);
    expect(code).toBe(0);
  });

  it('names a refused key, unreadable settings and a model that does not exist', async () => {
    const wrong = await cliOn({ baseUrl: service.baseUrl, apiKey: 'wrong-key-wrong-key' })('doctor', ['--json']);
    expect(wrong.code).toBe(1);
    expect(JSON.parse(wrong.out)).toEqual({ ok: false, findings: expect.any(Array) });
    expect(JSON.parse(wrong.out).findings).toContainEqual(expect.objectContaining({ about: 'service', state: 'fail' }));
    expect(wrong.out).not.toContain('wrong-key-wrong-key');
    const settings = testFolder();
    writeFileSync(join(settings, 'config.json'), '{');
    const broken = await cli('doctor', [], { environment: { BENCHTOP_CONFIG_DIR: settings } });
    expect(broken.out).toMatch(/^fail +settings +.*not valid JSON/m);
    expect((await cli('doctor', ['--model', 'nobody'])).out).toMatch(/^fail +inference/m);
  });

  it('refuses the settings that the workbench refuses', async () => {
    const settings = testFolder();
    writeFileSync(join(settings, 'config.json'), JSON.stringify({ keys: { 'nope.nothing': ['x'] } }));
    const { code, out } = await cli('doctor', [], { environment: { BENCHTOP_CONFIG_DIR: settings } });
    expect(code).toBe(1);
    expect(out).toMatch(/^fail +settings +/m);
    expect(out).toContain('keys.nope.nothing: there is no such command');
    expect((await cli('doctor', [], { environment: { TERM: 'dumb' } })).out).toMatch(/^warn +terminal +.*--lines/m);
  });
});

describe('failures', () => {
  it('have exit codes that a script can tell apart', async () => {
    const wrong = cliOn({ baseUrl: service.baseUrl, apiKey: 'wrong-key-wrong-key' });
    expect((await wrong('list', ['benchmarks'])).code).toBe(exitCodes.forbidden);
    const unreachable = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key-key-key-key' });
    const outcome = await unreachable('list', ['benchmarks', '--json']);
    expect(outcome).toMatchObject({ code: exitCodes.unreachable, out: '' });
    expect(JSON.parse(outcome.notes.split('\n').at(-1) ?? '').error).toMatchObject({
      kind: 'network',
      code: 'ECONNREFUSED',
    });
  });

  it('name the setting that holds the address or the key', async () => {
    const home = testFolder();
    const key = join(home, 'key');
    writeFileSync(key, 'wrong-key-wrong-key\n', { mode: 0o600 });
    const profiles = {
      lab: { baseUrl: service.baseUrl, apiKey: 'wrong-key-wrong-key' },
      gone: { baseUrl: 'http://127.0.0.1:9' },
    };
    mkdirSync(join(home, '.config', 'benchtop'), { recursive: true });
    writeFileSync(join(home, '.config', 'benchtop', 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
    const { baseUrl } = service;
    const dead = 'http://127.0.0.1:9';
    for (const [given, words, expected] of [
      [{ baseUrl, apiKey: 'wrong-key-wrong-key' }, [], /The API key comes from BENCHTOP_API_KEY\./],
      [{ baseUrl, apiKey: '' }, ['--api-key-file', key], /The API key comes from --api-key-file\./],
      [{ baseUrl, apiKey: '' }, [], /No API key is set for this address: set BENCHTOP_API_KEY, or/],
      [
        { baseUrl: '', apiKey: '' },
        ['--profile', 'lab'],
        /The API key comes from profiles\.lab\.apiKey in .*config\.json\./,
      ],
      [{ baseUrl: '', apiKey: '' }, ['--profile', 'gone'], /comes from profiles\.gone\.baseUrl in .*config\.json\./],
      [
        { baseUrl: dead, apiKey: 'k-0123456789' },
        [],
        /The address http:\/\/127\.0\.0\.1:9 comes from BENCHTOP_BASE_URL\./,
      ],
      [{ baseUrl: '', apiKey: '' }, ['--base-url', dead], /comes from --base-url\./],
      [
        { baseUrl: 'https://127.0.0.1:9', apiKey: 'k-0123456789' },
        ['--ca-file', '/no/ca.pem'],
        /--ca-file names the file\./,
      ],
    ] as const) {
      const { notes, out } = await cliOn({ ...given, home })('list models', words);
      expect([out, notes]).toEqual(['', expect.stringMatching(expected)]);
      expect(notes).not.toContain('wrong-key-wrong-key');
    }
  });

  it('end a list at a cursor that repeats', async () => {
    const page = (name: string, next_cursor: string) =>
      json({ items: [{ bench_id: `bench_${name}` }], has_more: true, next_cursor });
    const server = await hostileServer(page('a', '1'), page('b', '2'), page('c', '1'));
    const far = cliOn({ baseUrl: server.url, apiKey: 'key-key-key-key' });
    const { code, out } = await far('list', ['benchmarks', '--all', '--ids']);
    expect([code, lines(out)]).toEqual([0, ['bench_a', 'bench_b', 'bench_c']]);
    expect(server.requests).toHaveLength(3);
  });

  it('end a list that gets new cursors for the same rows, with a message', async () => {
    let asked = 0;
    const server = await hostileServer((response, request) => {
      asked += 1;
      return json({ items: [{ bench_id: 'bench_a' }, {}], has_more: true, next_cursor: `c${asked}` })(
        response,
        request,
      );
    });
    const far = cliOn({ baseUrl: server.url, apiKey: 'key-key-key-key' });
    const { out, notes } = await far('list', ['benchmarks', '--all', '--ids']);
    expect(lines(out)).toEqual(['bench_a']);
    expect(notes).toContain('had no new rows');
    expect(notes).toContain(`${asked} rows could not be read`);
    expect(notes).toContain(`${asked - 1} rows with a duplicate id`);
  });

  it('print no status if the service sends none', async () => {
    const rows = [{ eval_run_id: 'evr_1', bench_id: 'b', display_name: 'first' }];
    const server = await hostileServer(json({ items: rows, has_more: false, next_cursor: null }));
    const far = cliOn({ baseUrl: server.url, apiKey: 'key-key-key-key' });
    expect((await far('list', ['runs', '--columns', 'run,status'])).out).toBe('RUN\tSTATUS\nfirst\t\n');
    expect((await far('list', ['runs'], { columns: 100 })).out).not.toContain('unknown');
  });

  it('never print hostile text unchanged', async () => {
    const evil = '\u001b]0;owned\u0007\u001b[2Jbench\u202e\u009b31m';
    const rows = [{ bench_id: 'bench_1', label: evil, family: 'x\r\ny' }];
    const server = await hostileServer(json({ items: rows, has_more: false, next_cursor: null }));
    const far = cliOn({ baseUrl: server.url, apiKey: 'key-key-key-key' });
    const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;
    for (const format of ['table', 'json', 'jsonl', 'csv', 'markdown']) {
      const { out } = await far('list', ['benchmarks', '--format', format], { columns: 80 });
      expect(out).toContain('bench');
      expect(out).not.toMatch(unsafe);
    }
    expect(JSON.parse((await far('list', ['benchmarks', '--json'])).out)[0].label).toBe(evil);
  });
});
