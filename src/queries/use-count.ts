/** How many rows of a list are known. */
import { hashKey } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { useWorkbench } from './workbench.tsx';

/**
 * Rows of the list under `key`, with a `+` where the server has more; undefined until it has been read. Asks for it only
 * where something that the program did may have changed it while nothing shows it.
 */
export function useListCount(key: readonly unknown[] | undefined): string | undefined {
  const { cache, lists } = useWorkbench();
  const hash = key && hashKey(key);
  const subscribe = useCallback(
    (changed: () => void) =>
      cache.getQueryCache().subscribe(({ type, query, ...event }) => {
        // Other events come while something is drawn, and say nothing about the rows.
        if (type !== 'updated' || query.queryHash !== hash) return;
        const isOutdated = 'action' in event && event.action.type === 'invalidate' && !query.isActive();
        if (isOutdated) void cache.refetchQueries({ queryKey: query.queryKey, exact: true, type: 'inactive' });
        changed();
      }),
    [cache, hash],
  );
  return useSyncExternalStore(subscribe, () => {
    const count = key && lists.countOf(key);
    return count && `${count.rows}${count.complete ? '' : '+'}`;
  });
}
