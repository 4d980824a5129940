/** The verdict on a comparison and the gate's result, in words. */

import { capitalised } from '../../base/capitalised.ts';
import { enumerated } from '../../base/enumerated.ts';
import { type BySide, type Side, sides } from '../../base/sides.ts';
import { counted, differenceUntil } from '../../text/numbers.ts';
import { missingOf } from './filled.ts';
import { type Evidence, type Interval, type IntervalOptions, timesUntil } from './interval.ts';
import { formatChance, signTest } from './sign-test.ts';
import { lacksRewards, type TaskMean, withoutReward } from './task-mean.ts';
import type { RunEnd } from './tasks.ts';

export interface VerdictOptions extends IntervalOptions {
  /** Runs count as equal if the whole interval of their difference is within plus or minus this. */
  readonly equalWithin: number;
  /** Treats runs without a known status as ended, and listed rewards as complete. */
  readonly ended?: boolean | undefined;
}

type VerdictKind = 'better' | 'worse' | 'equal' | 'undecided';

/** How the new run compares with the base. */
export interface Verdict {
  readonly kind: VerdictKind;
  /** The same on screen, in `compare` and in the gate. */
  readonly words: string;
  /** Roughly how many further tasks would decide it; undefined if decided, or if they would not help. */
  readonly moreTasks?: number | undefined;
}

export interface Gate {
  readonly outcome: 'passed' | 'failed' | 'undecided';
  /** A sentence. */
  readonly words: string;
}

/** The basis of a verdict and the gate. */
export interface Situation {
  readonly evidence: Evidence;
  readonly ignoring: Evidence;
  readonly interval: Interval | undefined;
  readonly pairs: number;
  /** In how many pairs the new run's reward is higher and lower. */
  readonly wins: number;
  readonly losses: number;
  readonly means: BySide<TaskMean>;
  /** Whether rewards are missing only for tasks that neither run has graded. */
  readonly isOnlyUngraded: boolean;
  /** The runs that may have an unknown number of unlisted rollouts, so that a verdict is conditional. */
  readonly uncounted: readonly Side[];
  /** How many rollouts without a reward are ignored. */
  readonly ignored: number;
  /** The comparison if every task had this number of rollouts, which is unconfirmed. */
  readonly even: { readonly each: number; readonly evidence: Evidence } | undefined;
  readonly caution: string;
  readonly options: VerdictOptions;
}

/** Names the flag that would decide the comparison; empty if it would not. */
function describeEvenSamples({ even }: Situation, decides: (evidence: Evidence) => boolean): string {
  if (even === undefined || !decides(even.evidence)) return '';
  return `if each task has ${counted(even.each, 'rollout')}, compare --samples-per-task ${even.each} decides it`;
}

/** Whether the new run is better or worse with the required confidence. */
function direction({ shows }: Evidence, times: number): 'better' | 'worse' | undefined {
  if (shows('above', 0, times)) return 'better';
  return shows('below', 0, times) ? 'worse' : undefined;
}

/**
 * The verdict with `times` as much of the same data. A difference within `equalWithin` counts as equal even if
 * significant.
 */
function verdictFor(evidence: Evidence, equalWithin: number, times: number): VerdictKind {
  const isEqual = evidence.shows('above', -equalWithin, times) && evidence.shows('below', equalWithin, times);
  return isEqual ? 'equal' : (direction(evidence, times) ?? 'undecided');
}

/** `equal within ±0.05`, with a note if the new run is certainly higher or lower. */
function describeEqual(evidence: Evidence, equalWithin: number): string {
  const certain = direction(evidence, 1);
  const higher = certain && `, although the new run is certainly ${certain === 'better' ? 'higher' : 'lower'}`;
  return `equal within ±${equalWithin}${higher ?? ''}`;
}

/** The facts that the service does not report about uncounted runs, and the condition for a verdict without them. */
function describeUnreported({ uncounted, means }: Situation): { readonly reason: string; readonly condition: string } {
  const each = new Set(uncounted.filter(side => means[side].unlistedRollouts > 0).map(side => means[side].each));
  const atMost =
    each.size === 0 ? 'all rollouts are listed' : `no task has more than ${[...each].join(' and ')} rollouts`;
  if (uncounted.some(side => means[side].end === 'unreported'))
    return { reason: 'the service does not report that both runs have ended', condition: `if they have and ${atMost}` };
  const which = uncounted.length === 2 ? 'the runs have' : `the ${uncounted.join('')} run has`;
  return { reason: `the service does not report how many rollouts ${which}`, condition: `if ${atMost}` };
}

