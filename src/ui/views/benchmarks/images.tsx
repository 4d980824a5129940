/** The images of a benchmark: one for each task, and why one could not be built. */
import { useMemo } from 'react';
import { imageList } from '../../../queries/benchmarks.ts';
import { benchmarkCommands, imageColumns, imageFacts } from '../../../resources/benchmarks.ts';
import type { ViewProps } from '../../app/view-definition.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { useBenchmarkActions } from './use-benchmark-actions.tsx';

export function ImagesView({ location }: ViewProps) {
  const { bench_id: benchId = '', label } = location.params;
  const source = useMemo(() => imageList(benchId), [benchId]);
  const actions = useBenchmarkActions();
  const ofBenchmark = actions([{ bench_id: benchId, label }]);
  return (
    <ResourceList
      source={source}
      columns={imageColumns}
      emptyWords="This benchmark has no images"
      facts={imageFacts}
      bindings={ofBenchmark.filter(({ command }) => command.id === benchmarkCommands.build.id)}
    />
  );
}
