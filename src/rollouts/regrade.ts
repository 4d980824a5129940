/** Grades existing rollouts again and summarises the changes. Writes nothing to the service. */
import { errorMessage } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import { trimEnd } from '../base/trim.ts';
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
import type { ComparedRun } from '../queries/compare.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { trajectoryQuery } from '../queries/trajectories.ts';
import { limitsFact } from '../resources/comparison.ts';
import { counted, difference, percent, reward } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { GraderError, NotGraded, type Regrader } from './regraders.ts';

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
    value: row => reasonOf(row.error, row.explanation) || undefined,
  },
  idColumn(row => row.trajectory_id, false),
];

/** The new reward and the reason for it, for the reader, which otherwise shows the stored reward. */
export function describeGraded({ error, new_reward: graded, explanation }: Regraded): string {
  return reasonOf(
    error === undefined ? `New reward ${reward(graded)}, not stored` : `Not regraded: ${error}`,
    explanation,
  );
}

const reasonOf = (result: string | undefined, explanation: string): string =>
  [result, explanation].filter(Boolean).join(': ');

/** A rollout without an answer to grade. */
interface Unfinished {
  readonly trajectory_id: string;
  readonly unfinished: Unended;
}

export type Grade = Regraded | Unfinished;

/** Separates the graded rollouts from those without an answer. */
export function separateGrades(grades: readonly Grade[]): {
  readonly rows: readonly Regraded[];
  readonly left: LeftOut;
} {
  const left = { failed: 0, running: 0 };
  const rows = grades.flatMap(grade => {
    if (!('unfinished' in grade)) return grade;
    left[grade.unfinished] += 1;
    return [];
  });
  return { rows, left };
}

/** A rollout to grade. */
export type Gradable = GroupRollout & { readonly trajectory_id: string };

/**
 * Grades rollouts, a few at a time. Leaves out those that failed or are running: immediately if the list has statuses,
 * otherwise once each has been read.
 *
 * @param onGrade called after each rollout with all grades so far
 * @param kept grades by this grader, by trajectory, which are not made again
 * @throws the signal's reason when it aborts
 * @throws GraderError if the grader can grade no rollout
 */
export async function regradeAll(
  rows: readonly Gradable[],
  grader: Regrader,
  context: QueryContext,
  onGrade?: (grades: readonly Grade[]) => void,
  kept: ReadonlyMap<string, Regraded> = new Map(),
): Promise<readonly Grade[]> {
  const grades: Grade[] = [];
  const add = (grade: Grade): void => {
    grades.push(grade);
    onGrade?.(grades);
  };
  const gradable = rows.filter(row => {
    const unfinished = unfinishedState(row);
    if (unfinished) add({ trajectory_id: row.trajectory_id, unfinished });
    return !unfinished;
  });
  await inParallel(gradable, async row => {
    const { trajectory_id } = row;
    const before = { trajectory_id, task_id: row.task_id ?? undefined, reward: row.reward ?? undefined };
    const grade = kept.get(trajectory_id);
    if (grade) return add({ ...grade, ...before });
    try {
      const trajectory = await trajectoryQuery(trajectory_id).read(context);
      const unfinished = unfinishedState(trajectory);
      if (unfinished) return add({ trajectory_id, unfinished });
      const { reward: new_reward, explanation } = await grader(trajectory, context.signal);
      add({ ...before, new_reward, explanation, error: undefined });
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof GraderError) throw error;
      const explanation = error instanceof NotGraded ? error.explanation : '';
      add({ ...before, new_reward: undefined, explanation, error: errorMessage(error) });
    }
  });
  return grades;
}

/** The rollouts of compared runs, each once. */
export const rolloutsIn = (runs: readonly ComparedRun[]): readonly Gradable[] => [
  ...new Map(
    runs.flatMap(({ read }) =>
      read.rewards.flatMap(each =>
        each.trajectory_id ? [[each.trajectory_id, { ...each, trajectory_id: each.trajectory_id }] as const] : [],
      ),
    ),
  ).values(),
];

/** A compared run with the rewards of another grader. Rollouts that it has not graded have none. */
interface RegradedRun {
  readonly run: ComparedRun;
  /** How many of its rollouts were graded, and why not the others. */
  readonly words: string;
  /** Whether all of its rollouts that had ended could be read and graded. */
  readonly isGraded: boolean;
  /** Whether all of its rollouts were graded. */
  readonly isWhole: boolean;
}

export function regradedRuns(runs: readonly ComparedRun[], grades: readonly Grade[]): readonly RegradedRun[] {
  const byId = new Map(grades.map(grade => [grade.trajectory_id, grade]));
  return runs.map(run => {
    const { rewards } = run.read;
    const own = rewards.map(({ trajectory_id }) => byId.get(trajectory_id ?? ''));
    const { rows, left } = separateGrades(own.filter(grade => grade !== undefined));
    const ungraded = rows.filter(row => row.new_reward === undefined);
    const unnamed = rewards.filter(({ trajectory_id }) => !trajectory_id).length;
    const stopped = rewards.length - unnamed - rows.length - left.failed - left.running;
    const words = [
      clean`${run.name}: ${rows.length - ungraded.length} of ${counted(rewards.length, 'rollout')} regraded`,
      left.failed > 0 && `${left.failed} failed`,
      left.running > 0 && `${left.running} running`,
      unnamed > 0 && `${unnamed} without a trajectory`,
      ungraded.length > 0 && clean`${ungraded.length} not gradable (${describeUngraded(ungraded)})`,
      stopped > 0 && `stopped before ${stopped}`,
    ];
    const regraded = rewards.map((each, index) => {
      const grade = own[index];
      return { ...each, reward: (grade && 'new_reward' in grade ? grade.new_reward : undefined) ?? null };
    });
    return {
      // The recorded mean is the stored grader's.
      run: { ...run, read: { ...run.read, rewards: regraded, recorded: undefined, failed: left.failed } },
      words: words.filter(each => each !== false).join(', '),
      isGraded: ungraded.length + unnamed + stopped === 0,
      isWhole: rows.length - ungraded.length === rewards.length,
    };
  });
}

const maxReasons = 3;

interface RegradeOptions {
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
          ? 'unknown: no rollout has both a reward before and one now'
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