function describeUnlisted(ignoring: readonly TaskMean[], ended = false): string {
  const unlisted = ignoring.reduce((sum, run) => sum + run.unlistedRollouts, 0);
  if (unlisted > 0) return `${ended ? '' : 'at least '}${counted(unlisted, 'rollout')} that the service does not list`;
  return !ended && ignoring.some(run => run.isUncounted) ? 'rollouts that the service may not list' : '';
}

function describeIgnored(situation: Situation): string {
  const { ignored, means, options } = situation;
  const ignoring = sides.map(side => means[side]).filter(run => missingOf(run, options) === 'ignore');
  const readable = sides.some(name => means[name].unreadable > 0) ? 'readable ' : '';
  const orTask = sides.some(name => means[name].nameless > means[name].unreadable) ? ' or a readable task' : '';
  const parts = [
    ignored === 0 ? '' : `${counted(ignored, 'rollout')} without a ${readable}reward${orTask}`,
    describeUnlisted(ignoring, options.ended),
    ignoring.some(run => run.unlisted > 0) ? 'tasks that one of the runs does not list' : '',
  ].filter(Boolean);
  return parts.length === 0 ? '' : `ignoring ${enumerated(parts)}`;
}

/**
 * `lower on 21 of 21 tasks (sign test: p < 0.001)`, if the mean leaves open what most tasks show. Only for runs that
 * have ended and have all their rewards, because the test is valid for a single look.
 */
function describeMostTasks({ wins, losses, pairs, means, evidence, options }: Situation): string {
  const isOpen = evidence.reason === undefined && verdictFor(evidence, options.equalWithin, 1) === 'undecided';
  const chance = signTest(wins, losses);
  const isWhole = sides.every(side => means[side].end === 'complete' && !lacksRewards(means[side]));
  if (!isOpen || !isWhole || chance === undefined || chance >= 1 - options.confidence) return '';
  const isHigher = wins > losses;
  const [most, rest] = isHigher ? [wins, losses] : [losses, wins];
  const other = rest === 0 ? '' : ` and ${isHigher ? 'lower' : 'higher'} on ${rest}`;
  const decided = wins + losses;
  const tasks = decided === pairs ? `${pairs} tasks` : `the ${decided} tasks that differ`;
  return `${isHigher ? 'higher' : 'lower'} on ${most}${other} of ${tasks} (sign test: ${formatChance(chance)})`;
}

export function verdictOf(situation: Situation): Verdict {
  const verdict = plainVerdict(situation);
  const isUndecided = verdict.kind === 'undecided';
  const plain = [verdict.words, describeMostTasks(situation)]
    .filter(Boolean)
    .join(verdict.words.includes(':') ? '; ' : ': ');
  const words = [plain, describeIgnored(situation)].filter(Boolean).join(', ');
  if (situation.uncounted.length === 0 || (isUndecided && situation.interval === undefined))
    return { ...verdict, words };
  const { reason, condition } = describeUnreported(situation);
  // Give no other reason why the verdict is undecided: a long text may be truncated.
  const isLacking = situation.uncounted.some(side => situation.means[side].unlistedRollouts > 0);
  if (isUndecided && isLacking && verdict.moreTasks === undefined) return { ...verdict, words };
  const still = isUndecided ? 'still ' : '';
  return { ...verdict, kind: 'undecided', words: `undecided: ${reason}; ${condition}, ${still}${words}` };
}

/** A verdict in words, without a reason or a condition. */
export const describeVerdictKind = (kind: VerdictKind): string => `the new run is ${kind}`;

function plainVerdict(situation: Situation): Verdict {
  const { evidence, ignoring, options } = situation;
  const { equalWithin } = options;
  const kind = verdictFor(evidence, equalWithin, 1);
  if (kind === 'better' || kind === 'worse') return { kind, words: describeVerdictKind(kind) };
  if (kind === 'equal') return { kind, words: describeEqual(evidence, equalWithin) };
  const without = verdictFor(ignoring, equalWithin, 1);
  const reverses = without !== 'undecided' && mayReverse(without, evidence, equalWithin);
  const reason = whyNot(situation, reverses);
  const isDecidedWithout = without !== 'undecided' && !reverses && evidence.reason === undefined;
  const { words, ...more } =
    reason === undefined
      ? neededFor(situation)
      : {
          words: [
            reason,
            isDecidedWithout ? withoutThese(situation) : describeGraded(situation, without),
            describeEvenSamples(situation, data => verdictFor(data, equalWithin, 1) !== 'undecided'),
          ]
            .filter(Boolean)
            .join('; '),
        };
  return { kind, words: words === '' ? kind : `${kind}: ${words}`, ...more };
}

