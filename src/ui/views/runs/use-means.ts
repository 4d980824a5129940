/** Known evaluation means and how certain they are, as in Watch, for lists of runs. */
import { useMemo, useSyncExternalStore } from 'react';
import { perArguments, perObject } from '../../../base/memo.ts';
import type { EvalRun } from '../../../contract/evaluations.ts';
import { isRunning } from '../../../contract/status.ts';
import type { Attention } from '../../../queries/polling.ts';
import { runsOfBenchmark } from '../../../queries/run-lists.ts';
import type { KnownResource } from '../../../queries/statuses/known-resource.ts';
import { type SeenMean, withMean, withTraining } from '../../../resources/measured-run.ts';
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
 * Returns a function that adds known means, and what is known about checkpoints' training runs, to rows; the same
 * function until some of these change.
 */
export function useMeans(): (rows: readonly EvalRun[]) => readonly EvalRun[] {
  const { statuses, remembered } = useWorkbench();
  const withMeans = useKnown(means);
  const known = useSyncExternalStore(statuses.subscribe, () => {
    const trained = statuses.all().filter(({ kind }) => kind === 'training');
    return JSON.stringify(trained.map(({ id, label, measured }) => [id, { label, split: measured?.best.split }]));
  });
  return useMemo(() => {
    const seen = new Map(JSON.parse(known) as [string, { readonly label: string; readonly split?: string }][]);
    const trainingOf = perArguments((id: string) => {
      const { label = id, split } = seen.get(id) ?? {};
      return { split, name: label === id ? remembered.find('training', id)?.label : label };
    });
    const joined = perObject((row: EvalRun): EvalRun => {
      return row.training_run_id ? withTraining(row, trainingOf(row.training_run_id)) : row;
    });
    return rows => withMeans(rows).map(joined);
  }, [withMeans, known, remembered]);
}

/** A benchmark's runs with their known means; none without a benchmark. The same rows until some change. */
export function useRunsOf(benchId: string | null | undefined, attention: Attention): readonly EvalRun[] {
  const { rows } = useList(runsOfBenchmark(benchId ?? ''), benchId ? attention : 'hidden');
  const withMeans = useMeans();
  return useMemo(() => withMeans(rows), [withMeans, rows]);
}
