/** Queries that failed with the host are retried once the host answers. */
import { hashKey, QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it, onTestFinished, vi } from 'vitest';
import { FailedQueries, type FailedQueriesOptions } from '../../src/queries/failed-queries.ts';
import { NetworkError } from '../../src/service/errors.ts';
import type { GateState } from '../../src/service/gate.ts';
import { eventually } from '../eventually.ts';
import { openGate } from '../service/fake-service.ts';

/** A query on screen that failed because of the host, and the gate of the host. */
async function failing(options: Partial<FailedQueriesOptions> = {}) {
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  let state: GateState = { kind: 'open' };
  let tell = (): void => {};
  const gate = {
    ...openGate,
    state: () => state,
    subscribe: (listener: () => void) => {
      tell = listener;
      return () => {};
    },
  };
  const failed = new FailedQueries({ cache, gate, isPaused: () => false, leastMs: 0, ...options });
  let reads = 0;
  const queryKey = ['shown'];
  const queryFn = async () => {
    reads += 1;
    throw new NetworkError('The line is cut.', {});
  };
  const stop = new QueryObserver(cache, { queryKey, queryFn }).subscribe(() => {});
  onTestFinished(() => {
    stop();
    failed.close();
    cache.clear();
  });
  const settled = async (): Promise<number> => {
    await eventually(() => expect(cache.isFetching()).toBe(0));
    return reads;
  };
  const become = (next: GateState): Promise<number> => {
    state = next;
    tell();
    return settled();
  };
  await eventually(() => expect(reads).toBe(1));
  await settled();
  failed.failed(hashKey(queryKey), new NetworkError('The line is cut.', {}));
  return { failed, hash: hashKey(queryKey), settled, become };
}

it('is retried as soon as the host answers another request, and not before', async () => {
  const { become } = await failing();
  expect([await become({ kind: 'open' }), await become({ kind: 'open', failing: true })]).toEqual([1, 1]);
  expect(await become({ kind: 'limited', reason: 'rate_limit', until: 0 })).toBe(1);
  expect([await become({ kind: 'open' }), await become({ kind: 'open' })]).toEqual([2, 2]);
});

it('is not retried while polling is paused', async () => {
  let paused = true;
  const { failed, settled } = await failing({ isPaused: () => paused });
  failed.succeeded('another');
  expect(await settled()).toBe(1);
  paused = false;
  failed.succeeded('another');
  expect(await settled()).toBe(2);
});

it('is retried no more often than allowed, and counts as new each time', async () => {
  let at = 5_000;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => at);
  onTestFinished(() => now.mockRestore());
  const { failed, hash, settled } = await failing({ leastMs: 1_000 });
  expect(failed.count(hash)).toBe(1);
  const readsAt = async (ms: number): Promise<number> => {
    at = ms;
    failed.succeeded('another');
    return settled();
  };
  expect([await readsAt(5_000), failed.count(hash)]).toEqual([2, 0]);
  expect([await readsAt(5_999), await readsAt(6_000), await readsAt(6_999)]).toEqual([2, 3, 3]);
  failed.succeeded(hash);
  expect(await readsAt(9_000)).toBe(3);
});
