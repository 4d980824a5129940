/** The runtimes that tasks of the organization run in. */
import type { BenchmarkRuntime } from '../../../contract/benchmarks.ts';
import { runtimeList } from '../../../queries/benchmarks.ts';
import type { Column } from '../../widgets/table/column.ts';
import { ageOf, instant } from '../shared/ages.ts';
import { ResourceList } from '../shared/resource-list.tsx';

const columns: readonly Column<BenchmarkRuntime>[] = [
  {
    id: 'image',
    title: 'RUNTIME',
    width: { min: 14, max: 50, grow: 2 },
    value: row => row.image_ref ?? row.runtime_id,
  },
  { id: 'status', title: 'STATUS', width: 12, value: row => row.build_status ?? 'unknown', status: true },
  { id: 'provider', title: 'PROVIDER', width: 10, value: row => row.provider ?? undefined },
  {
    id: 'created',
    title: 'CREATED',
    width: 8,
    align: 'right',
    value: row => instant(row.created_at),
    text: row => ageOf(row.created_at),
  },
  {
    id: 'hash',
    title: 'CONTENT',
    width: { min: 12, max: 64, grow: 1 },
    wide: true,
    value: row => row.content_hash ?? undefined,
  },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.runtime_id },
];

export function RuntimesView() {
  return (
    <ResourceList
      source={runtimeList}
      columns={columns}
      emptyWords="No runtimes yet: building the images of a benchmark makes them"
      facts={row => [
        { label: 'image', value: row.image_ref },
        { label: 'id', value: row.runtime_id },
        { label: 'status', value: row.build_status ?? 'unknown' },
        { label: 'provider', value: row.provider },
        { label: 'content', value: row.content_hash },
        { label: 'blueprint', value: row.blueprint_id },
        { label: 'dockerfile', value: row.dockerfile_uri },
        { label: 'created', value: ageOf(row.created_at) },
      ]}
    />
  );
}
