/** How a secret reads as a row: what is known of it, never its value. */
import type { Secret } from '../../../contract/secrets.ts';
import { bytes } from '../../../text/numbers.ts';
import type { Column } from '../../widgets/table/column.ts';
import { timeColumn } from '../shared/time-column.ts';

export const secretColumns: readonly Column<Secret>[] = [
  {
    id: 'name',
    title: 'SECRET',
    field: 'name',
    width: { min: 12, max: 50, grow: 2 },
    value: row => row.name ?? row.secret_id,
  },
  {
    id: 'size',
    title: 'SIZE',
    field: 'byte_length',
    width: 8,
    align: 'right',
    value: row => row.byte_length ?? undefined,
    text: row => bytes(row.byte_length),
  },
  timeColumn('updated', 'UPDATED', row => row.updated_at, { field: 'updated_at' }),
  {
    id: 'description',
    title: 'DESCRIPTION',
    field: 'description',
    width: { min: 10, max: 60, grow: 2 },
    value: row => row.description ?? undefined,
  },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.secret_id },
];
