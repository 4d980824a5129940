/** Rows as the cache has them now, by resource. */
import { useEffect, useReducer, useState } from 'react';
import { isRecord } from '../../base/own-property.ts';
import { cachedQuery } from '../../queries/live-query.ts';
import { idOf, type Resource } from '../../resources/define.ts';
import { useWorkbench } from './workbench.tsx';

interface RowsOf {
  readonly resource: Pick<Resource, 'get' | 'list'>;
  readonly rows: readonly object[];
}

/**
 * The newest state of the given rows. Looks at responses that have arrived since the caller was mounted: for lists of
 * the resource in any order, and for the rows' records. Redraws the caller on each new response.
 */
export function useNewestRows(parts: readonly RowsOf[]): ReadonlyMap<object, object> {
  const workbench = useWorkbench();
  const cache = workbench.cache.getQueryCache();
  const [openedAt] = useState(() => Date.now());
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(
    () =>
      cache.subscribe(event => {
        if (event.type === 'updated' && event.action.type === 'success') redraw();
      }),
    [cache],
  );
  const newest = new Map<object, object>();
  for (const { resource, rows } of parts) {
    const byId = new Map(rows.map(row => [idOf(resource, row), row]));
    const queries = [
      ...cache.findAll({ queryKey: resource.list({}).key }),
      ...rows.flatMap(row => {
        const query = resource.get?.(idOf(resource, row));
        return (query && cachedQuery(workbench, query.key)) ?? [];
      }),
    ];
    const later = queries.filter(({ state }) => state.dataUpdatedAt >= openedAt);
    for (const { state } of later.toSorted((one, other) => one.state.dataUpdatedAt - other.state.dataUpdatedAt)) {
      const { data } = state;
      const answered = isRecord(data) && Array.isArray(data['rows']) ? data['rows'] : [data];
      for (const now of answered as object[]) {
        const row = byId.get(idOf(resource, now));
        if (row) newest.set(row, now);
      }
    }
  }
  return newest;
}
