/** Training runs and their checkpoints. */

import { errorMessage } from '../base/errors.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import { isUnreadable } from '../contract/lists.ts';
import { hasEnded, waitBeforeDelete } from '../contract/status.ts';
import type { Checkpoint, TrainingRun } from '../contract/training.ts';
import { type Column, plainColumn } from '../present/column.ts';
import { type Fact, failureFacts, optionLines, referenceFact, statusFact, warningFacts } from '../present/fact.ts';
import { defaultRange } from '../present/statistics/interval.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { describeRunTime, instantFact, timeColumn, timeFact } from '../present/times.ts';
import type { Origin } from '../queries/checkpoint-memory.ts';
import { checkpointList, checkpointsByStep, checkpointTimesQuery } from '../queries/checkpoints.ts';
import { deploymentList, startDeployment } from '../queries/deployments.ts';
import type { ListSource } from '../queries/lists/list-source.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { runsOfBenchmark } from '../queries/run-lists.ts';
import {
  cancelTraining,
  deleteTraining,
  everyTrainingRun,
  type ProgressedRun,
  trainingKeys,
  trainingProgressQuery,
  trainingRunQuery,
  trainingRunsOf,
} from '../queries/training.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../queries/training-curves.ts';
import { trajectoryKeys } from '../queries/trajectories.ts';
import { ifThere } from '../service/errors.ts';
import { rememberedAt } from '../store/seen.ts';
import { clean } from '../text/sanitise.ts';
import { type ActionTable, running, single, untilStopped } from './action.ts';
import { benchmarkActions } from './benchmarks.ts';
import {
  type Measured,
  measuredCheckpointColumns,
  measuredCheckpointFacts,
  poolKey,
  uncertainEvaluations,
  withMeasured,
} from './checkpoint-columns.ts';
import { defineResource, type Measures, type WholeFacts } from './define.ts';
import { type Deployed, deployedAs } from './deployments.ts';
import { describeBest, describeHeldOut } from './describe-held-out.ts';
import { describeDiagnostics } from './diagnostics.ts';
import { heldOutFields, isHeldOutField, isHeldOutPointField, withHeldOutPoint } from './held-out-fields.ts';
import { measureEach } from './measure-each.ts';
import type { MeasuredRun } from './measured-run.ts';
import { fromFact, ignoreFailure, originIfRead } from './origins.ts';
import { pagesOf } from './pages.ts';
import { outagesOfRun, withRunsInProduction } from './production.ts';
import { pooledRewardsQuery, withCertainty } from './run-certainty.ts';
import { maxStarts } from './start-plan.ts';
import { type HeldOut, type MeasuredTraining, measures, trainingColumns } from './training-columns.ts';

/**
 * @param held the run's held-out rewards, if known
 * @param range the range of rewards from the settings
 * @param from the origin of the checkpoint it starts from, if known
 */
export function trainingFacts(run: ProgressedRun, held?: HeldOut, range?: Range, from?: Origin): readonly Fact[] {
  return [
    { label: 'name', value: run.display_name },
    { label: 'id', value: run.training_run_id },
    run.status == null ? { label: 'status', value: 'not reported' } : statusFact('status', run.status),
    instantFact('seen', rememberedAt(run)),
    ...warningFacts(run),
    ...failureFacts(run.failure),
    { label: 'held-out', value: held && describeHeldOut(held.last, range) },
    { label: 'best', value: held && describeBest(held.best, range, held.last) },
    referenceFact('model', 'models', run.base_model_slug),
    referenceFact('benchmark', 'benchmarks', run.bench_id),
    fromFact(run, from),
    { label: 'agent', value: run.agent_id },
    timeFact('started', run.created_at),
    timeFact('ended', run.completed_at),
    { label: 'took', value: describeRunTime(run) },
    { label: 'by', value: run.created_by },
    { label: 'pipeline', value: run.pipeline_run_id },
    { label: `step ${run.diagnostics?.step ?? ''}`, value: run.diagnostics && describeDiagnostics(run.diagnostics) },
    { label: 'options', value: optionLines(run.options) },
  ];
}

const group = 'Training run';

/** A training run and the chosen checkpoint; by default the newest one when the action starts. */
export type CheckpointSource = TrainingRun & { readonly checkpoint?: Checkpoint };

const onBenchmark = (rows: readonly CheckpointSource[]): readonly CheckpointSource[] | string =>
  rows.every(({ bench_id }) => bench_id != null) ? rows : 'Its benchmark is unknown';

