/** Reading response bodies. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { readBody } from '../../src/net/body.ts';
import { errorOf, hostileServer, serviceAt } from '../service/hostile-server.ts';

it('lets other work run after every 64 KB', async () => {
  const part = Buffer.alloc(16 * 1024, ' ');
  let [count, longest, sinceTurn] = [0, 0, 0];
  const look = (): void => {
    sinceTurn = 0;
    if (count < 100) setImmediate(look);
  };
  setImmediate(look);
  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    // All have already arrived.
    for (; count < 100; count += 1) yield part;
  }
  const text = await readBody({ status: 200, headers: {}, chunks, close: () => {} }, 10_000_000, {
    add: ({ length }) => {
      sinceTurn += length;
      longest = Math.max(longest, sinceTurn);
    },
    text: () => `${count}`,
  });
  expect([text, longest]).toEqual(['100', 64 * 1024]);
});

it('gives up an error body that stalls, as the status is known (out27 B7)', async () => {
  const { url } = await hostileServer(response => {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.write('{"error":');
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { promise: answered, resolve: onAnswer } = Promise.withResolvers();
  const read = serviceAt(url).service.call('getEvalRun', { params: { eval_run_id: 'evr_1' } }, { onAnswer });
  const error = errorOf(read);
  await answered;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await error).toMatchObject({ kind: 'not_found', status: 404, attempts: 1 });
});
