/** Where a thing of any kind opens. */
import type { Deployment } from '../../../contract/deployments.ts';
import type { EvalRun } from '../../../contract/evaluations.ts';
import type { TrainingRun } from '../../../contract/training.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
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

export function runPlace(run: EvalRun): Location {
  return {
    view: 'run',
    params: {
      eval_run_id: run.eval_run_id,
      ...(run.display_name ? { name: run.display_name } : {}),
      ...(run.bench_id ? { bench_id: run.bench_id } : {}),
    },
  };
}

/** Where two runs are compared; the earlier one is the first. */
export function comparePlace(one: EvalRun, other: EvalRun): Location {
  const [first, second] = (one.created_at ?? '') <= (other.created_at ?? '') ? [one, other] : [other, one];
  const name = (run: EvalRun): string =>
    [run.display_name ?? run.eval_run_id, run.base_model_slug].filter(Boolean).join('  ');
  return {
    view: 'compare',
    params: {
      first: first.eval_run_id,
      second: second.eval_run_id,
      first_name: name(first),
      second_name: name(second),
    },
  };
}

export function trajectoryPlace(trajectory: Trajectory): Location {
  return {
    view: 'trajectory',
    params: {
      trajectory_id: trajectory.trajectory_id,
      ...(trajectory.task_id ? { task: trajectory.task_id } : {}),
    },
  };
}

export function trainingPlace(run: TrainingRun): Location {
  return {
    view: 'training-run',
    params: {
      training_run_id: run.training_run_id,
      ...(run.display_name ? { name: run.display_name } : {}),
      ...(run.bench_id ? { bench_id: run.bench_id } : {}),
    },
  };
}

export function deploymentPlace({ deployment_id, model_slug }: Deployment): Location {
  return { view: 'deployment', params: { deployment_id, ...(model_slug ? { slug: model_slug } : {}) } };
}
