/** Integers above 2^53, such as 64-bit seeds and ids, stay exact everywhere in the program (A6). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parseExactly } from '../../src/base/exact-json.ts';
import { exitCodes } from '../../src/commands/exit.ts';
import { redactDeep } from '../../src/config/redaction.ts';
import { planUpload } from '../../src/uploads/benchmark-plan.ts';
import { startService } from '../local/server/running.ts';
import { apiKey, type Behaviour, hostileServer } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

const [seed, id, other] = ['12345678901234567890', '-9007199254740993', '98765432109876543210'];

const messages = `[{"role":"user","content":"q","seq":${id}}]`;
const rollout = `{"messages":${messages},"metadata":{"seed":${seed}},"other":[${other}]}`;

const answering =
  (body: string): Behaviour =>
  response => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(body);
  };

it('are printed as a service sends them', async () => {
  const steps = `[{"messages":${messages}}]`;
  const record = `{"trajectory_id":"traj_1","model_id":${seed},"num_steps":${other},"seed":${seed},"steps":${steps}}`;
  const { url } = await hostileServer(answering(record));
  const cli = cliOn({ baseUrl: url, apiKey });
  for (const [verb, ...args] of [
    ['get', 'traj_1', '--json'],
    ['export', 'traj_1'],
    ['api', '/other', '--json'],
  ]) {
    const { out } = await cli(verb ?? '', args);
    for (const each of [seed, id, other]) expect(out).toContain(each);
    expect(out).not.toContain('rawJSON');
  }
  expect((await cli('get', ['traj_1', '--field', 'seed'])).out).toBe(`${seed}\n`);
  const { out } = await cli('get', ['traj_1']);
  expect(out).toMatch(new RegExp(`seed +${seed}\n`));
  expect(out).toContain(`{"num_steps":${other}}`);
});

it('are reported if a field takes only exact numbers', async () => {
  const { url } = await hostileServer(answering(`{"eval_run_id":"evr_1","terminal_rollouts":${seed}}`));
  const { code, notes } = await cliOn({ baseUrl: url, apiKey })('api', ['getEvalProgress', 'eval_run_id=evr_1']);
  expect(code).not.toBe(exitCodes.done);
  expect(notes).toContain('terminal_rollouts must be an integer below 2^53, or it would be rounded');
});

it('stay unchanged in output with secrets removed', () => {
  const record = `{"context":{"seed":${seed}}}`;
  expect(JSON.stringify(redactDeep(parseExactly(record), text => text))).toBe(record);
});

it('are sent as in the manifest', async () => {
  const folder = testFolder();
  const task = `{"name":"a","run_command":"x","environment":{"SEED":${seed}},"grader":{"expected":${id}}}`;
  writeFileSync(join(folder, 'manifest.json'), `{"name":"b","tasks":[${task}]}`);
  const sent = JSON.stringify((await planUpload(folder)).manifest);
  expect(sent).toContain(`{"SEED":${seed}},"grader":{"expected":${id}}`);
});

it('are stored by the local service, found there and in files, and exported', async () => {
  const service = await startService();
  onTestFinished(() => service.end());
  const cli = cliOn(service);
  const path = join(testFolder(), 'big.jsonl');
  writeFileSync(path, rollout);
  expect((await cli('upload', [path, '--dataset', 'big'])).out).toBe('1 stored, 0 skipped, 0 failed\n');
  const { out } = await cli('export', ['big']);
  expect(out).toContain(`"metadata":{"seed":${seed}},"other":[${other}]`);
  expect(out).toContain(`"seq":${id}`);
  for (const place of ['big', path])
    for (const each of [seed, id, other])
      expect((await cli('search', [each, '--in', place])).code).toBe(exitCodes.done);

  const exported = join(testFolder(), 'exported.jsonl');
  writeFileSync(exported, out);
  expect((await cli('upload', [exported, '--dataset', 'big', '--new'])).out).toBe('0 stored, 1 skipped, 0 failed\n');
  writeFileSync(path, `{"reward":${seed},"messages":${messages}}`);
  const refused = await cli('upload', [path, '--dataset', 'big']);
  expect(`${refused.out}${refused.notes}`).toContain('reward: must be an integer below 2^53');
});

it('are allowed as values of variables in a local benchmark, but not in arithmetic', async () => {
  const service = await startService();
  onTestFinished(() => service.end());
  const cli = cliOn(service);
  const folder = join(testFolder(), 'bm');
  mkdirSync(folder);
  const write = (expected: string): void => {
    const grader = `"input_messages":[{"role":"user","content":"q"}],"grader":{"kind":"number","expected":${expected}}`;
    const task = `{"name":"a","run_command":"x","environment":{"SEED":${seed}},${grader}}`;
    writeFileSync(join(folder, 'manifest.json'), `{"name":"big","tasks":[${task}]}`);
  };
  write(id ?? '');
  const { notes } = await cli('upload', [folder]);
  expect(notes).toContain('tasks[0].grader.expected: must be an integer below 2^53, or it would be rounded');
  write('9');
  expect((await cli('upload', [folder])).code).toBe(exitCodes.done);
});
