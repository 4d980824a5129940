/** A list in the order that is wanted: sorted by whoever can. */
import { useMemo } from 'react';
import type { ListSource } from './list.ts';
import { type FieldOrder, inOrder } from './list-order.ts';
import type { Attention } from './polling.ts';
import { type LiveList, useList } from './use-list.ts';
import { useWorkbench } from './workbench.tsx';

export interface OrderedList<Row> extends LiveList<Row> {
  /**
   * Who puts the rows in order: the `service`, whose pages are to be left as they come; or the reader of the list, who has
   * `all` of them, or only those that were `read`. `asked` while the service has not answered: the rows are as they were.
   */
  readonly sortedAs: 'service' | 'all' | 'read' | 'asked';
}

/**
 * Keeps a list live, in the order of a field where one is wanted. A list that has been read whole is sorted by its reader;
 * of others the service is asked for the order, once: where it refuses, the rows that were read are all there is to sort.
 */
export function useOrderedList<Row>(
  source: ListSource<Row>,
  wanted: FieldOrder | undefined,
  attention: Attention,
): OrderedList<Row> {
  const { lists } = useWorkbench();
  const { field, descending = false } = wanted ?? {};
  const ordered = useMemo(() => {
    if (field === undefined || !source.sorts) return undefined;
    return inOrder(source, { field, descending }, () => lists.refuseOrder(source.key, field));
  }, [source, field, descending, lists]);
  const plain = lists.of(source).data;
  // What was read without an order tells whether one needs to be asked for.
  const partial = plain.rows.length > 0 && !plain.complete;
  const asked = ordered && partial && field !== undefined && !lists.refusesOrder(source.key, field);
  const active = asked ? ordered : source;
  const list = useList(active, attention);
  if (active === source) return { ...list, sortedAs: list.hasMore ? 'read' : 'all' };
  if (list.loaded) return { ...list, sortedAs: list.hasMore ? 'service' : 'all' };
  return { ...list, rows: plain.rows, loaded: true, hasMore: true, sortedAs: 'asked' };
}
