/** Benchmarks, their task images, and the runtimes of those images. */

import { errorMessage } from '../base/errors.ts';
import type {
  Benchmark,
  BenchmarkImage,
  BenchmarkImages,
  BenchmarkRuntime,
  Readiness,
} from '../contract/benchmarks.ts';
import { buildStatuses, statusMeaning } from '../contract/status.ts';
import { type Column, idColumn, plainColumn, statusColumn } from '../present/column.ts';
import type { CommandTable } from '../present/command.ts';
import { type Fact, statusFact, warningFacts } from '../present/fact.ts';
import { evaluationCost, trainingCost } from '../present/start-cost.ts';
import { timeColumn, timeFact } from '../present/times.ts';
import {
  benchmarkList,
  benchmarkQuery,
  buildImages,
  imageList,
  readinessQuery,
  runtimeList,
  secretsMissing,
} from '../queries/benchmarks.ts';
import { startEvaluation } from '../queries/evaluations.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { evaluationUseQuery, tokenUseQuery } from '../queries/token-use.ts';
import { startTraining } from '../queries/training.ts';
import { isNotOffered } from '../service/errors.ts';
import { asReceived, count, counted, countOf } from '../text/numbers.ts';
import { nameOr } from '../text/typed.ts';
import { type ActionTable, all, single } from './action.ts';
import { defineResource, type WholeFacts } from './define.ts';
import type { Place } from './place.ts';

const benchmarkColumns: readonly Column<Benchmark>[] = [
  plainColumn('label', 'BENCHMARK', { min: 12, max: 60, grow: 3 }, row => nameOr(row.label, row.bench_id), {
    field: 'label',
  }),
  plainColumn('family', 'FAMILY', { min: 6, max: 16, grow: 1 }, row => row.family, { field: 'family' }),
  {
    id: 'runs',
    title: 'RUNS',
    field: 'eval_run_count',
    width: 6,
    align: 'right',
    value: row => countOf(row.eval_run_count),
    // An unknown number must not be shown as none.
    text: row => (countOf(row.eval_run_count) === undefined ? '?' : count(row.eval_run_count)),
  },
  timeColumn('updated', 'UPDATED', row => row.updated_at, { field: 'updated_at' }),
  timeColumn('created', 'CREATED', row => row.created_at, { wide: true, field: 'created_at' }),
  plainColumn('visibility', 'VISIBILITY', 10, row => row.visibility ?? 'private', { field: 'visibility', wide: true }),
  idColumn(row => row.bench_id),
];

function benchmarkFacts(benchmark: Benchmark): readonly Fact[] {
  return [
    { label: 'name', value: benchmark.label },
    { label: 'id', value: benchmark.bench_id },
    { label: 'family', value: benchmark.family },
    { label: 'visibility', value: benchmark.visibility },
    { label: 'runs', value: countOf(benchmark.eval_run_count) },
    timeFact('created', benchmark.created_at),
    timeFact('updated', benchmark.updated_at),
    { label: 'about', value: benchmark.description },
  ];
}

const group = 'Benchmark';

const scopeOf = ([benchmark]: readonly Benchmark[], resource: string): Place => ({
  view: 'list',
  resource,
  scope: { benchmark: benchmark?.bench_id },
  label: benchmark?.label ?? benchmark?.bench_id ?? '',
});

