/** A job that crashes the service twice is set aside, and the service stays usable. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../eventually.ts';
import { Killable } from './killable.ts';

let service: Killable;
/** A model server that accepts requests and never answers. */
const hanging = createServer();
const connections = (): Promise<number> => promisify(hanging.getConnections.bind(hanging))();
beforeAll(async () => {
  hanging.listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  service = new Killable(`http://127.0.0.1:${(hanging.address() as AddressInfo).port}`);
  await service.start();
});
afterAll(() => {
  service.end();
  hanging.closeAllConnections();
  hanging.close();
});

it('sets aside a run that was running at two kills, and says so (X1)', async () => {
  const benchId = await service.readyBenchmark('t-words');
  const started = await service.call('POST', `/api/v1/eval/${benchId}/start`, {
    display_name: 'x',
    model_slug: 'other',
  });
  const path = `/api/v1/eval/${started?.body.eval_run_id}`;
  const isUnderWay = () => eventually(async () => expect(await connections()).toBeGreaterThan(0));
  await isUnderWay();
  await service.killAfter(0);
  await eventually(async () => expect(await connections()).toBe(0));
  expect((await service.call('GET', path))?.body).toMatchObject({ status: 'running', failure: null });
  await isUnderWay();
  await service.killAfter(0);
  expect((await service.call('GET', path))?.body).toMatchObject({ status: 'failed', failure: { code: 'set_aside' } });
  expect((await service.call('GET', '/local/health'))?.body.set_aside).toMatchObject([
    { id: started?.body.eval_run_id, kind: 'evaluation' },
  ]);
});