function toEvaluate(rows: readonly CheckpointSource[]): readonly CheckpointSource[] | string {
  if (rows.length > maxStarts) return `${rows.length} are marked; at most ${maxStarts} are evaluated at once`;
  // The form for several runs has no field for the model.
  const without = rows.length > 1 && rows.find(row => row.base_model_slug == null);
  if (without)
    return clean`The base model of ${without.display_name ?? without.training_run_id} is unknown: evaluate it on its own`;
  return onBenchmark(rows);
}

function oneOnBenchmark(rows: readonly CheckpointSource[]): readonly CheckpointSource[] | string {
  const one = single(rows);
  return typeof one === 'string' ? one : onBenchmark(one);
}

const ofCheckpoint = {
  evaluate: {
    id: 'training.evaluate',
    title: 'evaluate its last checkpoint',
    keys: ['e'],
    group,
    hint: 'evaluate',
    rank: 'main',
    writes: true,
    appliesTo: toEvaluate,
    opens: () => 'evaluate checkpoint',
  },
  deploy: {
    id: 'training.deploy',
    title: 'deploy its last checkpoint',
    keys: ['D'],
    group,
    hint: 'deploy',
    rank: 'second',
    writes: true,
    appliesTo: rows =>
      rows[0]?.checkpoint?.is_deployable === false ? 'The service reports that it cannot be deployed' : single(rows),
    opens: () => 'deploy',
    sends: {
      command: 'deploy',
      send: startDeployment,
      kind: 'deployment',
      prints: ['startDeployment', 'getDeployment'],
      listedBy: 'listDeployments',
    },
  },
  continue: {
    id: 'training.continue',
    title: 'continue training from its last checkpoint',
    keys: ['t'],
    group,
    writes: true,
    appliesTo: oneOnBenchmark,
    opens: () => 'continue',
  },
} as const satisfies ActionTable<CheckpointSource>;

/** The actions on the training run itself rather than on a checkpoint. */
export const ofTrainingRun = {
  rollouts: {
    id: 'training.rollouts',
    title: 'its rollouts',
    keys: ['v'],
    group,
    hint: 'rollouts',
    appliesTo: single,
    opens: ([run]) => ({
      view: 'list',
      resource: 'trajectories',
      scope: { training: run?.training_run_id },
      label: run?.display_name ?? run?.training_run_id ?? '',
    }),
  },
  overlay: {
    id: 'training.overlay',
    title: 'overlay the curves of other runs',
    // `=` also compares evaluation runs.
    keys: ['i', '='],
    group,
    hint: 'overlay',
    appliesTo: rows => (rows.length > 1 ? rows : 'Mark two or more runs first'),
    opens: rows => ({
      view: 'curves',
      runs: rows.map(row => ({ id: row.training_run_id, name: row.display_name ?? row.training_run_id })),
    }),
  },
  cancel: {
    id: 'training.cancel',
    title: 'cancel the run',
    keys: ['c'],
    group,
    hint: 'cancel',
    rank: 'stop',
    writes: true,
    appliesTo: running,
    change: {
      send: cancelTraining,
      verb: 'cancel',
      participle: 'cancelled',
      consequence: 'the current step is finished first. Checkpoints and curves are kept.',
      successMessage: names => `Asked ${names} to stop`,
      command: 'cancel',
      waitUntil: untilStopped,
    },
  },
  delete: {
    id: 'training.delete',
    title: 'delete the run',
    keys: ['d'],
    group,
    writes: true,
    destructive: true,
    appliesTo: rows => {
      const active = rows.find(run => !hasEnded(run.status));
      return active ? `It has not ended yet: ${waitBeforeDelete(active.status)}` : rows;
    },
    change: {
      send: deleteTraining,
      verb: 'delete',
      participle: 'deleted',
      consequence: 'all curves, rollouts and checkpoints are deleted. Deployments stay. This cannot be undone.',
      outages: outagesOfRun,
      withProduction: withRunsInProduction,
      command: 'delete',
    },
  },
} as const satisfies ActionTable<TrainingRun>;

export const trainingActions = { ...ofCheckpoint, ...ofTrainingRun } as const;

