/** How an evaluation run reads as a row. */
import type { EvalRun } from '../../../contract/evaluations.ts';
import { reward } from '../../../text/numbers.ts';
import type { Column } from '../../widgets/table/column.ts';
import { timeColumn } from '../shared/time-column.ts';

export const runColumns: readonly Column<EvalRun>[] = [
  { id: 'name', title: 'RUN', width: { min: 12, max: 60, grow: 3 }, value: row => row.display_name ?? row.eval_run_id },
  { id: 'status', title: 'STATUS', width: 12, value: row => row.status ?? 'unknown', status: true },
  {
    id: 'mean',
    title: 'MEAN',
    width: 7,
    align: 'right',
    value: row => row.reward_mean ?? undefined,
    text: row => reward(row.reward_mean),
  },
  { id: 'model', title: 'MODEL', width: { min: 10, max: 36, grow: 2 }, value: row => row.base_model_slug ?? undefined },
  { id: 'checkpoint', title: 'CHECKPOINT', width: 12, wide: true, value: row => row.parent_checkpoint_id ?? undefined },
  timeColumn('created', 'STARTED', row => row.created_at),
  {
    id: 'benchmark',
    title: 'BENCHMARK',
    width: { min: 10, max: 30, grow: 1 },
    wide: true,
    value: row => row.bench_id ?? undefined,
  },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.eval_run_id },
];
