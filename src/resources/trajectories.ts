/** Trajectories: a rollout's messages and reward. */

import { earlyEndOf } from '../contract/finish-reason.ts';
import { unreadableIn } from '../contract/lists.ts';
import { trajectoryStatuses } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { type Column, idColumn, plainColumn, statusColumn } from '../present/column.ts';
import { type Fact, referenceFact, statusFact } from '../present/fact.ts';
import { rewardColumn } from '../present/number-columns.ts';
import { cutMessageOf, endedBy, errorClass, finishOf, toolErrorOf } from '../present/outcome-classes.ts';
import { sampleOf, targetOf, textColumns, textsOf } from '../present/rollout-texts.ts';
import { secondsOf, tokensOf } from '../present/task-groups.ts';
import { instantFact, timeColumn, timeFact } from '../present/times.ts';
import { trajectoryDetails } from '../present/trajectory-details.ts';
import { trajectoryList, trajectoryQuery, trajectoryStatusQuery } from '../queries/trajectories.ts';
import { rememberedAt } from '../store/seen.ts';
import { count, counted, countOf, reward } from '../text/numbers.ts';
import { type ActionTable, running, single } from './action.ts';
import { defineResource, type Measures } from './define.ts';
import { measuredInParts } from './measure-each.ts';

/** Advice on how to read a column's values: services list rollouts without their messages and metrics. */
const readBy = 'reward against length (L) reads it, and exports have it';

const trajectoryColumns: readonly Column<Trajectory>[] = [
  plainColumn('task', 'TASK', { min: 12, max: 40, grow: 2 }, row => row.task_id ?? row.trajectory_id, {
    field: 'task_id',
  }),
  { ...rewardColumn(), field: 'reward' },
  statusColumn(row => row.status, { field: 'status', known: trajectoryStatuses }),
  plainColumn('sample', 'SAMPLE', 6, sampleOf, { align: 'right', wide: true, ifAny: true }),
  plainColumn('step', 'STEP', 6, row => row.policy_step, { align: 'right', ifAny: true }),
  plainColumn('error', 'ERROR', { min: 6, max: 60, grow: 2 }, row => row.error, {
    ...{ field: 'error', cutAt: 'end', ifAny: true },
  }),
  plainColumn('steps', 'STEPS', 6, row => countOf(row.num_steps), { field: 'num_steps', align: 'right' }),
  plainColumn('ended', 'ENDED BY', { min: 8, max: 20, grow: 1 }, endedBy, { wide: true, decides: 1 }),
  plainColumn('finish', 'FINISH', { min: 6, max: 14, grow: 0 }, finishOf, { wide: true, ifAny: true }),
  plainColumn('tool', 'TOOL ERROR', { min: 10, max: 60, grow: 1 }, toolErrorOf, {
    wide: true,
    ifAny: true,
    cutAt: 'end',
  }),
  plainColumn('tokens', 'TOKENS', 6, tokensOf, {
    readBy,
    align: 'right',
    wide: true,
    ifAny: true,
    text: row => (tokensOf(row) === undefined ? '' : count(tokensOf(row))),
  }),
  plainColumn('seconds', 'SECONDS', 7, secondsOf, {
    readBy,
    align: 'right',
    wide: true,
    ifAny: true,
    text: row => (secondsOf(row) === undefined ? '' : reward(secondsOf(row))),
  }),
  ...textColumns(textsOf),
  plainColumn('target', 'TARGET', { min: 8, max: 60, grow: 1 }, targetOf, { hidden: true, cutAt: 'end' }),
  {
    ...{ id: 'class', title: 'ERROR CLASS', width: { min: 12, max: 60, grow: 1 }, hidden: true, cutAt: 'end' },
    value: row => (row.error ? errorClass(row.error) : undefined),
  },
  plainColumn('model', 'MODEL', { min: 10, max: 36, grow: 1 }, row => row.model_id, {
    field: 'model_id',
    cutAt: 'start',
    wide: true,
  }),
  plainColumn('dataset', 'DATASET', { min: 8, max: 24, grow: 1 }, row => row.dataset_name, {
    field: 'dataset_name',
    wide: true,
  }),
  timeColumn('created', 'CREATED', row => row.created_at, { wide: true, field: 'created_at' }),
  idColumn(row => row.trajectory_id),
];

