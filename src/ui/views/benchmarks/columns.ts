/** How a benchmark reads as a row. */
import type { Benchmark, BenchmarkImage } from '../../../contract/benchmarks.ts';
import { count } from '../../../text/numbers.ts';
import type { Column } from '../../widgets/table/column.ts';
import { timeColumn } from '../shared/time-column.ts';

export const benchmarkColumns: readonly Column<Benchmark>[] = [
  {
    id: 'label',
    title: 'BENCHMARK',
    field: 'label',
    width: { min: 12, max: 60, grow: 3 },
    value: row => row.label ?? row.bench_id,
  },
  {
    id: 'family',
    title: 'FAMILY',
    field: 'family',
    width: { min: 6, max: 16, grow: 1 },
    value: row => row.family ?? undefined,
  },
  {
    id: 'runs',
    title: 'RUNS',
    field: 'eval_run_count',
    width: 6,
    align: 'right',
    value: row => row.eval_run_count ?? 0,
    text: row => count(row.eval_run_count ?? 0),
  },
  timeColumn('updated', 'UPDATED', row => row.updated_at, { field: 'updated_at' }),
  timeColumn('created', 'CREATED', row => row.created_at, { wide: true, field: 'created_at' }),
  {
    id: 'visibility',
    title: 'VISIBILITY',
    field: 'visibility',
    width: 10,
    wide: true,
    value: row => row.visibility ?? 'private',
  },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.bench_id },
];

/** Why an image could not be built. */
export const failureOf = (row: BenchmarkImage): string | undefined => {
  const failure = row['failure'];
  return typeof failure === 'string' ? failure : undefined;
};

export const imageColumns: readonly Column<BenchmarkImage>[] = [
  { id: 'task', title: 'TASK', width: { min: 12, max: 40, grow: 2 }, value: row => row.task_id },
  { id: 'status', title: 'STATUS', width: 12, value: row => row.build_status ?? 'unknown', status: true },
  { id: 'provider', title: 'PROVIDER', width: 10, value: row => row.provider ?? undefined },
  { id: 'ref', title: 'IMAGE', width: { min: 10, max: 80, grow: 2 }, value: row => row.provider_ref ?? undefined },
  { id: 'failure', title: 'FAILURE', width: { min: 8, max: 80, grow: 1 }, wide: true, value: failureOf },
];
