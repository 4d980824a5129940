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
  const subscribe = useCallback(
    (changed: () => void) =>
      cache.getQueryCache().subscribe(event => {
        if (key && event.query.queryHash === hashKey(key)) {
          const outdated = event.type === 'updated' && event.action.type === 'invalidate' && !event.query.isActive();
          if (outdated) void cache.refetchQueries({ queryKey: key, exact: true, type: 'inactive' });
        }
        changed();
      }),
    [cache, key],
  );
  return useSyncExternalStore(subscribe, () => {
    const count = key && lists.countOf(key);
    return count && `${count.rows}${count.complete ? '' : '+'}`;
  });
}
