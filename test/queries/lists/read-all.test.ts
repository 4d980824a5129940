/** Reading the rest of a list, whatever its pages contain. */
import { afterEach, expect, it, vi } from 'vitest';
import { type RestPorts, RestReader } from '../../../src/queries/lists/read-all.ts';
import type { QueryContext } from '../../../src/queries/query-context.ts';

afterEach(() => vi.useRealTimers());

function readerOf(step: RestPorts['step'], more: Partial<Pick<RestPorts, 'size' | 'mostFruitless'>> = {}) {
  const ports = {
    context: async () => ({}) as QueryContext,
    size: () => 10,
    isRead: () => false,
    step,
    mostFruitless: () => 50,
    publish: () => {},
    onProgress: vi.fn<RestPorts['onProgress']>(),
    onError: vi.fn<RestPorts['onError']>(),
    ...more,
  };
  return { ...ports, reader: new RestReader(ports) };
}

it('gives up if every cursor has expired before it is used', async () => {
  const { reader, onError } = readerOf(async () => 'refused');
  expect(await reader.read(0, { signal: new AbortController().signal, onProgress: () => {} })).toBe('failed');
  expect(onError.mock.lastCall?.[0]?.message).toBe('The list changes faster than it can be read.');
  expect(reader.isReading).toBe(false);
});

it('reports nothing more once nobody waits, even if a page is still on its way', async () => {
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

it('ends once for its first caller, and reports a failure to all waiting callers', async () => {
  const step = vi.fn<RestPorts['step']>().mockResolvedValueOnce(undefined).mockRejectedValue(new Error('refused'));
  const { reader } = readerOf(step);
  expect(await reader.read(0, waiter())).toBe('complete');
  expect(step).toHaveBeenCalledTimes(1);
  expect(await Promise.all([reader.read(0, waiter()), reader.read(0, waiter())])).toEqual(['failed', 'failed']);
  expect(step).toHaveBeenCalledTimes(2);
});

it('reports only to waiting callers', async () => {
  const { reader } = readerOf(async () => undefined);
  const [first, second] = [waiter(), waiter()];
  await reader.read(0, first);
  first.onProgress.mockClear();
  await reader.read(0, second);
  expect([first.onProgress.mock.calls.length, second.onProgress.mock.calls]).toEqual([0, [[10]]]);
});

it('gives up after a number of consecutive pages without a new row', async () => {
  const sizes = [10, 10, 11, 11, 11, 11, 12];
  let pages = 0;
  const step = async () => {
    pages += 1;
    return pages < sizes.length ? ('new' as const) : undefined;
  };
  const { reader, onError } = readerOf(step, { size: () => sizes[pages] ?? 0, mostFruitless: () => 3 });
  expect(await reader.read(0, waiter())).toBe('failed');
  expect([onError.mock.lastCall?.[0]?.message, pages]).toEqual(['The last 3 pages had no new rows.', 5]);
});

it('lets keys be handled between two pages that arrive at once', async () => {
  let pages = 0;
  const step = async () => {
    pages += 1;
    return pages < 9 ? ('new' as const) : undefined;
  };
  let seen: number | undefined;
  setImmediate(() => {
    seen = pages;
  });
  expect(await readerOf(step).reader.read(0, waiter())).toBe('complete');
  expect(seen).toBeLessThan(9);
});

it('reports progress while a page is on its way, and nothing afterwards', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const page = Promise.withResolvers<undefined>();
  let rows = 10;
  const { reader } = readerOf(() => page.promise, { size: () => rows });
  const view = waiter();
  const read = reader.read(0, view);
  rows = 12;
  await vi.advanceTimersByTimeAsync(100);
  expect(view.onProgress.mock.lastCall).toEqual([12]);
  page.resolve(undefined);
  expect(await read).toBe('complete');
  expect(vi.getTimerCount()).toBe(0);
});
