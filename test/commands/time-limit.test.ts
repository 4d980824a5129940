/** `--timeout` holds from the start of a command to its end, and started work is always named. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { missingSecrets } from '../../src/commands/readiness.ts';
import { NetworkError } from '../../src/service/errors.ts';
import { fakeService } from '../service/fake-service.ts';
import { type Behaviour, hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn, testFolder, timeIsUp } from './cli.ts';

const silent: Behaviour = () => {};
const time = '2026-01-01T00:00:00Z';
const benchmark = { bench_id: 'bench_1', label: 'words', created_at: time, rollout_ready: true };
const run = { eval_run_id: 'evr_1', bench_id: 'bench_1', status: 'running', created_at: time };

/** A service that answers by method and path, and is otherwise silent: then the time is up. */
async function cliTo(answers: Readonly<Record<string, unknown>>, otherwise = silent) {
  let isUp = (): void => {};
  const server = await hostileServer((response, request) => {
    const path = `${request.method} ${request.url.replace(/\?.*/, '')}`;
    const isKnown = Object.hasOwn(answers, path);
    const answer = isKnown ? json(answers[path]) : otherwise;
    if (answer === silent) isUp();
    return answer(response, request);
  });
  const cli: ReturnType<typeof cliOn> = (...command) => {
    isUp = timeIsUp();
    return cliOn({ baseUrl: server.url, apiKey: 'key' })(...command);
  };
  return { cli, requests: server.requests, isUp: () => isUp() };
}

const start = ['bench_1', '-m', 'acme/m', '--name', 'first', '--wait'];
const knownAnswers = { 'GET /api/v1/benchmarks/bench_1': benchmark };

it('ends if a name cannot be looked up in time: nothing was started', async () => {
  const { cli, requests } = await cliTo({});
  const { code, out, notes } = await cli('evaluate', [...start, '--timeout', '0.5']);
  expect({ code, out }).toEqual({ code: exitCodes.timeout, out: '' });
  expect(notes).toContain('The service did not respond within 0.5 seconds. Nothing was started.');
  expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect((await cli('watch', ['evr_1', '--timeout', '0.5'])).code).toBe(exitCodes.timeout);
});

