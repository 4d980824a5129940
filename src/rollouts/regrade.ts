/** Grades existing rollouts again and summarises the changes. Writes nothing to the service. */
import { errorMessage } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import { trimEnd } from '../base/trim.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { type Column, idColumn } from '../present/column.ts';
import { type Fact, withValue } from '../present/fact.ts';
import { numberColumn } from '../present/number-columns.ts';
import { agreementOf } from '../present/statistics/agreement.ts';
import { comparisonDefaults, summariseComparison } from '../present/statistics/comparison.ts';
import {
  isBeyond,
  isSameReward,
  type Range,
  type RunTasks,
  reaches,
  withinRange,
} from '../present/statistics/tasks.ts';
import { type GroupRollout, unfinishedState } from '../present/task-groups.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { trajectoryQuery } from '../queries/trajectories.ts';
import { limitsFact } from '../resources/comparison.ts';
import { counted, difference, percent, reward } from '../text/numbers.ts';
import { GraderError, type Regrader } from './regraders.ts';

type Unended = NonNullable<ReturnType<typeof unfinishedState>>;
/** How many rollouts have no answer to grade. */
export type LeftOut = Readonly<Record<Unended, number>>;

/** A rollout with its old and new rewards. */
export interface Regraded {
  readonly trajectory_id: string;
  readonly task_id: string | undefined;
  readonly reward: number | undefined;
  readonly new_reward: number | undefined;
  readonly explanation: string;
  readonly error: string | undefined;
}

export const changeOf = ({ reward: before, new_reward: after }: Regraded): number | undefined =>
  before === undefined || after === undefined ? undefined : after - before;

/** Whether a rollout no longer passes, or now does. */
export function flipOf(row: Regraded, passAt: number): 'lost' | 'gained' | undefined {
  const { reward: before, new_reward: after } = row;
  if (before === undefined || after === undefined) return undefined;
  const passed = reaches(before, passAt);
  return passed === reaches(after, passAt) ? undefined : passed ? 'lost' : 'gained';
}

export const regradedColumns = (passAt: number): readonly Column<Regraded>[] => [
  { id: 'task', title: 'TASK', width: { min: 12, max: 40, grow: 1 }, value: row => row.task_id },
  { id: 'flip', title: 'FLIP', width: 6, ifAny: true, value: row => flipOf(row, passAt) },
  numberColumn('reward', 'REWARD', row => row.reward),
  numberColumn('new', 'NEW', row => row.new_reward),
  numberColumn('change', 'CHANGE', changeOf, { text: difference }),
  {
    ...{ id: 'explanation', title: 'EXPLANATION', width: { min: 12, max: 100, grow: 2 }, cutAt: 'end' },
    value: row => row.error ?? (row.explanation || undefined),
  },
  idColumn(row => row.trajectory_id, false),
];

/** Callbacks for each rollout, in order of completion. */
interface Regrading {
  readonly onGraded: (row: Regraded) => void;
  /** For a rollout without an answer to grade, because it failed or is still running. */
  readonly onLeftOut: (state: Unended) => void;
}

/**
 * Grades rollouts, a few at a time. Leaves out those that failed or are running: immediately if the list has statuses,
 * otherwise once each has been read.
 *
 * @throws the signal's reason when it aborts
 * @throws GraderError if the grader can grade no rollout
 */
export async function regradeAll(
  rows: readonly (GroupRollout & { readonly trajectory_id: string })[],
  grader: Regrader,
  context: QueryContext,
  { onGraded, onLeftOut }: Regrading,
): Promise<void> {
  const gradable = rows.filter(row => {
    const state = unfinishedState(row);
    if (state) onLeftOut(state);
    return !state;
  });
  await inParallel(gradable, async row => {
    const { trajectory_id } = row;
    const before = { trajectory_id, task_id: row.task_id ?? undefined, reward: row.reward ?? undefined };
    try {
      const trajectory = await trajectoryQuery(trajectory_id).read(context);
      const state = unfinishedState(trajectory);
      if (state) return onLeftOut(state);
      const { reward: new_reward, explanation } = await grader(trajectory, context.signal);
      onGraded({ ...before, new_reward, explanation, error: undefined });
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof GraderError) throw error;
      onGraded({ ...before, new_reward: undefined, explanation: '', error: errorMessage(error) });
    }
  });
}

