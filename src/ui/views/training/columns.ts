/** How training runs and checkpoints read as rows. */
import type { Checkpoint, TrainingRun } from '../../../contract/training.ts';
import { rememberedAt } from '../../../queries/remembered/listing.ts';
import type { ProgressedRun } from '../../../queries/training.ts';
import type { Column } from '../../widgets/table/column.ts';
import { agoOf } from '../shared/ages.ts';
import { timeColumn } from '../shared/time-column.ts';

/** The step budget of a run, where its options say so. */
export function stepsOf({ options }: TrainingRun): number | undefined {
  const steps = options?.['num_steps'];
  return typeof steps === 'number' ? steps : undefined;
}

/** `35/600`, or only the budget where it is not known how many are done. */
function stepsText(run: ProgressedRun): string {
  const [done, total] = [run.completed_steps, stepsOf(run)];
  if (done == null) return total === undefined ? '' : String(total);
  return total === undefined ? String(done) : `${done}/${total}`;
}

export const trainingColumns: readonly Column<ProgressedRun>[] = [
  {
    id: 'name',
    title: 'TRAINING RUN',
    width: { min: 12, max: 60, grow: 3 },
    value: row => row.display_name ?? row.training_run_id,
  },
  { id: 'status', title: 'STATUS', width: 16, value: row => row.status ?? 'unknown', status: true },
  {
    id: 'steps',
    title: 'STEPS',
    width: 9,
    align: 'right',
    value: row => row.completed_steps ?? stepsOf(row),
    text: stepsText,
  },
  { id: 'model', title: 'MODEL', width: { min: 10, max: 36, grow: 2 }, value: row => row.base_model_slug ?? undefined },
  timeColumn('created', 'STARTED', row => row.created_at),
  {
    id: 'benchmark',
    title: 'BENCHMARK',
    width: { min: 10, max: 30, grow: 1 },
    wide: true,
    value: row => row.bench_id ?? undefined,
  },
  { id: 'by', title: 'BY', width: { min: 8, max: 24, grow: 1 }, wide: true, value: row => row.created_by ?? undefined },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.training_run_id },
  {
    id: 'seen',
    title: 'SEEN',
    width: 8,
    align: 'right',
    wide: true,
    value: rememberedAt,
    text: row => agoOf(rememberedAt(row)),
    exported: row => {
      const at = rememberedAt(row);
      return at === undefined ? undefined : new Date(at).toISOString();
    },
  },
];

export const checkpointColumns: readonly Column<Checkpoint>[] = [
  {
    id: 'step',
    title: 'CHECKPOINT',
    width: { min: 10, max: 20, grow: 1 },
    value: row => row.step_index ?? undefined,
    text: row => `step ${row.step_index ?? '?'}`,
  },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 2 }, value: row => row.checkpoint_id },
  timeColumn('created', 'COMMITTED', row => row.created_at, { width: 10 }),
];
