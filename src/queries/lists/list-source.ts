/** The declaration of a list, and its data. */
import type { ListQuery, Page } from '../../contract/common.ts';
import { cursorAfter, hasMoreAfter, unreadableIn } from '../../contract/lists.ts';
import { CapabilityMissingError, isNotOffered } from '../../service/errors.ts';
import type { SavedList } from '../../store/lists.ts';
import { counted } from '../../text/numbers.ts';
import type { Activity } from '../polling.ts';
import type { QueryContext } from '../query-context.ts';
import type { Observation } from '../statuses/known-resource.ts';
import type { Subject } from '../statuses/observe.ts';

/** The largest page that the contract allows, which takes the fewest requests. */
export const pageSize = 200;
/**
 * Maximum consecutive pages without a new row, because the cursors may form a loop. Many pages in a row may be empty if
 * they are gathered benchmark by benchmark.
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
  /** Describes the rows after this page, using `restKey`. Shown while this is the last page read and more follow. */
  readonly rest?: string | undefined;
  /** Whether the page combines several responses and lacks some of them. */
  readonly isPartial?: boolean;
  /** Whether the page may repeat rows from earlier pages. */
  readonly mayRepeat?: boolean;
  /** The number of rows left out because the service did not apply the filter. */
  readonly others?: number;
  /**
   * Ids of rows, on this page or an earlier one, that may not belong to the list, because no field shows whether they
   * do.
   */
  readonly unsure?: ReadonlySet<string>;
  /** Whether another response contradicts the page, so that it is not final yet. */
  readonly mayChange?: boolean;
  /** The number of requests that the page took; 1 by default. */
  readonly requests?: number;
  /** Whether the request did not cover a known row, which then stays. */
  readonly isUnread?: (row: Row) => boolean;
};

/** The note about rows left out because the service did not apply the list's filter. */
export const describeUnrelated = (others: number): string =>
  `${counted(others, 'unrelated row')} left out: the service did not apply the filter`;

/** The note about rows that may not belong to the list. */
export const describeUnsure = (rows: number): string =>
  rows === 1
    ? '1 row may be unrelated: the service does not report its parent'
    : `${rows} rows may be unrelated: the service does not report their parents`;

/** Makes the only page of a list. */
export function wholePage<Row>(items: readonly Row[], note?: string): AnnotatedPage<Row> {
  return { items: [...items], has_more: false, next_cursor: null, dropped: unreadableIn(items), note };
}

/** A list whose rows come from other responses. */
export const rowsMadeElsewhere = <Row>(key: readonly unknown[], id: RowId<Row>): ListSource<Row> => ({
  ...{ key, id, derived: true },
  readPage: async () => wholePage<Row>([]),
  activity: () => 'settled',
});

/**
 * Reads a page of a list that some services send whole. The first request has no query, which these services may
 * reject.
 *
 * @throws any error from `read`
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
  /** Whether the rows are derived from other responses, so that they are not saved for the next session. */
  readonly derived?: boolean;
  /** The parent of the rows, e.g. a run. After it is deleted, the rows stay on screen. */
  readonly partOf?: Subject & { readonly read: (context: QueryContext) => Promise<unknown> };
  /** Key of the list that contains the same rows in another order. */
  readonly sameRowsAs?: readonly unknown[];
  /** Whether the list accepts `sort` and `order`. */
  readonly sorts?: boolean;
  /** Whether a page takes many requests, so that the next page is read only on demand, not when the cursor nears it. */
  readonly costly?: boolean;
  readonly observes?: ((row: Row) => Observation) | undefined;
  /** Whether rows contain only their resources' ids, so that they are reported only for resources already known. */
  readonly onlyNames?: boolean;
  /** The kind, if this list contains all its resources: those missing from the whole list are then forgotten. */
  readonly all?: string;
  /** How many rows to report at most, if there are too many to remember. */
  readonly observesFirst?: number;
  /** How active the rows are, which determines the poll interval; `open` by default. */
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
    // The advice names other possible causes of the refusal.
    const words = error instanceof CapabilityMissingError ? error.advice : '';
    return words === '' ? page : { ...page, note: [page.note, words].filter(Boolean).join('. ') };
  }
}

/** The rows of a list that have been read so far. The same object until something in it changes. */
export interface ListData<Row> extends SavedList {
  readonly rows: readonly Row[];
  readonly remembered_at: number | undefined;
  /** Increases with each new state of the list. */
  readonly version: number;
}
