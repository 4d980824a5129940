/** Known evaluation means and how certain they are, as in Watch, for lists of runs. */
import { useCallback, useMemo } from 'react';
import { perArguments, perObject } from '../../../base/memo.ts';
import type { EvalRun } from '../../../contract/evaluations.ts';
import { isRunning } from '../../../contract/status.ts';
import type { Attention } from '../../../queries/polling.ts';
import { runsOfBenchmark } from '../../../queries/run-lists.ts';
import type { KnownResource } from '../../../queries/statuses/known-resource.ts';
import { type MeasuredRun, type SeenMean, withMean, withTraining } from '../../../resources/measured-run.ts';
import { trainedApart } from '../../../resources/run-columns.ts';
import { useList } from '../../data/use-list.ts';
import { type StatusJoin, useStatusJoin } from '../../data/use-status-join.ts';
import { useWorkbench } from '../../data/workbench.tsx';

/** Whether the remembered rewards are final. */
const isLast = ({ done, total, graded }: KnownResource): boolean =>
  graded !== undefined && done !== undefined && total !== undefined && done >= total;

const means: StatusJoin<EvalRun, SeenMean, EvalRun> = {
  kind: 'run',
  id: ({ eval_run_id }) => eval_run_id,
  pick: known => {
    const { mean, graded, total, certainty, failed = known.ends?.failed } = known;
    if (isRunning(known.status) || isLast(known)) return { mean, graded, total, certainty, failed };
    return certainty && { certainty };
  },
  join: withMean,
};

type Trained = Parameters<typeof withTraining>[1];

const trainedJoin: StatusJoin<EvalRun, Trained, EvalRun> = {
  kind: 'training',
  id: ({ training_run_id }) => training_run_id ?? '',
  pick: ({ id, label, measured }) => ({ split: measured?.best.split, name: label === id ? undefined : label }),
  join: withTraining,
};

/**
 * Returns a function that adds known means, and known training runs of checkpoints, to rows; the same function until
 * some of these change.
 */
export function useMeans(): (rows: readonly EvalRun[]) => readonly EvalRun[] {
  const { remembered } = useWorkbench();
  const withMeans = useStatusJoin(means);
  const withTrained = useStatusJoin(trainedJoin);
  const withNames = useMemo(() => {
    const nameOf = perArguments((id: string) => remembered.seen.find('training', id)?.label, Number.POSITIVE_INFINITY);
    const named = perObject((row: EvalRun) => withTraining(row, { name: nameOf(row.training_run_id ?? '') }));
    const isNameless = (row: MeasuredRun) => row.training_run_id && row.trained_in === undefined;
    return (rows: readonly EvalRun[]) =>
      trainedApart(withTrained(rows).map(row => (isNameless(row) ? named(row) : row)));
  }, [remembered, withTrained]);
  return useCallback(rows => withNames(withMeans(rows)), [withMeans, withNames]);
}

/** A benchmark's runs with their known means; none without a benchmark. The same rows until some change. */
export function useRunsOf(benchId: string | null | undefined, attention: Attention): readonly EvalRun[] {
  const { rows } = useList(runsOfBenchmark(benchId ?? ''), benchId ? attention : 'hidden');
  const withMeans = useMeans();
  return useMemo(() => withMeans(rows), [withMeans, rows]);
}
