/** Upload URLs expire by the service’s clock, not by that of this machine. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { LocalFile } from '../../src/uploads/benchmark-plan.ts';
import { allocate, FileBatch } from '../../src/uploads/file-batch.ts';
import { hostileServer, json, serviceAt } from '../service/hostile-server.ts';
import { manualClock } from '../service/manual-clock.ts';
import { smallFolder } from './small-folder.ts';

const minuteMs = 60_000;
const lifetimeMs = 15 * minuteMs;

/** A service that signs addresses for 15 minutes; `PUT /N` is an address of the Nth allocation. */
async function storage() {
  let allocations = 0;
  return hostileServer((response, request) => {
    const { method, headers } = request;
    if (method === 'PUT') return void response.writeHead(200).end();
    allocations += 1;
    response.setHeader('date', new Date().toUTCString());
    const url = `http://${headers.host}/${allocations}`;
    const expires_at = new Date(Date.now() + lifetimeMs).toISOString();
    return json({ bench_id: 'bench_1', urls: [{ path: 'a.txt', url, headers: {} }], expires_at })(response, request);
  });
}

async function fileOf(folder: string): Promise<LocalFile> {
  const absolute = join(folder, 'a.txt');
  const { size, mtimeMs } = await stat(absolute);
  return { path: 'a.txt', absolute, size, mtimeMs };
}

it.each([
  ['right', 0],
  ['an hour ahead', 60 * minuteMs],
  ['an hour behind', -60 * minuteMs],
])('uses a URL until it expires, with a wall clock that is %s (V6)', async (_, offsetMs) => {
  const server = await storage();
  const clock = manualClock(Date.now() + offsetMs);
  const { service } = serviceAt(server.url, { clock });
  const file = await fileOf(smallFolder());
  const { signal } = new AbortController();
  const allocation = await allocate(service, [file], undefined, signal);
  const puts = (): string[] => server.requests.filter(({ method }) => method === 'PUT').map(({ url }) => url);

  await clock.advance(lifetimeMs - 2 * minuteMs);
  await new FileBatch(service, [file], allocation, { signal: signal, onSent: () => {} }).send(file, () => {});
  expect(puts()).toEqual(['/1']);

  await clock.advance(4 * minuteMs);
  await new FileBatch(service, [file], allocation, { signal: signal, onSent: () => {} }).send(file, () => {});
  expect(puts()).toEqual(['/1', '/2']);
});
