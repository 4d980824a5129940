/** Shows a comparison of two runs: its columns, its facts, and its verdict in words. */

import { enumerated } from '../base/enumerated.ts';
import { minOf } from '../base/many.ts';
import { type BySide, otherSide, type Side, sides } from '../base/sides.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import { type Column, plainColumn } from '../present/column.ts';
import { type Fact, referenceFact, withValue } from '../present/fact.ts';
import { formatConfidence } from '../present/number-columns.ts';
import {
  type ComparedRuns,
  type ComparisonOptions,
  comparisonDefaults,
  summariseComparison,
} from '../present/statistics/comparison.ts';
import { countFull, formatFullRewards, hasPartial } from '../present/statistics/full-reward.ts';
import type { Interval } from '../present/statistics/interval.ts';
import type { TaskMean } from '../present/statistics/task-mean.ts';
import type { RunTasks } from '../present/statistics/tasks.ts';
import type { Gate } from '../present/statistics/verdict.ts';
import { type ComparedTask, lostBy, lowest, rolloutsToShow, unlistedTask, withoutReward } from '../queries/compare.ts';
import { extentOf } from '../queries/extent-of.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { type Rollouts, ratedRewards } from '../queries/run-rewards.ts';
import { counted, difference, reward } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { type AnswerEnds, describeAnswerEnds } from './answer-ends.ts';
import { describeModel } from './models.ts';

/** The comparison options from the settings, or the defaults. */
export const comparisonOptions = (settings: QueryContext['compare']): ComparisonOptions => ({
  ...comparisonDefaults,
  ...(settings && { equalWithin: settings.equalWithin, range: settings.rewardRange }),
});

/** The owner of rollouts: its id, and its benchmark if known. */
interface OfBenchmark {
  readonly id: string;
  readonly bench_id?: string | null | undefined;
}

/** Whether two sets of rollouts may be compared task by task. */
interface Comparability {
  /** Why they may not. */
  readonly why?: string;
  /** A note about an unknown benchmark, if they may be compared. */
  readonly note?: string;
}

/**
 * Only rollouts of the same benchmark are compared, because tasks in two benchmarks may share a name. Commands,
 * screens, reports and the baseline all use this rule. The sentences have no full stop.
 */
export function comparability(owners: readonly OfBenchmark[]): Comparability {
  const [known, unknown] = [owners.filter(({ bench_id }) => bench_id), owners.filter(({ bench_id }) => !bench_id)];
  const [first] = known;
  if (!first) {
    return owners.length < 2
      ? {}
      : { note: 'The benchmarks of these runs are unknown: tasks of the same name may differ' };
  }
  const other = known.find(({ bench_id }) => bench_id !== first.bench_id);
  if (other)
    return {
      why: clean`Only runs of one benchmark can be compared: ${first.id} is of ${first.bench_id}, ${other.id} of ${other.bench_id}`,
    };
  if (unknown.length === 0) return {};
  const ids = enumerated(unknown.map(({ id }) => id));
  return {
    note: clean`The benchmark of ${ids} is unknown, and ${first.id} is of ${first.bench_id}: tasks of the same name may differ`,
  };
}

export interface NamedComparison extends ComparedRuns {
  /** The tasks without a reward in either run. */
  readonly ungradedNames?: readonly string[];
  /** How the answers ended; may be empty. */
  readonly endsText?: string;
  /** How many rewards of each run are full; undefined if unknown. */
  readonly full?: BySide<number | undefined>;
  /** The same in words, if some rewards are partial and some are full; may be empty. */
  readonly fullRewardTexts?: BySide<string>;
}

/**
 * @param tasks the rows of the `comparison` list
 * @param ends how the answers of the base and of the new run ended, if known
 */
export function compareRuns(
  tasks: readonly ComparedTask[],
  options: ComparisonOptions = comparisonDefaults,
  [baseEnds, newEnds]: readonly (AnswerEnds | undefined)[] = [],
): NamedComparison {
  const known = tasks.filter(({ task_id }) => task_id !== unlistedTask);
  const run = (side: Side): RunTasks => {
    const extent = tasks[0]?.runs[side];
    // The service's number takes precedence.
    const returned = extent?.samplesPerTask?.isSent === false ? extent.samplesPerTask.each : undefined;
    const each = returned === undefined ? options.samplesPerTask : undefined;
    return {
      tasks: known.map(({ rollouts }) => rollouts[side].listed.map(({ reward }) => reward)),
      ...extentOf(each === undefined ? extent : { ...extent, samplesPerTask: { each, isSent: false } }),
      isEachGiven: each !== undefined,
      unusedEach: returned === options.samplesPerTask || each !== undefined ? undefined : options.samplesPerTask,
    };
  };
  const compared = summariseComparison(run('base'), run('new'), options);
  const ungradedNames = compared.ungraded.flatMap(index => known[index]?.task_id ?? []);
  const rewards = {
    base: known.flatMap(({ rollouts }) => ratedRewards(rollouts.base)),
    new: known.flatMap(({ rollouts }) => ratedRewards(rollouts.new)),
  };
  const full = { base: countFull(rewards.base, options.range), new: countFull(rewards.new, options.range) };
  // If no reward is full, or none is partial, the means are enough.
  const isTold = sides.some(side => full[side]) && sides.some(side => hasPartial(rewards[side], options.range));
  const words = (side: Side): string => (isTold ? formatFullRewards(rewards[side], options.range) : '');
  return {
    ...compared,
    ungradedNames,
    endsText: describeAnswerEnds(baseEnds, newEnds),
    full,
    fullRewardTexts: { base: words('base'), new: words('new') },
  };
}