/** The columns with texts, which need a request for each row. */
const measures: Measures<Trajectory> = {
  columns: () => trajectoryColumns,
  fixed: true,
  ...measuredInParts<Trajectory>([
    {
      columns: ['answer', 'question'],
      add: async (row, { service, signal }) => {
        if (textsOf(row)) return row;
        const call = { params: { trajectory_id: row.trajectory_id }, query: { include_steps: true } };
        return { ...row, read_texts: textsOf(await service.call('getTrajectory', call, { signal })) };
      },
    },
  ]),
};

/** The number of steps, and how many of them the service sent if it left some out. */
function describeSteps({ num_steps, steps }: Trajectory): string | number | undefined {
  const all = countOf(num_steps);
  if (all === undefined || !steps || steps.length === 0 || steps.length >= all) return all;
  return `${all}, ${steps.length} of them sent by the service`;
}

/** The finish reason, with the length of the answer if it was cut off. */
function describeFinish(trajectory: Trajectory): string | undefined {
  const finish = finishOf(trajectory);
  const tokens = earlyEndOf(finish) === 'token limit' ? cutMessageOf(trajectory)?.completion_tokens : undefined;
  return tokens == null ? finish : `${finish}, after ${counted(tokens, 'token')}`;
}

/** Describes the missing parts of a trajectory that was read with its steps; undefined if it is complete. */
export function missingIn({ num_steps, steps }: Trajectory): string | undefined {
  const all = countOf(num_steps);
  if (!steps) return all === 0 ? undefined : 'The service sent no steps.';
  const unreadable = unreadableIn(steps) + steps.reduce((sum, { messages }) => sum + unreadableIn(messages ?? []), 0);
  if (unreadable > 0) return `${counted(unreadable, 'step or message', 'steps or messages')} could not be read.`;
  return steps.length < (all ?? 0)
    ? `The service sent ${steps.length} of its ${counted(all ?? 0, 'step')}.`
    : undefined;
}

/** The labels of facts that a trajectory has only because it is stored. */
const ofStore: ReadonlySet<string> = new Set([
  'id',
  'dataset',
  'source',
  'created',
  'stored',
  'dataset id',
  'dataset source',
  'dataset prefix',
  'organization',
  'model found by',
]);

/** Whether the local service has generated a trace id, because the file has none. */
const isTraceOfStore = (value: unknown): boolean => /^trace_[\da-f]{12}$/.test(String(value));

/** The facts about a trajectory from a file, without links, because the resources they name do not exist here. */
export const factsOfFile = (facts: readonly Fact[]): readonly Fact[] =>
  facts
    .filter(({ label, value }) => !ofStore.has(label) && !(label === 'trace' && isTraceOfStore(value)))
    .map(({ refers: _, ...fact }) => fact);

/** Whether a column is also for trajectories from a file. */
export const isOfFile = ({ id }: Pick<Column<object>, 'id'>): boolean => id !== 'dataset' && id !== 'created';

/** The fields that a trajectory has only because it is stored. */
const fieldsOfStore: ReadonlySet<string> = new Set([
  'organization_id',
  'source',
  'created_at',
  'dataset_id',
  'dataset_source',
  'dataset_gcs_prefix',
  'gcs_blob_uri',
  'model_association_source',
  'model_association_metadata',
]);

/** The fields of a trajectory from a file, as in `factsOfFile`. */
export const fieldsOfFile = (trajectory: object): object =>
  Object.fromEntries(
    Object.entries(trajectory).filter(
      ([name, value]) => !fieldsOfStore.has(name) && !(/^(trace|conversation)_id$/.test(name) && isTraceOfStore(value)),
    ),
  );

