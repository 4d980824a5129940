/** How many rows of a list are known. */
import { hashKey } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { count as shortCount } from '../text/numbers.ts';
import { useWorkbench } from './workbench.tsx';

/**
 * Rows of the list under `key`, with a `+` where the server has more; undefined until it has been read. Asks for it only
 * where something that the program did may have changed it while nothing shows it.
 */
export function useListCount(key: readonly unknown[] | undefined): string | undefined {
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
    return count && `${count.rows < 10_000 ? count.rows : shortCount(count.rows)}${count.complete ? '' : '+'}`;
  });
}
