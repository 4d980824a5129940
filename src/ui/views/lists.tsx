/** The lists with actions of their own. */
import { benchmarkCommands, images } from '../../resources/benchmarks.ts';
import { runs } from '../../resources/runs.ts';
import { training } from '../../resources/training.ts';
import { trajectories } from '../../resources/trajectories.ts';
import type { ViewProps } from '../app/registry.ts';
import { useBenchmarkActions } from './benchmarks/use-benchmark-actions.tsx';
import { useMeansSoFar } from './runs/use-means.ts';
import { useRunActions } from './runs/use-run-actions.tsx';
import { ResourceListView } from './shared/resource-views.tsx';
import { useTrainingActions } from './training/use-training-actions.tsx';
import { useTrajectoryActions } from './trajectories/use-trajectory-actions.tsx';

export function RunsView({ place }: ViewProps<'list'>) {
  return <ResourceListView resource={runs} place={place} actions={useRunActions()} join={useMeansSoFar()} />;
}

export function TrainingView({ place }: ViewProps<'list'>) {
  return <ResourceListView resource={training} place={place} actions={useTrainingActions()} />;
}

export function TrajectoriesView({ place }: ViewProps<'list'>) {
  return <ResourceListView resource={trajectories} place={place} actions={useTrajectoryActions()} />;
}

/** The images of a benchmark, which can be built again. */
export function ImagesView({ place }: ViewProps<'list'>) {
  const actions = useBenchmarkActions();
  const ofBenchmark = actions([{ bench_id: place.scope?.benchmark ?? '', label: place.label }]);
  const build = ofBenchmark.filter(({ command }) => command.id === benchmarkCommands.build.id);
  return <ResourceListView resource={images} place={place} bindings={build} />;
}
