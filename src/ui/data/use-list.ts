/** A list that is read page by page, kept current while on screen, and sorted as requested. */

import { hashKey } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { leastMsOf, listQuery } from '../../queries/lists/list-query.ts';
import type { ListData, ListSource } from '../../queries/lists/list-source.ts';
import type { ListCount } from '../../queries/lists/lists.ts';
import type { RestOutcome, Waiter } from '../../queries/lists/read-all.ts';
import type { ListReader, RowsAge } from '../../queries/lists/reader.ts';
import { type FieldOrder, inOrder } from '../../queries/lists/server-sort.ts';
import type { LiveQuery } from '../../queries/live-query.ts';
import type { Attention } from '../../queries/polling.ts';
import { isWhole } from '../../store/lists.ts';
import { count as shortCount } from '../../text/numbers.ts';
import { useLive } from './use-live.ts';
import { useWorkbench } from './workbench.tsx';

/** The rows read so far, and how to read more. */
export interface PagedList<Row> {
  readonly rows: readonly Row[];
  readonly loaded: boolean;
  /** Whether the service has more rows. */
  readonly hasMore: boolean;
  readonly dropped: number;
  /** Rows left out because of a duplicate id. */
  readonly repeated: number;
  /** Why the list may be incomplete. */
  readonly notes: readonly string[];
  /** Why the last page could not be read; undefined if it was. */
  readonly pageError: Error | undefined;
  /** Number of rows read so far, while the rest is being read. */
  readonly reading: number | undefined;
  /** Reads the next page, even if the list is not on screen. */
  readonly readOn: () => Promise<void>;
  /** Reads all unread rows, until it is stopped or the user leaves the view. */
  readonly readRest: () => Promise<RestOutcome>;
  /** Reads rows that are missing or older than half a minute; continues when the user leaves or sorts the view. */
  readonly readForFile: (waiter: Waiter) => Promise<RestOutcome>;
  /** Stops reading the rest for the view, if that is in progress; keeps the rows already read. */
  readonly stop: (() => void) | undefined;
  /** Reports the rows on screen: their pages are polled and, near the end of the list, the next page is read. */
  readonly see: (rows: readonly Row[], nearEnd: boolean) => void;
  readonly oldest: (rows: readonly Row[]) => RowsAge | undefined;
  /** The newest state, even before it is drawn. */
  readonly latest: () => ListData<Row>;
  /**
   * Who sorts the rows: the `service`, whose order must be kept, or the client, which has `all` rows or only those
   * `read` so far. `pending` until the service has responded: the rows keep their former order.
   */
  readonly sortedAs: 'service' | 'all' | 'read' | 'pending';
}

/** How long to wait after scrolling before reading the pages in view, in milliseconds. */
const restMs = 150;

/** Rows older than this are read again before an export, in milliseconds. */
const freshMs = 30_000;

/** Rows read before this time are read again. Settled rows are not polled: for them, the last poll's time counts. */
export function oldestWanted<Row>(reader: ListReader<Row>, source: ListSource<Row>, ms: number): number {
  return reader.activity(source) === 'settled' ? reader.polledAt : Date.now() - ms;
}

const noRows: readonly never[] = [];

/** The rows of a list that another part of the screen reads; undefined until they have been read. */
export function useListed<Row>(source: ListSource<Row>): ListData<Row> | undefined {
  const { cache, lists } = useWorkbench();
  return useSyncExternalStore(lists.subscribe, () => cache.getQueryData<ListData<Row>>(source.key));
}

export function useListedRows<Row>(source: ListSource<Row>): readonly Row[] {
  return useListed(source)?.rows ?? noRows;
}

/** A list that needs only its first page. */
export function useList<Row>(
  source: ListSource<Row>,
  attention: Attention,
): {
  readonly rows: readonly Row[];
  readonly loaded: boolean;
  /** Whether these are all the rows that the service has. */
  readonly complete: boolean;
  readonly error: Error | undefined;
} {
  const { data, error } = useLive(listQuery(useWorkbench(), source), attention);
  return { rows: data?.rows ?? noRows, loaded: data !== undefined, complete: isWhole(data), error };
}

/** A list that is read to its end. The source must not change while it is shown. */
export function useWholeList<Row>(source: ListSource<Row>): ReturnType<typeof useList<Row>> {
  const { lists } = useWorkbench();
  const list = useList(source, 'visible');
  const isUnread = list.loaded && !list.complete;
  useEffect(() => {
    if (isUnread) void lists.of(source).readRest();
  }, [isUnread, lists, source]);
  return list;
}

interface OrderedSource<Row> {
  readonly source: ListSource<Row>;
  readonly query: LiveQuery<ListData<Row>>;
  /** The unordered list, shown until the service has responded; undefined if it is the list to read. */
  readonly plain: ListData<Row> | undefined;
}

