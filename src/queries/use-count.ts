/** How many rows of a list are known, without asking for it. */
import { useCallback, useSyncExternalStore } from 'react';
import type { ListData } from './list.ts';
import { useWorkbench } from './workbench.tsx';

/** Rows of the list under `key`, with a `+` where the server has more; undefined until it has been read. */
export function useListCount(key: readonly unknown[] | undefined): string | undefined {
  const { cache } = useWorkbench();
  const subscribe = useCallback((changed: () => void) => cache.getQueryCache().subscribe(changed), [cache]);
  return useSyncExternalStore(subscribe, () => {
    const list = key && cache.getQueryData<ListData<unknown>>(key);
    return list && `${list.rows.length}${list.nextCursor === null ? '' : '+'}`;
  });
}
