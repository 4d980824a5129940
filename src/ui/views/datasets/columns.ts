/** How a dataset reads as a row. */
import type { Dataset } from '../../../contract/datasets.ts';
import type { Column } from '../../widgets/table/column.ts';
import { timeColumn } from '../shared/time-column.ts';

export const datasetColumns: readonly Column<Dataset>[] = [
  {
    id: 'name',
    title: 'DATASET',
    width: { min: 14, max: 60, grow: 3 },
    value: row => row.display_name ?? row.dataset_name ?? row.dataset_id,
  },
  { id: 'source', title: 'SOURCE', field: 'source', width: 11, value: row => row.source ?? undefined },
  timeColumn('updated', 'UPDATED', row => row.updated_at, { field: 'updated_at' }),
  {
    id: 'dataset_name',
    title: 'NAME',
    field: 'dataset_name',
    width: { min: 12, max: 40, grow: 1 },
    wide: true,
    value: row => row.dataset_name ?? undefined,
  },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.dataset_id },
];