export function trajectoryFacts(trajectory: Trajectory): readonly Fact[] {
  return [
    { label: 'task', value: trajectory.task_id },
    { label: 'id', value: trajectory.trajectory_id },
    statusFact('status', trajectory.status),
    { label: 'reward', value: reward(trajectory.reward) },
    { label: 'expected', value: targetOf(trajectory) },
    { label: 'steps', value: describeSteps(trajectory) },
    { label: 'policy step', value: trajectory.policy_step },
    statusFact('rollout', trajectory.rollout?.status),
    { label: 'ended by', value: trajectory.rollout?.termination_reason },
    { label: 'finish', value: describeFinish(trajectory) },
    { label: 'diagnostic', value: trajectory.rollout?.harness_diagnostic },
    { label: 'error', value: trajectory.error },
    referenceFact('run', 'runs', trajectory.eval_run_id),
    referenceFact('training', 'training', trajectory.training_run_id),
    referenceFact('model', 'models', trajectory.model_id),
    referenceFact('dataset', 'datasets', trajectory.dataset_name),
    { label: 'source', value: trajectory.source },
    { label: 'trace', value: trajectory.trace_id },
    {
      label: 'conversation',
      value: trajectory.conversation_id === trajectory.trace_id ? undefined : trajectory.conversation_id,
    },
    timeFact('created', trajectory.created_at),
    instantFact('seen', rememberedAt(trajectory)),
    { label: 'stored', value: trajectory.gcs_blob_uri },
    { label: 'dataset id', value: trajectory.dataset_id },
    { label: 'dataset source', value: trajectory.dataset_source },
    { label: 'dataset prefix', value: trajectory.dataset_gcs_prefix },
    { label: 'organization', value: trajectory.organization_id },
    { label: 'model found by', value: trajectory.model_association_source },
    ...trajectoryDetails(trajectory),
  ];
}

const group = 'Trajectory';

/** Restricts an action to one running trajectory: after its end, the service refuses the request. */
function singleOpen(rows: readonly Trajectory[]): readonly Trajectory[] | string {
  const one = single(rows);
  return typeof one === 'string' ? one : running(one);
}

export const trajectoryActions = {
  reward: {
    id: 'trajectory.reward',
    title: 'log a reward to it',
    keys: ['+'],
    group,
    writes: true,
    appliesTo: singleOpen,
    opens: () => 'reward',
  },
  complete: {
    id: 'trajectory.complete',
    title: 'end it, with a reason',
    keys: ['E'],
    group,
    writes: true,
    appliesTo: singleOpen,
    opens: () => 'complete',
  },
} as const satisfies ActionTable<Trajectory>;

export const trajectories = defineResource<Trajectory>({
  names: ['trajectories', 'trajectory', 'traj', 't'],
  order: 30,
  idPattern: /^(traj|trj)[_-]/,
  kind: 'trajectory',
  scopes: ['run', 'training', 'dataset'],
  list: ({ run, training, dataset }) =>
    trajectoryList({
      ...(run === undefined ? {} : { eval_run_id: run }),
      ...(training === undefined ? {} : { training_run_id: training }),
      ...(dataset === undefined ? {} : { dataset_name: dataset }),
    }),
  get: trajectoryQuery,
  brief: trajectoryStatusQuery,
  columns: trajectoryColumns,
  measures,
  facts: row => trajectoryFacts(row),
  text: async (row, width, notes) =>
    (await import('../present/transcript-lines.ts')).transcriptTextParts(row, width, notes),
  label: row => row.task_id,
  // There are too many trajectories to search, and many share a task.
  findsLabel: 'qualified',
  actions: trajectoryActions,
  watch: { endsForGood: true },
  emptyText: 'No trajectories yet: evaluations record them',
});
