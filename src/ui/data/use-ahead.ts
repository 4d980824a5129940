/** Data for a preview: the last response to a query, which is sent once if there is none. */
import { useEffect } from 'react';
import { type LiveQuery, optionsOf } from '../../queries/live-query.ts';
import { useLastAnswer } from './use-live.ts';
import { usePaused, useWorkbench } from './workbench.tsx';

/** Responses for items that the user does not open are dropped after this long, in milliseconds. */
export const aheadKeptMs = 60_000;

/** @param wanted whether to send the query if it has no response yet: one request, even if it fails */
export function useAhead<Data>(query: LiveQuery<Data>, wanted: boolean): Data | undefined {
  const workbench = useWorkbench();
  const isPaused = usePaused();
  const answer = useLastAnswer()(query);
  const sends = wanted && !isPaused && answer === undefined;
  const [kind, part, id] = query.key;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the query is a new object in each render, its key is the same
  useEffect(() => {
    if (sends) void workbench.cache.prefetchQuery({ ...optionsOf(workbench, query), gcTime: aheadKeptMs });
  }, [workbench, sends, kind, part, id]);
  return answer;
}
