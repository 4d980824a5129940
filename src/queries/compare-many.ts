/** Compares several evaluation runs with one of them. */

import type { EvalRun } from '../contract/evaluations.ts';
import { unreadableIn } from '../contract/lists.ts';
import { hasEnded } from '../contract/status.ts';
import { comparedPool } from './compare.ts';
import { evaluationKeys } from './evaluations.ts';
import { type ListSource, wholePage } from './lists/list-source.ts';
import type { ReadRewards } from './run-extent.ts';
import { contradictionWords } from './run-rewards.ts';

/** A run with its rewards. */
export interface ComparedRun {
  readonly id: string;
  readonly name: string;
  /** The evaluated model or checkpoint, in words. */
  readonly model?: string | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** The ids of all pooled runs, if there are several. */
  readonly pool?: readonly string[] | undefined;
  readonly read: ReadRewards;
}

/** The runs' rewards, one row per run. Takes one or a few requests per run. */
export function comparedRuns(
  runs: readonly (Pick<EvalRun, 'eval_run_id'> & Pick<ComparedRun, 'name' | 'model' | 'options' | 'pool'>)[],
): ListSource<ComparedRun> {
  const pools = runs.map(({ eval_run_id, pool = [eval_run_id] }) => pool);
  const reads = pools.map(comparedPool);
  return {
    key: [...evaluationKeys.all, 'compared', ...pools],
    id: row => row.id,
    derived: true,
    activity: rows => (rows.every(({ read }) => hasEnded(read.status)) ? 'settled' : 'open'),
    readPage: async context => {
      const pools = await Promise.all(reads.map(each => each(context)));
      const read = pools.map(pool => pool.read);
      const rows = read.flatMap(({ certainty: _, ...rewards }, index): ComparedRun[] => {
        const run = runs[index];
        if (!run) return [];
        const { eval_run_id: id, name, model, options, pool } = run;
        return [{ id, name, model, options, pool, read: rewards }];
      });
      const dropped = read.reduce((sum, { rewards }) => sum + unreadableIn(rewards), 0);
      const note = contradictionWords(...read.map(({ rewards }) => rewards)) || undefined;
      return { ...wholePage(rows, note), dropped, mayChange: pools.some(({ mayChange }) => mayChange) };
    },
  };
}
