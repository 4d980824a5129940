/** What can be listed and told in words: the same sources, columns and facts as the screens. */
import type { Benchmark, BenchmarkImage, BenchmarkRuntime } from '../contract/benchmarks.ts';
import type { Dataset } from '../contract/datasets.ts';
import type { Deployment } from '../contract/deployments.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import { idPatterns } from '../contract/ids.ts';
import type { SupportedModel } from '../contract/models.ts';
import type { Secret } from '../contract/secrets.ts';
import type { Checkpoint, TrainingRun } from '../contract/training.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import type { Asking } from '../queries/asking.ts';
import { benchmarkList, benchmarkQuery, imageList, runtimeList } from '../queries/benchmarks.ts';
import { datasetList } from '../queries/datasets.ts';
import { deploymentList, deploymentQuery, deploymentsWithStatus } from '../queries/deployments.ts';
import { evalRunQuery, everyRun, runsOfBenchmark } from '../queries/evaluations.ts';
import type { ListSource } from '../queries/list.ts';
import { modelList } from '../queries/models.ts';
import type { PinnedThing, ThingKind } from '../queries/remembered/store.ts';
import { secretList } from '../queries/secrets.ts';
import type { Observation } from '../queries/statuses/store.ts';
import { checkpointList, everyTrainingRun, trainingRunQuery, trainingRunsOf } from '../queries/training.ts';
import { trajectoryList, trajectoryQuery } from '../queries/trajectories.ts';
import { benchmarkColumns, imageColumns } from '../ui/views/benchmarks/columns.ts';
import { benchmarkFacts, imageFacts } from '../ui/views/benchmarks/facts.ts';
import { datasetColumns } from '../ui/views/datasets/columns.ts';
import { datasetFacts } from '../ui/views/datasets/facts.ts';
import { deploymentColumns } from '../ui/views/deployments/columns.ts';
import { deploymentFacts } from '../ui/views/deployments/facts.ts';
import { modelColumns } from '../ui/views/models/columns.ts';
import { modelFacts } from '../ui/views/models/facts.ts';
import { runColumns } from '../ui/views/runs/columns.ts';
import { runFacts } from '../ui/views/runs/facts.ts';
import { runtimeColumns } from '../ui/views/runtimes/columns.ts';
import { runtimeFacts } from '../ui/views/runtimes/facts.ts';
import { secretColumns } from '../ui/views/secrets/columns.ts';
import { secretFacts } from '../ui/views/secrets/facts.ts';
import { checkpointColumns, trainingColumns } from '../ui/views/training/columns.ts';
import { checkpointFacts, trainingFacts } from '../ui/views/training/facts.ts';
import { trajectoryColumns } from '../ui/views/trajectories/columns.ts';
import { trajectoryFacts } from '../ui/views/trajectories/facts.ts';
import type { Fact } from '../ui/widgets/facts.ts';
import type { Column } from '../ui/widgets/table/column.ts';

/** What a list is narrowed to: ids, but for `dataset` and `status`. */
export interface Scope {
  readonly benchmark?: string | undefined;
  readonly run?: string | undefined;
  readonly training?: string | undefined;
  readonly dataset?: string | undefined;
  readonly status?: string | undefined;
}

export type ScopeName = keyof Scope;

/** Reads one thing. */
interface Reading<Row> {
  readonly read: (asking: Asking) => Promise<Row | undefined>;
  /** What it says of its resource, for what is remembered. */
  readonly observes?: ((row: Row) => Observation) | undefined;
}

interface ResourceOf<Row> {
  /** The first is what they are called, the second what one is called. */
  readonly names: readonly [string, string, ...string[]];
  /** By what a list of them can be narrowed. */
  readonly scopes?: readonly ScopeName[];
  /** They are listed only within one of these. */
  readonly needs?: ScopeName;
  readonly source: (scope: Scope) => ListSource<Row>;
  readonly columns: readonly Column<Row>[];
  readonly facts: (row: Row) => readonly Fact[];
  /** What a row is called, besides its id. */
  readonly label: (row: Row) => string | null | undefined;
  /** How their ids begin. */
  readonly idPattern?: RegExp;
  /** Reads one by its id. */
  readonly one?: (id: string) => Reading<Row>;
  /** As what a row is watched and remembered. */
  readonly kind?: ThingKind;
}

/** A resource whose rows are of some type. */
export interface Resource extends Omit<ResourceOf<never>, 'source' | 'one'> {
  readonly source: (scope: Scope) => ListSource<never>;
  readonly one?: (id: string) => Reading<object>;
}