const shareText = (rollouts: Rollouts): string => {
  const rated = ratedRewards(rollouts).length;
  const missing = withoutReward(rollouts);
  return missing === 0 ? `${rated}` : `${rated}/${rated + missing}`;
};

const columnOf = (
  id: string,
  title: string,
  value: (row: ComparedTask) => number | undefined,
  text = (row: ComparedTask): string => reward(value(row)),
): Column<ComparedTask> => ({ id, title, width: 8, align: 'right', value, text });

/** The column for the lowest reward of a task with several rollouts. */
function lowestColumn(side: Side): Column<ComparedTask> {
  const value = ({ rollouts }: ComparedTask): number | undefined =>
    ratedRewards(rollouts[side]).length > 1 ? lowest(rollouts[side])?.reward : undefined;
  const text = (row: ComparedTask): string => {
    const least = value(row);
    return least === undefined ? '' : reward(least);
  };
  return {
    ...columnOf(`${side}_min`, `LOWEST ${side.toUpperCase()}`, value, text),
    width: 11,
    ifAny: true,
    yields: true,
  };
}

export const comparisonColumns: readonly Column<ComparedTask>[] = [
  plainColumn('task', 'TASK', { min: 12, max: 60, grow: 1 }, row =>
    row.task_id === unlistedTask ? '(not listed)' : row.task_id,
  ),
  columnOf('base', 'BASE', row => row.base),
  columnOf('new', 'NEW', row => row.new),
  plainColumn('difference', 'DIFF', 9, row => row.difference, {
    align: 'right',
    text: row => difference(row.difference),
  }),
  columnOf(
    'n',
    'N',
    row => minOf(sides.map(side => ratedRewards(row.rollouts[side]).length)),
    row => sides.map(side => shareText(row.rollouts[side])).join(', '),
  ),
  ...sides.map(side => lowestColumn(side)),
];

/** A task that both runs share, and the rollout that it opens. */
export function comparedFacts(task: ComparedTask): readonly Fact[] {
  const side = (name: Side): string => {
    const rollouts = task.rollouts[name];
    const missing = withoutReward(rollouts);
    const [rated, least] = [ratedRewards(rollouts).length, lowest(rollouts)?.reward];
    return [
      `${reward(task[name])} over ${counted(rated, 'rollout')}`,
      rated > 1 && least !== undefined ? `lowest ${reward(least)}` : '',
      missing > 0 ? `${missing} without a reward` : '',
    ]
      .filter(Boolean)
      .join(', ');
  };
  const opened = rolloutsToShow(task);
  const lost = lostBy(task);
  return [
    { label: 'task', value: task.task_id || undefined },
    { label: 'base', value: side('base') },
    { label: 'new', value: side('new') },
    { label: 'difference', value: difference(task.difference) },
    referenceFact('opens', 'trajectories', (opened[lost] ?? opened[otherSide(lost)])?.trajectory_id),
  ];
}

const maxNamed = 5;

/** `a, b, c, d, e and 3 more in neither run`; empty if every shared task has a reward in one of the runs. */
export function describeUngraded({ ungradedNames: names = [] }: NamedComparison): string {
  if (names.length === 0) return '';
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  return clean`${names.slice(0, maxNamed).join(', ')}${more} in neither run`;
}

/** A run in words: its mean, its name and id, and its model. */
function describeRun(run: EvalRun, mean: TaskMean): string {
  const { eval_run_id: id, display_name: label } = run;
  const name = label && label !== id ? `${label} (${id})` : id;
  return [describeTaskMean(mean), name, describeModel(run, true)].filter(Boolean).join(', ');
}

/** `base 0 of 176 (0%), new 61 of 176 (34.7%)`; empty if none is partial, or none is full. */
export const describeFullRewards = ({ fullRewardTexts: words }: NamedComparison): string =>
  sides.flatMap(side => (words?.[side] ? `${side} ${words[side]}` : [])).join(', ');

