/** Where a thing of any kind opens. */
import type { PinnedThing, ThingKind } from '../../../queries/remembered/store.ts';
import type { Location } from '../../navigation/location.ts';

const views: Readonly<Record<ThingKind, { readonly view: string; readonly param: string; readonly name: string }>> = {
  benchmark: { view: 'benchmark', param: 'bench_id', name: 'label' },
  run: { view: 'run', param: 'eval_run_id', name: 'name' },
  training: { view: 'training-run', param: 'training_run_id', name: 'name' },
  deployment: { view: 'deployment', param: 'deployment_id', name: 'slug' },
  trajectory: { view: 'trajectory', param: 'trajectory_id', name: 'task' },
  dataset: { view: 'trajectories', param: 'dataset_name', name: 'name' },
};

export function placeOf({ kind, id, label }: PinnedThing): Location {
  const { view, param, name } = views[kind];
  return { view, params: { [param]: id, [name]: label } };
}
