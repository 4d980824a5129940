/** The tasks in a run, a dataset or a training step: their columns, their facts and a summary. */
import { maxOf, minOf } from '../base/many.ts';
import { mean } from '../base/statistics.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { type Column, plainColumn } from '../present/column.ts';
import type { Fact } from '../present/fact.ts';
import { numberColumn } from '../present/number-columns.ts';
import { passAtK, passCurve, passHatK } from '../present/statistics/pass-at-k.ts';
import type { Range } from '../present/statistics/tasks.ts';
import {
  type GroupRollout,
  groupOf,
  type ModelScores,
  passesOf,
  rolloutsOf,
  scoresByModel,
  scoresByStep,
  type TaskGroup,
  withBase,
} from '../present/task-groups.ts';
import { byTask, groupKinds, groupLabels, scoresOf, widenedRange } from '../present/teaching.ts';
import type { RunExtent } from '../queries/extent-of.ts';
import { rewardsByTask } from '../queries/run-rewards.ts';
import { count, counted, difference, percent, reward } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { blockLevels, sparkline } from '../text/sparkline.ts';
import { unlistedOf } from './unlisted.ts';

interface GroupOptions {
  /** The run that the rollouts belong to, if it is a single one. */
  readonly run?: Partial<RunExtent> | undefined;
  /** The lowest and highest possible rewards. */
  readonly range: Range;
  /** The lowest reward that counts as a pass; by default the top of the range. */
  readonly passAt?: number | undefined;
  /** The rollouts of another run to compare with. */
  readonly base?: readonly Trajectory[] | undefined;
}

interface TaskGroups {
  readonly groups: readonly TaskGroup[];
  /** Listed rollouts that name no task. */
  readonly nameless: number;
  /** The number of rollouts that the service does not list, whether or not their task is known. */
  readonly unlisted: number;
  /** Whether the service does not report the number of rollouts. */
  readonly isUncounted: boolean;
  /** The training steps of the rollouts. */
  readonly steps: ReadonlySet<number>;
  /** See `describePolicies`. */
  readonly models: readonly string[];
  /** The lowest reward that counts as a pass. */
  readonly passAt: number;
  /** Whether any reward is outside the range from the settings. */
  readonly isOutside: boolean;
}

/** Parses the first and last step from `50..60`, `50..`, `..60` or `50`; undefined for any other text. */
export function parseSteps(text: string): Range | undefined {
  const parts = text.split('..').map(part => part.trim());
  const [first = '', last = first] = parts;
  if (parts.length > 2 || first + last === '' || !parts.every(part => /^\d*$/.test(part))) return undefined;
  const to = last === '' ? Number.POSITIVE_INFINITY : Number(last);
  return Number(first) <= to ? [Number(first), to] : undefined;
}

/** The rollouts from some training steps; all rollouts by default. */
export function ofSteps(rows: readonly Trajectory[], steps: string | undefined): readonly Trajectory[] {
  const range = steps === undefined ? undefined : parseSteps(steps);
  if (!range) return rows;
  return rows.filter(({ policy_step: step }) => step != null && step >= range[0] && step <= range[1]);
}

/** The training steps that the rollouts are from. */
export const stepsOf = (rows: readonly Trajectory[]): ReadonlySet<number> =>
  new Set(rows.flatMap(({ policy_step }) => policy_step ?? []));

/** How many models to name. */
const maxModels = 4;

/**
 * `From 2 models together: acme/large (mean 0.708 over 120 rewards), acme/small (…)`, if the rollouts are from several
 * models.
 */
function describeModels(rows: readonly Trajectory[]): readonly string[] {
  // The steps of a training run are different models anyway.
  if (stepsOf(rows).size > 1) return [];
  const models = Map.groupBy(rows, ({ model_id }) => model_id || undefined);
  const unknown = models.get(undefined)?.length ?? 0;
  models.delete(undefined);
  if (models.size < 2) return [];
  const sorted = [...models].sort(([, one], [, other]) => other.length - one.length);
  const named = sorted.slice(0, maxModels).map(([model = '', own]) => {
    const scores = scoresOf(own);
    const known =
      scores.length === 0 ? 'no rewards' : `mean ${reward(mean(scores))} over ${counted(scores.length, 'reward')}`;
    return clean`${model} (${known})`;
  });
  const more = models.size - named.length;
  const rest = [more > 0 && `${more} more`, unknown > 0 && `${counted(unknown, 'rollout')} without a model`];
  return [`From ${models.size} models together: ${[...named, ...rest].filter(Boolean).join(', ')}`];
}

/** The models that the rollouts are from, in a sentence, if there are several: the policies of training steps, or others. */
export function describePolicies(rows: readonly Trajectory[]): readonly string[] {
  const steps = [...stepsOf(rows)];
  if (steps.length < 2) return describeModels(rows);
  return [
    `These rollouts are from ${steps.length} training steps, ${minOf(steps)} to ${maxOf(steps)}, and so from different models`,
  ];
}

