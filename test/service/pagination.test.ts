import { expect, it } from 'vitest';
import type { Page } from '../../src/contract/common.ts';
import { readPages } from '../../src/service/pagination.ts';
import { hostileServer, json, serviceAt } from './hostile-server.ts';

function page(items: number[], next_cursor: string | null, has_more = next_cursor !== null, dropped = 0): Page<number> {
  return { items, has_more, next_cursor, dropped };
}

async function collect<Item>(pages: AsyncIterable<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const each of pages) items.push(...each.items);
  return items;
}

function scripted(...pages: Page<number>[]) {
  const asked: (string | undefined)[] = [];
  const listing = readPages(async cursor => {
    asked.push(cursor);
    const next = pages[asked.length - 1];
    if (!next) throw new Error('asked for more than there is');
    return next;
  });
  return { listing, asked };
}

it('follows the cursor to the end', async () => {
  const { listing, asked } = scripted(page([1, 2], 'a'), page([3, 4], 'b'), page([5], null));
  expect(await collect(listing)).toEqual([1, 2, 3, 4, 5]);
  expect(asked).toEqual([undefined, 'a', 'b']);
});

it.each([
  ['a missing cursor', [page([1], null, true)], [1]],
  ['a page that says it is the last', [page([1], 'a', false)], [1]],
  ['a cursor that comes again at once', [page([1], 'a'), page([2], 'a')], [1, 2]],
  ['a cursor that comes again later', [page([1], 'a'), page([2], 'b'), page([3], 'a')], [1, 2, 3]],
])('stops at %s', async (_, pages, expected) => {
  expect(await collect(scripted(...pages).listing)).toEqual(expected);
});

it('continues after a page without a readable row', async () => {
  expect(await collect(scripted(page([], 'a', true, 2), page([1], null)).listing)).toEqual([1]);
});

it('requests no page before it is needed', async () => {
  const { listing, asked } = scripted(page([1, 2], 'a'), page([3], null));
  for await (const { items } of listing) if (items.includes(2)) break;
  expect(asked).toHaveLength(1);
});

it('reads a service that sends envelopes, and one that sends a bare array', async () => {
  const rows = ['a', 'b', 'c'].map(bench_id => ({ bench_id }));
  const server = await hostileServer(
    json({ items: rows.slice(0, 2), has_more: true, next_cursor: 'next/page' }),
    json({ items: rows.slice(2), has_more: false, next_cursor: null }),
    json(rows),
  );
  const { service } = serviceAt(server.url);
  const pages = () => readPages(cursor => service.call('listBenchmarks', { query: { limit: 2, cursor } }));
  expect(await collect(pages())).toEqual(rows);
  expect(server.requests.map(({ url }) => url)).toEqual([
    '/api/v1/benchmarks?limit=2',
    '/api/v1/benchmarks?cursor=next%2Fpage&limit=2',
  ]);
  expect(await collect(pages())).toEqual(rows);
});