/** Whether the missing rewards may reverse the present rewards' verdict. A few may only leave it undecided. */
function mayReverse(without: VerdictKind, { bounds }: Evidence, equalWithin: number): boolean {
  const [low, high] = bounds();
  const isEqual = low >= -equalWithin && high <= equalWithin;
  return !(without === 'equal' ? isEqual : without === 'better' ? low > 0 : high < 0);
}

const nothingInBoth = 'no task has a reward in both runs';

/**
 * Why the data cannot decide, unless there is simply too little of it.
 *
 * @param reverses whether the present rewards alone would decide, but the missing ones may reverse the verdict
 */
function whyNot({ evidence, means, options }: Situation, reverses = false): string | undefined {
  if (evidence.reason === 'nothing') {
    const side = sides.find(name => means[name].mean === undefined && means[name].nameless > 0);
    if (side === undefined) return nothingInBoth;
    const { nameless, unreadable } = means[side];
    return `the rewards of the ${side} run ${nameless > unreadable ? 'have no readable task' : 'could not be read'}`;
  }
  if (evidence.reason === 'outside')
    return `rewards are outside ${options.range.join('..')}; set their range with --reward-range or the setting compare.rewardRange`;
  if (evidence.reason === 'open') {
    const side = sides.find(name => means[name].isOpen) ?? 'new';
    return `the ${side} run ${endLabels[means[side].end]}, and the service does not report how many rewards are missing`;
  }
  const bounded = sides.filter(name => lacksRewards(means[name]) && missingOf(means[name], options) === 'bound');
  const missing = enumerated(bounded.flatMap(name => describeMissing(name, means[name])));
  if (missing === '') return undefined;
  return reverses ? `${missing}, which could reverse it` : missing;
}

/** `4 of 28 rollouts of the new run have no reward`, `2 have no readable task`, `1 could not be read` */
function describeMissing(side: string, run: TaskMean): readonly string[] {
  const lacking = withoutReward(run) - run.nameless;
  const nameless = run.nameless - run.unreadable;
  const yet = run.end === 'running' ? ' yet' : '';
  const parts = [
    { count: lacking, words: `${lacking === 1 ? 'has' : 'have'} no reward${yet}` },
    { count: nameless, words: `${nameless === 1 ? 'has' : 'have'} no readable task` },
    { count: run.unreadable, words: 'could not be read' },
  ].filter(({ count }) => count > 0);
  const ofAll = ` of ${counted(run.rollouts, 'rollout')} of the ${side} run`;
  const rollouts = parts.map(({ count, words }, index) => `${count}${index === 0 ? ofAll : ''} ${words}`);
  const all = run.rollouts + run.unlistedRollouts;
  const listed = run.isEachOfOther
    ? `${counted(run.rollouts, 'rollout')}, ${run.unlistedRollouts} fewer than with ${run.each} per task as in the other run`
    : `${run.rollouts} of ${all} rollouts at ${run.each} per task`;
  const unlisted = [
    run.unlistedRollouts === 0 ? '' : `lists ${listed}`,
    run.unlisted > 0 ? `lists no rollout of ${counted(run.unlisted, 'task')}` : '',
  ].filter(Boolean);
  return [...rollouts, ...unlisted.map(words => `the ${side} run ${words}`)];
}

const endLabels: Readonly<Record<RunEnd, string>> = {
  running: 'is still running',
  stopped: 'stopped early',
  complete: 'is complete',
  unreported: 'may still be running',
};

/** How much more data would decide the comparison, in words and as a number of tasks. */
function moreOf(
  { interval, pairs }: Situation,
  isShown: (times: number) => boolean,
): Pick<Verdict, 'words' | 'moreTasks'> {
  const times = interval === undefined ? undefined : timesUntil(isShown);
  if (times === undefined) return { words: '' };
  const moreTasks = sensible((times - 1) * pairs);
  return { words: `needs ${aboutMore(moreTasks)}`, moreTasks };
}

/**
 * How many more tasks the verdict needs. Says so if they would show equality, because the gate has a different limit.
 */
function neededFor(situation: Situation): Pick<Verdict, 'words' | 'moreTasks'> {
  const { evidence, pairs, options } = situation;
  const { equalWithin } = options;
  const more = moreOf(situation, times => verdictFor(evidence, equalWithin, times) !== 'undecided');
  if (more.moreTasks === undefined) return more;
  const isEqual = verdictFor(evidence, equalWithin, 1 + more.moreTasks / pairs) === 'equal';
  return isEqual ? { ...more, words: `${more.words} to be equal` } : more;
}

const aboutMore = (tasks: number): string => `about ${counted(tasks, 'more task')}`;

