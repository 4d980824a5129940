/** Compares two runs task by task: the means, the paired difference with its interval, and the verdict. */

import { type BySide, sides } from '../../base/sides.ts';
import { mean, meanDifference, withoutRounding } from '../../base/statistics.ts';
import { describeCautions } from './caution.ts';
import { missingOf } from './filled.ts';
import { evidenceFor, type Interval, intervalDefaults, timesUntil } from './interval.ts';
import { lacksRewards, type TaskMean, taskMean, withoutReward } from './task-mean.ts';
import {
  evenlyFilled,
  isListed,
  isUncounted,
  lengthOf,
  type RunTasks,
  ratedRewards,
  type SharedTasks,
  sharedTasks,
  withEach,
  withExactEnds,
} from './tasks.ts';
import {
  type Gate,
  gateOf,
  type Situation,
  sensible,
  type Verdict,
  type VerdictOptions,
  verdictOf,
} from './verdict.ts';

export interface ComparisonOptions extends VerdictOptions {
  /** Rollouts per task, given by the user, for a service that does not report them. */
  readonly samplesPerTask?: number | undefined;
}

export const comparisonDefaults: ComparisonOptions = { ...intervalDefaults, equalWithin: 0.05 };

export interface ComparedRuns extends BySide<TaskMean>, SharedTasks {
  /** Tasks with a reward in both runs. */
  readonly pairs: number;
  /** The pairs' mean difference (new minus base). */
  readonly difference: number | undefined;
  /** Both runs' means over the pairs only. */
  readonly paired: BySide<number | undefined>;
  readonly interval: Interval | undefined;
  /** Whether the interval holds only if all rollouts are listed, which the service does not report. */
  readonly isConditional: boolean;
  /** In how many pairs the new run's reward is higher, lower and equal. */
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
  readonly verdict: Verdict;
  /** A caveat about the means and the verdict; may be empty. */
  readonly caution: string;
  /** The indexes of the tasks that both ended runs share but neither has graded. */
  readonly ungraded: readonly number[];
  /** Whether the difference is at least `least`. */
  readonly gate: (least: number) => Gate;
  /**
   * Roughly how many similar tasks would be enough to confirm a difference half as large; undefined without a
   * difference or an interval, or if out of reach.
   */
  readonly tasksForHalf: () => number | undefined;
}

/** Compares two runs. Their tasks must be in the same order. */
export function summariseComparison(
  one: RunTasks,
  other: RunTasks,
  options: ComparisonOptions = comparisonDefaults,
): ComparedRuns {
  const asEnded = (run: RunTasks): RunTasks =>
    options.ended && run.end === 'unreported' ? { ...run, end: 'complete' } : run;
  const runs = withExactEnds(withEach([asEnded(one), asEnded(other)] as const), options.range);
  const [base, fresh] = runs;
  const pairs = pairsOf(runs);
  const differences = pairs.map(({ difference }) => difference);
  const average = mean(differences);
  const evidence = evidenceFor(runs, options);
  const count = (test: (value: number) => boolean): number => differences.filter(test).length;
  const means = { base: taskMean(base, options.range), new: taskMean(fresh, options.range) };
  const ended: readonly [RunTasks, RunTasks] = [
    { ...base, end: 'complete' },
    { ...fresh, end: 'complete' },
  ];
  const ignored = [means.base, means.new].filter(run => missingOf(run, options) === 'ignore');
  const isAssumed = (run: RunTasks): boolean => isUncounted(run) && missingOf(run, options) === 'bound';
  const isWhole = !sides.some(side => lacksRewards(means[side]));
  const ungraded = runs.some(({ end }) => end === 'running') ? [] : ungradedIn(runs);
  const lost = sides.reduce((sum, side) => sum + withoutReward(means[side]) + means[side].unlistedRollouts, 0);
  const ungradedRollouts = lengthOf(runs.flatMap(({ tasks }) => ungraded.map(index => tasks[index] ?? [])));
  const situation: Situation = {
    evidence,
    // The verdict without the missing rewards.
    ignoring: isWhole ? evidence : evidenceFor(ended, { ...options, missing: 'ignore' }),
    interval: evidence.interval(),
    pairs: differences.length,
    wins: count(value => value > 0),
    losses: count(value => value < 0),
    means,
    isOnlyUngraded: ungraded.length > 0 && lost === ungradedRollouts && !sides.some(side => means[side].unlisted > 0),
    uncounted: options.ended ? [] : sides.filter((_, index) => isAssumed(runs[index] as RunTasks)),
    ignored: ignored.reduce((sum, run) => sum + withoutReward(run), 0),
    even:
      missingOf(base, options) === 'bound' || missingOf(fresh, options) === 'bound' ? evenOf(runs, options) : undefined,
    caution: describeCautions(runs, means, options),
    options,
  };
  return {
    ...means,
    ...sharedTasks(runs),
    pairs: differences.length,
    difference: average && withoutRounding(average, differences),
    paired: { base: mean(pairs.map(pair => pair.base)), new: mean(pairs.map(pair => pair.new)) },
    interval: situation.interval,
    isConditional: situation.uncounted.length > 0,
    wins: situation.wins,
    losses: situation.losses,
    ties: count(value => value === 0),
    verdict: verdictOf(situation),
    caution: situation.caution,
    ungraded,
    gate: least => gateOf(situation, least),
    tasksForHalf: () => tasksForHalf(situation, average),
  };
}

/** The means of each task that has a reward in both runs, and their difference. */
const pairsOf = ([base, fresh]: readonly [RunTasks, RunTasks]) =>
  base.tasks.flatMap((rewards, index) => {
    const [before, after] = [ratedRewards(rewards), ratedRewards(fresh.tasks[index] ?? [])];
    const [one, other, difference] = [mean(before), mean(after), meanDifference(before, after)];
    return one === undefined || other === undefined || difference === undefined
      ? []
      : [{ base: one, new: other, difference }];
  });

/** The shared tasks without a reward in either run. */
const ungradedIn = ([base, fresh]: readonly [RunTasks, RunTasks]): number[] =>
  base.tasks.flatMap((rewards, index) => {
    const both = [rewards, fresh.tasks[index] ?? []];
    return both.every(each => isListed(each) && ratedRewards(each).length === 0) ? [index] : [];
  });

/** How many tasks would confirm a difference half as large, assuming that tasks keep varying as much. */
function tasksForHalf({ evidence, pairs, interval }: Situation, average: number | undefined): number | undefined {
  if (!average || interval === undefined) return undefined;
  const times = timesUntil(each => evidence.shows(average > 0 ? 'above' : 'below', average / 2, each));
  return times === undefined ? undefined : sensible(times * pairs);
}

/** The comparison of a run with itself. */
export function ofSameRun<Compared extends ComparedRuns & { readonly endsText?: string }>(
  compared: Compared,
): Compared {
  return {
    ...compared,
    interval: undefined,
    endsText: '',
    verdict: { kind: 'equal', words: 'this is the same run twice' },
    gate: () => ({ outcome: 'undecided', words: 'Undecided: this is the same run twice.' }),
  };
}

function evenOf(runs: readonly [RunTasks, RunTasks], options: ComparisonOptions): Situation['even'] {
  const even = evenlyFilled(runs);
  return even && { each: even.each, evidence: evidenceFor(even.runs, options) };
}
