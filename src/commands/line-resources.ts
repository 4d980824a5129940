/** What the line mode can list, tell and do: the same sources, columns and facts as the screens. */
import type { Benchmark } from '../contract/benchmarks.ts';
import type { Deployment } from '../contract/deployments.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import type { SupportedModel } from '../contract/models.ts';
import type { TrainingRun } from '../contract/training.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { benchmarkList } from '../queries/benchmarks.ts';
import { deploymentList } from '../queries/deployments.ts';
import { everyRun } from '../queries/evaluations.ts';
import { modelList } from '../queries/models.ts';
import type { PinnedThing } from '../queries/remembered/store.ts';
import { everyTrainingRun } from '../queries/training.ts';
import { trajectoryList } from '../queries/trajectories.ts';
import type { ListSource } from '../queries/use-list.ts';
import type { Service } from '../queries/workbench.tsx';
import { benchmarkColumns } from '../ui/views/benchmarks/columns.ts';
import { benchmarkFacts } from '../ui/views/benchmarks/facts.ts';
import { deploymentColumns } from '../ui/views/deployments/columns.ts';
import { deploymentFacts } from '../ui/views/deployments/facts.ts';
import { slugOf } from '../ui/views/deployments/slug.ts';
import { modelColumns } from '../ui/views/models/columns.ts';
import { runColumns } from '../ui/views/runs/columns.ts';
import { runFacts } from '../ui/views/runs/facts.ts';
import { trainingColumns } from '../ui/views/training/columns.ts';
import { trainingFacts } from '../ui/views/training/facts.ts';
import { trajectoryColumns } from '../ui/views/trajectories/columns.ts';
import { trajectoryFacts } from '../ui/views/trajectories/facts.ts';
import type { Fact } from '../ui/widgets/facts.ts';
import type { Column } from '../ui/widgets/table/column.ts';

type Ask = (question: string, usual?: string) => Promise<string>;

interface ResourceOf<Row> {
  /** The first is what it is called. */
  readonly names: readonly [string, ...string[]];
  readonly source: ListSource<Row>;
  readonly columns: readonly Column<Row>[];
  readonly facts: (row: Row) => readonly Fact[];
  /** As what a row is followed. */
  readonly thing?: (row: Row) => PinnedThing;
  /** By what they are called; each gives what is to be said when it is done. */
  readonly actions?: Readonly<Record<string, (row: Row, service: Service, ask: Ask) => Promise<string>>>;
}

/** A resource whose rows are of some type. */
export interface Resource extends Omit<ResourceOf<never>, 'source'> {
  readonly source: ListSource<never>;
}

function resource<Row>(declared: ResourceOf<Row>): Resource {
  return declared as unknown as Resource;
}

const nameOf = (benchmark: Benchmark): string => benchmark.label ?? benchmark.bench_id;

export const resources: readonly Resource[] = [
  resource<Benchmark>({
    names: ['benchmarks', 'benchmark', 'bench', 'b'],
    source: benchmarkList,
    columns: benchmarkColumns,
    facts: benchmarkFacts,
    actions: {
      evaluate: async (row, service, ask) => {
        const model_slug = await ask('Model');
        const display_name = await ask('Name of the run', `${nameOf(row)} baseline`);
        const run = await service.evaluations.start(row.bench_id, { model_slug, display_name });
        return `Started ${run.eval_run_id}. Say runs to hear of it.`;
      },
      train: async (row, service, ask) => {
        const base_model_slug = await ask('Model');
        const display_name = await ask('Name of the run', `${nameOf(row)} training`);
        const run = await service.training.start({ bench_id: row.bench_id, base_model_slug, display_name });
        return `Started ${run.training_run_id}. Say training to hear of it.`;
      },
    },
  }),
  resource<EvalRun>({
    names: ['runs', 'run', 'r'],
    source: everyRun,
    columns: runColumns,
    facts: runFacts,
    thing: row => ({ kind: 'run', id: row.eval_run_id, label: row.display_name ?? row.eval_run_id }),
    actions: {
      cancel: async (row, service) => {
        await service.evaluations.cancel(row.eval_run_id);
        return 'Cancelled.';
      },
    },
  }),
  resource<TrainingRun>({
    names: ['training', 'trainings', 't'],
    source: everyTrainingRun,
    columns: trainingColumns,
    facts: trainingFacts,
    thing: row => ({ kind: 'training', id: row.training_run_id, label: row.display_name ?? row.training_run_id }),
    actions: {
      cancel: async (row, service) => {
        await service.training.cancel(row.training_run_id);
        return 'Asked it to stop.';
      },
      deploy: async (row, service, ask) => {
        const checkpoints = await service.training.checkpoints(row.training_run_id);
        const last = checkpoints.toSorted((left, right) => (left.step_index ?? 0) - (right.step_index ?? 0)).at(-1);
        if (!last) return 'The run has committed no checkpoint yet.';
        const model_slug = await ask('Slug it serves under', slugOf(row.display_name ?? row.training_run_id));
        const role = (await ask('Role, production or test', 'production')) === 'test' ? 'test' : 'production';
        const { deployment_id } = await service.deployments.start({
          checkpoint_id: last.checkpoint_id,
          model_slug,
          role,
        });
        return `Deploying ${deployment_id}. Say deployments to hear of it.`;
      },
    },
  }),
  resource<Trajectory>({
    names: ['trajectories', 'trajectory'],
    source: trajectoryList({}),
    columns: trajectoryColumns,
    facts: trajectoryFacts,
  }),
  resource<Deployment>({
    names: ['deployments', 'deployment', 'd'],
    source: deploymentList,
    columns: deploymentColumns,
    facts: deploymentFacts,
    thing: row => ({ kind: 'deployment', id: row.deployment_id, label: row.model_slug ?? row.deployment_id }),
  }),
  resource<SupportedModel>({
    names: ['models', 'model', 'm'],
    source: modelList,
    columns: modelColumns,
    facts: model => [
      { label: 'model', value: model.model_slug },
      { label: 'name', value: model.model_name },
    ],
  }),
];