/**
 * A run's rewards by another grader. Rollouts that it cannot grade have none.
 *
 * @throws the signal's reason when it aborts
 */
export async function regradeRewards(rewards: readonly TrajectoryReward[], grader: Regrader, context: QueryContext) {
  const graded = new Map<string, number>();
  const ungraded: Regraded[] = [];
  const left = { failed: 0, running: 0 };
  const rows = rewards.flatMap(each => (each.trajectory_id ? { ...each, trajectory_id: each.trajectory_id } : []));
  await regradeAll(rows, grader, context, {
    onGraded: row => {
      if (row.new_reward === undefined) ungraded.push(row);
      else graded.set(row.trajectory_id, row.new_reward);
    },
    onLeftOut: state => {
      left[state] += 1;
    },
  });
  const regraded = rewards.map(each => ({ ...each, reward: graded.get(each.trajectory_id ?? '') ?? null }));
  return { rewards: regraded, graded: graded.size, ungraded, unnamed: rewards.length - rows.length, ...left };
}

const maxReasons = 3;

export interface RegradeOptions {
  readonly range: Range;
  /** The lowest reward that passes; by default, the top of the range. */
  readonly passAt?: number | undefined;
}

/** Summarises the changes over the rollouts that both graders have graded. */
export function summariseRegrade(all: readonly Regraded[], { range, passAt = range[1] }: RegradeOptions) {
  const both = all.flatMap(row => {
    const { reward: before, new_reward: after } = row;
    // A rollout without a task counts as a task of its own.
    const task = row.task_id || ` ${row.trajectory_id}`;
    return before === undefined || after === undefined ? [] : [{ task, before, after }];
  });
  const tasks = [...Map.groupBy(both, ({ task }) => task).values()];
  const run = (when: 'before' | 'after'): RunTasks => ({
    tasks: tasks.map(rollouts => rollouts.map(each => each[when])),
    total: both.length,
    end: 'complete',
  });
  const agreement = agreementOf(
    both.map(({ task, before, after }) => ({ task, first: reaches(before, passAt), second: reaches(after, passAt) })),
  );
  const options = { ...comparisonDefaults, range, missing: 'ignore' as const };
  const outside = both.filter(each => isBeyond(each.before, range) || isBeyond(each.after, range)).length;
  const compared = summariseComparison(run('before'), run('after'), options);
  const changes = both.filter(({ before, after }) => !isSameReward(before, after));
  const apart = changes.reduce((sum, { before, after }) => sum + Math.abs(after - before), 0);
  const changed = {
    count: changes.length,
    lower: changes.filter(({ before, after }) => after < before).length,
    mean: changes.length === 0 ? 0 : apart / changes.length,
  };
  const isEnd = (each: number): boolean => range.includes(withinRange(each, range));
  const isPassFail = both.every(({ before, after }) => isEnd(before) && isEnd(after));
  const nameless = all.filter(row => !row.task_id && changeOf(row) !== undefined).length;
  const counts = { both: both.length, tasks: tasks.length - nameless, nameless, outside };
  // Rollouts without a task may belong to a few tasks. An interval that treats them as independent is too narrow.
  const intervals = nameless > 0 ? { interval: undefined } : {};
  return {
    compared: { ...compared, ...intervals },
    agreement: { ...agreement, ...intervals },
    changed,
    isPassFail,
    ...counts,
    passAt,
    range,
  };
}

/** Why rollouts could not be graded, the most frequent reason first. */
export function describeUngraded(all: readonly Regraded[]): string {
  const reasons = [...Map.groupBy(all, ({ error }) => error)].flatMap(([error, { length }]) =>
    error === undefined ? [] : { error: trimEnd(error, '.'), length },
  );
  const sorted = reasons.sort((one, other) => other.length - one.length);
  const shown = sorted
    .slice(0, maxReasons)
    .map(({ error, length }) => (reasons.length === 1 ? error : `${error} (${length})`));
  const more = sorted.slice(maxReasons).reduce((sum, { length }) => sum + length, 0);
  return [...shown, ...(more > 0 ? [`other reasons (${more})`] : [])].join(', ');
}

