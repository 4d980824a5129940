/** Reading the rest of a list, as far as it does not matter what its pages hold. */
import { afterEach, expect, it, vi } from 'vitest';
import { type RestPorts, RestReader } from '../../../src/queries/lists/rest.ts';
import type { QueryContext } from '../../../src/queries/query-context.ts';

afterEach(() => vi.useRealTimers());

function readerOf(step: RestPorts['step']) {
  const ports = {
    context: async () => ({}) as QueryContext,
    size: () => 10,
    isRead: () => false,
    step,
    mostFruitless: () => 50,
    publish: () => {},
    onProgress: vi.fn<RestPorts['onProgress']>(),
    onError: vi.fn<RestPorts['onError']>(),
  };
  return { ...ports, reader: new RestReader(ports) };
}

it('gives up where every cursor has expired by the time it is used', async () => {
  const { reader, onError } = readerOf(async () => 'refused');
  expect(await reader.read(0, { signal: new AbortController().signal, onProgress: () => {} })).toBe('failed');
  expect(onError.mock.lastCall?.[0]?.message).toBe('The list changes faster than it can be read.');
  expect(reader.isReading).toBe(false);
});

it('reports nothing any more once nobody waits, although a page is still on its way', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const page = Promise.withResolvers<undefined>();
  const { reader, onProgress } = readerOf(() => page.promise);
  const stop = new AbortController();
  const read = reader.read(0, { signal: stop.signal, onProgress: () => {} });
  expect(reader.isReading).toBe(true);
  await vi.advanceTimersByTimeAsync(100);
  expect(onProgress.mock.lastCall).toEqual([10]);
  stop.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(onProgress.mock.lastCall).toEqual([undefined]);
  page.resolve(undefined);
  expect(await read).toBe('stopped');
});

const waiter = () => ({ signal: new AbortController().signal, onProgress: vi.fn<(rows: number) => void>() });

it('ends once for the one who began it, and says what failed to all who wait', async () => {
  const step = vi.fn<RestPorts['step']>().mockResolvedValueOnce(undefined).mockRejectedValue(new Error('refused'));
  const { reader } = readerOf(step);
  expect(await reader.read(0, waiter())).toBe('complete');
  expect(step).toHaveBeenCalledTimes(1);
  expect(await Promise.all([reader.read(0, waiter()), reader.read(0, waiter())])).toEqual(['failed', 'failed']);
  expect(step).toHaveBeenCalledTimes(2);
});

it('reports only to those who still wait', async () => {
  const { reader } = readerOf(async () => undefined);
  const [first, second] = [waiter(), waiter()];
  await reader.read(0, first);
  first.onProgress.mockClear();
  await reader.read(0, second);
  expect([first.onProgress.mock.calls.length, second.onProgress.mock.calls]).toEqual([0, [[10]]]);
});
