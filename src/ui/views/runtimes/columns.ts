/** How a runtime reads as a row. */
import type { BenchmarkRuntime } from '../../../contract/benchmarks.ts';
import type { Column } from '../../widgets/table/column.ts';
import { timeColumn } from '../shared/time-column.ts';

export const runtimeColumns: readonly Column<BenchmarkRuntime>[] = [
  {
    id: 'image',
    title: 'RUNTIME',
    field: 'image_ref',
    width: { min: 14, max: 50, grow: 2 },
    value: row => row.image_ref ?? row.runtime_id,
  },
  {
    id: 'status',
    title: 'STATUS',
    field: 'build_status',
    width: 12,
    value: row => row.build_status ?? 'unknown',
    status: true,
  },
  { id: 'provider', title: 'PROVIDER', field: 'provider', width: 10, value: row => row.provider ?? undefined },
  timeColumn('created', 'CREATED', row => row.created_at, { field: 'created_at' }),
  {
    id: 'hash',
    title: 'CONTENT',
    field: 'content_hash',
    width: { min: 12, max: 64, grow: 1 },
    wide: true,
    value: row => row.content_hash ?? undefined,
  },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.runtime_id },
];
