/** What the line mode can do with a row; it asks for what it needs. */

import type { Benchmark } from '../contract/benchmarks.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import type { TrainingRun } from '../contract/training.ts';
import { startDeployment } from '../queries/deployments.ts';
import { cancelRun, startEvaluation } from '../queries/evaluations.ts';
import type { RememberedStore } from '../queries/remembered/store.ts';
import { cancelTraining, lastDeployable, startTraining } from '../queries/training.ts';
import type { Service } from '../queries/workbench.tsx';
import { slugOf } from '../resources/deployments.ts';

export type Ask = (question: string, usual?: string) => Promise<string>;

/** Gives what is to be said when it is done. What it starts is remembered, so that the next has another name. */
type Act<Row> = (row: Row, service: Service, ask: Ask, memory: RememberedStore) => Promise<string>;

const nameOf = (benchmark: Benchmark): string => benchmark.label ?? benchmark.bench_id;

const evaluate: Act<Benchmark> = async (row, service, ask, memory) => {
  const model_slug = await ask('Model');
  const display_name = await ask('Name of the run', memory.freeName('run', `${nameOf(row)} baseline`));
  const run = await startEvaluation(service, { bench_id: row.bench_id, model_slug, display_name });
  memory.see([{ kind: 'run', id: run.eval_run_id, label: display_name, parent: row.bench_id }]);
  return `Started ${run.eval_run_id}. Type runs to see it.`;
};

const train: Act<Benchmark> = async (row, service, ask, memory) => {
  const base_model_slug = await ask('Model');
  const display_name = await ask('Name of the run', memory.freeName('training', `${nameOf(row)} training`));
  const run = await startTraining(service, { bench_id: row.bench_id, base_model_slug, display_name });
  memory.see([{ kind: 'training', id: run.training_run_id, label: display_name, parent: row.bench_id }]);
  return `Started ${run.training_run_id}. Type training to see it.`;
};

const cancel: Act<EvalRun> = async (row, service) => {
  await cancelRun(service, row);
  return 'Cancelled.';
};

const stopTraining: Act<TrainingRun> = async (row, service) => {
  await cancelTraining(service, row);
  return 'Asked it to stop.';
};

const deploy: Act<TrainingRun> = async (row, service, ask) => {
  const checkpoint_id = await lastDeployable(service, row.training_run_id);
  const model_slug = await ask('Slug it serves under', slugOf(row.display_name ?? row.training_run_id));
  const role = (await ask('Role, production or test', 'production')) === 'test' ? 'test' : 'production';
  const { deployment_id } = await startDeployment(service, { checkpoint_id, model_slug, role });
  return `Deploying ${deployment_id}. Type deployments to see it.`;
};

/** By the kind of the row, and then by what one says. */
const actions = new Map<string, ReadonlyMap<string, Act<never>>>([
  [
    'benchmark',
    new Map<string, Act<never>>([
      ['evaluate', evaluate],
      ['train', train],
    ]),
  ],
  ['run', new Map<string, Act<never>>([['cancel', cancel]])],
  [
    'training',
    new Map<string, Act<never>>([
      ['cancel', stopTraining],
      ['deploy', deploy],
    ]),
  ],
]);

export const verbs: readonly string[] = ['evaluate', 'train', 'deploy', 'cancel'];

export function actionOf(kind: string | undefined, verb: string): Act<never> | undefined {
  return kind === undefined ? undefined : actions.get(kind)?.get(verb);
}