/**
 * Chooses the list to read for an order. The client sorts a complete list, in whatever order it was read. Otherwise the
 * service sorts; once it has refused an order, the client sorts the rows read so far.
 */
export function useOrderedSource<Row>(
  source: ListSource<Row>,
  requestedOrder: FieldOrder | undefined,
): OrderedSource<Row> {
  const workbench = useWorkbench();
  const { lists } = workbench;
  const { field, descending = false } = requestedOrder ?? {};
  const ordered = useMemo(() => {
    if (field === undefined || !source.sorts) return undefined;
    return inOrder(source, { field, descending }, () => lists.refuseOrder(source.key, field));
  }, [source, field, descending, lists]);
  const plain = lists.of(source);
  const active = useSyncExternalStore(lists.subscribe, () => {
    if (field === undefined) return source;
    const complete = lists.completeOrderOf(source);
    if (complete) return complete;
    // The unordered list shows whether the service has to sort.
    const asks = plain.extent.rows > 0 && !lists.refusesOrder(source.key, field);
    return (asks && ordered) || source;
  });
  return { source: active, query: listQuery(workbench, active), plain: active === source ? undefined : plain.data };
}

/** A list's rows and its further pages. @param data the newest response to the list's query */
export function usePagedList<Row>(
  { source, plain }: OrderedSource<Row>,
  data: ListData<Row> | undefined,
): PagedList<Row> {
  const workbench = useWorkbench();
  const reader = workbench.lists.of(source);
  const { reading, stoppable, error } = useSyncExternalStore(reader.subscribe, reader.state);
  const viewer = useRef({}).current;
  const timer = useRef<NodeJS.Timeout>(undefined);
  const see = useCallback(
    (rows: readonly Row[], nearEnd: boolean) => {
      reader.see(viewer, rows, nearEnd);
      // If rows from other lists are on screen, read on until this list has them.
      if (reader.extent.rows > 0 && rows.some(row => !reader.has(source.id(row)))) reader.readAhead();
      clearTimeout(timer.current);
      if (workbench.paused) return;
      const everyMs = Math.max(workbench.poll.visibleMs, leastMsOf(workbench, reader));
      const since = (): number => oldestWanted(reader, source, everyMs);
      timer.current = setTimeout(() => void reader.refreshView(since()), restMs);
    },
    [reader, source, viewer, workbench],
  );
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      reader.see(viewer, undefined);
      reader.stop();
    },
    [reader, viewer],
  );
  const shown = data ?? plain;
  const hasMore = data ? !data.complete : plain !== undefined;
  const sorted = plain ? 'service' : 'read';
  return {
    rows: shown?.rows ?? noRows,
    loaded: shown !== undefined,
    hasMore,
    dropped: data?.dropped ?? 0,
    repeated: data?.repeated ?? 0,
    notes: data?.notes ?? noRows,
    sortedAs: plain && !data ? 'pending' : hasMore ? sorted : 'all',
    pageError: error,
    reading,
    readOn: reader.readOn,
    readRest: useCallback(() => reader.readRest(), [reader]),
    readForFile: useCallback(
      waiter => reader.readRest(oldestWanted(reader, source, freshMs), waiter),
      [reader, source],
    ),
    stop: stoppable ? reader.stop : undefined,
    see,
    oldest: useCallback((rows: readonly Row[]) => reader.oldest(rows), [reader]),
    latest: useCallback(() => reader.data, [reader]),
  };
}

/**
 * A list's row count, in `room` cells; four always suffice. A `+` follows if the service has more; the number is then
 * rounded down, so it is never too high. `?` if none could be read.
 */
export function countText({ rows, complete }: Pick<ListCount, 'rows' | 'complete'>, room: number): string {
  if (!complete && rows === 0) return '?';
  if (complete) return rows < 10_000 ? `${rows}` : shortCount(rows);
  const inFull = `${rows}+`;
  if (rows < 10_000 && inFull.length <= room) return inFull;
  const text = rows < 1_000_000 ? `${Math.floor(rows / 1_000)}k+` : `${Math.floor(rows / 1_000_000)}M+`;
  return text.length <= room ? text : '99k+';
}

/**
 * The row count of the list under `key` in `room` cells; undefined before it has been read. Off screen, it is refreshed
 * only if this program may have changed it.
 */
export function useListCount(key: readonly unknown[] | undefined, room: number): string | undefined {
  const { cache, lists } = useWorkbench();
  useEffect(
    () =>
      cache.getQueryCache().subscribe(event => {
        if (!key || event.type !== 'updated' || event.action.type !== 'invalidate') return;
        if (event.query.queryHash !== hashKey(key) || event.query.isActive()) return;
        void cache.refetchQueries({ queryKey: key, exact: true, type: 'inactive' });
      }),
    [cache, key],
  );
  return useSyncExternalStore(lists.subscribe, () => {
    const count = key && lists.countOf(key);
    return count && countText(count, room);
  });
}
