/**
 * A list that pages in from the server and stays live: the first page is asked for again and merged, the pages behind
 * it stay as they were read. Pure; rows that did not change keep their identity, so that nothing is drawn for them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Page } from '../contract/common.ts';

export interface ListData<Row> {
  readonly rows: readonly Row[];
  /** Cursor of the next page, or null when the end has been read. */
  readonly nextCursor: string | null;
  /** Rows that came and could not be read. */
  readonly dropped: number;
  /** Why the list may hold less than there is. */
  readonly note?: string | undefined;
}

/** A page, with what is to be said of the list. */
export type NotedPage<Row> = Page<Row> & { readonly note?: string | undefined };

export type RowId<Row> = (row: Row) => string;

function cursorOf(page: Page<unknown>, previous: string | null | undefined): string | null {
  const ended = !page.has_more || page.items.length === 0 || !page.next_cursor || page.next_cursor === previous;
  return ended ? null : page.next_cursor;
}

/** Keeps the old object wherever the new one says the same. */
function keepIdentity<Row>(rows: readonly Row[], known: ReadonlyMap<string, Row>, id: RowId<Row>): Row[] {
  return rows.map(row => {
    const old = known.get(id(row));
    return old !== undefined && isDeepStrictEqual(old, row) ? old : row;
  });
}

function sameRows<Row>(left: readonly Row[], right: readonly Row[]): boolean {
  return left.length === right.length && left.every((row, index) => row === right[index]);
}

function withoutRepeats<Row>(rows: readonly Row[], id: RowId<Row>): Row[] {
  const seen = new Set<string>();
  return rows.filter(row => !seen.has(id(row)) && seen.add(id(row)));
}

/**
 * Merges a newly read first page. Rows of the old list that stood before the page's last row and are not in the page
 * any more are gone on the server; rows behind it stay.
 */
export function mergeFirstPage<Row>(
  old: ListData<Row> | undefined,
  page: NotedPage<Row>,
  id: RowId<Row>,
): ListData<Row> {
  const { note } = page;
  const known = new Map(old?.rows.map(row => [id(row), row]));
  const head = withoutRepeats(keepIdentity(page.items, known, id), id);
  const nextCursor = cursorOf(page, undefined);
  if (!old || nextCursor === null) {
    const same = old && old.nextCursor === null && old.dropped === page.dropped && sameRows(old.rows, head);
    return same && old.note === note ? old : { rows: head, nextCursor, dropped: page.dropped, note };
  }
  const inHead = new Set(head.map(id));
  const last = head.at(-1);
  const end = last === undefined ? -1 : old.rows.findIndex(row => id(row) === id(last));
  const tail = old.rows.slice(end + 1).filter(row => !inHead.has(id(row)));
  const rows = [...head, ...tail];
  const cursor = tail.length > 0 ? old.nextCursor : nextCursor;
  if (sameRows(old.rows, rows) && cursor === old.nextCursor && old.note === note) return old;
  return { rows, nextCursor: cursor, dropped: tail.length > 0 ? old.dropped : page.dropped, note };
}

/** Adds the page that was read from the list's `nextCursor`. */
export function appendPage<Row>(old: ListData<Row>, page: Page<Row>, id: RowId<Row>): ListData<Row> {
  const added = new Map(withoutRepeats(page.items, id).map(row => [id(row), row]));
  for (const row of old.rows) added.delete(id(row));
  return {
    rows: [...old.rows, ...added.values()],
    nextCursor: cursorOf(page, old.nextCursor),
    dropped: old.dropped + page.dropped,
    note: old.note,
  };
}
