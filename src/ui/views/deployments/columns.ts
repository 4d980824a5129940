/** How a deployment reads as a row. */
import type { Deployment } from '../../../contract/deployments.ts';
import type { Column } from '../../widgets/table/column.ts';
import { timeColumn } from '../shared/time-column.ts';

export const deploymentColumns: readonly Column<Deployment>[] = [
  {
    id: 'slug',
    title: 'DEPLOYMENT',
    field: 'model_slug',
    width: { min: 12, max: 40, grow: 2 },
    value: row => row.model_slug ?? row.deployment_id,
  },
  { id: 'status', title: 'STATUS', field: 'status', width: 12, value: row => row.status ?? 'unknown', status: true },
  { id: 'active', title: 'ACTIVE', width: 6, value: row => (row.is_active ? 'yes' : '') },
  { id: 'role', title: 'ROLE', field: 'role', width: 10, value: row => row.role ?? undefined },
  {
    id: 'step',
    title: 'STEP',
    field: 'checkpoint_step',
    width: 5,
    align: 'right',
    value: row => row.checkpoint_step ?? undefined,
  },
  {
    id: 'base',
    title: 'BASE MODEL',
    field: 'base_model_slug',
    width: { min: 10, max: 36, grow: 1 },
    wide: true,
    value: row => row.base_model_slug ?? undefined,
  },
  timeColumn('updated', 'CHANGED', row => row.updated_at ?? row.created_at),
  { id: 'by', title: 'BY', width: { min: 8, max: 24, grow: 1 }, wide: true, value: row => row.created_by ?? undefined },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.deployment_id },
];
