/** `cancel --wait` and `undeploy --wait` on services that take their time, refuse, or go away. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { type Behaviour, hostileServer, json, refusal, text } from '../service/hostile-server.ts';
import { cliOn, testFolder, timeIsUp } from './cli.ts';

/** A service that gives the answers of each method and path in turn, the last one again and again. */
async function cliTo(answers: Readonly<Record<string, readonly Behaviour[]>>) {
  const given = new Map<string, number>();
  const server = await hostileServer((response, request) => {
    const path = `${request.method} ${request.url.replace(/\?.*/, '')}`;
    const turn = given.get(path) ?? 0;
    given.set(path, turn + 1);
    const script = Object.hasOwn(answers, path)
      ? (answers[path] ?? [])
      : [refusal(404, 'not_found_error', 'not_found')];
    return script[Math.min(turn, script.length - 1)]?.(response, request);
  });
  const folder = testFolder();
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ poll: { focusedSeconds: 1, visibleSeconds: 1 } }));
  return cliOn({ baseUrl: server.url, apiKey: 'key', home: folder });
}

const run = (id: string, status: string) => json({ eval_run_id: id, display_name: `run ${id}`, status });
const training = (status: string) => json({ training_run_id: 'trn_1', display_name: 'first', status });
const deployment = (id: string, more: object) => json({ deployment_id: id, model_slug: 'tutor', ...more });
const gone = refusal(404, 'invalid_request_error', 'resource_not_found');
const lines = (out: string): unknown[] =>
  out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));

it('cancel follows each run to its end, and counts a completed one as done', async () => {
  const cli = await cliTo({
    'GET /api/v1/eval/evr_1': [run('evr_1', 'running'), run('evr_1', 'cancelling'), run('evr_1', 'cancelled')],
    'POST /api/v1/eval/evr_1/cancel': [json({ eval_run_id: 'evr_1', status: 'cancelling' })],
    'GET /api/v1/eval/evr_2': [run('evr_2', 'running'), run('evr_2', 'failed')],
    'POST /api/v1/eval/evr_2/cancel': [refusal(409, 'conflict_error', 'run_already_terminal')],
    'GET /api/v1/train/trn_1': [training('running'), training('failed')],
    'POST /api/v1/train/trn_1/cancel': [json({ training_run_id: 'trn_1', status: 'cancel_signaled' })],
  });
  const both = await cli('cancel', ['evr_1', 'evr_2', '--yes', '--wait', '--json']);
  expect(both.code).toBe(exitCodes.done);
  expect(lines(both.out)).toEqual([
    { eval_run_id: 'evr_1', id: 'evr_1', kind: 'run', done: 'cancelled', status: 'cancelled' },
    { id: 'evr_2', kind: 'run', done: 'ended', status: 'failed' },
  ]);
  expect(lines(both.notes).map(line => (line as { note: string }).note)).toEqual([
    'run run evr_2 (evr_2) has already ended: failed.',
    'run evr_1: cancelling',
    'run evr_1: cancelled',
  ]);
  const failed = await cli('cancel', ['trn_1', '--yes', '--wait', '--json']);
  expect(failed.code).toBe(exitCodes.failed);
  expect(lines(failed.out)).toMatchObject([{ id: 'trn_1', kind: 'training-run', done: 'ended', status: 'failed' }]);
  expect(failed.notes).toContain('first: failed');
});

it('cancel says that a run which succeeded meanwhile ended, not that it was cancelled (C7)', async () => {
  const cli = await cliTo({
    'GET /api/v1/train/trn_1': [training('running'), training('succeeded')],
    'POST /api/v1/train/trn_1/cancel': [json({ training_run_id: 'trn_1', status: 'cancel_signaled' })],
  });
  const { code, out, notes } = await cli('cancel', ['trn_1', '--yes', '--wait', '--json']);
  expect([code, lines(out)]).toEqual([
    exitCodes.done,
    [{ training_run_id: 'trn_1', id: 'trn_1', kind: 'training-run', done: 'ended', status: 'succeeded' }],
  ]);
  expect(lines(notes)).toContainEqual(
    expect.objectContaining({
      note: 'training run first (trn_1) ended on its own before it could be cancelled: succeeded.',
    }),
  );
});

it('cancel follows a cancellation in progress, even if the service refuses another', async () => {
  const cli = await cliTo({
    'GET /api/v1/eval/evr_1': [run('evr_1', 'cancelling'), run('evr_1', 'cancelling'), run('evr_1', 'cancelled')],
    'POST /api/v1/eval/evr_1/cancel': [refusal(409, 'conflict_error', 'already_cancelling')],
  });
  const { code, out, notes } = await cli('cancel', ['evr_1', '--yes', '--wait', '--field', 'status']);
  expect({ code, out, notes }).toEqual({ code: exitCodes.done, out: 'cancelled\n', notes: 'run evr_1: cancelled' });
});

