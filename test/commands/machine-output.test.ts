/** The output of commands for programs: names, errors, single fields, previews, completions. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { startService, type TestService } from '../local/server/running.ts';
import { hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

let service: TestService;
let cli: ReturnType<typeof cliOn>;

beforeAll(async () => {
  service = await startService();
  cli = cliOn({ ...service, home: service.folder });
  await service.readyBenchmark('t-words');
  await cli('evaluate', ['t-words', '-m', 'benchtop/tutor-base', '--name', 'first', '-w']);
});
afterAll(() => service.end());

describe('machine-readable output', () => {
  const file = (...records: object[]): string => {
    const path = join(testFolder(), 'rollouts.jsonl');
    writeFileSync(path, records.map(record => `${JSON.stringify(record)}\n`).join(''));
    return path;
  };
  const rollout = (trace_id: string) => ({ trace_id, messages: [{ role: 'user', content: 'hello' }] });

  it('uses the names of the contract, even for uploaded trajectories and in errors (C14)', async () => {
    const path = file(rollout('c14'), { trace_id: 'empty' });
    const { code, out } = await cli('upload', [path, '--dataset', 'names', '--json']);
    expect(code).toBe(exitCodes.failed);
    expect(JSON.parse(out)).toEqual({
      dataset: 'names',
      phase: 'done',
      reports: [],
      stored: 1,
      skipped: 0,
      failed: 1,
      unknown: 0,
      sent_before: 0,
      sent_before_for_another_agent: 0,
      sent_before_with_another_key: 0,
      trajectories: [
        {
          ...{ line: 1, place: 'line 1', status: 'uploaded', failed: false },
          ...{ trace_id: 'c14', trajectory_id: expect.stringMatching(/^traj_/) },
        },
        expect.objectContaining({ line: 2, failed: true }),
      ],
    });
    const { notes } = await cli('get', ['evr_000000000000', '--json']);
    expect(JSON.parse(notes).error).toMatchObject({ kind: 'not_found', request_id: expect.stringMatching(/^req_/) });
    expect(notes).not.toMatch(/"\w*[A-Z]\w*":/);
    const models = JSON.parse((await cli('api', ['listSupportedTrainingModels'])).out);
    expect(models).toEqual({ items: expect.any(Array) });
  });

  it('includes the kind of each error and the exit code (C15)', async () => {
    for (const [command, args, code, kind] of [
      ['get', ['nothere', '--json'], exitCodes.notFound, 'not_found'],
      ['list', ['nothere', '--json'], exitCodes.usage, 'usage'],
      ['get', ['evr_000000000000', '--json'], exitCodes.notFound, 'not_found'],
      ['reward', ['traj_1', 'good', '1', '--token-env', 'NOPE', '--json'], exitCodes.forbidden, 'credential'],
      ['upload', [file(), '--dataset', '', '--json'], exitCodes.usage, 'usage'],
    ] as const) {
      const { code: actual, notes } = await cli(command, args);
      expect([actual, JSON.parse(notes).error]).toEqual([
        code,
        expect.objectContaining({ kind, exit_code: code, message: expect.any(String) }),
      ]);
    }
  });

  it('can be a single field, for every command that prints a record (C17)', async () => {
    const path = file(rollout('c17'));
    expect((await cli('upload', [path, '--dataset', 'one-field', '--field', 'stored'])).out).toBe('1\n');
    expect(await cli('upload', [path, '--dataset', 'one-field', '--field', 'uploaded'])).toMatchObject({
      code: exitCodes.usage,
      notes: expect.stringMatching(/no field uploaded.*Nothing was sent/),
    });
    expect((await cli('watch', ['first', '--field', 'status'])).out).toBe('completed\n');
    expect((await cli('version', ['--field', 'node'])).out).toBe(`${process.versions.node}\n`);
    expect((await cli('doctor', ['--field', 'ok'])).out).toBe('true\n');
    const answer = ['benchtop/tutor-base', 'hello', '--max-tokens', '2', '--field', 'choices.0.message.role'];
    expect((await cli('chat', answer)).out).toBe('assistant\n');
  });

  it('reports an unset option of a run as an error, and an unset field of the contract as null (C22)', async () => {
    expect(await cli('get', ['run', 'first', '--field', 'options.foo'])).toMatchObject({
      code: exitCodes.usage,
      notes: expect.stringContaining('no field options.foo'),
    });
    expect(await cli('get', ['run', 'first', '--field', 'failure.code'])).toMatchObject({ code: 0, out: 'null\n' });
  });

  it('refuses a field that held-out rewards never have (attack27 B1)', async () => {
    const [unknown, known] = [
      ['bset.reward', 'best.reward.x', 'best.interval.lo', 'toString'],
      ['best.reward', 'last.interval.confidence', 'best.split', 'failed_rounds'],
    ];
    const read = (command: 'get' | 'watch', field: string) => cli(command, ['first', '--field', `held_out.${field}`]);
    // An evaluation run has no held-out rewards; `watch` takes the fields of all that it may name.
    for (const [command, fields] of [
      ['get', [...unknown, ...known]],
      ['watch', unknown],
    ] as const) {
      for (const field of fields) {
        const { code, out, notes } = await read(command, field);
        expect([code, out]).toEqual([exitCodes.usage, '']);
        expect(notes).toContain(`There is no field held_out.${field} in the output.`);
      }
    }
    for (const field of known) expect(await read('watch', field)).toMatchObject({ code: 0, out: 'null\n' });
  });

  it('is previewed by --dry-run of upload and api, without sending (C17)', async () => {
    const path = file(rollout('dry'), { trace_id: 'empty' });
    const before = (await cli('list', ['datasets', '--ids'])).out;
    const dry = await cli('upload', [path, '--dataset', 'dry', '--dry-run', '--json']);
    expect(JSON.parse(dry.out)).toMatchObject({ dataset: 'dry', trajectories: 2, unreadable: [] });
    expect((await cli('list', ['datasets', '--ids'])).out).toBe(before);
    const broken = join(testFolder(), 'broken.jsonl');
    writeFileSync(broken, `${JSON.stringify(rollout('a'))}\n{"trace_id":\n`);
    expect(await cli('upload', [broken, '--dataset', 'dry', '--dry-run'])).toMatchObject({
      code: exitCodes.usage,
      out: expect.stringMatching(/^1 trajectory for the dataset dry, \d+ B\n$/),
      notes: expect.stringMatching(/^line 2: /),
    });
    const named = await cli('api', ['deleteTrainingRun', 'training_run_id=trn_1', '--dry-run', '--json']);
    expect(JSON.parse(named.out)).toMatchObject([{ method: 'DELETE', path: '/api/v1/train/trn_1' }]);
    const raw = await cli('api', ['POST', '/api/v9/notes', '-f', 'text=hello', '--dry-run', '--json']);
    expect(JSON.parse(raw.out)).toEqual([{ method: 'POST', path: '/api/v9/notes', body: { text: 'hello' } }]);
  });
});

it('completions remember what both lists and uploads returned (C26)', async () => {
  const offered = async (word: string): Promise<string[]> =>
    (await cli('__complete', ['evaluate', word])).out.split('\n').flatMap(line => line.split('\t')[0] || []);
  const folder = testFolder();
  const task = { split: 'test', input_messages: [{ role: 'user', content: 'say t' }], run_command: 'answer' };
  const grader = { kind: 'word_share', letter: 't' };
  const manifest = { name: 'capitals-2', label: 'capitals-2', tasks: [{ ...task, name: 'a', grader }] };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  expect((await cli('upload', [folder])).code).toBe(exitCodes.done);
  expect(await offered('')).toEqual(expect.arrayContaining(['t-words', 'capitals-2']));
  expect(await offered('capitals-')).toEqual(['capitals-2']);
});

describe('a record has what the text shows (C6)', () => {
  it('for a training run: its progress and its rewards', async () => {
    await cli('train', ['t-words', '-m', 'benchtop/tutor-base', '--name', 'trained', '-o', 'num_steps=2', '--wait']);
    const record = JSON.parse((await cli('get', ['training', 'trained', '--json'])).out);
    expect(record).toMatchObject({ completed_steps: 2, total_steps: 2, trainer_reward: expect.any(Number) });
    expect((await cli('get', ['training', 'trained', '--field', 'total_steps'])).out).toBe('2\n');
  });

  it('for a benchmark: whether it is ready', async () => {
    const record = JSON.parse((await cli('get', ['benchmark', 't-words', '--json'])).out);
    expect(record).toMatchObject({ ready: true, missing_secret_names: [] });
    expect((await cli('get', ['benchmark', 't-words', '--field', 'ready'])).out).toBe('true\n');
  });

  it('for an evaluation run: its mean, and the number of rewards', async () => {
    const record = JSON.parse((await cli('get', ['run', 'first', '--json'])).out);
    expect(record).toMatchObject({ mean: expect.any(Number), graded: 28, total_rollouts: 28 });
  });

  it('for a failure: the reason, in watch too', async () => {
    const failure = { type: 'execution', code: 'nccl', message: 'NCCL watchdog timeout' };
    const run = { eval_run_id: 'evr_1', bench_id: 'b', display_name: 'long', status: 'failed', failure };
    const server = await hostileServer(json(run));
    const remote = cliOn({ baseUrl: server.url, apiKey: 'key-0123456789' });
    expect((await remote('watch', ['evr_1'])).out).toMatch(/ {2}long {2}failed.*: NCCL watchdog timeout\n$/);
    expect(JSON.parse((await remote('watch', ['evr_1', '--json'])).out)).toMatchObject({ status: 'failed', failure });
  });
});

it('names the flag if a reward is refused for its token (C18)', async () => {
  const server = await hostileServer(refusal(401, 'authentication_error', 'authentication_required'));
  const remote = cliOn({ baseUrl: server.url, apiKey: 'key-0123456789' });
  expect(await remote('reward', ['traj_1', 'good', '1'])).toMatchObject({
    code: exitCodes.forbidden,
    notes: expect.stringContaining('--token-env NAME takes it from a variable'),
  });
});

it('names the id for a retry if the answer to a reward is lost (A11)', async () => {
  const failing = refusal(500, 'api_error', 'internal_error', {}, { 'x-should-retry': 'false' });
  const server = await hostileServer(failing);
  const remote = cliOn({ baseUrl: server.url, apiKey: 'key-0123456789' });
  const sent = () => String((JSON.parse(server.requests.at(-1)?.body ?? '') as { reward_id: unknown }).reward_id);
  const { notes } = await remote('reward', ['traj_1', 'good', '1']);
  expect(notes).toContain(`To send it again, add --reward-id ${sent()}: the service may count each id only once.`);
  const asJson = await remote('reward', ['traj_1', 'good', '1', '--json']);
  expect(JSON.parse(asJson.notes)).toMatchObject({ error: { context: { reward_id: sent() } } });
});

it('has an exit code for what the service does not offer (C20)', async () => {
  const server = await hostileServer(refusal(501, 'invalid_request_error', 'not_implemented'));
  const remote = cliOn({ baseUrl: server.url, apiKey: 'key-0123456789' });
  expect(await remote('list', ['secrets'])).toMatchObject({ code: exitCodes.unsupported });
});