export const training = defineResource<TrainingRun>({
  names: ['training', 'training-run', 'training-runs', 'trainings', 'train', 'trn'],
  order: 40,
  idPattern: /^(trn|tr|train)[_-]/,
  kind: 'training',
  scopes: ['benchmark'],
  list: ({ benchmark }) => (benchmark === undefined ? everyTrainingRun : trainingRunsOf(benchmark)),
  get: trainingRunQuery,
  columns: trainingColumns,
  measures: {
    ...measures,
    exported: (row: MeasuredTraining, range) =>
      row.held_out ? { ...row, held_out: heldOutFields(row.held_out, range) } : row,
    columnOf: ([name, ...rest]) => (name === 'held_out' && isHeldOutField(rest) ? 'held-out' : undefined),
  },
  facts: row => trainingFacts(row),
  wholeFacts: async (row, context) => {
    const { parent_checkpoint_id: checkpoint_id, created_at } = row;
    const from = await originIfRead({ checkpoint_id, created_at }, context);
    return { facts: trainingFacts(row, undefined, undefined, from) };
  },
  label: row => row.display_name,
  parent: row => row.bench_id,
  actions: trainingActions,
  watch: {
    status: id => [trainingProgressQuery(id), trainingRunQuery(id)],
    countsDone: true,
    details: id => [trainingRunQuery(id)],
    measures: id => [heldOutRewardsQuery(id, false), trainerRewardsQuery(id, false)],
    times: id => checkpointTimesQuery(id, false),
    runs: true,
    endsForGood: true,
    recordsProgress: true,
    progressNames: { done: 'completed_steps', total: 'total_steps', mean: 'trainer_reward' },
    shownIn: id => [
      trainingKeys.everyRun,
      trainingKeys.one(id),
      trainingKeys.progress(id),
      trainingKeys.trainerRewards(id),
      trainingKeys.heldOutRewards(id),
      trainingKeys.checkpoints(id),
      trajectoryKeys.list({ training_run_id: id }),
    ],
  },
  emptyText: 'No training runs yet',
  emptyAdvice: { command: benchmarkActions.train, words: 'on a benchmark starts one' },
});

function deployableWord({ is_deployable }: Checkpoint): string | undefined {
  return is_deployable == null ? undefined : is_deployable ? 'yes' : 'no';
}

export const checkpointColumns: readonly Column<Checkpoint>[] = [
  plainColumn('step', 'CHECKPOINT', { min: 11, max: 20, grow: 1 }, row => row.step_index, {
    whole: true,
    text: row => `step ${row.step_index ?? '?'}`,
  }),
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 2 }, value: row => row.checkpoint_id },
  plainColumn('deployable', 'DEPLOY', 6, deployableWord, {
    text: row => deployableWord(row) ?? (isUnreadable(row, 'is_deployable') ? '?' : ''),
  }),
  timeColumn('created', 'COMMITTED', row => row.created_at, { width: 10 }),
];

export type DeployedCheckpoint = Checkpoint & Measured & Partial<Deployed>;

/** All rows in a list. @throws ServiceError */
async function everyRowOf<Row extends object>(list: ListSource<Row>, context: QueryContext): Promise<readonly Row[]> {
  const all: Row[] = [];
  for await (const { rows } of pagesOf({ list: () => list }, {}, context)) for (const row of rows) all.push(row);
  return all;
}

/** The measurements of checkpoints on the command line. */
const checkpointMeasures: Measures<DeployedCheckpoint> = {
  // If the service does not list deployments, an empty column would wrongly suggest that nothing is deployed.
  columns: (_, range) =>
    deployedColumns(range).map(column => (column.id === 'deployed' ? { ...column, ifAny: true } : column)),
  costly: ['held-out', 'split', 'best', 'interval', 'evaluated', 'evaluated-interval', 'runs', 'deployed'],
  exported: withHeldOutPoint,
  columnOf: ([name, ...rest]) => (name === 'held_out' && isHeldOutPointField(rest) ? 'held-out' : undefined),
  read: async (rows, columns, context, list) => {
    const { range, scope } = list;
    const { training: id = '' } = scope;
    const heldOut = ['held-out', 'split', 'best', 'interval'].some(each => columns.has(each));
    const evaluated = ['evaluated', 'evaluated-interval', 'runs'].some(each => columns.has(each));
    const isCertain = columns.has('evaluated-interval');
    const ids = new Set(rows.map(({ checkpoint_id }) => checkpoint_id));
    const readEvaluations = async (): Promise<readonly MeasuredRun[]> => {
      const { bench_id } = await trainingRunQuery(id).read(context);
      const ofBenchmark = bench_id ? await everyRowOf(runsOfBenchmark(bench_id), context) : [];
      const ofRows = ofBenchmark.filter(run => hasEnded(run.status) && ids.has(run.parent_checkpoint_id ?? ''));
      if (!isCertain) return ofRows;
      const { onUnread } = list;
      const rowOf = (run: Partial<EvalRun>) => rows.find(row => row.checkpoint_id === run.parent_checkpoint_id);
      const unread: typeof onUnread = (run, ...why) => onUnread?.(rowOf(run) ?? run, ...why);
      return measureEach<MeasuredRun>(ofRows, context, { ...list, onUnread: onUnread && unread }, [withCertainty]);
    };
    const [rewards, runs, deployments, all] = await Promise.all([
      heldOut ? ifThere(() => heldOutRewardsQuery(id, true).read(context)) : undefined,
      evaluated ? ifThere(readEvaluations) : undefined,
      columns.has('deployed') ? ifThere(() => everyRowOf(deploymentList, context)) : undefined,
      // The best checkpoint may be on another page.
      columns.has('best')
        ? ifThere(() => checkpointsByStep(context.service, id, { signal: context.signal }))
        : undefined,
    ]);
    const uncertain = isCertain ? uncertainEvaluations(runs ?? [], rows, range) : [];
    const pools = await Promise.all(
      uncertain.map(async each => {
        const answer = pooledRewardsQuery(each).read(context);
        return [
          poolKey(each),
          await answer.then(
            data => ({ data }),
            (error: Error) => ({ error }),
          ),
        ] as const;
      }),
    );
    const measured = withMeasured(all ?? rows, rewards ?? [], runs ?? [], range, new Map(pools));
    const known = new Map(measured.map(row => [row.checkpoint_id, row]));
    return rows.map(row => ({
      ...known.get(row.checkpoint_id),
      ...row,
      ...deployedAs(row.checkpoint_id, deployments ?? []),
    }));
  },
};