it('cancel counts an already failed run as ended, even if the service accepts the request', async () => {
  const cli = await cliTo({
    'GET /api/v1/eval/evr_1': [run('evr_1', 'failed')],
    'POST /api/v1/eval/evr_1/cancel': [json({ eval_run_id: 'evr_1', status: 'failed' })],
  });
  const { code, out, notes } = await cli('cancel', ['evr_1', '--yes', '--wait', '--field', 'done']);
  expect({ code, out }).toEqual({ code: exitCodes.done, out: 'ended\n' });
  expect(notes).toBe('run run evr_1 (evr_1) has already ended: failed.');
});

it('prints a label with line breaks on one line', async () => {
  const stop = new AbortController();
  const named = (status: string) => json({ training_run_id: 'trn_1', display_name: 'first\nbenchtop: done', status });
  const cli = await cliTo({
    'GET /api/v1/train/trn_1': [named('running'), () => stop.abort()],
    'POST /api/v1/train/trn_1/cancel': [json({ training_run_id: 'trn_1', status: 'cancelling' })],
  });
  const { code, notes } = await cli('cancel', ['trn_1', '--yes', '--wait'], { signal: stop.signal });
  expect(code).toBe(exitCodes.interrupted);
  expect(notes).toBe('first benchtop: done is still being cancelled.');
});

it('undeploy waits until each deployment is gone or inactive', async () => {
  const deployed = { status: 'DEPLOYED', is_active: false };
  const active = { status: 'DEPLOYED', is_active: true };
  const cli = await cliTo({
    'GET /api/v1/deploy/dep_1': [deployment('dep_1', deployed), deployment('dep_1', deployed), gone],
    'DELETE /api/v1/deploy/dep_1': [json({ deployment_id: 'dep_1', row_deleted: false })],
    'GET /api/v1/deploy/dep_2': [deployment('dep_2', active), deployment('dep_2', deployed)],
    'DELETE /api/v1/deploy/dep_2': [json({ deployment_id: 'dep_2', row_deleted: false })],
    'GET /api/v1/deploy/dep_3': [deployment('dep_3', active), deployment('dep_3', { status: 'FAILED' })],
    'DELETE /api/v1/deploy/dep_3': [json({ deployment_id: 'dep_3', row_deleted: false })],
  });
  const words = ['dep_1', 'dep_2', '--yes', '--wait', '--field', 'status'];
  const both = await cli('undeploy', words);
  expect(both).toMatchObject({ code: exitCodes.done, out: 'gone\ninactive\n' });
  expect(both.notes).toContain('tutor, dep_1: deployed');
  expect(await cli('undeploy', ['dep_3', '--yes', '--wait', '--field', 'done'])).toEqual({
    code: exitCodes.failed,
    out: 'requested\n',
    notes: 'tutor, dep_3: failed',
  });
  // This service lists no deployments: a slug alone could name another than the one that was seen here.
  expect(await cli('undeploy', ['tutor', '--yes'])).toMatchObject({ code: exitCodes.usage, out: '' });
});

it.each([
  ['another', [{ deployment_id: 'dep_2', checkpoint_step: 15, is_active: true }], 'dep_2 (step 15) serves tutor now.'],
  ['none', [{ deployment_id: 'dep_2', is_active: false }], 'Nothing serves tutor now.'],
  ['none, in a list that is behind', [{ deployment_id: 'dep_1', is_active: true }], 'Nothing serves tutor now.'],
])('undeploy says what serves the slug now: %s', async (_, left, words) => {
  const rows = left.map(row => ({ ...row, model_slug: 'tutor', status: 'DEPLOYED' }));
  const cli = await cliTo({
    'GET /api/v1/deploy': [json({ items: rows, has_more: false })],
    'GET /api/v1/deploy/dep_1': [deployment('dep_1', { status: 'DEPLOYED', is_active: false }), gone],
    'DELETE /api/v1/deploy/dep_1': [json({ deployment_id: 'dep_1', row_deleted: true })],
  });
  const { code, notes } = await cli('undeploy', ['dep_1', '--yes', '--wait']);
  expect(code).toBe(exitCodes.done);
  expect(notes.split('\n').at(-1)).toBe(words);
});

it('undeploy --yes reads the record once, even if the deployment may be in production', async () => {
  let reads = 0;
  const cli = await cliTo({
    'GET /api/v1/deploy/dep_1': [
      (response, request) => {
        reads += 1;
        return deployment('dep_1', { status: 'DEPLOYED' })(response, request);
      },
    ],
    'DELETE /api/v1/deploy/dep_1': [json({ deployment_id: 'dep_1', row_deleted: true })],
  });
  expect(await cli('undeploy', ['dep_1', '--yes'])).toMatchObject({ code: exitCodes.done, out: 'dep_1\n' });
  expect(reads).toBe(1);
});

