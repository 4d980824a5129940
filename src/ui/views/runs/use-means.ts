/** Known evaluation means and how certain they are, as in Watch, for lists of runs. */
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { EvalRun } from '../../../contract/evaluations.ts';
import { isRunning } from '../../../contract/status.ts';
import type { Attention } from '../../../queries/polling.ts';
import { runsOfBenchmark } from '../../../queries/run-lists.ts';
import type { KnownResource } from '../../../queries/statuses/known-resource.ts';
import { type SeenMean, withHeldOutSplits, withMean } from '../../../resources/measured-run.ts';
import { type KnownJoin, useKnown } from '../../data/use-known.ts';
import { useList } from '../../data/use-list.ts';
import { useWorkbench } from '../../data/workbench.tsx';

/** Whether the remembered rewards are final. */
const isLast = ({ done, total, graded }: KnownResource): boolean =>
  graded !== undefined && done !== undefined && total !== undefined && done >= total;

const means: KnownJoin<EvalRun, SeenMean, EvalRun> = {
  kind: 'run',
  id: ({ eval_run_id }) => eval_run_id,
  pick: known => {
    const { mean, graded, total, certainty, failed = known.ends?.failed } = known;
    if (isRunning(known.status) || isLast(known)) return { mean, graded, total, certainty, failed };
    return certainty && { certainty };
  },
  join: withMean,
};

/**
 * Returns a function that adds known means and held-out splits to rows; the same function until some of these change.
 */
export function useMeans(): (rows: readonly EvalRun[]) => readonly EvalRun[] {
  const { statuses } = useWorkbench();
  const withMeans = useKnown(means);
  const splits = useSyncExternalStore(statuses.subscribe, () => {
    const measured = statuses.all().filter(known => known.kind === 'training' && known.measured?.best.split);
    return JSON.stringify(measured.map(({ id, measured: of }) => [id, of?.best.split]));
  });
  return useCallback(
    rows => withHeldOutSplits(withMeans(rows), new Map(JSON.parse(splits) as [string, string][])),
    [withMeans, splits],
  );
}

/** A benchmark's runs with their known means; none without a benchmark. The same rows until some change. */
export function useRunsOf(benchId: string | null | undefined, attention: Attention): readonly EvalRun[] {
  const { rows } = useList(runsOfBenchmark(benchId ?? ''), benchId ? attention : 'hidden');
  const withMeans = useMeans();
  return useMemo(() => withMeans(rows), [withMeans, rows]);
}
