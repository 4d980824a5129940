/** The remembered means of evaluations, as in Watch, for lists of runs. */
import { useCallback, useSyncExternalStore } from 'react';
import type { EvalRun } from '../../../contract/evaluations.ts';
import { isRunning } from '../../../contract/status.ts';
import type { KnownResource } from '../../../queries/statuses/store.ts';
import { type SeenMean, withHeldOutSplits, withMeans } from '../../../resources/measured-run.ts';
import { useWorkbench } from '../../data/workbench.tsx';

/** Whether the remembered rewards are final. */
const isLast = ({ done, total, graded }: KnownResource): boolean =>
  graded !== undefined && done !== undefined && total !== undefined && done >= total;

/** Adds remembered means and held-out splits to rows. Returns the same function until some of these change. */
export function useMeansSoFar(): (rows: readonly EvalRun[]) => readonly EvalRun[] {
  const { statuses } = useWorkbench();
  const means = useSyncExternalStore(statuses.subscribe, () => {
    const seen = statuses.all().filter(known => known.kind === 'run' && (isRunning(known.status) || isLast(known)));
    return JSON.stringify(seen.map(({ id, mean, graded, total }): [string, SeenMean] => [id, { mean, graded, total }]));
  });
  const splits = useSyncExternalStore(statuses.subscribe, () => {
    const measured = statuses.all().filter(known => known.kind === 'training' && known.measured?.best.split);
    return JSON.stringify(measured.map(({ id, measured: of }) => [id, of?.best.split]));
  });
  return useCallback(
    rows => {
      const seen = withMeans(rows, new Map(JSON.parse(means) as [string, SeenMean][]));
      return withHeldOutSplits(seen, new Map(JSON.parse(splits) as [string, string][]));
    },
    [means, splits],
  );
}