it('undeploy says if only the record was kept, and that an empty answer is unclear', async () => {
  const cli = await cliTo({
    'GET /api/v1/deploy/dep_1': [deployment('dep_1', { status: 'DEPLOYED' })],
    'DELETE /api/v1/deploy/dep_1': [json({ deployment_id: 'dep_1', row_deleted: false })],
    'GET /api/v1/deploy/dep_2': [deployment('dep_2', { status: 'DEPLOYED' })],
    'DELETE /api/v1/deploy/dep_2': [text('')],
  });
  const kept = 'torn down; the service kept its record';
  expect(await cli('undeploy', ['dep_1', '--yes'])).toMatchObject({
    code: exitCodes.done,
    out: 'dep_1\n',
    notes: expect.stringContaining(`: ${kept}`),
  });
  const { out } = await cli('undeploy', ['dep_1', '--yes', '--json']);
  expect(JSON.parse(out)).toMatchObject({ id: 'dep_1', done: kept, row_deleted: false });
  expect(await cli('undeploy', ['dep_2', '--yes'])).toMatchObject({
    code: exitCodes.endUnseen,
    out: '',
    notes: expect.stringMatching(/is empty\..*may have/),
  });
});

it('reward reports a refusal inside a successful answer, and an empty answer', async () => {
  const path = 'POST /api/v1/trajectories/traj_1/rewards';
  const cli = await cliTo({ [path]: [json({ ok: false, status: 'rejected' }), text('')] });
  expect(await cli('reward', ['traj_1', 'quality', '1'])).toMatchObject({
    code: exitCodes.failed,
    out: '',
    notes: expect.stringContaining('did not log the reward, with the status rejected'),
  });
  const unreported = await cli('reward', ['traj_1', 'quality', '1', '--json']);
  expect(unreported).toMatchObject({ code: exitCodes.endUnseen, out: '' });
  expect(JSON.parse(unreported.notes).error).toMatchObject({ code: 'answer_empty', outcome_unknown: true });
});

it('undeploy waits without a status, and prints none, until the deployment is gone (issue 16, open 5)', async () => {
  const unreported = deployment('dep_1', {});
  const cli = await cliTo({
    'GET /api/v1/deploy/dep_1': [unreported, unreported, unreported, unreported, unreported, gone],
    'DELETE /api/v1/deploy/dep_1': [json({ deployment_id: 'dep_1', row_deleted: false })],
  });
  expect(await cli('undeploy', ['dep_1', '--yes', '--wait', '--field', 'status'])).toEqual({
    code: exitCodes.done,
    out: 'gone\n',
    notes: 'tutor, dep_1: no status\ntutor, dep_1: gone',
  });
});

it('prints the ids when --timeout expires, whether the service answers or not', async () => {
  let isUp = (): void => {};
  const cli = await cliTo({
    'GET /api/v1/train/trn_1': [training('running'), training('cancelling')],
    'POST /api/v1/train/trn_1/cancel': [json({ training_run_id: 'trn_1', status: 'cancelling' })],
    'GET /api/v1/deploy/dep_1': [deployment('dep_1', { status: 'DEPLOYED' }), () => isUp()],
    'DELETE /api/v1/deploy/dep_1': [json({ deployment_id: 'dep_1' })],
  });
  isUp = timeIsUp();
  const answered = await cli('cancel', ['trn_1', '--yes', '--wait', '--timeout', '1'], {
    onNote: text => text.includes('first: cancelling') && isUp(),
  });
  expect(answered).toMatchObject({ code: exitCodes.timeout, out: 'trn_1\n' });
  expect(answered.notes).toContain('first is still being cancelled after 1 second.');
  isUp = timeIsUp();
  const lost = await cli('undeploy', ['dep_1', '--yes', '--wait', '--timeout', '2']);
  expect(lost).toMatchObject({ code: exitCodes.timeout, out: 'dep_1\n' });
  expect(lost.notes).toContain(
    'tutor, dep_1 may not be undeployed yet: the service no longer responds, so its state is unknown.',
  );
});

it('says when --timeout expires what was not changed, and what may have been', async () => {
  let isUp = (): void => {};
  const cli = await cliTo({
    'GET /api/v1/train/trn_1': [() => isUp()],
    'GET /api/v1/eval/evr_1': [run('evr_1', 'running')],
    'POST /api/v1/eval/evr_1/cancel': [() => isUp()],
  });
  const waiting = ['--yes', '--wait', '--timeout', '1'];
  isUp = timeIsUp();
  const unread = await cli('cancel', ['trn_1', ...waiting]);
  expect(unread).toMatchObject({ code: exitCodes.timeout, out: '' });
  expect(unread.notes).toBe('benchtop: The service did not respond within 1 second. Nothing was cancelled.');
  isUp = timeIsUp();
  const unknown = await cli('cancel', ['evr_1', ...waiting]);
  expect(unknown).toMatchObject({ code: exitCodes.timeout, out: '' });
  expect(unknown.notes).toBe(
    'benchtop: The service did not respond within 1 second: it is not known whether run run evr_1 (evr_1) was cancelled. Check before you repeat it.',
  );
});
