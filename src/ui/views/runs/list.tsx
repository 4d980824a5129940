/** The evaluation runs of every benchmark. */
import { everyRun } from '../../../queries/evaluations.ts';
import { benchmarkCommands } from '../../../resources/benchmarks.ts';
import { runColumns, runFacts } from '../../../resources/runs.ts';
import { runPlace } from '../shared/places.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { useRunActions } from './use-run-actions.tsx';

export function RunsView() {
  const actions = useRunActions();
  return (
    <ResourceList
      source={everyRun}
      columns={runColumns}
      emptyWords="No runs yet"
      emptyAdvice={{ command: benchmarkCommands.evaluate, words: 'on a benchmark evaluates a model' }}
      open={runPlace}
      facts={runFacts}
      pin={run => ({ kind: 'run', id: run.eval_run_id, label: run.display_name ?? run.eval_run_id })}
      actions={actions}
    />
  );
}
