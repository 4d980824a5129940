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
  /** About how many more tasks would decide it; undefined if it is decided, or if they would not. */
  readonly moreTasks?: number | undefined;
  /** The same number, where rollouts that are to come are of tasks that are to come. */
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
  const means = { base: taskMean(base, options.range), new: taskMean(fresh, options.range) };
  const ignored = options.missing === 'ignore' ? withoutReward(means.base) + withoutReward(means.new) : 0;
  const situation: Situation = {
    evidence,
    // What the rewards that are there would say by themselves.
    rated: lacking > 0 && options.missing === 'bound' ? evidenceFor(runs, { ...options, missing: 'ignore' }) : evidence,
    interval: evidence.interval(),
    lacking,
    tasks: base.tasks.length,
    size: lacking > 0 && options.missing === 'bound' ? base.tasks.length : differences.length,
    toCome: toCome(runs),
    ignored: ignored === 0 ? '' : `ignoring ${counted(ignored, 'rollout')} without a reward`,
    options,
  };
  return {
    ...means,
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

/** A run compared with itself: there is no other one that anything could be decided of. */
export function ofSameRun(compared: ComparedRuns): ComparedRuns {
  return {
    ...compared,
    interval: undefined,
    verdict: { kind: 'equal', words: 'this is the same run twice' },
    gate: () => ({ outcome: 'undecided', words: 'Undecided: this is the same run twice.' }),
  };
}

function lacks({ tasks, final }: RunTasks, index: number): boolean {
  const task = tasks[index];
  return task !== undefined && lacksReward(task, final);
}

const withoutReward = ({ rollouts, rated }: TaskMean): number => rollouts - rated;

/** How many tasks rollouts that are to come may add, and of which run these are. */
interface ToCome {
  readonly most: number;
  readonly of: string;
}

/**
 * Undefined if more rollouts would be of the same tasks. Tasks are the sample, so that these would not make it larger:
 * only in a run that goes on, with one rollout of each task, is every rollout a task.
 */
function toCome([base, fresh]: readonly [RunTasks, RunTasks]): ToCome | undefined {
  const isSingle = [base, fresh].every(run =>
    run.tasks.every(({ rewards, unlisted }) => rewards.length + unlisted <= 1),
  );
  if (!isSingle || (base.final && fresh.final)) return undefined;
  if (!base.final && !fresh.final) return { most: Number.POSITIVE_INFINITY, of: 'each run' };
  const [open, whole] = base.final ? [fresh, base] : [base, fresh];
  const isAwaited = (index: number): boolean =>
    whole.tasks[index]?.rewards.length === 1 && open.tasks[index]?.rewards.length === 0;
  return { most: [...whole.tasks.keys()].filter(isAwaited).length, of: base.final ? 'the new run' : 'the base run' };
}

interface Situation {
  readonly evidence: Evidence;
  readonly rated: Evidence;
  readonly interval: Interval | undefined;
  readonly lacking: number;
  readonly tasks: number;
  /** Tasks that the evidence is of. */
  readonly size: number;
  readonly toCome: ToCome | undefined;
  /** Which rewards are ignored, in words; empty if none is. */
  readonly ignored: string;
  readonly options: ComparisonOptions;
}

/** What so many times the data would show. */
function shown({ shows }: Evidence, equalWithin: number, times: number): VerdictKind {
  if (shows('above', 0, times)) return 'better';
  if (shows('below', 0, times)) return 'worse';
  return shows('above', -equalWithin, times) && shows('below', equalWithin, times) ? 'equal' : 'undecided';
}

function verdictOf(situation: Situation, pairs: number): Verdict {
  const { kind, words, ...more } = plainVerdict(situation, pairs);
  return { kind, words: [words, situation.ignored].filter(Boolean).join(', '), ...more };
}

function plainVerdict(situation: Situation, pairs: number): Verdict {
  const { evidence, rated, options } = situation;
  const { equalWithin } = options;
  const kind = shown(evidence, equalWithin, 1);
  if (kind === 'better' || kind === 'worse') return { kind, words: `the new run is ${kind}` };
  if (kind === 'equal') return { kind, words: `equal within ±${equalWithin}` };
  const reason =
    pairs === 0
      ? nothingInBoth
      : whyNot(situation, shown(rated, equalWithin, 1) === 'undecided' ? undefined : 'reverse it');
  const { words, ...more } =
    reason === undefined
      ? moreOf(situation, times => shown(evidence, equalWithin, times) !== 'undecided')
      : { words: reason };
  return { kind, words: words === '' ? kind : `${kind}: ${words}`, ...more };
}

const nothingInBoth = 'no task has a reward in both runs';

const lackingWords = ({ lacking, tasks }: Pick<Situation, 'lacking' | 'tasks'>): string =>
  `${lacking} of ${counted(tasks, 'task')} lack a reward`;

/**
 * Why the data says nothing, other than that there is too little of it.
 *
 * @param could what the missing rewards could do, if those that are there would decide it by themselves
 */
function whyNot(situation: Situation, could?: string): string | undefined {
  if (situation.evidence.reason === 'outside')
    return `rewards lie outside of ${situation.options.range.join('..')}, their range is not known`;
  return could === undefined ? undefined : `${lackingWords(situation)} and could ${could}`;
}

/** What would decide it, in words and as a number: more tasks, or rollouts where these are of new tasks. */
function moreOf(
  situation: Situation,
  isShown: (times: number) => boolean,
): Pick<Verdict, 'words' | 'moreTasks' | 'moreRollouts'> {
  const { interval, size, toCome: coming, lacking } = situation;
  const times = interval === undefined ? undefined : timesUntil(isShown);
  if (times === undefined) return { words: lacking > 0 ? lackingWords(situation) : '' };
  const needed = (times - 1) * size;
  const moreTasks = sensible(needed);
  if (coming === undefined || needed > coming.most)
    return { words: `about ${counted(moreTasks, 'more task')}`, moreTasks };
  const moreRollouts = Math.min(moreTasks, coming.most);
  return { words: `about ${counted(moreRollouts, 'more rollout')} of ${coming.of}`, moreTasks, moreRollouts };
}

/** Rounded up to one digit, or two if the first is 1. */
function sensible(count: number): number {
  const whole = Math.max(1, Math.ceil(count - 1e-9));
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(whole)) - (String(whole).startsWith('1') ? 1 : 0));
  return Math.ceil(whole / unit) * unit;
}