/** A comparison: the means, the difference with its interval, and the verdict. */
export function comparisonFacts(
  base: EvalRun,
  fresh: EvalRun,
  compared: NamedComparison,
  gate?: Gate | undefined,
): readonly Fact[] {
  const { interval, verdict, wins, losses, ties } = compared;
  return withValue([
    { label: 'base', value: describeRun(base, compared.base) },
    { label: 'new', value: describeRun(fresh, compared.new) },
    {
      label: 'difference',
      value:
        compared.difference === undefined
          ? undefined
          : `${difference(compared.difference)} over ${counted(compared.pairs, 'task')} in both`,
    },
    { label: 'means', value: describePaired(compared) || undefined },
    limitsFact(interval),
    { label: 'full reward', value: describeFullRewards(compared) || undefined },
    { label: 'missing', value: describeLacking(compared) || undefined },
    { label: 'not graded', value: describeUngraded(compared) || undefined },
    { label: 'verdict', value: verdict.words },
    { label: 'answers', value: compared.endsText || undefined },
    { label: 'caution', value: compared.caution || undefined },
    { label: 'gate', value: gate?.words },
    { label: 'wins', value: wins },
    { label: 'losses', value: losses },
    { label: 'ties', value: ties },
  ]);
}

/** `16 to come and the 11 that failed` while the run continues; `27 missing` once it has ended. */
function describeMissing({ rated, rollouts, unlistedRollouts, failed, end }: TaskMean): string {
  const missing = rollouts + unlistedRollouts - rated;
  if (end !== 'running') return `${missing} missing`;
  const toCome = missing - failed;
  return [toCome > 0 && `${toCome} to come`, failed > 0 && `${failed} that failed`].filter(Boolean).join(' and the ');
}

/** The bounds of a mean over all possible values of the missing rewards, e.g. `0.610 to 0.750 with the 4 missing`. */
export function describeBounds(run: TaskMean): string {
  const { unlistedRollouts, each, bounds } = run;
  if (bounds === undefined) return '';
  const words = `${reward(bounds[0])} to ${reward(bounds[1])} with the ${describeMissing(run)}`;
  return unlistedRollouts === 0 ? words : `${words} at ${each} per task`;
}

/** The bounds of a mean, for programs; null if no reward is missing. */
export const boundsField = ({ bounds }: TaskMean) => (bounds ? { low: bounds[0], high: bounds[1] } : null);

/**
 * `0.710 over 28 tasks`, `0.710 over 28 tasks, 112 rollouts`, `0.710 over 24 tasks, 24 of 28 rollouts; 0.610 to 0.750
 * with the 4 missing`, or `0.710 over 28 tasks, 28 rollouts, total unknown`.
 */
export function describeTaskMean(run: TaskMean): string {
  const { mean, tasks, rated, rollouts, nameless, unreadable, isUncounted } = run;
  if (mean === undefined && nameless > unreadable)
    return `no reward with a readable task, ${counted(rollouts, 'rollout')}`;
  const words =
    mean === undefined
      ? `no ${unreadable > 0 ? 'readable ' : ''}reward`
      : `${reward(mean)} over ${counted(tasks, 'task')}`;
  if (rollouts === 0 || (rated === rollouts && rollouts === tasks && !isUncounted)) return words;
  const all = `${rated === rollouts ? '' : `${rated} of `}${counted(rollouts, 'rollout')}`;
  return [`${words}, ${all}${isUncounted ? ', total unknown' : ''}`, describeBounds(run)].filter(Boolean).join('; ');
}

/**
 * The means over the compared tasks: `over the 12 of 30 tasks in both: base 0.350, new 1.00`; empty if these are all
 * the tasks of both runs.
 */
export function describePaired({ pairs, tasks, unsure, paired, base, new: fresh }: ComparedRuns): string {
  if (pairs === 0 || (base.tasks === pairs && fresh.tasks === pairs)) return '';
  const shared = tasks - unsure;
  const compared = shared > pairs ? `${pairs} of ${counted(shared, 'task')}` : counted(pairs, 'task');
  return `over the ${compared} in both: base ${reward(paired.base)}, new ${reward(paired.new)}`;
}

/** The limits of a difference. */
export const limitsFact = (interval: Interval | undefined): Fact => ({
  label: interval ? `${formatConfidence(interval)} CI` : 'CI',
  value: interval && `${difference(interval.low)} to ${difference(interval.high)}`,
});

/** E.g. `new is higher on 3, lower on 0, same on 1 of 4`. */
export const describeTally = ({ wins, losses, ties, pairs }: ComparedRuns): string =>
  `new is higher on ${wins}, lower on ${losses}, same on ${ties} of ${pairs}`;

/**
 * `4 of 28 tasks have no reward in one of the runs`, or `up to 4` if some may not be shared tasks; empty if all have
 * rewards.
 */
const describeLacking = ({ lacking, tasks, unsure, ungraded }: ComparedRuns): string =>
  lacking === 0
    ? ''
    : `${unsure > 0 ? 'up to ' : ''}${lacking} of ${counted(tasks, 'task')} ${lacking === 1 ? 'has' : 'have'} no reward in one ${ungraded.length > 0 ? 'or both ' : ''}of the runs`;
