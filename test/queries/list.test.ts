import { describe, expect, it } from 'vitest';
import type { Page } from '../../src/contract/common.ts';
import { appendPage, type ListData, mergeFirstPage } from '../../src/queries/list.ts';

interface Row {
  id: string;
  value: number;
}
const id = (row: Row) => row.id;
const row = (name: string, value = 0): Row => ({ id: name, value });
const page = (items: Row[], next_cursor: string | null = null): Page<Row> => ({
  items,
  has_more: next_cursor !== null,
  next_cursor,
  dropped: 0,
});
const names = (list: ListData<Row>) => list.rows.map(id).join('');

describe('mergeFirstPage', () => {
  it('gives back the very same list when nothing changed', () => {
    const old = mergeFirstPage(undefined, page([row('a'), row('b')]), id);
    expect(mergeFirstPage(old, page([row('a'), row('b')]), id)).toBe(old);
  });

  it('keeps the identity of the rows that did not change', () => {
    const old = mergeFirstPage(undefined, page([row('a'), row('b')]), id);
    const next = mergeFirstPage(old, page([row('a'), row('b', 1)]), id);
    expect(next.rows[0]).toBe(old.rows[0]);
    expect(next.rows[1]).toEqual(row('b', 1));
  });

  it('puts new rows in front and keeps the pages behind', () => {
    let list = mergeFirstPage(undefined, page([row('c'), row('b')], '2'), id);
    list = appendPage(list, page([row('a')], '3'), id);
    list = mergeFirstPage(list, page([row('d'), row('c')], '2b'), id);
    expect(names(list)).toBe('dcba');
    expect(list.nextCursor).toBe('3');
  });

  it('drops what the server no longer has within the first page', () => {
    let list = mergeFirstPage(undefined, page([row('d'), row('c')], '2'), id);
    list = appendPage(list, page([row('b'), row('a')]), id);
    list = mergeFirstPage(list, page([row('d'), row('b')], '2b'), id);
    expect(names(list)).toBe('dba');
  });

  it('is the whole truth when the first page is the only one', () => {
    let list = mergeFirstPage(undefined, page([row('b'), row('a')], '2'), id);
    list = mergeFirstPage(list, page([row('a')]), id);
    expect(names(list)).toBe('a');
    expect(list.nextCursor).toBeNull();
  });
});

describe('appendPage', () => {
  const first = mergeFirstPage(undefined, page([row('a')], '2'), id);

  it('never shows a row twice', () => {
    expect(names(appendPage(first, page([row('a'), row('b')], '3'), id))).toBe('ab');
  });

  it('ends at an empty page, an empty cursor or a repeated cursor', () => {
    expect(appendPage(first, page([], '3'), id).nextCursor).toBeNull();
    expect(appendPage(first, page([row('b')], ''), id).nextCursor).toBeNull();
    expect(appendPage(first, page([row('b')], '2'), id).nextCursor).toBeNull();
    expect(appendPage(first, page([row('b')], '3'), id).nextCursor).toBe('3');
  });
});
