/** The source of a list, and its data. */
import type { ListQuery, Page } from '../../contract/common.ts';
import { cursorAfter, hasMoreAfter, unreadableIn } from '../../contract/lists.ts';
import { CapabilityMissingError, isNotOffered } from '../../service/errors.ts';
import type { SavedList } from '../../store/lists.ts';
import type { Activity } from '../polling.ts';
import type { QueryContext } from '../query-context.ts';
import type { Observation } from '../statuses/known-resource.ts';
import type { Subject } from '../statuses/observe.ts';

/** The largest page the contract allows: fewest requests. */
export const pageSize = 200;
/**
 * Reading stops after this many consecutive pages without a new row, because the cursors may form a loop. Pages that
 * are gathered by benchmark may be empty for longer.
 */
export function maxPagesWithoutNewRows({ costly = false }: Pick<ListSource<never>, 'costly'>): number {
  return costly ? 50 : 5;
}

/** A placeholder in notes for the key that reads the rest of a list, which is configurable. */
export const restKey = '{list.bottom}';

export type AnnotatedPage<Row> = Page<Row> & {
  /** Why it may be incomplete. */
  readonly note?: string | undefined;
  /** Set only for rows from the remembered store: when the oldest was seen, in epoch milliseconds; 0 without rows. */
  readonly remembered_at?: number | undefined;
  /** Describes the rest after this page, with `restKey`. Shown if this is the last page read so far and more follow. */
  readonly rest?: string | undefined;
  /** It combines several answers, and some could not be read. */
  readonly isPartial?: boolean;
  /** It may have rows of earlier pages. */
  readonly mayRepeat?: boolean;
  /** How many rows were left out, because the service did not apply the filter. */
  readonly others?: number;
  /** Ids of rows, on this page or an earlier one, that may belong to others: nothing says what they belong to. */
  readonly unsure?: ReadonlySet<string>;
  /** Another answer contradicts it and may be out of date, so the page is not final yet. */
  readonly mayChange?: boolean;
  /** How many requests it took; 1 by default. */
  readonly requests?: number;
  /** Whether a row was not covered by this request: a known row then stays. */
  readonly isUnread?: (row: Row) => boolean;
};

/** Says how many rows of a list were left out, because the service did not apply its filter. */
export const othersWords = (others: number): string =>
  `${others} unrelated row${others === 1 ? '' : 's'} left out: the service did not apply the filter`;

/** Says how many rows of a list may not belong to it. */
export const unsureWords = (rows: number): string =>
  rows === 1
    ? '1 row may be unrelated: the service does not say what it belongs to'
    : `${rows} rows may be unrelated: the service does not say what they belong to`;

/** A list that comes in a single answer. */
export function wholePage<Row>(items: readonly Row[], note?: string): AnnotatedPage<Row> {
  return { items: [...items], has_more: false, next_cursor: null, dropped: unreadableIn(items), note };
}

/** A list whose rows are made from other answers. */
export const rowsMadeElsewhere = <Row>(key: readonly unknown[], id: RowId<Row>): ListSource<Row> => ({
  ...{ key, id, derived: true },
  readPage: async () => wholePage<Row>([]),
  activity: () => 'settled',
});

/**
 * Reads a page of a list that some services send as a whole. The first request has no query, which those may reject.
 *
 * @throws what `read` throws
 */
export async function readRows<Row>(
  { cursor, limit = pageSize }: ListQuery,
  read: (query: ListQuery) => Promise<readonly Row[]>,
): Promise<AnnotatedPage<Row>> {
  const rows = await read(cursor ? { cursor, limit } : {});
  return { ...wholePage(rows), has_more: hasMoreAfter(rows), next_cursor: cursorAfter(rows) };
}

export type RowId<Row> = (row: Row) => string;

export interface ListSource<Row> {
  readonly key: readonly unknown[];
  readonly id: RowId<Row>;
  readonly readPage: (context: QueryContext & { readonly query: ListQuery }) => Promise<AnnotatedPage<Row>>;
  /** The fallback if the service has no list endpoint. */
  readonly fallback?: ((context: QueryContext) => AnnotatedPage<Row> | Promise<AnnotatedPage<Row>>) | undefined;
  /** The rows are derived from other answers, so they are not saved for the next start. */
  readonly derived?: boolean;
  /** The resource that the rows belong to, e.g. a run. Once it is gone, the rows stay as they were last read. */
  readonly partOf?: Subject & { readonly read: (context: QueryContext) => Promise<unknown> };
  /** Key of the list that has the same rows in another order. */
  readonly sameRowsAs?: readonly unknown[];
  /** The list accepts `sort` and `order`. */
  readonly sorts?: boolean;
  /** A page takes many requests, so the next one is read only on demand, not when the cursor is near. */
  readonly costly?: boolean;
  readonly observes?: ((row: Row) => Observation) | undefined;
  /** The rows have only the ids of their resources, so they are reported only for resources that are already known. */
  readonly onlyNames?: boolean;
  /** Limits how many rows are reported, if there are too many to remember. */
  readonly observesFirst?: number;
  /** What the rows are doing; `open` if nothing runs. */
  readonly activity?: (rows: readonly Row[]) => Activity;
}

/** Reads a page of a list, or its fallback. @throws ServiceError */
export async function readListed<Row>(
  { readPage, fallback }: ListSource<Row>,
  context: QueryContext & { readonly query: ListQuery },
): Promise<AnnotatedPage<Row>> {
  try {
    return await readPage(context);
  } catch (error) {
    if (!fallback || !isNotOffered(error)) throw error;
    const page = await fallback(context);
    // The refusal may have another cause, which its message names.
    const words = error instanceof CapabilityMissingError ? error.advice : '';
    return words === '' ? page : { ...page, note: [page.note, words].filter(Boolean).join('. ') };
  }
}

/** The part of a list read so far. The same object until something in it changes. */
export interface ListData<Row> extends SavedList {
  readonly rows: readonly Row[];
  readonly remembered_at: number | undefined;
  /** Increases with each state of the list. */
  readonly version: number;
}