function resource<Row>(declared: ResourceOf<Row>): Resource {
  return declared as unknown as Resource;
}

export const resources: readonly Resource[] = [
  resource<Benchmark>({
    names: ['benchmarks', 'benchmark', 'bench', 'b'],
    source: () => benchmarkList,
    columns: benchmarkColumns,
    facts: benchmarkFacts,
    label: row => row.label,
    idPattern: idPatterns.benchmark,
    one: benchmarkQuery,
    kind: 'benchmark',
  }),
  resource<BenchmarkImage>({
    names: ['images', 'image'],
    scopes: ['benchmark'],
    needs: 'benchmark',
    source: ({ benchmark = '' }) => imageList(benchmark),
    columns: imageColumns,
    facts: imageFacts,
    label: () => undefined,
  }),
  resource<EvalRun>({
    names: ['runs', 'run', 'r'],
    scopes: ['benchmark'],
    source: ({ benchmark }) => (benchmark === undefined ? everyRun : runsOfBenchmark(benchmark)),
    columns: runColumns,
    facts: runFacts,
    label: row => row.display_name,
    idPattern: idPatterns.run,
    one: evalRunQuery,
    kind: 'run',
  }),
  resource<Trajectory>({
    names: ['trajectories', 'trajectory'],
    scopes: ['run', 'training', 'dataset'],
    source: ({ run, training, dataset }) =>
      trajectoryList({
        ...(run === undefined ? {} : { eval_run_id: run }),
        ...(training === undefined ? {} : { training_run_id: training }),
        ...(dataset === undefined ? {} : { dataset_name: dataset }),
      }),
    columns: trajectoryColumns,
    facts: trajectoryFacts,
    label: () => undefined,
    idPattern: idPatterns.trajectory,
    one: trajectoryQuery,
    kind: 'trajectory',
  }),
  resource<TrainingRun>({
    names: ['training', 'training-run', 'trainings', 't'],
    scopes: ['benchmark'],
    source: ({ benchmark }) => (benchmark === undefined ? everyTrainingRun : trainingRunsOf(benchmark)),
    columns: trainingColumns,
    facts: trainingFacts,
    label: row => row.display_name,
    idPattern: idPatterns.training,
    one: trainingRunQuery,
    kind: 'training',
  }),
  resource<Checkpoint>({
    names: ['checkpoints', 'checkpoint'],
    scopes: ['training'],
    needs: 'training',
    source: ({ training = '' }) => checkpointList(training, true),
    columns: checkpointColumns,
    facts: checkpointFacts,
    label: () => undefined,
  }),
  resource<Deployment>({
    names: ['deployments', 'deployment', 'd'],
    scopes: ['status'],
    source: ({ status }) => (status === undefined ? deploymentList : deploymentsWithStatus(status)),
    columns: deploymentColumns,
    facts: deploymentFacts,
    label: row => row.model_slug,
    idPattern: idPatterns.deployment,
    one: deploymentQuery,
    kind: 'deployment',
  }),
  resource<Dataset>({
    names: ['datasets', 'dataset'],
    source: () => datasetList,
    columns: datasetColumns,
    facts: datasetFacts,
    label: row => row.dataset_name,
  }),
  resource<SupportedModel>({
    names: ['models', 'model', 'm'],
    source: () => modelList,
    columns: modelColumns,
    facts: modelFacts,
    label: row => row.model_name,
  }),
  resource<BenchmarkRuntime>({
    names: ['runtimes', 'runtime'],
    source: () => runtimeList,
    columns: runtimeColumns,
    facts: runtimeFacts,
    label: row => row.image_ref,
  }),
  resource<Secret>({
    names: ['secrets', 'secret'],
    source: () => secretList,
    columns: secretColumns,
    facts: secretFacts,
    label: row => row.name,
  }),
];

/** The resource of that name, in the plural, the singular or short. */
export function resourceNamed(name: string): Resource | undefined {
  return resources.find(({ names }) => names.includes(name));
}

/** The resource whose ids look like this one. */
export function resourceOfId(id: string): Resource | undefined {
  return resources.find(({ idPattern }) => idPattern?.test(id));
}

/** As what a row is watched, where it is something that runs. */
export function thingOf({ kind, source, label }: Resource, row: object): PinnedThing | undefined {
  if (kind !== 'run' && kind !== 'training' && kind !== 'deployment') return undefined;
  const id = source({}).id(row as never);
  return { kind, id, label: label(row as never) ?? id };
}

/** Names for a help text, in two lines where they are many. */
export function namesInLines(names: readonly string[]): string {
  return names.join(', ').replace(/(.{40,60}), /, '$1,\n  ');
}