export const benchmarkActions = {
  evaluate: {
    id: 'benchmark.evaluate',
    title: 'evaluate a model on it',
    keys: ['e'],
    group,
    hint: 'evaluate',
    rank: 'main',
    writes: true,
    appliesTo: single,
    opens: () => 'evaluate',
    sends: {
      command: 'evaluate',
      send: startEvaluation,
      kind: 'run',
      prints: ['startEval', 'getEvalRun'],
      listedBy: 'listEvalRuns',
      options: 'getEvalOptions',
      startsSeveral: true,
      cost: evaluationCost,
      costQuery: evaluationUseQuery,
    },
  },
  train: {
    id: 'benchmark.train',
    title: 'train a model on it',
    keys: ['t'],
    group,
    hint: 'train',
    rank: 'second',
    writes: true,
    appliesTo: single,
    opens: () => 'train',
    sends: {
      command: 'train',
      send: startTraining,
      kind: 'training',
      prints: ['startTraining', 'getTrainingRun'],
      listedBy: 'listTrainingRuns',
      options: 'getTrainingOptions',
      defaultOptions: ['num_steps', 'train_batch_size', 'samples_per_instance', 'max_output_tokens_per_step'],
      checkpointIsModel: true,
      cost: ([run], known, unit) => trainingCost(run?.options ?? {}, run?.offered, run?.model, known, unit),
      costQuery: tokenUseQuery,
      mayBeUnnamed: true,
    },
  },
  build: {
    id: 'benchmark.build',
    title: 'build its images',
    keys: ['b'],
    group,
    writes: true,
    appliesTo: all,
    change: {
      send: buildImages,
      verb: 'build',
      participle: 'being built',
      consequence: 'no run can start on it until its images are ready.',
      confirmTitle: count => (count === 1 ? 'Build its images?' : `Build the images of ${count} benchmarks?`),
      successMessage: names => `Building the images of ${names}`,
      command: 'build',
      kind: 'benchmark',
      prints: ['buildBenchmarkImages', 'getBenchmark'],
    },
  },
  secret: {
    id: 'benchmark.secret',
    title: 'create the missing secret',
    keys: ['n'],
    group,
    writes: true,
    appliesTo: (rows, known) => {
      const readiness = rows[0] && known?.(readinessQuery(rows[0].bench_id));
      return readiness && !readiness.missing_secret_names?.length ? 'No secret is missing' : single(rows);
    },
    opens: () => 'secret',
  },
  images: {
    id: 'benchmark.images',
    title: 'its images',
    keys: ['v'],
    group,
    appliesTo: single,
    opens: rows => scopeOf(rows, 'images'),
  },
  trainings: {
    id: 'benchmark.trainings',
    title: 'its training runs',
    keys: ['T'],
    group,
    appliesTo: single,
    opens: rows => scopeOf(rows, 'training'),
  },
} as const satisfies ActionTable<Benchmark>;

export const benchmarkCommands = {
  upload: {
    id: 'benchmark.upload',
    title: 'upload a benchmark (a folder)',
    keys: ['u'],
    group,
    hint: 'upload',
    writes: true,
  },
  resume: {
    id: 'benchmark.resume',
    title: 'resume the unfinished upload',
    keys: ['ctrl-r'],
    group,
    hint: 'resume upload',
    writes: true,
  },
} as const satisfies CommandTable;

export const benchmarks = defineResource<Benchmark>({
  names: ['benchmarks', 'benchmark', 'bench', 'b'],
  order: 10,
  idPattern: /^(bench|bm)[_-]/,
  kind: 'benchmark',
  list: () => benchmarkList,
  get: benchmarkQuery,
  columns: benchmarkColumns,
  facts: benchmarkFacts,
  wholeFacts: withReadiness,
  label: row => row.label,
  actions: benchmarkActions,
  commands: benchmarkCommands,
  emptyAdvice: { command: benchmarkCommands.upload, words: 'uploads one' },
  watch: {
    status: id => [readinessQuery(id)],
    stuckAs: secretsMissing,
    failedParts: {
      words: 'images and secrets',
      read: async (id, context) => {
        const readiness = await readinessQuery(id).read(context);
        const images = await imageList(id)
          .readPage({ ...context, query: {} })
          .then(
            page => failedImages(page.items),
            (error: unknown) => {
              if (!isNotOffered(error)) throw error;
              return failedCounts(readiness);
            },
          );
        return [...images, ...missingSecrets(readiness)];
      },
      inStart: answer => ('images' in answer ? failedImages((answer as BenchmarkImages).images) : []),
    },
  },
  tally: { kind: 'run', of: row => row.eval_run_count },
});

/** Describes a missing secret among a benchmark's failed parts. */
export const describeMissingSecret = (name: string): string => `the secret ${name} is missing`;

const missingSecrets = ({ missing_secret_names: names }: Readiness): string[] =>
  (names ?? []).map(describeMissingSecret);

