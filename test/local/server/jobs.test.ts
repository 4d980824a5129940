/** Jobs of the local service run independently: one that hangs delays no other, and cancelling ends it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { JobAttempts } from '../../../src/local/store/job-attempts.ts';
import { eventually } from '../../eventually.ts';
import { startService, type TestService, until } from './running.ts';

/** Requests to a model server that accepts them and never answers. */
const hangingRequests: IncomingMessage[] = [];
const hanging = createServer(request => void hangingRequests.push(request));
let service: TestService;
let benchId: string;

beforeAll(async () => {
  hanging.listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  const { port } = hanging.address() as AddressInfo;
  service = await startService({ upstream: { url: `http://127.0.0.1:${port}`, key: undefined } });
  benchId = await service.readyBenchmark('t-words');
});
afterAll(async () => {
  await service.end();
  hanging.closeAllConnections();
  hanging.close();
});

async function start(model_slug: string): Promise<string> {
  const path = `/api/v1/eval/${benchId}/start`;
  return (await service.call('POST', path, { display_name: model_slug, model_slug })).body.eval_run_id;
}
const statusOf = async (runId: string) => (await service.call('GET', `/api/v1/eval/${runId}`)).body.status;

async function hung(): Promise<string> {
  hangingRequests.length = 0;
  const runId = await start('elsewhere');
  await eventually(() => expect(hangingRequests).not.toEqual([]));
  return runId;
}

describe('an evaluation with a hung model server', () => {
  it('does not block other evaluations (V3)', async () => {
    const hangs = await hung();
    const local = await start('benchtop/tutor-base');
    await until(
      () => statusOf(local),
      status => status === 'completed',
    );
    expect(await statusOf(hangs)).toBe('running');
    await service.call('POST', `/api/v1/eval/${hangs}/cancel`);
  });

  it.each([
    ['cancelled', 'POST', '/cancel'],
    ['deleted', 'DELETE', ''],
  ])('ends at once when it is %s (V3)', async (_, method, path) => {
    const runId = await hung();
    const closed = Promise.all(hangingRequests.map(async ({ socket }) => socket.destroyed || once(socket, 'close')));
    expect((await service.call(method, `/api/v1/eval/${runId}${path}`)).status).toBe(200);
    await closed;
  });
});

it('says in the record that a job waits for disk space, and resumes it later', async () => {
  const full = vi.spyOn(JobAttempts.prototype, 'begin').mockImplementation(() => {
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  });
  const report = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => {
    full.mockRestore();
    report.mockRestore();
  });
  const runId = await start('benchtop/tutor-base');
  const recordOf = async () => (await service.call('GET', `/api/v1/eval/${runId}`)).body;
  const waits = 'The disk of this machine is full. It continues on its own once there is some space.';
  await eventually(async () => expect(await recordOf()).toMatchObject({ waits_because: waits }));
  const runs = (await service.call('GET', `/api/v1/eval/${benchId}/runs`)).body;
  expect(runs.find((run: { eval_run_id: string }) => run.eval_run_id === runId)).toMatchObject({
    waits_because: waits,
  });
  full.mockRestore();
  await until(recordOf, ({ status, waits_because }) => status === 'completed' && waits_because === null);
});
