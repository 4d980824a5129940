/** Sorting by the service: its order is verified before it is trusted. */
import { describe, expect, it, vi } from 'vitest';
import type { ListQuery } from '../../../src/contract/common.ts';
import type { ListSource } from '../../../src/queries/lists/list-source.ts';
import { inOrder, isOrdered, OrderRefusedError } from '../../../src/queries/lists/server-sort.ts';
import type { QueryContext } from '../../../src/queries/query-context.ts';
import { ServiceError } from '../../../src/service/errors.ts';

const rows = (...values: unknown[]) => values.map(value => ({ value }));

describe('isOrdered', () => {
  it.each([
    ['numbers that rise', rows(-1, 0, 0, 2.5), false, true],
    ['numbers that fall', rows(3, 1), true, true],
    ['numbers that do not', rows(1, 3, 2), false, false],
    ['numbers that rise, asked to fall', rows(1, 3), true, false],
    ['numbers among which some are missing', rows(undefined, 1, null, 2, undefined), false, true],
    ['texts by code unit', rows('B', 'a', 'é'), false, true],
    ['texts without regard to case', rows('a', 'B', 'c'), false, true],
    ['texts in another order', rows('b', 'a', 'c'), false, false],
    ['texts and numbers', rows('a', 1), false, false],
    ['no rows', [], true, true],
    ['one that has no such field', [{ other: 1 }, 'not a row'], false, true],
  ] as const)('judges %s', (_name, given, descending, expected) => {
    expect(isOrdered(given, 'value', descending)).toBe(expected);
  });

  it('looks up no inherited names', () => {
    expect(isOrdered([{}, {}], 'constructor', false)).toBe(true);
  });
});

describe('inOrder', () => {
  const context = {} as QueryContext;
  const page = (items: object[]) => ({ items, has_more: false, next_cursor: null, dropped: 0 });
  const sourceOf = (read: (query: ListQuery) => object[]) => {
    const source: ListSource<object> = { key: ['rows'], id: String, readPage: async ({ query }) => page(read(query)) };
    const onRefused = vi.fn();
    return { ordered: inOrder(source, { field: 'value', descending: true }, onRefused), onRefused };
  };
  const refusal = (details: object) => (): never => {
    throw new ServiceError('validation', 'no', details);
  };

  it('sends the order with each page', async () => {
    const asked: ListQuery[] = [];
    const { ordered, onRefused } = sourceOf(query => {
      asked.push(query);
      return rows(2, 1);
    });
    await ordered.readPage({ ...context, query: { limit: 2 } });
    await ordered.readPage({ ...context, query: { limit: 2, cursor: 'c' } });
    expect(asked).toEqual([
      { limit: 2, sort: 'value', order: 'desc' },
      { limit: 2, cursor: 'c', sort: 'value', order: 'desc' },
    ]);
    expect(onRefused).not.toHaveBeenCalled();
    expect(ordered.key).not.toEqual(['rows']);
  });

  it.each([
    ['refused', {}, refusal({ status: 422 })],
    ['refused by name', { cursor: 'c' }, refusal({ status: 422, param: 'sort' })],
    ['ignored', {}, () => rows(1, 2)],
  ])('reports that the order is %s', async (_name, query, read) => {
    const { ordered, onRefused } = sourceOf(read);
    await expect(ordered.readPage({ ...context, query })).rejects.toThrow(OrderRefusedError);
    expect(onRefused).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['a cursor that is refused', { cursor: 'c' }, refusal({ status: 422 })],
    ['a failure of the service', {}, refusal({ status: 500 })],
    ['another field that is refused', {}, refusal({ status: 422, param: 'limit' })],
  ])('does not take %s as a refused order', async (_name, query, read) => {
    const { ordered, onRefused } = sourceOf(read);
    await expect(ordered.readPage({ ...context, query })).rejects.toThrow(ServiceError);
    expect(onRefused).not.toHaveBeenCalled();
  });
});