/** Groups rollouts by task. */
export function groupsOf(rows: readonly Trajectory[], options: GroupOptions): TaskGroups {
  const { run, range, passAt = range[1], base } = options;
  const { tasks, nameless } = rewardsByTask({ rewards: rows, total: run?.total });
  const { tasks: named } = byTask({ rewards: rows });
  const { tasks: others } = byTask({ rewards: base ?? [] });
  const widened = widenedRange(range, [{ step: 0, rewards: rows }]);
  const steps = stepsOf(rows);
  const models = describeModels(rows);
  const policies = describePolicies(rows);
  const baseModels = base ? describeModels(base) : [];
  /** A task's rollouts, with their rewards by model if all rollouts are from several. */
  const ofModels = (id: string, rollouts: readonly GroupRollout[], all: readonly string[], unlisted?: number) => ({
    ...groupOf(id, rollouts, widened, { passAt, ...(unlisted !== undefined && { unlisted }) }),
    ...(all.length > 0 && { modelScores: scoresByModel(rollouts, passAt) }),
  });
  const groups = [...tasks].map(([id, { unlisted }]) => {
    const own = others.get(id);
    const group = withBase(ofModels(id, named.get(id) ?? [], models, unlisted), own && ofModels(id, own, baseModels));
    return { ...group, ...(steps.size > 1 && { stepScores: scoresByStep(group.rollouts) }) };
  });
  return {
    groups,
    nameless: nameless.listed.length,
    unlisted: unlistedOf(rows, run) ?? 0,
    isUncounted: run !== undefined && run.total === undefined,
    steps,
    models: [...policies, ...baseModels.map(words => `Base: ${words}`)],
    passAt,
    isOutside: widened[0] < range[0] || widened[1] > range[1],
  };
}

/** E.g. `8`, or `7 of 8` if one rollout has no reward. */
const formatCount = (group: TaskGroup): string => {
  const [scored, all] = [group.scores.length, rolloutsOf(group)];
  return scored === all ? String(scored) : `${scored} of ${all}`;
};

const shareOf = ({ scores, passed }: TaskGroup): number | undefined =>
  scores.length === 0 ? undefined : passed / scores.length;

/** A group's teaching signal; undefined for a single reward. */
const signalWord = ({ kind, scores }: TaskGroup): string =>
  kind === 'teaches' ? 'teaches' : kind === 'unscored' && scores.length === 1 ? '' : groupLabels[kind];

const ifAny = { ifAny: true } as const;
const ifPositive = (value: number): number | undefined => (value > 0 ? value : undefined);

export const taskColumn: Column<TaskGroup> = {
  id: 'task',
  title: 'TASK',
  width: { min: 12, max: 60, grow: 2 },
  value: row => row.task_id,
};

/** The width of the spread column, in terminal cells. */
export const spreadWidth = 8;

const stepsWidth = 12;

/** The first and last training steps at which a task has a mean, and the number of these steps. */
function endsOf({ stepScores = [] }: TaskGroup) {
  const steps = stepScores.flatMap(({ step, mean }) => (mean === undefined ? [] : [{ step, mean }]));
  return { first: steps[0], last: steps.at(-1), count: steps.length };
}

/** How much a task's mean changed during training: its last mean minus its first. */
function changeOf(group: TaskGroup): number | undefined {
  const { first, last } = endsOf(group);
  return first === last || !first || !last ? undefined : last.mean - first.mean;
}

/** A longer list of rewards is truncated in the middle. */
const maxRewards = 32;

/** The rewards in ascending order; if there are many, only the lowest and highest ones. */
function formatRewards({ scores }: TaskGroup): string {
  const half = maxRewards / 2;
  const [low, high] =
    scores.length <= maxRewards ? [scores, []] : [scores.slice(0, half), ['…', ...scores.slice(-half)]];
  return [...low, ...high].map(each => (typeof each === 'number' ? reward(each) : each)).join(' ');
}

/**
 * @param strip draws a task's rewards
 * @param levels the characters for means, from lowest to highest
 */
