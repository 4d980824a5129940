/** The lists that show more than their resource declares. */
import type { EvalRun } from '../../contract/evaluations.ts';
import { benchmarkActions, benchmarks, images } from '../../resources/benchmarks.ts';
import type { Place } from '../../resources/place.ts';
import { runs } from '../../resources/runs.ts';
import { trajectories } from '../../resources/trajectories.ts';
import type { ViewProps } from '../app/registry.ts';
import { useShell } from '../app/shell-context.tsx';
import { rolloutCommands } from './commands.ts';
import { ResourceListView } from './list/list-view.tsx';
import { useActions } from './record/use-actions.tsx';
import { RunPreview } from './runs/preview.tsx';
import { useRunList } from './runs/use-run-list.ts';
import { TrajectoryPreview } from './trajectories/preview.tsx';

const tasksOfRun = {
  command: rolloutCommands.tasks,
  place: ({ eval_run_id: run, display_name }: EvalRun): Place => ({
    view: 'tasks',
    scope: { run },
    label: display_name ?? run,
  }),
};

export function RunsView({ place }: ViewProps<'list'>) {
  return <ResourceListView resource={runs} place={place} {...useRunList()} preview={RunPreview} opens={[tasksOfRun]} />;
}

export function TrajectoriesView({ place }: ViewProps<'list'>) {
  const shell = useShell();
  const { scope, label } = place;
  const why = scope ? undefined : 'Open a run, a training run or a dataset first: these are of all';
  const tasks = (): void => {
    if (scope) shell.open({ view: 'tasks', scope, ...(label !== undefined && { label }) });
  };
  return (
    <ResourceListView
      resource={trajectories}
      place={place}
      preview={TrajectoryPreview}
      bindings={[{ command: rolloutCommands.tasks, why, run: tasks }]}
    />
  );
}

/** The images of a benchmark, which can be built again. */
export function ImagesView({ place }: ViewProps<'list'>) {
  const build = useActions(benchmarks, { actions: { build: benchmarkActions.build } });
  const benchmark = { bench_id: place.scope?.benchmark ?? '', label: place.label };
  return <ResourceListView resource={images} place={place} bindings={build([benchmark])} />;
}
