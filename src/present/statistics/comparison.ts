/** Two runs, task by task: the means, the paired difference with its interval, and which of them is better. */
import { counted, difference } from '../../text/numbers.ts';
import { mean } from '../../text/statistics.ts';
import {
  type Evidence,
  evidenceFor,
  type Interval,
  type IntervalOptions,
  intervalDefaults,
  timesUntil,
} from './interval.ts';
import { lacksReward, type RunTasks, type TaskMean, taskMean } from './tasks.ts';

export interface ComparisonOptions extends IntervalOptions {
  /** Runs whose difference is certain to be no larger are equal. */
  readonly equalWithin: number;
}

export const comparisonDefaults: ComparisonOptions = { ...intervalDefaults, equalWithin: 0.05 };

export type VerdictKind = 'better' | 'worse' | 'equal' | 'undecided';

/** How the new run compares with the base. */
export interface Verdict {
  readonly kind: VerdictKind;
  /** The same on the screen, in `compare` and in the gate. */
  readonly words: string;
  /** About how many more rollouts of each run would decide it; undefined if it is decided, or if they would not. */
  readonly moreRollouts?: number | undefined;
}

export interface ComparedRuns {
  readonly base: TaskMean;
  readonly new: TaskMean;
  /** Tasks with a reward in both runs, and all tasks of either. */
  readonly pairs: number;
  readonly tasks: number;
  /** Mean difference (new minus base) of the pairs. */
  readonly difference: number | undefined;
  readonly interval: Interval | undefined;
  /** Of the pairs, how many are higher, lower and the same in the new run. */
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
  /** Tasks without a reward that they should have, in either run. */
  readonly lacking: number;
  readonly verdict: Verdict;
  /** Whether the difference is at least `least`: passed, failed, or not known. */
  readonly gate: (least: number) => Gate;
}

export interface Gate {
  readonly outcome: 'passed' | 'failed' | 'undecided';
  /** A sentence. */
  readonly words: string;
}

/** @param base and `fresh` have the same tasks in the same order */
export function summariseComparison(
  base: RunTasks,
  fresh: RunTasks,
  options: ComparisonOptions = comparisonDefaults,
): ComparedRuns {
  const runs: readonly [RunTasks, RunTasks] = [base, fresh];
  const meanOfTask = (run: RunTasks, index: number): number | undefined =>
    mean(run.tasks[index]?.rewards.filter(reward => reward !== undefined) ?? []);
  const differences = base.tasks.flatMap((_, index) => {
    const [before, after] = [meanOfTask(base, index), meanOfTask(fresh, index)];
    return before === undefined || after === undefined ? [] : [after - before];
  });
  const evidence = evidenceFor(runs, options);
  const lacking = base.tasks.filter((_, index) => runs.some(run => lacks(run, index))).length;
  const count = (test: (value: number) => boolean): number => differences.filter(test).length;
  const situation: Situation = {
    evidence,
    // What the rewards that are there would say by themselves.
    rated: lacking > 0 && options.missing === 'bound' ? evidenceFor(runs, { ...options, missing: 'ignore' }) : evidence,
    interval: evidence.interval(),
    lacking,
    tasks: base.tasks.length,
    rollouts: Math.max(...runs.map(({ tasks }) => tasks.reduce((sum, { rewards }) => sum + rewards.length, 0))),
    options,
  };
  return {
    base: taskMean(base, options.range),
    new: taskMean(fresh, options.range),
    pairs: differences.length,
    tasks: base.tasks.length,
    difference: mean(differences),
    interval: situation.interval,
    wins: count(value => value > 0),
    losses: count(value => value < 0),
    ties: count(value => value === 0),
    lacking,
    verdict: verdictOf(situation, differences.length),
    gate: least => gateOf(situation, least),
  };
}

function lacks({ tasks, final }: RunTasks, index: number): boolean {
  const task = tasks[index];
  return task !== undefined && lacksReward(task, final);
}