export function groupColumns(
  strip: (group: TaskGroup) => string = formatRewards,
  levels: readonly string[] = blockLevels,
): readonly Column<TaskGroup>[] {
  return [
    plainColumn('n', 'N', { min: 3, max: 9, grow: 0 }, row => row.scores.length, {
      align: 'right',
      text: formatCount,
      exported: row => row.scores.length,
    }),
    numberColumn('mean', 'MEAN', row => row.mean),
    {
      ...numberColumn<TaskGroup>('difference', 'DIFF', row => row.difference),
      ...{ ifAny: true, width: 6 },
      text: row => (row.base ? difference(row.difference) : ''),
    },
    {
      ...{ id: 'spread', title: 'SPREAD', width: spreadWidth, filtered: false, ifAny: true },
      // A single reward has no spread.
      value: row => (row.stepScores || row.scores.length === 1 ? undefined : row.scores.join(' ')),
      text: row => (row.stepScores || row.scores.length === 1 ? '' : strip(row)),
    },
    { ...numberColumn<TaskGroup>('first', 'FIRST', row => endsOf(row).first?.mean), ...ifAny },
    { ...numberColumn<TaskGroup>('last', 'LAST', row => endsOf(row).last?.mean), ...ifAny },
    { ...numberColumn<TaskGroup>('change', 'CHANGE', changeOf, { text: difference }), ...ifAny },
    {
      ...{ id: 'by-step', title: 'BY STEP', width: stepsWidth, filtered: false, ifAny: true },
      value: row => row.stepScores?.map(({ step, mean }) => `${step}: ${reward(mean)}`).join(', '),
      text: ({ stepScores = [] }) =>
        sparkline(
          stepScores.map(({ mean }) => mean),
          stepsWidth,
          levels,
        ),
    },
    numberColumn('lowest', 'MIN', row => row.scores[0]),
    numberColumn('highest', 'MAX', row => row.scores.at(-1)),
    { ...numberColumn<TaskGroup>('passed', 'PASS', shareOf, { text: percent }), width: 5 },
    { id: 'signal', title: 'SIGNAL', width: 8, ifAny: true, value: row => signalWord(row) || undefined },
    {
      ...numberColumn<TaskGroup>('failed', 'FAILED', row => ifPositive(row.failed), { text: count }),
      ...ifAny,
    },
    { ...numberColumn<TaskGroup>('noscore', 'NO SCORE', row => ifPositive(row.unscored), { text: count }), ...ifAny },
    { ...numberColumn<TaskGroup>('unlisted', 'UNLISTED', row => ifPositive(row.unlisted), { text: count }), ...ifAny },
    plainColumn('tokens', 'TOKENS', 6, row => row.tokens, {
      align: 'right',
      ifAny: true,
      text: row => (row.tokens === undefined ? '' : String(Math.round(row.tokens))),
    }),
  ];
}

/** The values of k for pass@k and pass^k; none if the rollouts are from several models or training steps. */
const ksOf = ({ scores, stepScores, modelScores }: TaskGroup): readonly number[] =>
  stepScores || modelScores ? [] : [2, 4, 8, 16, 32].filter(k => k < scores.length);

function courseFacts(row: TaskGroup): readonly Fact[] {
  const { first, last, count: steps } = endsOf(row);
  const value =
    first &&
    last &&
    `${counted(steps, 'step')}, ${reward(first.mean)} at ${first.step}, ${reward(last.mean)} at ${last.step}`;
  return [{ label: 'by step', value }];
}

/** E.g. `0.708 of 3, 1 passed`. */
const modelFact = ({ model, scores, mean, passed }: ModelScores): Fact => ({
  label: model ?? 'no model',
  value: `${reward(mean)} over ${counted(scores.length, 'reward')}, ${passed} passed`,
});

export function groupFacts(row: TaskGroup): readonly Fact[] {
  const passes = passesOf(row);
  const { base, scores } = row;
  return [
    { label: 'task', value: row.task_id },
    { label: 'rollouts', value: formatCount(row) },
    { label: 'mean', value: reward(row.mean) },
    { label: 'rewards', value: row.stepScores ? undefined : formatRewards(row) },
    ...courseFacts(row),
    ...(row.modelScores ?? []).map(modelFact),
    { label: 'passed', value: scores.length === 0 ? undefined : `${passes.passed} of ${scores.length}` },
    ...ksOf(row).flatMap(k => [
      { label: `pass@${k}`, value: percent(passAtK(passes, k)) },
      { label: `pass^${k}`, value: percent(passHatK(passes, k)) },
    ]),
    { label: 'failed', value: ifPositive(row.failed) },
    { label: 'no score', value: ifPositive(row.unscored) },
    { label: 'running', value: ifPositive(row.running) },
    { label: 'not listed', value: ifPositive(row.unlisted) },
    ...(base
      ? [
          { label: 'base', value: `${reward(base.mean)} of ${base.scores.length}` },
          ...(base.modelScores ?? []).map(each => ({ ...modelFact(each), group: 'base by model' })),
          { label: 'difference', value: difference(row.difference) },
        ]
      : []),
    { label: 'tokens', value: row.tokens === undefined ? undefined : `${reward(row.tokens)} on average` },
    { label: 'signal', value: signalWord(row) || undefined },
  ];
}

const sum = (groups: readonly TaskGroup[], count: (group: TaskGroup) => number): number =>
  groups.reduce((total, group) => total + count(group), 0);

