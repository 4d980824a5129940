/** The images of a benchmark, and the runtimes that its tasks share. */
import { expect, it } from 'vitest';
import { storesInMemory } from './memory.ts';

it('runtimes are found by each of their texts', () => {
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