it('ends if the start is not answered in time: the run may have started', async () => {
  const { cli, requests } = await cliTo(knownAnswers);
  const { code, out, notes } = await cli('evaluate', [...start, '--timeout', '2']);
  expect({ code, out }).toEqual({ code: exitCodes.timeout, out: '' });
  expect(notes).toContain('It is not known whether it was started');
  expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

it('names what it has started if the service is gone since, and says that its end is unknown', async () => {
  const { cli } = await cliTo({ ...knownAnswers, 'POST /api/v1/eval/bench_1/start': run });
  const { code, out, notes } = await cli('evaluate', [...start, '--timeout', '3']);
  expect({ code, out }).toEqual({ code: exitCodes.timeout, out: 'evr_1\n' });
  expect(notes).toMatch(/first may still be running: the service no longer responds, so its state is unknown\./);
  expect(notes).not.toContain('is still running after');
});

it.each([['evr_1'], []])(
  'blames the rate limit if that took the time, not a silent service (C20): watch %s',
  async (...args) => {
    const server = await hostileServer(refusal(429, 'rate_limit_error', 'rate_limited', {}, { 'Retry-After': '30' }));
    const isUp = timeIsUp();
    const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
    const { code, notes } = await cli('watch', [...args, '--timeout', '1', '--debug'], {
      // The attempt is over.
      onNote: text => text.includes('): 429 ') && setImmediate(isUp),
    });
    expect(code).toBe(exitCodes.timeout);
    expect(notes).toMatch(/The service is rate limiting requests until \d\d:\d\d:\d\d/);
    expect(notes).not.toMatch(/did not respond|no longer responds|is still running/);
  },
);

it('does not call a run with an unknown status running', async () => {
  const trained = { training_run_id: 'trn_1', bench_id: 'bench_1', status: 'done', completed_steps: 2, total_steps: 2 };
  let looks = 0;
  const { cli, isUp } = await cliTo({}, (response, request) => {
    if (request.url.endsWith('/progress')) looks += 1;
    if (looks === 3) isUp();
    const isCurve = request.url.includes('/step/');
    return json(isCurve ? { trainer_rewards: [], held_out_rewards: [] } : trained)(response, request);
  });
  const { code, notes } = await cli('watch', ['trn_1', '--timeout', '3']);
  expect(notes.match(/benchtop does not know the status done: waiting for another status/g)).toHaveLength(1);
  expect(notes).toContain('benchtop does not know the status done, so its outcome is unknown.');
  expect(notes).not.toContain('is still running');
  expect(code).toBe(exitCodes.endUnseen);
});

it('names what it has started if its status is refused later', async () => {
  const { cli } = await cliTo({ ...knownAnswers, 'POST /api/v1/eval/bench_1/start': run }, json({}, 403));
  const { code, out } = await cli('evaluate', [...start, '--timeout', '20']);
  expect({ code, out }).toEqual({ code: exitCodes.forbidden, out: 'evr_1\n' });
});

it.each([
  ['in time', undefined, 'reward_mean', { code: exitCodes.done, out: '0.5\n' }],
  ['at all', 403, 'reward_mean', { code: exitCodes.done, out: '0.5\n' }],
  ['at all', 403, 'reward_count', { code: exitCodes.endUnseen, out: '' }],
])('takes the end it has seen if that is not answered again %s (%s): %s', async (_, later, field, expected) => {
  const answers: Record<string, unknown> = {
    ...knownAnswers,
    'POST /api/v1/eval/bench_1/start': run,
    'GET /api/v1/eval/evr_1': { ...run, status: 'completed', reward_mean: 0.5 },
  };
  const { cli, isUp } = await cliTo(answers, (response, request) => {
    if (!request.url.endsWith('/evr_1')) return json({}, 404)(response, request);
    return later === undefined ? isUp() : json({}, later)(response, request);
  });
  const forget = (note: string): void => {
    if (note.includes('completed')) delete answers['GET /api/v1/eval/evr_1'];
  };
  const words = [...start, '--timeout', '20', '--field', field];
  const { notes, ...outcome } = await cli('evaluate', words, { onNote: forget });
  expect(outcome).toEqual(expected);
  expect(notes).toContain('first: its record could not be read again');
});

it('uses the status of the service for --until if the rewards cannot be read', async () => {
  const ended = { ...run, status: 'completed' };
  const { cli } = await cliTo({ 'GET /api/v1/eval/evr_1': ended }, json({}, 403));
  expect(await cli('watch', ['evr_1', '--until', 'rewards=9'])).toMatchObject({
    code: exitCodes.done,
    out: expect.stringContaining('completed'),
  });
});

it('does not blame the arguments of a command that has started something', async () => {
  const { cli } = await cliTo({ ...knownAnswers, 'POST /api/v1/eval/bench_1/start': run }, json({}, 422));
  const { code, out } = await cli('evaluate', [...start, '--timeout', '20']);
  expect({ code, out }).toEqual({ code: exitCodes.failed, out: 'evr_1\n' });
});

it('gives the reason of a refusal, even if the secrets that explain it cannot be read in time', async () => {
  const conflict = refusal(409, 'conflict_error', 'not_ready', { message: 'The benchmark is not ready.' });
  const { cli, requests, isUp } = await cliTo(knownAnswers, (response, request) => {
    if (request.method === 'POST') return conflict(response, request);
    isUp();
  });
  const { code, out, notes } = await cli('evaluate', [...start, '--timeout', '2']);
  expect(requests.at(-1)?.url).toContain('readiness');
  expect({ code, out }).toEqual({ code: exitCodes.failed, out: '' });
  expect(notes).toContain('The benchmark is not ready.');
  expect(notes).not.toContain('did not respond');
});

it('uploads nothing if the service does not answer in time', async () => {
  const { cli } = await cliTo({});
  const folder = testFolder();
  writeFileSync(
    join(folder, 'manifest.json'),
    JSON.stringify({ name: 'words', tasks: [{ name: 'a', run_command: 'x' }] }),
  );
  const { code, out, notes } = await cli('upload', [folder, '--wait', '--timeout', '0.5']);
  expect({ code, out }).toEqual({ code: exitCodes.timeout, out: '' });
  expect(notes).toContain('The service did not respond within 0.5 seconds. Nothing was uploaded.');
});

it.each([
  ['watch', ['bench_1']],
  ['build', ['bench_1', '--wait']],
])('%s says how it ended, even if it is stopped while it reads the reason', async (command, args) => {
  const stop = new AbortController();
  const readiness = { ready: false, missing_secret_names: ['TOKEN'], unready_task_image_counts: {} };
  const { cli, requests } = await cliTo(
    {
      ...knownAnswers,
      'GET /api/v1/benchmarks/bench_1/readiness': readiness,
      'POST /api/v1/benchmarks/bench_1/images/build': { images: [] },
    },
    () => stop.abort(),
  );
  const { code, notes } = await cli(command, args, { signal: stop.signal });
  expect(requests.at(-1)?.url).toMatch(/bench_1(\/images)?$/);
  expect(code).toBe(exitCodes.failed);
  expect(notes).not.toContain('keeps running');
});

it('uploads nothing once it is stopped, even if that came before the upload began', async () => {
  const { cli, requests } = await cliTo({}, json({}));
  const path = join(testFolder(), 'talk.jsonl');
  writeFileSync(path, `${JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] })}\n`);
  const { code, notes } = await cli('upload', [path, '--dataset', 'talks'], { signal: AbortSignal.abort() });
  expect(code).toBe(exitCodes.interrupted);
  expect(notes).toContain('Stopped.');
  expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

it('keeps the result if it is stopped while it reads an explanation', async () => {
  const service = fakeService({
    getBenchmarkReadiness: () => {
      throw new NetworkError('The line is cut.', {});
    },
  });
  const readUntil = (signal: AbortSignal) => missingSecrets('bench_1', { service, signal });
  expect(await readUntil(AbortSignal.abort())).toEqual({ names: [], notes: [] });
  expect((await readUntil(new AbortController().signal)).notes).toEqual([expect.stringContaining('The line is cut.')]);
});

it('prints the progress of an unfinished run in the service’s own terms', async () => {
  const deployment = { deployment_id: 'dep_1', model_slug: 'm3', status: 'MERGING' };
  const { cli } = await cliTo({ 'GET /api/v1/deploy/dep_1': deployment });
  const { code, notes } = await cli('watch', ['dep_1', '--timeout', '6'], { onPrint: timeIsUp() });
  expect(code).toBe(exitCodes.timeout);
  expect(notes).toContain('m3 is still merging after 6 seconds, and continues.');
});
