/** What was seen of the rewards of evaluations, as Watch shows it, for the lists that have their rows. */
import { useCallback, useSyncExternalStore } from 'react';
import type { EvalRun } from '../../../contract/evaluations.ts';
import { isRunning } from '../../../contract/status.ts';
import type { KnownResource } from '../../../queries/statuses/store.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import { type SeenMean, withMeans } from '../../../resources/runs.ts';

/** Whether what was seen of a run's rewards is how it ended, and not how far it was at some time before. */
const isLast = ({ done, total, graded }: KnownResource): boolean =>
  graded !== undefined && done !== undefined && total !== undefined && done >= total;

/** Adds what was seen of rewards to rows; the same function until some of it changes. */
export function useMeansSoFar(): (rows: readonly EvalRun[]) => readonly EvalRun[] {
  const { statuses } = useWorkbench();
  const means = useSyncExternalStore(statuses.subscribe, () => {
    const seen = statuses.all().filter(known => known.kind === 'run' && (isRunning(known.status) || isLast(known)));
    return JSON.stringify(seen.map(({ id, mean, graded, total }): [string, SeenMean] => [id, { mean, graded, total }]));
  });
  return useCallback(rows => withMeans(rows, new Map(JSON.parse(means) as [string, SeenMean][])), [means]);
}
