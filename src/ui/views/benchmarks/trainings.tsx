/** The training runs of one benchmark. */
import { useMemo } from 'react';
import { trainingRunsOf, withProgress } from '../../../queries/training.ts';
import { benchmarkCommands } from '../../../resources/benchmarks.ts';
import { trainingColumns, trainingFacts } from '../../../resources/training.ts';
import type { ViewProps } from '../../app/view-definition.ts';
import { trainingPlace } from '../shared/places.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { useTrainingActions } from '../training/use-training-actions.tsx';

export function BenchmarkTrainingView({ location }: ViewProps) {
  const benchId = location.params['bench_id'] ?? '';
  const source = useMemo(() => withProgress(trainingRunsOf(benchId)), [benchId]);
  const actions = useTrainingActions();
  return (
    <ResourceList
      source={source}
      columns={trainingColumns}
      emptyWords="No training runs of this benchmark yet"
      emptyAdvice={{ command: benchmarkCommands.train, words: 'on the benchmark starts one' }}
      open={trainingPlace}
      facts={trainingFacts}
      pin={run => ({ kind: 'training', id: run.training_run_id, label: run.display_name ?? run.training_run_id })}
      actions={actions}
    />
  );
}
