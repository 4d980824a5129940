/** The source of a list, and its data. */
import { cursorAfter, type ListQuery, type Page, unreadableIn } from '../../contract/common.ts';
import type { Activity } from '../polling.ts';
import type { QueryContext } from '../query-context.ts';
import type { Subject } from '../statuses/observe.ts';
import type { Observation } from '../statuses/store.ts';

/** The largest page the contract allows: fewest requests. */
export const pageSize = 200;
/**
 * After how many pages in a row without a new row reading stops: the service may be going in circles. Pages that are
 * gathered by benchmark may be empty for long.
 */
export function maxPagesWithoutNewRows({ costly = false }: Pick<ListSource<never>, 'costly'>): number {
  return costly ? 50 : 5;
}

/** Stands in a note for the key that reads the rest of a list, which the user may have chosen. */
export const restKey = '{list.bottom}';

/** A page with notes. */
export type AnnotatedPage<Row> = Page<Row> & {
  /** Why it may be incomplete. */
  readonly note?: string | undefined;
  /**
   * When the newest remembered row was seen, if rows were remembered instead of listed; 0 if there are none. Epoch
   * milliseconds.
   */
  readonly remembered_at?: number | undefined;
  /** What follows this page, in words, with `restKey`: shown if it is the last page read, but not the last one. */
  readonly rest?: string | undefined;
  /** It may be empty although it is not the last one. */
  readonly mayBeEmpty?: boolean;
  /** Whether a row was outside this request: if it was known before, it stays. */
  readonly isUnread?: (row: Row) => boolean;
};

/** A list that comes in a single answer. */
export function wholePage<Row>(items: readonly Row[], note?: string): AnnotatedPage<Row> {
  return { items: [...items], has_more: false, next_cursor: null, dropped: unreadableIn(items), note };
}

/**
 * Reads a page of a list that some services answer whole. The first request has no query, which those may not know.
 *
 * @throws what `read` throws
 */
export async function readRows<Row>(
  { cursor, limit = pageSize }: ListQuery,
  read: (query: ListQuery) => Promise<readonly Row[]>,
): Promise<AnnotatedPage<Row>> {
  const rows = await read(cursor ? { cursor, limit } : {});
  const next_cursor = cursorAfter(rows);
  return { ...wholePage(rows), has_more: next_cursor !== null, next_cursor };
}

export type RowId<Row> = (row: Row) => string;

export interface ListSource<Row> {
  readonly key: readonly unknown[];
  readonly id: RowId<Row>;
  readonly readPage: (context: QueryContext & { readonly query: ListQuery }) => Promise<AnnotatedPage<Row>>;
  /** What is shown if the service does not list them. */
  readonly instead?: ((context: QueryContext) => AnnotatedPage<Row> | Promise<AnnotatedPage<Row>>) | undefined;
  /** The program makes the rows of other answers: they are not remembered for the next start. */
  readonly derived?: boolean;
  /** The resource that the rows belong to, e.g. a run. Once it is gone, the rows stay as they were last read. */
  readonly partOf?: Subject & { readonly read: (context: QueryContext) => Promise<unknown> };
  /** Key of the list that has the same rows in another order. */
  readonly sameRowsAs?: readonly unknown[];
  /** The list accepts `sort` and `order`. */
  readonly sorts?: boolean;
  /** A page takes many requests: the next one is read on demand, not because the cursor is near. */
  readonly costly?: boolean;
  /** What a row says about its resource. */
  readonly observes?: ((row: Row) => Observation) | undefined;
  /** The rows only name their resources: they are reported only for resources that are known otherwise. */
  readonly onlyNames?: boolean;
  /** How many of the rows are reported, if there are too many to remember; all by default. */
  readonly observesFirst?: number;
  /** What the rows are doing; `open` if nothing runs. */
  readonly activity?: (rows: readonly Row[]) => Activity;
}
