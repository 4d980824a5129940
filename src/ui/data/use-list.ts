/** A list that is read page by page, kept current while in view, and sorted as requested. */

import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { ListData } from '../../queries/lists/data.ts';
import type { ListSource } from '../../queries/lists/list.ts';
import { isWhole, listQuery } from '../../queries/lists/list-query.ts';
import { type FieldOrder, inOrder } from '../../queries/lists/order.ts';
import type { ListReader, RowsAge } from '../../queries/lists/reader.ts';
import type { Background, RestOutcome } from '../../queries/lists/rest.ts';
import type { LiveQuery } from '../../queries/live-query.ts';
import type { Attention } from '../../queries/polling.ts';
import { useLive } from './use-live.ts';
import { useWorkbench } from './workbench.tsx';

/** A list as far as it has been read, and how more of it is. */
export interface PagedList<Row> {
  readonly rows: readonly Row[];
  readonly loaded: boolean;
  /** The server has more rows. */
  readonly hasMore: boolean;
  readonly dropped: number;
  /** Rows left out because of a duplicate id. */
  readonly repeated: number;
  /** Why the list may be incomplete. */
  readonly notes: readonly string[];
  /** Why the last page could not be read, if so. */
  readonly pageError: Error | undefined;
  /** Rows read so far, while the rest is being read. */
  readonly reading: number | undefined;
  /** Reads all that has not been read, until it is stopped or the view is left. */
  readonly readRest: () => Promise<RestOutcome>;
  /** Reads rows that are missing or older than half a minute; continues if the view is left or sorted. */
  readonly readForFile: (background: Background) => Promise<RestOutcome>;
  /** Stops reading the rest for the view, if it is being read for it; rows already read stay. */
  readonly stop: (() => void) | undefined;
  /** Sets the rows on screen: their pages are read with every poll, and near the end of the list the next page. */
  readonly see: (rows: readonly Row[], nearEnd: boolean) => void;
  /** The age of the oldest of these rows. */
  readonly oldest: (rows: readonly Row[]) => RowsAge | undefined;
  /** The newest state, even before it is drawn. */
  readonly latest: () => ListData<Row>;
  /**
   * Who sorts the rows: the `service`, whose order must be kept; or the client, which has `all` of them, or only those
   * `read`. `asked` until the service has answered: the rows are in their former order.
   */
  readonly sortedAs: 'service' | 'all' | 'read' | 'asked';
}

/** Delay after scrolling before the pages in view are read, in milliseconds. */
const restMs = 150;

/** Older rows are read again before an export, in milliseconds. */
const freshMs = 30_000;

/** Rows read before then are read again. Settled rows are not polled: for them the time of the last poll counts. */
function oldestWanted<Row>(reader: ListReader<Row>, ms: number): number {
  return reader.activity() === 'settled' ? reader.polledAt : Date.now() - ms;
}

const noRows: readonly never[] = [];

/** The reader of a list that is shown, which reads it as the last drawing says. */
function useReader<Row>(source: ListSource<Row>): ListReader<Row> {
  const reader = useWorkbench().lists.of(source);
  useEffect(() => {
    reader.source = source;
  }, [reader, source]);
  return reader;
}

/** A list as something else on screen shows it, which keeps it current; undefined until it is read. */
export function useListed<Row>(source: ListSource<Row>): ListData<Row> | undefined {
  const { cache, lists } = useWorkbench();
  return useSyncExternalStore(lists.subscribe, () => cache.getQueryData<ListData<Row>>(source.key));
}

/** Its rows. */
export function useListedRows<Row>(source: ListSource<Row>): readonly Row[] {
  return useListed(source)?.rows ?? noRows;
}

/** A list of which the first page is enough. */
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

/** The list that is read, so that rows come in an order that is wanted. */
export interface OrderedSource<Row> {
  readonly source: ListSource<Row>;
  readonly query: LiveQuery<ListData<Row>>;
  /**
   * The list without an order, whose rows are shown until the service has answered; undefined if it is what is read.
   */
  readonly plain: ListData<Row> | undefined;
}

/**
 * Chooses the list to read for an order. A complete list is sorted by the client; for others the service is asked
 * for the order, once: if it refuses, the rows read so far are sorted.
 */
export function useOrderedSource<Row>(source: ListSource<Row>, wanted: FieldOrder | undefined): OrderedSource<Row> {
  const workbench = useWorkbench();
  const { lists } = workbench;
  const { field, descending = false } = wanted ?? {};
  const ordered = useMemo(() => {
    if (field === undefined || !source.sorts) return undefined;
    return inOrder(source, { field, descending }, () => lists.refuseOrder(source.key, field));
  }, [source, field, descending, lists]);
  const plain = lists.of(source);
  // The rows read without an order show whether one is needed.
  const partial = plain.extent.rows > 0 && !plain.extent.complete;
  const asked = ordered && partial && field !== undefined && !lists.refusesOrder(source.key, field);
  const active = asked ? ordered : source;
  return { source: active, query: listQuery(workbench, active), plain: active === source ? undefined : plain.data };
}

/** The rows of a list and its further pages. @param data the newest answer to the query of the list */
export function usePagedList<Row>(
  { source, plain }: OrderedSource<Row>,
  data: ListData<Row> | undefined,
): PagedList<Row> {
  const workbench = useWorkbench();
  const reader = useReader(source);
  const { reading, stoppable, error } = useSyncExternalStore(reader.subscribe, reader.state);
  const viewer = useRef({}).current;
  const timer = useRef<NodeJS.Timeout>(undefined);
  const see = useCallback(
    (rows: readonly Row[], nearEnd: boolean) => {
      reader.see(viewer, rows, nearEnd);
      // Rows known from elsewhere are read as well.
      if (reader.extent.rows > 0 && rows.some(row => !reader.has(row))) void reader.readOn();
      clearTimeout(timer.current);
      if (workbench.paused) return;
      timer.current = setTimeout(() => void reader.refreshView(oldestWanted(reader, workbench.poll.visibleMs)), restMs);
    },
    [reader, viewer, workbench],
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
    sortedAs: plain && !data ? 'asked' : hasMore ? sorted : 'all',
    pageError: error,
    reading,
    readRest: useCallback(() => reader.readRest(), [reader]),
    readForFile: useCallback(background => reader.readRest(oldestWanted(reader, freshMs), background), [reader]),
    stop: stoppable ? reader.stop : undefined,
    see,
    oldest: useCallback((rows: readonly Row[]) => reader.oldest(rows), [reader]),
    latest: useCallback(() => reader.data, [reader]),
  };
}
