/** What would be lost if the program ended now, or showed another service. */
import { useEffect, useId } from 'react';
import { useWorkbench } from './workbench.tsx';

/** Says what would be lost, in words, while the caller is on screen; undefined for nothing. */
export function useUnfinished(words: string | undefined): void {
  const { unfinished } = useWorkbench();
  const id = useId();
  useEffect(() => {
    if (words === undefined) return undefined;
    unfinished.set(id, { words });
    return () => void unfinished.delete(id);
  }, [unfinished, id, words]);
}
