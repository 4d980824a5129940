/** Asks anew for what may have been read too early, once something has come to its end. */
import { useEffect, useRef } from 'react';
import { useWorkbench } from './workbench.tsx';

/** When `ended` turns true while the caller is on screen, everything under `keys` is asked for once more. */
export function useRefreshOnce(ended: boolean, keys: readonly (readonly unknown[])[]): void {
  const { cache } = useWorkbench();
  const before = useRef(ended);
  useEffect(() => {
    if (ended && !before.current) for (const key of keys) void cache.invalidateQueries({ queryKey: key });
    before.current = ended;
  }, [ended, keys, cache]);
}