/** The facts, with the readiness and its warnings if the service reports them. */
async function withReadiness(row: Benchmark, context: QueryContext): Promise<WholeFacts> {
  const facts = benchmarkFacts(row);
  try {
    const readiness = await readinessQuery(row.bench_id).read(context);
    const images = Object.entries(readiness.unready_task_image_counts ?? {}).filter(([, count]) => count !== 0);
    const more: readonly Fact[] = [
      { label: 'ready', value: readiness.ready === null ? 'not reported' : readiness.ready ? 'yes' : 'no' },
      { label: 'secrets missing', value: readiness.missing_secret_names?.join(', ') },
      { label: 'images', value: images.map(([status, count]) => `${asReceived(count)} ${status}`).join(', ') },
      ...warningFacts(readiness),
    ];
    return { facts: [...facts, ...more], fields: readiness };
  } catch (error) {
    if (context.signal.aborted) throw error;
    if (isNotOffered(error)) return { facts };
    return { facts: [...facts, { label: 'ready', value: `could not be read. ${errorMessage(error)}` }] };
  }
}

function failedImages(images: readonly BenchmarkImage[]): string[] {
  return images
    .filter(({ build_status }) => statusMeaning(build_status ?? '') === 'failure')
    .map(({ task_id, failure_message }) => {
      return `the image of ${task_id} failed${failure_message ? `: ${failure_message}` : ''}`;
    });
}

/** The number of failed images, for services that do not list their images. */
function failedCounts({ unready_task_image_counts: counts }: Readiness): string[] {
  return Object.entries(counts ?? {}).flatMap(([status, images]) =>
    images && statusMeaning(status) === 'failure' ? [`${counted(images, 'image')} failed`] : [],
  );
}

const imageColumns: readonly Column<BenchmarkImage>[] = [
  { id: 'task', title: 'TASK', width: { min: 12, max: 40, grow: 2 }, value: row => row.task_id },
  statusColumn(row => row.build_status, { known: buildStatuses }),
  { id: 'provider', title: 'PROVIDER', width: 10, value: row => row.provider ?? undefined },
  plainColumn('ref', 'IMAGE', { min: 10, max: 80, grow: 2 }, row => row.provider_ref),
  plainColumn('failure', 'FAILURE', { min: 8, max: 80, grow: 1 }, row => row.failure_message, { cutAt: 'end' }),
];

function imageFacts(row: BenchmarkImage): readonly Fact[] {
  return [
    { label: 'task', value: row.task_id },
    statusFact('status', row.build_status),
    { label: 'failed', value: row.failure_message },
    { label: 'provider', value: row.provider },
    { label: 'image', value: row.provider_ref },
    { label: 'dockerfile', value: row.dockerfile_uri },
  ];
}

export const images = defineResource<BenchmarkImage>({
  names: ['images', 'image'],
  order: 11,
  scopes: ['benchmark'],
  needs: 'benchmark',
  list: ({ benchmark = '' }) => imageList(benchmark),
  columns: imageColumns,
  facts: imageFacts,
  emptyText: 'This benchmark has no images',
});

const runtimeColumns: readonly Column<BenchmarkRuntime>[] = [
  plainColumn('image', 'RUNTIME', { min: 14, max: 50, grow: 2 }, row => row.image_ref ?? row.runtime_id, {
    field: 'image_ref',
  }),
  statusColumn(row => row.build_status, { field: 'build_status', known: buildStatuses }),
  { id: 'provider', title: 'PROVIDER', field: 'provider', width: 10, value: row => row.provider ?? undefined },
  timeColumn('created', 'CREATED', row => row.created_at, { field: 'created_at' }),
  plainColumn('hash', 'CONTENT', { min: 12, max: 64, grow: 1 }, row => row.content_hash, {
    field: 'content_hash',
    wide: true,
  }),
  idColumn(row => row.runtime_id),
];

function runtimeFacts(row: BenchmarkRuntime): readonly Fact[] {
  return [
    { label: 'image', value: row.image_ref },
    { label: 'id', value: row.runtime_id },
    statusFact('status', row.build_status),
    { label: 'provider', value: row.provider },
    { label: 'content', value: row.content_hash },
    { label: 'blueprint', value: row.blueprint_id },
    { label: 'dockerfile', value: row.dockerfile_uri },
    timeFact('created', row.created_at),
  ];
}

export const runtimes = defineResource<BenchmarkRuntime>({
  names: ['runtimes', 'runtime', 'rt'],
  order: 80,
  list: () => runtimeList,
  columns: runtimeColumns,
  facts: runtimeFacts,
  label: row => row.image_ref,
  emptyText: 'No runtimes yet: building the images of a benchmark creates them',
});
