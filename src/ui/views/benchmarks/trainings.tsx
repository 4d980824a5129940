/** The training runs of one benchmark. */
import { useMemo } from 'react';
import { trainingRunsOf, withProgress } from '../../../queries/training.ts';
import type { ViewProps } from '../../app/view-definition.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { trainingColumns } from '../training/columns.ts';
import { trainingFacts, trainingPlace } from '../training/facts.ts';
import { useTrainingActions } from '../training/use-training-actions.tsx';
import { benchmarkCommands } from './commands.ts';

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
