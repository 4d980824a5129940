/** Data for a preview: the last response to a query, which is sent if there is none. */
import { useEffect } from 'react';
import { type LiveQuery, optionsOf } from '../../queries/live-query.ts';
import { useLastAnswer } from './use-live.ts';
import { usePaused, useWorkbench } from './workbench.tsx';

/** Responses for items that the user does not open are dropped after this long, in milliseconds. */
export const previewKeptMs = 60_000;

/**
 * @param isWanted whether to send the query if it has no response yet: one request, even if it fails
 * @param untilWhole whether to send it also after each new response that is incomplete
 */
export function usePreviewData<Data>(query: LiveQuery<Data>, isWanted: boolean, untilWhole = false): Data | undefined {
  const workbench = useWorkbench();
  const isPaused = usePaused();
  const answer = useLastAnswer()(query);
  const isWhole = answer !== undefined && !(untilWhole && query.activity(answer) === 'settling');
  const sends = isWanted && !isPaused && !isWhole;
  const [kind, part, id] = query.key;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the query is a new object in each render, its key is the same
  useEffect(() => {
    if (sends)
      void workbench.cache.prefetchQuery({ ...optionsOf(workbench, query), staleTime: 0, gcTime: previewKeptMs });
  }, [workbench, sends, answer, kind, part, id]);
  return answer;
}
