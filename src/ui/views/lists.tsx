/** The lists that show more than their resource declares. */
import { benchmarkActions, benchmarks, images } from '../../resources/benchmarks.ts';
import { runs } from '../../resources/runs.ts';
import { trajectories } from '../../resources/trajectories.ts';
import type { ViewProps } from '../app/registry.ts';
import { ResourceListView } from './list/list-view.tsx';
import { useActions } from './record/use-actions.tsx';
import { RunPreview } from './runs/preview.tsx';
import { useRunList } from './runs/use-run-list.ts';
import { TrajectoryPreview } from './trajectories/preview.tsx';

export function RunsView({ place }: ViewProps<'list'>) {
  return <ResourceListView resource={runs} place={place} {...useRunList()} preview={RunPreview} />;
}

export function TrajectoriesView({ place }: ViewProps<'list'>) {
  return <ResourceListView resource={trajectories} place={place} preview={TrajectoryPreview} />;
}

/** The images of a benchmark, which can be built again. */
export function ImagesView({ place }: ViewProps<'list'>) {
  const build = useActions(benchmarks, { actions: { build: benchmarkActions.build } });
  const benchmark = { bench_id: place.scope?.benchmark ?? '', label: place.label };
  return <ResourceListView resource={images} place={place} bindings={build([benchmark])} />;
}
