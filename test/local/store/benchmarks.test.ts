/** The images of a benchmark, and the runtimes that its tasks share. */
import { expect, it } from 'vitest';
import { ListQueryError } from '../../../src/local/store/list-page.ts';
import { storesInMemory } from './memory.ts';

it('finds runtimes by each of their texts', () => {
  const { stores, organizationId } = storesInMemory();
  const { benchmarks } = stores;
  for (const content of ['one', 'two']) {
    benchmarks.finishBuild(organizationId, 'bench_1', 'one', { content, image_ref: undefined });
  }
  const found = (search: string) =>
    benchmarks.listRuntimes(organizationId, { search, sort: 'created_at' }).items.map(({ runtime_id }) => runtime_id);
  const { items } = benchmarks.listRuntimes(organizationId, {});
  expect(items).toHaveLength(2);
  for (const { runtime_id, content_hash } of items) {
    expect([found(runtime_id), found(content_hash.toUpperCase())]).toEqual([[runtime_id], [runtime_id]]);
  }
  expect(found('local')).toHaveLength(2);
  expect(found('nowhere')).toEqual([]);
});

it('counts completed builds', () => {
  const { stores, organizationId } = storesInMemory();
  const { benchmarks } = stores;
  const ended = [benchmarks.endedBuilds('bench_1')];
  benchmarks.finishBuild(organizationId, 'bench_1', 'one', { content: 'one', image_ref: undefined });
  expect([...ended, benchmarks.endedBuilds('bench_1')]).toEqual([0, 1]);
});

it('adds a cursor to a page if another follows, and takes only cursors of its list', () => {
  const { stores, organizationId } = storesInMemory();
  const list = (query: object) => stores.benchmarks.list(organizationId, query);
  expect(list({ limit: 1 })).toMatchObject({ has_more: false, next_cursor: null });
  const place = { id: 'bench_1', sort: 'created_at', order: 'desc', value: '' };
  const cursor = (more: object) => Buffer.from(JSON.stringify({ ...place, ...more })).toString('base64url');
  expect(list({ cursor: cursor({}) }).items).toEqual([]);
  const refused = new ListQueryError('cursor', 'This cursor is not from this list. Start again without one.');
  for (const wrong of [{ id: 1 }, { sort: null }, { order: 'up' }, { value: {} }])
    expect(() => list({ cursor: cursor(wrong) }), JSON.stringify(wrong)).toThrow(refused);
});
