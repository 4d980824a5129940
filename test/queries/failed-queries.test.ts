/** What failed as every request would is asked again once the host answers. */
import { hashKey, QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it, onTestFinished } from 'vitest';
import { FailedQueries } from '../../src/queries/failed-queries.ts';
import { NetworkError } from '../../src/service/errors.ts';
import type { GateState } from '../../src/service/gate.ts';
import { eventually } from '../eventually.ts';

it('is asked as soon as the host answers something else, and not before', async () => {
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  let state: GateState = { kind: 'open' };
  let tell = (): void => {};
  const gate = {
    state: () => state,
    subscribe: (listener: () => void) => {
      tell = listener;
      return () => {};
    },
  };
  const failed = new FailedQueries({ cache, gate, isPaused: () => false, leastMs: 0 });
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
  const become = async (next: GateState): Promise<number> => {
    state = next;
    tell();
    await eventually(() => expect(cache.isFetching()).toBe(0));
    return reads;
  };
  await eventually(() => expect(reads).toBe(1));
  failed.failed(hashKey(queryKey), new NetworkError('The line is cut.', {}));
  expect([await become({ kind: 'open' }), await become({ kind: 'open', failing: true })]).toEqual([1, 1]);
  expect(await become({ kind: 'limited', reason: 'rate_limit', until: 0 })).toBe(1);
  expect([await become({ kind: 'open' }), await become({ kind: 'open' })]).toEqual([2, 2]);
});