/** Tasks with the rewards of one model or one run, and a label for it if there are several. */
interface PassedTasks {
  readonly of: string;
  readonly tasks: readonly Pick<TaskGroup, 'scores' | 'passed'>[];
}

/** Each model's rewards by task, if the rollouts are from several models. */
export const tasksByModel = (groups: readonly Pick<TaskGroup, 'modelScores'>[]) =>
  Map.groupBy(
    groups.flatMap(({ modelScores = [] }) => modelScores),
    ({ model }) => model,
  );

/** The tasks and those of the base, each by model if the rollouts are from several models. */
function passedTasks(groups: readonly TaskGroup[]): readonly PassedTasks[] {
  const base = groups.flatMap(group => group.base ?? []);
  const byModel = (of: string, all: readonly (PassedTasks['tasks'][number] & Pick<TaskGroup, 'modelScores'>)[]) => {
    const models = [...tasksByModel(all)];
    if (models.length === 0) return [{ of, tasks: all }];
    return models.map(([model = 'no model', tasks]) => ({ of: clean`${of}, ${model}`, tasks }));
  };
  return [...byModel('', groups), ...(base.length > 0 ? byModel(', base', base) : [])];
}

/** How often the tasks of each model and run pass within several rollouts. */
function describePasses(groups: readonly TaskGroup[], passAt: number): readonly string[] {
  const curves = passedTasks(groups).flatMap(({ of, tasks }) => {
    const curve = passCurve(tasks.filter(({ scores }) => scores.length > 0).map(passesOf));
    const last = curve.at(-1);
    return last ? { of, curve, last } : [];
  });
  const atLeast = `reward at least ${reward(passAt)}`;
  if (curves.every(({ curve }) => curve.length === 1))
    return curves.map(({ of, last }) => `passed${of} ${percent(last.any)} (${atLeast})`);
  const lines = (passing: 'any' | 'all', sign: string): readonly string[] =>
    curves.map(({ of, curve }) => {
      const points = curve.map(point => `${point.k} ${percent(point[passing])}`);
      return [`pass${sign}k${of}`, ...points].join('  ');
    });
  const some = curves
    .filter(({ last }) => last.tasks < groups.length)
    .map(({ of, last }) => `${last.tasks} of ${counted(groups.length, 'task')} have ${counted(last.k, 'reward')}${of}`);
  const all = lines('all', '^');
  return [...lines('any', '@'), ...all.slice(0, -1), `${all.at(-1)}   ${[atLeast, ...some].join('; ')}`];
}

/**
 * A summary in sentences: how many rollouts have a reward, how many groups give no training signal, and how often tasks
 * pass within several rollouts.
 */
export function describeGroups({
  groups,
  nameless,
  unlisted,
  isUncounted,
  models,
  passAt,
  isOutside,
}: TaskGroups): readonly string[] {
  const ungrouped = nameless > 0 ? [`${counted(nameless, 'rollout')} without a task not grouped`] : [];
  if (groups.length === 0) return ungrouped;
  const failed = sum(groups, group => group.failed);
  const failedScored = failed - sum(groups, ({ failedUnscored }) => failedUnscored);
  const counts = [
    [failed, `failed${failedScored > 0 ? ` (${failedScored} of them with a reward)` : ''}`],
    [sum(groups, ({ unscored }) => unscored), 'without a score'],
    [sum(groups, ({ running }) => running), 'running'],
  ] as const;
  const all = sum(groups, ({ rollouts }) => rollouts.length) + unlisted;
  const rated = sum(groups, ({ scores }) => scores.length);
  const listed = isUncounted ? counted(all, 'listed rollout') : counted(all, 'rollout');
  const rewards =
    isUncounted && rated === all
      ? `${counted(all, 'rollout has', 'rollouts have')} a reward`
      : `${rated} of ${listed} have a reward`;
  const shown = counts.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  const several = groups.filter(({ scores }) => scores.length > 1);
  const kinds = groupKinds
    .filter(kind => kind !== 'teaches')
    .map(kind => [several.filter(group => group.kind === kind).length, groupLabels[kind]] as const);
  const idle = kinds.filter(([number]) => number > 0);
  const idleCount = idle.reduce((total, [number]) => total + number, 0);
  const passes = describePasses(groups, passAt);
  return [
    [`${counted(groups.length, 'task')}: ${rewards}`, ...shown].join(', '),
    ...passes,
    ...models,
    ...(several.length === 0
      ? []
      : [
          `${idleCount} of ${counted(several.length, 'group')} teach nothing${
            idle.length === 0 ? '' : `: ${idle.map(([number, words]) => `${number} ${words}`).join(', ')}`
          }`,
        ]),
    ...(isOutside ? ['Some rewards are outside the range in the settings: set compare.rewardRange'] : []),
    ...ungrouped,
  ];
}
