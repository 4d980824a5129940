/** Requests in flight when a command ends. */
import { expect, it } from 'vitest';
import type { CommandIo } from '../../src/commands/io.ts';
import { withService } from '../../src/commands/with-service.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { hostileServer, json, resetAfter } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

it('is cancelled, not retried, if its answer is no longer needed', async () => {
  const server = await hostileServer(() => {});
  const notes: string[] = [];
  const io = {
    environment: { HOME: testFolder(), BENCHTOP_BASE_URL: server.url, BENCHTOP_API_KEY: 'key' },
    note: (text: string) => void notes.push(text),
    signal: new AbortController().signal,
  };
  let open: Promise<unknown> | undefined;
  await withService({}, io as unknown as CommandIo, async ({ service, signal }) => {
    open = service.call('listBenchmarks', {}, { signal }).catch((error: unknown) => error);
    await expect.poll(() => server.requests.length).toBe(1);
  });
  const error = await open;
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ kind: 'cancelled', attempts: 1 });
  expect(notes).toEqual([]);
});

it('is retried if its answer breaks off, whatever its status', async () => {
  const { url } = await hostileServer(resetAfter('{"items":'), json({ items: [], has_more: false }));
  const { code, notes } = await cliOn({ baseUrl: url, apiKey: 'key' })('list', ['benchmarks']);
  expect(code).toBe(0);
  // In the words of the error after the last retry (out29 C1).
  expect(notes).toContain('The connection was lost in the middle of the response. Retry 1 of 2.');
});
