/** Writes with a lost response: their exit code never makes a script repeat them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { apiKey, type Behaviour, hostileServer, json, resetAfter, resetAtOnce } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

const ofModel = ['b1', '--model', 'acme/small', '--name', 'x'];
const writes: readonly (readonly [command: string, words: readonly string[], isSafe: boolean])[] = [
  ['evaluate', ofModel, false],
  ['train', ofModel, false],
  ['deploy', ['ckpt_1', '--slug', 's'], false],
  ['build', ['b1'], false],
  ['reward', ['traj_1', 'quality', '1'], false],
  ['api', ['POST', '/api/v1/things'], false],
  ['api', ['createSecret', 'name=A', 'value=b'], true],
  ['secret set', ['A'], true],
  ['cancel', ['trn_1', '--yes'], true],
  ['undeploy', ['dep_1', '--yes'], true],
  ['promote', ['dep_1', '--yes'], true],
];

/** Answers reads; a write gets this. */
const reading =
  (write: Behaviour): Behaviour =>
  (response, request) => {
    const { method, url } = request;
    if (method !== 'GET') return write(response, request);
    if (url.includes('/train/')) return json({ training_run_id: 'trn_1', status: 'running' })(response, request);
    if (url.includes('/deploy/'))
      return json({ deployment_id: 'dep_1', model_slug: 's', status: 'DEPLOYED', role: 'test' })(response, request);
    if (/\/benchmarks(\/b1)?$/.test(url.split('?')[0] ?? ''))
      return json(url.includes('/b1') ? { bench_id: 'b1', label: 'b' } : { items: [{ bench_id: 'b1', label: 'b' }] })(
        response,
        request,
      );
    return json({ error: { type: 'invalid_request_error', code: 'resource_not_found', message: 'No.' } }, 404)(
      response,
      request,
    );
  };

const failed = { error: { type: 'api_error', code: 'internal_error', message: 'Out of luck' } };

it.each<[string, Behaviour]>([
  ['lost', resetAtOnce],
  ['cut', resetAfter('{"ok":')],
  ['500', json(failed, 500, { 'service-should-retry': 'false' })],
  ['503', json(failed, 503, { 'service-should-retry': 'false' })],
])('reports an unknown outcome for a write whose answer was %s, and whether a retry is safe (A2)', async (_, lost) => {
  for (const [command, words, isSafe] of writes) {
    const { url } = await hostileServer(reading(lost));
    const cli = cliOn({ baseUrl: url, apiKey, home: testFolder() });
    const { code, notes } = await cli(command, words, { input: 'value' });
    expect([command, code]).toEqual([command, exitCodes.endUnseen]);
    expect(notes).toMatch(
      isSafe
        ? /It may have happened anyway\. It is safe to repeat\./
        : /It may have happened anyway: check before you repeat it\./,
    );
  }
});

it('may retry a write that was never sent, or that hit the rate limit', async () => {
  const nobody = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey, home: testFolder() });
  const limited = json({ error: { type: 'rate_limit_error', code: 'rate_limited', message: 'Slow down' } }, 429, {
    'service-should-retry': 'false',
  });
  const { url } = await hostileServer(reading(limited));
  const busy = cliOn({ baseUrl: url, apiKey, home: testFolder() });
  for (const cli of [nobody, busy]) {
    const { code, notes } = await cli('api', ['createSecret', 'name=A', 'value=b']);
    expect([code, notes]).toEqual([exitCodes.unreachable, expect.not.stringContaining('may have happened')]);
  }
});

it.each<[string, Behaviour]>([
  ['a bare body', json({ detail: 'Method Not Allowed' }, 405)],
  ['an envelope', json({ error: { type: 'invalid_request_error', code: 'validation_error', message: 'No' } }, 405)],
  ['the type api_error', json(failed, 405)],
])('takes a 405 with %s to mean that the service does not offer the operation (B2)', async (_, refused) => {
  const { url } = await hostileServer(reading(refused));
  const cli = cliOn({ baseUrl: url, apiKey, home: testFolder() });
  for (const [command, words] of writes) {
    const { code, notes } = await cli(command, words, { input: 'value' });
    expect([command, code]).toEqual([command, exitCodes.unsupported]);
    expect(notes).toMatch(/This service (does not|cannot) /);
    expect(notes).not.toMatch(/Check the request|may have happened/);
  }
  const reads = await hostileServer(refused);
  expect((await cliOn({ baseUrl: reads.url, apiKey })('list', ['benchmarks'])).code).toBe(exitCodes.unsupported);
});

it.each([
  ['a full disk', 'History cannot be saved: database or disk is full'],
  ['a state folder that cannot be used', 'History is kept only while the program runs: '],
])('sends no start or reward that it cannot record because of %s (A1)', async (fault, why) => {
  const { url, requests } = await hostileServer(
    reading(json({ eval_run_id: 'evr_1', training_run_id: 'trn_1', deployment_id: 'dep_1' })),
  );
  const home = testFolder();
  const cli = cliOn({ baseUrl: url, apiKey, home });
  const state = join(home, '.local', 'state');
  if (fault === 'a full disk') {
    await cli('list', ['benchmarks']);
    const database = new DatabaseSync(join(state, 'benchtop', 'remembered.db'));
    database.exec(`create trigger full before insert on starts
      begin select raise(abort, 'database or disk is full'); end`);
    database.close();
  } else {
    mkdirSync(join(home, '.local'));
    writeFileSync(state, '');
  }
  const sent = () => requests.filter(({ method }) => method === 'POST').length;
  for (const [command, words] of [
    ['evaluate', ofModel],
    ['train', ofModel],
    ['deploy', ['ckpt_1', '--slug', 's']],
    ['reward', ['traj_1', 'quality', '1']],
    ['evaluate', ['b1', '--model', 'acme/small', '--seed', '1-3']],
  ] as const) {
    const { code, out, notes } = await cli(command, words);
    expect([code, out, sent()]).toEqual([exitCodes.failed, '', 0]);
    expect(notes).toMatch(`Nothing was sent: it cannot be recorded, and a repeat could do it twice. ${why}`);
    expect(notes.match(/(--idempotency-key KEY|--reward-id ID) sends it without a record/g)).toHaveLength(1);
  }
  expect((await cli('evaluate', [...ofModel, '--idempotency-key', 'mine'])).code).toBe(exitCodes.done);
  expect(sent()).toBe(1);
});