interface Situation {
  readonly evidence: Evidence;
  readonly rated: Evidence;
  readonly interval: Interval | undefined;
  readonly lacking: number;
  readonly tasks: number;
  /** Of the run that has more of them. */
  readonly rollouts: number;
  readonly options: ComparisonOptions;
}

/** What so many times the data would show. */
function shown({ shows }: Evidence, equalWithin: number, times: number): VerdictKind {
  if (shows('above', 0, times)) return 'better';
  if (shows('below', 0, times)) return 'worse';
  return shows('above', -equalWithin, times) && shows('below', equalWithin, times) ? 'equal' : 'undecided';
}

function verdictOf(situation: Situation, pairs: number): Verdict {
  const { evidence, rated, options } = situation;
  const { equalWithin } = options;
  const kind = shown(evidence, equalWithin, 1);
  if (kind === 'better' || kind === 'worse') return { kind, words: `the new run is ${kind}` };
  if (kind === 'equal') return { kind, words: `equal within ±${equalWithin}` };
  if (pairs === 0) return undecided('no task has a reward in both runs');
  const reason = whyNot(situation, shown(rated, equalWithin, 1) !== 'undecided');
  if (reason !== undefined) return undecided(reason);
  return more(situation, times => shown(evidence, equalWithin, times) !== 'undecided');
}

const undecided = (reason: string, moreRollouts?: number): Verdict => ({
  kind: 'undecided',
  words: reason === '' ? 'undecided' : `undecided: ${reason}`,
  moreRollouts,
});

/** Why the data says nothing, other than that there is too little of it. */
function whyNot({ evidence, lacking, tasks, options }: Situation, isReversible: boolean): string | undefined {
  if (evidence.reason === 'outside')
    return `rewards lie outside of ${options.range.join('..')}, their range is not known`;
  return isReversible ? `${lacking} of ${counted(tasks, 'task')} lack a reward and could reverse it` : undefined;
}

/** Undecided, with the number of rollouts that would decide it. */
function more({ interval, rollouts, lacking, tasks }: Situation, isShown: (times: number) => boolean): Verdict {
  const times = interval === undefined ? undefined : timesUntil(isShown);
  if (times === undefined) return undecided(lacking > 0 ? `${lacking} of ${counted(tasks, 'task')} lack a reward` : '');
  const needed = sensible((times - 1) * rollouts);
  return undecided(`about ${counted(needed, 'more rollout')} of each run`, needed);
}

/** Rounded up to one digit, or two if the first is 1. */
function sensible(count: number): number {
  const whole = Math.max(1, Math.ceil(count - 1e-9));
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(whole)) - (String(whole).startsWith('1') ? 1 : 0));
  return Math.ceil(whole / unit) * unit;
}

/** Sentence: what is certain about the lowest difference that is allowed. */
function gateOf(situation: Situation, least: number): Gate {
  const { evidence, rated, interval } = situation;
  const required = `Required: at least ${difference(least)}.`;
  if (interval === undefined) {
    const reason = whyNot(situation, false) ?? 'no task has a reward in both runs';
    return { outcome: 'undecided', words: `Undecided: there is no interval, because ${reason}. ${required}` };
  }
  const between = `The difference is between ${difference(interval.low)} and ${difference(interval.high)}.`;
  if (interval.low >= least) return { outcome: 'passed', words: `${between} ${required}` };
  if (interval.high < least) return { outcome: 'failed', words: `Too low. ${between} ${required}` };
  const reason = whyNot(situation, rated.shows('above', least, 1) || rated.shows('below', least, 1));
  const { words } =
    reason === undefined
      ? more(situation, times => evidence.shows('above', least, times) || evidence.shows('below', least, times))
      : undecided(reason);
  return { outcome: 'undecided', words: `${words.charAt(0).toUpperCase()}${words.slice(1)}. ${between} ${required}` };
}
