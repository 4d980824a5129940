/** A list that pages in by cursor and whose first page is kept live. */
import { useCallback, useRef, useState } from 'react';
import type { ListQuery } from '../contract/common.ts';
import { type Fault, faultOf } from './fault.ts';
import { appendPage, type ListData, mergeFirstPage, type NotedPage, type RowId } from './list.ts';
import type { Activity, Attention } from './polling.ts';
import type { Observation } from './statuses/store.ts';
import { type Asking, type Live, useLive } from './use-live.ts';
import { useWorkbench } from './workbench.tsx';

/** The largest page the contract allows: fewest requests. */
export const pageSize = 200;

export interface ListSource<Row> {
  readonly key: readonly unknown[];
  readonly id: RowId<Row>;
  readonly readPage: (asking: Asking & { readonly query: ListQuery }) => Promise<NotedPage<Row>>;
  /** What a row says about its resource. */
  readonly observes?: ((row: Row) => Observation) | undefined;
  /** How many of the rows are reported, where they are too many to be remembered; all where it is missing. */
  readonly observesFirst?: number;
  /** What the rows are doing; `open` where nothing runs. */
  readonly activity?: (rows: readonly Row[]) => Activity;
}

export interface LiveList<Row> extends Omit<Live<ListData<Row>>, 'data'> {
  readonly rows: readonly Row[];
  readonly loaded: boolean;
  /** More rows are on the server. */
  readonly hasMore: boolean;
  readonly dropped: number;
  /** Why the list may hold less than there is. */
  readonly note: string | undefined;
  /** Why the last page could not be read, if it could not. */
  readonly pageFault: Fault | undefined;
  /** Reads the next page, unless one is being read. */
  readonly loadMore: () => void;
}

export function useList<Row>(source: ListSource<Row>, attention: Attention): LiveList<Row> {
  const workbench = useWorkbench();
  const loading = useRef(false);
  const [pageFault, setPageFault] = useState<Fault>();
  const live = useLive<ListData<Row>>(
    {
      key: source.key,
      reports: {
        observes: source.observes,
        rows: (data: ListData<object>) => data.rows.slice(0, source.observesFirst),
      },
      activity: data => source.activity?.(data?.rows ?? []) ?? 'open',
      read: async asking => {
        const page = await source.readPage({ ...asking, query: { limit: pageSize } });
        return mergeFirstPage(undefined, page, source.id);
      },
      merge: (known, { rows, nextCursor, dropped, note }) =>
        mergeFirstPage(
          known,
          { items: [...rows], has_more: nextCursor !== null, next_cursor: nextCursor, dropped, note },
          source.id,
        ),
    },
    attention,
  );
  const loadMore = useCallback(() => {
    const list = workbench.cache.getQueryData<ListData<Row>>(source.key);
    const cursor = list?.nextCursor;
    if (loading.current || !cursor) return;
    loading.current = true;
    const read = async () => {
      try {
        const page = await source.readPage({
          service: await workbench.service(),
          query: { limit: pageSize, cursor },
          signal: AbortSignal.timeout(60_000),
          memory: workbench.remembered,
        });
        workbench.cache.setQueryData<ListData<Row>>(source.key, now =>
          // The list may have been read anew meanwhile; a page of the old one must not be added to it.
          now?.nextCursor === cursor ? appendPage(now, page, source.id) : now,
        );
        setPageFault(undefined);
      } catch (error) {
        setPageFault(faultOf(error));
      } finally {
        loading.current = false;
      }
    };
    void read();
  }, [workbench, source]);
  const { data, ...rest } = live;
  return {
    ...rest,
    rows: data?.rows ?? [],
    loaded: data !== undefined,
    hasMore: data?.nextCursor != null,
    dropped: data?.dropped ?? 0,
    note: data?.note,
    pageFault,
    loadMore,
  };
}
