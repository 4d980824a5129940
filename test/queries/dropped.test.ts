/** Data about a query is dropped with it, as a program may stay open for weeks. */
import { QueryClient } from '@tanstack/react-query';
import { describe, expect, it } from 'vitest';
import { FailedQueries } from '../../src/queries/failed-queries.ts';
import { wholePage } from '../../src/queries/lists/list-source.ts';
import { Lists } from '../../src/queries/lists/lists.ts';
import { knownResource } from '../../src/queries/statuses/known-resource.ts';
import { Restarts } from '../../src/queries/statuses/restarts.ts';
import { Memory } from '../../src/ui/navigation/memory.tsx';
import { openGate } from '../service/fake-service.ts';

const sourceOf = (name: string) => ({ key: [name], id: String, readPage: async () => wholePage([1, 2]) });

describe('a query dropped by the cache (U44)', () => {
  it('has its failures forgotten', () => {
    const cache = new QueryClient();
    const failed = new FailedQueries({ cache, gate: openGate, isPaused: () => false, leastMs: 0 });
    const query = cache.getQueryCache().build(cache, { queryKey: ['a'] });
    failed.failed(query.queryHash, new Error('x'));
    expect(failed.count(query.queryHash)).toBe(1);
    cache.getQueryCache().remove(query);
    expect(failed.count(query.queryHash)).toBe(0);
    failed.close();
  });

  it('has the count of its list forgotten unless it is shown, and refused sort orders', () => {
    const cache = new QueryClient();
    const lists = new Lists(
      cache,
      async () => {
        throw new Error('nothing is read');
      },
      () => undefined,
    );
    const countAfterRemoval = (name: string): number | undefined => {
      const source = sourceOf(name);
      const reader = lists.of(source);
      cache.setQueryData(source.key, reader.data);
      lists.refuseOrder(source.key, 'reward');
      cache.removeQueries({ queryKey: source.key });
      expect(lists.refusesOrder(source.key, 'reward')).toBe(false);
      return lists.countOf(source.key)?.rows;
    };
    lists.countOf(['shown']);
    expect(countAfterRemoval('shown')).toBe(0);
    expect(countAfterRemoval('passing')).toBeUndefined();
  });

  it('has its news of runs forgotten', () => {
    const restarts = new Restarts();
    const run = knownResource({ kind: 'training', id: 'trn_1', label: 'long' }, [
      { kind: 'training', id: 'trn_1', status: 'running' },
    ]);
    restarts.follow(run, 39, 'progress');
    restarts.drop('progress');
    restarts.follow(run, 30, 'progress');
    expect(restarts.of('trn_1')).toBeUndefined();
  });
});

it('remembers the places visited last (U44)', () => {
  const memory = new Memory();
  for (let number = 0; number < 1_500; number += 1) memory.set(`place ${number}`, number);
  expect([memory.get('place 499'), memory.get('place 500'), memory.get('place 1499')]).toEqual([undefined, 500, 1_499]);
  memory.set('place 500', 'again');
  memory.set('place 1500', 1_500);
  expect(memory.get('place 500')).toBe('again');
});
