/** A page of a list, and what to read next. */
import { nextCursor } from '../../service/pagination.ts';
import type { AnnotatedPage, RowId } from './list.ts';

/** A page as it is known. Only `ListPages` changes it. */
export interface ListPage<Row> {
  /**
   * The cursor it was read with: null for the first page; undefined after a gap, if only the previous page leads to it.
   */
  cursor: string | null | undefined;
  /** Cursor of the next page; null at the end of the list. */
  next: string | null;
  rows: Row[];
  ids: string[];
  /** Id of the row before its first one. */
  after: string | undefined;
  dropped: number;
  repeated: number;
  note: string | undefined;
  rest: string | undefined;
  /** Epoch milliseconds; of its oldest row, if it was merged. */
  readAt: number;
  /** The round in which it was last read. */
  round: number;
  /** Number of the request that returned it; 0 for a page from an earlier start. */
  asked: number;
  /** Rows may be missing between it and the next page. */
  gap: boolean;
  /** Another page has a newer copy of one of its rows. */
  outdated: boolean;
}

/** What to read: the first page, a page again, or the page after one. */
export type Place<Row> =
  | { readonly kind: 'first' }
  | { readonly kind: 'again'; readonly page: ListPage<Row> }
  | { readonly kind: 'after'; readonly page: ListPage<Row> };

/** An answer, with the number of its request. */
export interface PageAnswer<Row> {
  readonly page: AnnotatedPage<Row>;
  /** The cursor that was sent. */
  readonly cursor: string | null;
  readonly asked: number;
  readonly round: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The cursor to read a place with; undefined if nothing leads there. */
export function cursorOf<Row>(place: Place<Row>): string | null | undefined {
  if (place.kind === 'first') return null;
  return place.kind === 'again' ? place.page.cursor : (place.page.next ?? undefined);
}

/** Makes a page of an answer. `isKnown` says whether a cursor has led to an earlier page. */
export function pageOf<Row>(
  { page, cursor, asked, round, at }: PageAnswer<Row>,
  idOf: RowId<Row>,
  isKnown: (cursor: string) => boolean,
): ListPage<Row> {
  const seen = new Set<string>();
  const rows = page.items.filter(row => {
    const id = idOf(row);
    return !seen.has(id) && seen.add(id);
  });
  const { dropped, note, rest } = page;
  return {
    cursor,
    next: nextCursor(page, next => next === cursor || isKnown(next)) ?? null,
    rows,
    ids: [...seen],
    after: undefined,
    dropped,
    repeated: page.items.length - rows.length,
    note,
    rest,
    readAt: at,
    round,
    asked,
    gap: false,
    outdated: false,
  };
}