/** What is certain about the lowest difference that is allowed, in sentences. */
function gateOf(situation: Situation, least: number): Gate {
  const { outcome, sentences } = plainGate(situation, least);
  return { outcome, words: [...sentences, situation.ignored].filter(Boolean).map(sentence).join(' ') };
}

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

function plainGate(
  situation: Situation,
  least: number,
): Pick<Gate, 'outcome'> & { readonly sentences: readonly string[] } {
  const { evidence, rated, interval } = situation;
  const open = `undecided whether the difference is at least ${difference(least)}`;
  if (interval === undefined) {
    const reason = whyNot(situation) ?? nothingInBoth;
    return { outcome: 'undecided', sentences: [`${open}: there is no interval, because ${reason}`] };
  }
  const between = `between ${difference(interval.low)} and ${difference(interval.high)}`;
  const known = [`the difference is ${between}`, `required: at least ${difference(least)}`];
  if (interval.low >= least) return { outcome: 'passed', sentences: ['passed', ...known] };
  if (interval.high < least) return { outcome: 'failed', sentences: ['too low', ...known] };
  const isDecided = (data: Evidence, times: number): boolean =>
    data.shows('above', least, times) || data.shows('below', least, times);
  const reason = whyNot(situation, isDecided(rated, 1) ? 'decide it' : undefined);
  const more = reason === undefined ? moreOf(situation, times => isDecided(evidence, times)) : { words: reason };
  const decides = more.moreTasks === undefined ? more.words : `${more.words} would decide it`;
  return { outcome: 'undecided', sentences: [`${open}: it is ${between}`, decides] };
}
