/** The lists that show more than their resource declares. */
import { benchmarkActions, benchmarks, images } from '../../resources/benchmarks.ts';
import { runs } from '../../resources/runs.ts';
import type { ViewProps } from '../app/registry.ts';
import { ResourceListView } from './list/list-view.tsx';
import { useActions } from './record/use-actions.tsx';
import { useRunList } from './runs/use-run-list.ts';

export function RunsView({ place }: ViewProps<'list'>) {
  return <ResourceListView resource={runs} place={place} {...useRunList()} />;
}

/** The images of a benchmark, which can be built again. */
export function ImagesView({ place }: ViewProps<'list'>) {
  const build = useActions(benchmarks, { actions: { build: benchmarkActions.build } });
  const benchmark = { bench_id: place.scope?.benchmark ?? '', label: place.label };
  return <ResourceListView resource={images} place={place} bindings={build([benchmark])} />;
}
