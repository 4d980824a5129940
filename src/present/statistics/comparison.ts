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
import { lackingTasks, type RunEnd, type RunTasks, rated, type TaskMean, taskMean } from './tasks.ts';

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
  const meanOfTask = ({ tasks }: RunTasks, index: number): number | undefined => mean(rated(tasks[index] ?? []));
  const differences = base.tasks.flatMap((_, index) => {
    const [before, after] = [meanOfTask(base, index), meanOfTask(fresh, index)];
    return before === undefined || after === undefined ? [] : [after - before];
  });
  const evidence = evidenceFor(runs, options);
  const { lacking, tasks } = lackingTasks(runs);
  const count = (test: (value: number) => boolean): number => differences.filter(test).length;
  const means = { base: taskMean(base, options.range), new: taskMean(fresh, options.range) };
  const ignored = options.missing === 'ignore' ? withoutReward(means.base) + withoutReward(means.new) : 0;
  const situation: Situation = {
    evidence,
    // What the rewards that are there would say by themselves.
    ignoring:
      lacking > 0 && options.missing === 'bound' ? evidenceFor(runs, { ...options, missing: 'ignore' }) : evidence,
    interval: evidence.interval(),
    lacking,
    tasks,
    size: lacking > 0 && options.missing === 'bound' ? tasks : differences.length,
    means,
    condition: runs.some(({ end, total }) => end === 'unsaid' && total === undefined)
      ? ', if both runs have ended'
      : '',
    ignored: ignored === 0 ? '' : `ignoring ${counted(ignored, 'rollout')} without a reward`,
    options,
  };
  return {
    ...means,
    pairs: differences.length,
    tasks,
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

const withoutReward = ({ rollouts, rated }: TaskMean): number => rollouts - rated;

interface Situation {
  readonly evidence: Evidence;
  readonly ignoring: Evidence;
  readonly interval: Interval | undefined;
  readonly lacking: number;
  readonly tasks: number;
  /** Tasks that the evidence is of. */
  readonly size: number;
  readonly means: { readonly base: TaskMean; readonly new: TaskMean };
  /** What the verdict holds under: that runs have ended of which the service says nothing. */
  readonly condition: string;
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
  const { evidence, ignoring, condition, options } = situation;
  const { equalWithin } = options;
  const kind = shown(evidence, equalWithin, 1);
  if (kind === 'better' || kind === 'worse') return { kind, words: `the new run is ${kind}${condition}` };
  if (kind === 'equal') return { kind, words: `equal within ±${equalWithin}${condition}` };
  const reason =
    pairs === 0
      ? nothingInBoth
      : whyNot(situation, shown(ignoring, equalWithin, 1) === 'undecided' ? undefined : 'reverse it');
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
  const { evidence, means, options } = situation;
  const sides = ['base', 'new'] as const;
  if (evidence.reason === 'nothing') return nothingInBoth;
  if (evidence.reason === 'outside')
    return `rewards lie outside of ${options.range.join('..')}, their range is not known`;
  if (evidence.reason === 'open') {
    const side = sides.find(name => means[name].isOpen) ?? 'new';
    return `the ${side} run ${endWords[means[side].end]}, and the service does not say how many rewards are missing`;
  }
  const running = options.missing === 'ignore' ? undefined : sides.find(name => isAwaited(means[name]));
  if (running === undefined && could === undefined) return undefined;
  const missing = running
    ? `${withoutReward(means[running])} of ${counted(means[running].rollouts, 'rollout')} of the ${running} run have no reward yet`
    : lackingWords(situation);
  return could === undefined ? missing : `${missing} and could ${could}`;
}

const isAwaited = (run: TaskMean): boolean => run.end === 'running' && withoutReward(run) > 0;

const endWords: Readonly<Record<RunEnd, string>> = {
  running: 'goes on',
  stopped: 'stopped early',
  complete: 'is complete',
  unsaid: 'may go on',
};

/** What would decide it, in words and as a number. */
function moreOf(
  { interval, size, lacking, tasks }: Situation,
  isShown: (times: number) => boolean,
): Pick<Verdict, 'words' | 'moreTasks'> {
  const times = interval === undefined ? undefined : timesUntil(isShown);
  if (times === undefined) return { words: lacking > 0 ? lackingWords({ lacking, tasks }) : '' };
  const moreTasks = sensible((times - 1) * size);
  return { words: `about ${counted(moreTasks, 'more task')}`, moreTasks };
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
  const { evidence, ignoring, interval, condition } = situation;
  const open = `undecided whether the difference is at least ${difference(least)}`;
  if (interval === undefined || evidence.reason !== undefined)
    return { outcome: 'undecided', sentences: [`${open}: ${whyNot(situation) ?? nothingInBoth}`] };
  const between = `between ${difference(interval.low)} and ${difference(interval.high)}`;
  const known = [`the difference is ${between}${condition}`, `required: at least ${difference(least)}`];
  if (interval.low >= least) return { outcome: 'passed', sentences: ['passed', ...known] };
  if (interval.high < least) return { outcome: 'failed', sentences: ['too low', ...known] };
  const isDecided = (data: Evidence, times: number): boolean =>
    data.shows('above', least, times) || data.shows('below', least, times);
  const reason = whyNot(situation, isDecided(ignoring, 1) ? 'decide it' : undefined);
  const more = reason === undefined ? moreOf(situation, times => isDecided(evidence, times)) : { words: reason };
  const decides = more.moreTasks === undefined ? more.words : `${more.words} would decide it`;
  return { outcome: 'undecided', sentences: [`${open}: it is ${between}`, decides] };
}
