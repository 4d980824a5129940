/** The training runs of every benchmark. */
import { everyTrainingRun, withProgress } from '../../../queries/training.ts';
import { benchmarkCommands } from '../../../resources/benchmarks.ts';
import { trainingColumns, trainingFacts } from '../../../resources/training.ts';
import { trainingPlace } from '../shared/places.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { useTrainingActions } from './use-training-actions.tsx';

const source = withProgress(everyTrainingRun);

export function TrainingView() {
  const actions = useTrainingActions();
  return (
    <ResourceList
      source={source}
      columns={trainingColumns}
      emptyWords="No training runs yet"
      emptyAdvice={{ command: benchmarkCommands.train, words: 'on a benchmark starts one' }}
      open={trainingPlace}
      facts={trainingFacts}
      pin={run => ({ kind: 'training', id: run.training_run_id, label: run.display_name ?? run.training_run_id })}
      actions={actions}
    />
  );
}