/** The columns for checkpoints, with their deployments, held-out rewards and evaluations. */
export function deployedColumns(range: Range): readonly Column<DeployedCheckpoint>[] {
  const [step, ...others] = checkpointColumns;
  const deployed: Column<DeployedCheckpoint> = {
    ...{ id: 'deployed', title: 'DEPLOYED', width: { min: 8, max: 40, grow: 1 }, cutAt: 'end' },
    value: row => row.deployed,
  };
  const columns = [step, ...measuredCheckpointColumns<DeployedCheckpoint>(range), ...others, deployed];
  return columns.filter(column => column !== undefined);
}

export function checkpointFacts(row: DeployedCheckpoint, range?: Range): readonly Fact[] {
  return [
    { label: 'checkpoint', value: row.checkpoint_id },
    { label: 'step', value: row.step_index },
    ...(range ? measuredCheckpointFacts(row, range) : []),
    referenceFact('model', 'models', row.base_model_slug),
    { label: 'deployable', value: deployableWord(row) },
    { ...referenceFact('deployed', 'deployments', row.deployment_id), value: row.deployed },
    timeFact('committed', row.created_at),
  ];
}

/** A checkpoint's facts with its held-out reward, its evaluations and its deployments, as lists have them. */
async function withMeasurements(row: Checkpoint, context: QueryContext): Promise<WholeFacts> {
  const { training_run_id: training } = row;
  if (typeof training !== 'string') return { facts: checkpointFacts(row) };
  const range = context.compare?.rewardRange ?? defaultRange;
  const about = { scope: { training }, range, onUnread: (): void => {} };
  const unread: string[] = [];
  const read = async (what: string, columns: readonly string[]): Promise<DeployedCheckpoint | undefined> => {
    try {
      return (await checkpointMeasures.read([row], new Set(columns), context, about))[0];
    } catch (error) {
      ignoreFailure(error, context);
      unread.push(`Its ${what} could not be read. ${errorMessage(error)}`);
      return undefined;
    }
  };
  const [heldOut, evaluated, deployed] = await Promise.all([
    read('held-out rewards', ['held-out', 'split', 'best', 'interval']),
    read('evaluations', ['evaluated', 'evaluated-interval', 'runs']),
    read('deployments', ['deployed']),
  ]);
  const measured: DeployedCheckpoint = { ...row, ...deployed, ...heldOut, evaluations: evaluated?.evaluations };
  return {
    facts: checkpointFacts(measured, range),
    fields: withHeldOutPoint(measured, range),
    unread: unread.join(' ') || undefined,
  };
}

export const checkpointActions = {
  evaluate: { ...ofCheckpoint.evaluate, id: 'checkpoint.evaluate', title: 'evaluate the checkpoint' },
  deploy: { ...ofCheckpoint.deploy, id: 'checkpoint.deploy', title: 'deploy the checkpoint' },
  continue: { ...ofCheckpoint.continue, id: 'checkpoint.continue', title: 'continue training from the checkpoint' },
} as const satisfies ActionTable<CheckpointSource>;

export const checkpoints = defineResource<Checkpoint>({
  names: ['checkpoints', 'checkpoint'],
  order: 41,
  scopes: ['training'],
  needs: 'training',
  hasAddress: true,
  list: ({ training: run = '' }) => checkpointList(run, true),
  columns: checkpointColumns,
  measures: checkpointMeasures,
  facts: row => checkpointFacts(row),
  wholeFacts: withMeasurements,
  commands: checkpointActions,
});
