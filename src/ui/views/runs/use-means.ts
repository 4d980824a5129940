/** The means so far of running evaluations, as Watch shows them, for the lists that have their rows. */
import { useCallback, useSyncExternalStore } from 'react';
import type { EvalRun } from '../../../contract/evaluations.ts';
import { isRunning } from '../../../contract/status.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import { withMeans } from '../../../resources/runs.ts';

/** Adds the means so far to rows; the same function until one of them changes. */
export function useMeansSoFar(): (rows: readonly EvalRun[]) => readonly EvalRun[] {
  const { statuses } = useWorkbench();
  const means = useSyncExternalStore(statuses.subscribe, () => {
    const running = statuses.all().filter(known => known.kind === 'run' && isRunning(known.status));
    return JSON.stringify(running.flatMap(({ id, mean }) => (mean === undefined ? [] : [[id, mean]])));
  });
  return useCallback(rows => withMeans(rows, new Map(JSON.parse(means))), [means]);
}