export type RegradeSummary = ReturnType<typeof summariseRegrade>;

/** How many rollouts were not graded. */
interface Ungraded extends LeftOut {
  /** Rollouts that remained when the user stopped. */
  readonly stopped?: number;
}

export function regradeFacts(
  all: readonly Regraded[],
  {
    compared,
    agreement,
    changed,
    isPassFail,
    both,
    tasks,
    nameless,
    outside,
    passAt,
    range: [low, high],
  }: RegradeSummary,
  { failed, running, stopped = 0 }: Ungraded,
): readonly Fact[] {
  const { interval, paired } = compared;
  const { count, agreed, lost, gained, kappa } = agreement;
  const broken = all.filter(({ error }) => error !== undefined).length;
  const subjects = [
    ...(tasks > 0 || nameless === 0 ? [counted(tasks, 'task')] : []),
    ...(nameless > 0 ? [`${counted(nameless, 'rollout')} without a task`] : []),
  ];
  const onPassing = ` on passing at ${reward(passAt)}`;
  const [graded, unrated] = [all.length - broken, all.length - broken - both];
  return withValue([
    { label: 'regraded', value: `${graded} of ${counted(all.length + failed + running + stopped, 'rollout')}` },
    { label: 'stopped before', value: stopped > 0 ? `${stopped}, not graded` : undefined },
    { label: 'failed', value: failed > 0 ? `${failed}, not graded` : undefined },
    { label: 'running', value: running > 0 ? `${running}, not graded` : undefined },
    { label: 'not gradable', value: broken || undefined },
    { label: 'without a reward', value: unrated > 0 ? `${unrated} before, not compared` : undefined },
    {
      label: 'mean',
      value:
        both === 0
          ? 'no rollout has a reward before and now'
          : `${reward(paired.base)} before, ${reward(paired.new)} now, over ${subjects.join(' and ')}`,
    },
    { label: 'difference', value: compared.difference === undefined ? undefined : difference(compared.difference) },
    {
      label: 'no interval',
      value:
        nameless > 0
          ? `${counted(nameless, 'rollout has', 'rollouts have')} no task: several may belong to one`
          : undefined,
    },
    {
      label: 'outside the range',
      value: outside > 0 ? `${counted(outside, 'rollout')}, not from ${low} to ${high}: no interval` : undefined,
    },
    limitsFact(interval),
    { label: 'passes', value: `${lost} lost, ${gained} gained (reward at least ${reward(passAt)})` },
    { label: 'rewards changed', value: isPassFail ? undefined : changedMessage(changed, both) },
    { label: 'agreement', value: count === 0 ? undefined : `${percent(agreed / count)} of ${count}${onPassing}` },
    { label: "Cohen's kappa", value: kappa === undefined ? undefined : `${kappa.toFixed(2)}${onPassing}` },
    {
      label: '95% CI',
      value: agreement.interval && `${agreement.interval.low.toFixed(2)} to ${agreement.interval.high.toFixed(2)}`,
    },
  ]);
}

/** `27 of 238 (27 lower), by 0.900 on average` */
function changedMessage({ count, lower, mean }: RegradeSummary['changed'], of: number): string {
  return count === 0 ? `none of ${of}` : `${count} of ${of} (${lower} lower), by ${reward(mean)} on average`;
}

/** Sorts rollouts: lost ones, gained ones, then the others by the size of the change; ungraded ones come last. */
export function regradedInOrder(all: readonly Regraded[], passAt: number): readonly Regraded[] {
  const rank = (row: Regraded): number => ['lost', 'gained', undefined].indexOf(flipOf(row, passAt));
  const size = (row: Regraded): number => (row.error === undefined ? Math.abs(changeOf(row) ?? 0) : -1);
  const name = ({ task_id = '', trajectory_id }: Regraded): string => `${task_id} ${trajectory_id}`;
  return all.toSorted(
    (left, right) => rank(left) - rank(right) || size(right) - size(left) || (name(left) < name(right) ? -1 : 1),
  );
}