/** Rounded up to one digit, or two if the first is 1. */
export function sensible(count: number): number {
  const whole = Math.max(1, Math.ceil(count - 1e-9));
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(whole)) - (String(whole).startsWith('1') ? 1 : 0));
  return Math.ceil(whole / unit) * unit;
}

/** Whether the difference is certainly at least the lowest allowed one, with an explanation. */
export function gateOf(situation: Situation, least: number): Gate {
  const { outcome, sentences } = plainGate(situation, least);
  const isUnsure = situation.uncounted.length > 0 && situation.interval !== undefined;
  const isAssumed = isUnsure && outcome !== 'undecided';
  const { reason } = describeUnreported(situation);
  const words = [
    ...(isAssumed
      ? [`${describeOpen(least)}: ${reason}`, 'to treat the listed rewards as complete, use --ended']
      : sentences),
    isUnsure && !isAssumed ? reason : '',
    outcome === 'undecided' ? describeMostTasks(situation) : '',
    describeIgnored(situation),
    situation.caution,
  ];
  return { outcome: isAssumed ? 'undecided' : outcome, words: words.filter(Boolean).map(sentence).join(' ') };
}

/** The lowest allowed difference with all its digits. */
const formatLeast = (least: number): string => differenceUntil(least, shown => shown === least);

/** An interval limit, with enough digits to stay on its side of the lowest allowed difference. */
const formatLimit = (limit: number, least: number): string =>
  differenceUntil(limit, shown => Math.sign(shown - least) === Math.sign(limit - least));

const describeOpen = (least: number): string => `undecided whether the difference is at least ${formatLeast(least)}`;

const sentence = (words: string): string => `${capitalised(words)}.`;

function plainGate(
  situation: Situation,
  least: number,
): Pick<Gate, 'outcome'> & { readonly sentences: readonly string[] } {
  const { evidence, ignoring, interval } = situation;
  const open = describeOpen(least);
  if (interval === undefined || evidence.reason !== undefined)
    return { outcome: 'undecided', sentences: [`${open}: ${whyNot(situation) ?? nothingInBoth}`] };
  const between = `between ${formatLimit(interval.low, least)} and ${formatLimit(interval.high, least)}`;
  const known = [`the difference is ${between}`, `required: at least ${formatLeast(least)}`];
  if (interval.low >= least) return { outcome: 'passed', sentences: ['passed', ...known] };
  if (interval.high < least) return { outcome: 'failed', sentences: ['too low', ...known] };
  const isDecided = (data: Evidence, times: number): boolean =>
    data.shows('above', least, times) || data.shows('below', least, times);
  const undecided = (...decides: readonly string[]) =>
    ({ outcome: 'undecided', sentences: [`${open}: it is ${between}`, ...decides] }) as const;
  const reason = whyNot(situation);
  if (reason !== undefined)
    return undecided(
      reason,
      describeEvenSamples(situation, data => isDecided(data, 1)),
      isDecided(ignoring, 1) ? withoutThese(situation) : '',
    );
  const { moreTasks } = moreOf(situation, times => isDecided(evidence, times));
  return undecided(
    moreTasks === undefined ? describeMargin(situation, interval.low) : `${aboutMore(moreTasks)} would decide the gate`,
  );
}

/** Notes that the missing rewards matter, and names the flags that ignore them, unless they may still arrive. */
function withoutThese({ means }: Situation): string {
  const ends = sides.filter(side => lacksRewards(means[side])).map(side => means[side].end);
  if (ends.includes('running')) return 'these could decide it';
  const flags = ends.includes('unreported') ? ', if the runs have ended: --ended' : ':';
  return `ignoring these would decide it${flags} --missing ignore`;
}

/** Names the flag that leaves out tasks that neither run has graded, which would keep it undecided forever. */
function describeGraded({ isOnlyUngraded, means, pairs, options }: Situation, without: VerdictKind): string {
  if (
    !isOnlyUngraded ||
    options.missing === 'ignore' ||
    pairs === 0 ||
    sides.some(side => means[side].end === 'unreported')
  )
    return '';
  const other = `the ${counted(pairs, 'task')} that both graded`;
  return `neither run has graded these tasks: --missing ignore compares ${other}${without === 'undecided' ? ', which is undecided too' : ''}`;
}

/** Suggests a limit that would pass, because more tasks like these would not decide it. */
function describeMargin({ options: { range }, uncounted }: Situation, low: number): string {
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(low))) - 1);
  const margin = Number((Math.floor(low / unit) * unit).toPrecision(2));
  if (uncounted.length > 0 || !(margin > range[0] - range[1])) return '';
  return `more tasks like these would not decide the gate; a lower limit would: --fail-below ${margin} passes`;
}
