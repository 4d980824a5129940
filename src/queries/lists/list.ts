/** What a list is asked for by, and what is known of it. */
import type * as z from 'zod/mini';
import { type ListQuery, type Page, unreadableIn } from '../../contract/common.ts';
import type { Activity } from '../polling.ts';
import type { QueryContext } from '../query-context.ts';
import type { Observation } from '../statuses/store.ts';

/** The largest page the contract allows: fewest requests. */
export const pageSize = 200;
/** Pages in a row that bring no new row, after which a list is read no further: the service may go round in circles. */
export const maxPagesWithoutNewRows = 5;

/** A page, with what is to be said of it. */
export type AnnotatedPage<Row> = Page<Row> & {
  /** Why it may hold less than there is. */
  readonly note?: string | undefined;
  /** When the newest of the rows was seen, where they were remembered and not listed; 0 for none. Epoch milliseconds. */
  readonly remembered_at?: number | undefined;
  /** What follows it, in words: said where it is the last page that was read, and not the last one. */
  readonly rest?: string | undefined;
  /** Whether a row was not asked about: where it was known before, it stays. */
  readonly isUnread?: (row: Row) => boolean;
};

/** A list that comes whole in one answer. */
export function wholePage<Row>(items: readonly Row[], note?: string): AnnotatedPage<Row> {
  return { items: [...items], has_more: false, next_cursor: null, dropped: unreadableIn(items), note };
}

export type RowId<Row> = (row: Row) => string;

export interface ListSource<Row> {
  readonly key: readonly unknown[];
  readonly id: RowId<Row>;
  readonly readPage: (context: QueryContext & { readonly query: ListQuery }) => Promise<AnnotatedPage<Row>>;
  /** What is shown where the service does not list them. */
  readonly instead?: ((context: QueryContext) => AnnotatedPage<Row> | Promise<AnnotatedPage<Row>>) | undefined;
  /** What a row must be like. If it is given, the first page is remembered for the next start. */
  readonly schema?: z.ZodMiniType<Row>;
  /** Key of the list that has the same rows in another order. */
  readonly sameRowsAs?: readonly unknown[];
  /** The list takes `sort` and `order`. */
  readonly sorts?: boolean;
  /** A page takes many requests: the next one is read when the user asks for it, and not because the cursor is near. */
  readonly costly?: boolean;
  /** What a row says about its resource. */
  readonly observes?: ((row: Row) => Observation) | undefined;
  /** How many of the rows are reported, where they are too many to be remembered; all if it is missing. */
  readonly observesFirst?: number;
  /** What the rows are doing; `open` if nothing runs. */
  readonly activity?: (rows: readonly Row[]) => Activity;
}

/** A list as far as it has been read. The same object for as long as nothing in it changes. */
export interface ListData<Row> {
  readonly rows: readonly Row[];
  /** Whether these are all the rows that the service has. */
  readonly complete: boolean;
  /** Rows that came and could not be read. */
  readonly dropped: number;
  /** Rows left out because another row of their page has the same id. */
  readonly repeated: number;
  /** Rows may be missing behind this many: they came faster than they were read. */
  readonly gapAfter: number | undefined;
  /** Why the list may hold less than there is. */
  readonly notes: readonly string[];
  /** When the newest of the rows was seen, where they were remembered and not listed; 0 for none. Epoch milliseconds. */
  readonly remembered_at: number | undefined;
  /** Counts up: of two states of a list the higher one is the newer. */
  readonly version: number;
}
