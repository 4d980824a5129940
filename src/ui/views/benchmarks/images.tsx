/** The images of a benchmark: one for each task, and why one could not be built. */
import { useMemo } from 'react';
import type { BenchmarkImage } from '../../../contract/benchmarks.ts';
import { imageList } from '../../../queries/benchmarks.ts';
import type { ViewProps } from '../../app/view-definition.ts';
import type { Column } from '../../widgets/table/column.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { benchmarkCommands } from './commands.ts';
import { useBenchmarkActions } from './use-benchmark-actions.tsx';

const failureOf = (row: BenchmarkImage): string | undefined => {
  const failure = row['failure'];
  return typeof failure === 'string' ? failure : undefined;
};

const columns: readonly Column<BenchmarkImage>[] = [
  { id: 'task', title: 'TASK', width: { min: 12, max: 40, grow: 2 }, value: row => row.task_id },
  { id: 'status', title: 'STATUS', width: 12, value: row => row.build_status ?? 'unknown', status: true },
  { id: 'provider', title: 'PROVIDER', width: 10, value: row => row.provider ?? undefined },
  { id: 'ref', title: 'IMAGE', width: { min: 10, max: 80, grow: 2 }, value: row => row.provider_ref ?? undefined },
  { id: 'failure', title: 'FAILURE', width: { min: 8, max: 80, grow: 1 }, wide: true, value: failureOf },
];

export function ImagesView({ location }: ViewProps) {
  const { bench_id: benchId = '', label } = location.params;
  const source = useMemo(() => imageList(benchId), [benchId]);
  const actions = useBenchmarkActions();
  const ofBenchmark = actions([{ bench_id: benchId, label }]);
  return (
    <ResourceList
      source={source}
      columns={columns}
      emptyWords="This benchmark has no images"
      facts={row => [
        { label: 'task', value: row.task_id },
        { label: 'status', value: row.build_status ?? 'unknown' },
        { label: 'failed', value: failureOf(row) },
        { label: 'provider', value: row.provider },
        { label: 'image', value: row.provider_ref },
        { label: 'dockerfile', value: row.dockerfile_uri },
      ]}
      bindings={ofBenchmark.filter(({ command }) => command.id === benchmarkCommands.build.id)}
    />
  );
}
