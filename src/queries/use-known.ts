/** What is known already, without asking for it. */
import { useCallback } from 'react';
import type { LiveQuery } from './use-live.ts';
import { useWorkbench } from './workbench.tsx';

/** Gives a function that reads the last answer to a query, at the moment it is called. */
export function useKnown(): <Data>(query: LiveQuery<Data>) => Data | undefined {
  const { cache } = useWorkbench();
  return useCallback(query => cache.getQueryData(query.key), [cache]);
}
