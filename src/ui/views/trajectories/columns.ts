/** How a trajectory reads as a row. */
import type { Trajectory } from '../../../contract/trajectories.ts';
import { reward } from '../../../text/numbers.ts';
import type { Column } from '../../widgets/table/column.ts';
import { timeColumn } from '../shared/time-column.ts';

export const trajectoryColumns: readonly Column<Trajectory>[] = [
  {
    id: 'task',
    title: 'TASK',
    field: 'task_id',
    width: { min: 12, max: 40, grow: 2 },
    value: row => row.task_id ?? row.trajectory_id,
  },
  {
    id: 'reward',
    title: 'REWARD',
    field: 'reward',
    width: 8,
    align: 'right',
    // A trajectory that failed has no reward, which is not the reward 0.
    value: row => row.reward ?? undefined,
    text: row => reward(row.reward),
  },
  { id: 'status', title: 'STATUS', field: 'status', width: 12, value: row => row.status ?? 'unknown', status: true },
  {
    id: 'steps',
    title: 'STEPS',
    field: 'num_steps',
    width: 6,
    align: 'right',
    value: row => row.num_steps ?? undefined,
  },
  {
    id: 'error',
    title: 'ERROR',
    field: 'error',
    width: { min: 6, max: 60, grow: 2 },
    value: row => row.error ?? undefined,
  },
  {
    id: 'model',
    title: 'MODEL',
    field: 'model_id',
    width: { min: 10, max: 36, grow: 1 },
    wide: true,
    value: row => row.model_id ?? undefined,
  },
  {
    id: 'dataset',
    title: 'DATASET',
    field: 'dataset_name',
    width: { min: 8, max: 24, grow: 1 },
    wide: true,
    value: row => row.dataset_name ?? undefined,
  },
  timeColumn('created', 'CREATED', row => row.created_at, { wide: true, field: 'created_at' }),
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.trajectory_id },
];
