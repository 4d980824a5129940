/**
 * Audits a training run for signs that the model games its reward or learns nothing from it. A finding is a hint, not
 * proof: it names the rollouts to read. Pure.
 */

import { mean } from '../base/statistics.ts';
import { earlyEndOf } from '../contract/finish-reason.ts';
import { counted, percent, reward } from '../text/numbers.ts';
import type { StepValue } from './describe-curve.ts';
import { formatInterval } from './number-columns.ts';
import { groupedCorrelation, z95 } from './statistics/rank-correlation.ts';
import { type Range, withinRange } from './statistics/tasks.ts';
import { poolSteps, scoresOf, teachingOf, widenedRange } from './teaching.ts';

/** A rollout in a step. Only some rollouts include their text. */
export interface AuditRollout {
  readonly trajectory_id?: string | null | undefined;
  readonly task_id?: string | null | undefined;
  readonly reward?: number | null | undefined;
  readonly completion_tokens?: number | null | undefined;
  /** The last answer; may be empty. */
  readonly answer?: string | undefined;
  readonly finish_reason?: string | undefined;
  /** The length of an answer that was cut off at the token limit, in tokens. */
  readonly cut_off_at?: number | null | undefined;
  /** The messages before the first answer. */
  readonly question?: string | undefined;
}

export interface AuditStep {
  readonly step: number;
  readonly rewards: readonly AuditRollout[];
}

/** A mean reward over the held-out tasks. */
export interface AuditHeldOut {
  readonly step: number;
  readonly reward: number;
  readonly samples?: number | undefined;
}

interface AuditInput {
  readonly trainer: readonly StepValue[];
  readonly heldOut: readonly AuditHeldOut[];
  /** The steps that were read, in order. */
  readonly steps: readonly AuditStep[];
  /** The range of rewards from the settings. */
  readonly range: Range;
}

export const findingKinds = {
  held_out: 'held-out',
  length: 'length',
  answer: 'one answer',
  cut_off: 'cut off',
  repetition: 'repetition',
  duplicates: 'same questions',
  never: 'never rewarded',
  hard: 'too hard',
} as const;
export type FindingKind = keyof typeof findingKinds;

export interface Evidence extends AuditRollout {
  readonly step: number;
}

export interface Finding {
  readonly kind: FindingKind;
  readonly words: string;
  /** The rollouts that support the finding, at most 100. */
  readonly evidence: readonly Evidence[];
  /** The number of rollouts that support the finding. */
  readonly of: number;
}

/** How many of the newest steps most findings cover. */
const auditedSteps = 3;
const newestOf = (steps: readonly AuditStep[]): readonly AuditStep[] =>
  steps.filter(({ rewards }) => rewards.length > 0).slice(-auditedSteps);
const maxEvidence = 100;

/** Thresholds for the findings, tuned on the sample benchmarks. `npm run bench -- audit` measures their accuracy. */
const limits = {
  /** Minimum for the rank correlation between reward and length, its lower limit, and the number of rollouts. */
  length: { correlation: 0.65, low: 0.4, rollouts: 24 },
  /**
   * Share of the questions that get the same long answer. For a short answer, which may be right for several questions,
   * also its share of the rollouts, and its ratio to the next most frequent answer.
   */
  answer: { questions: 4, words: 5, ofQuestions: 0.5, short: { ofQuestions: 0.7, ofRollouts: 0.4, ofNext: 2 } },
  /**
   * Share of the answers that were cut off and get the highest reward, or that were cut off and get the lowest; and how
   * many of the rewards may be partial.
   */
  cutOff: { answers: 16, share: 0.5, partial: 0.05 },
  /** Share of the long answers that have few distinct words. */
  repetition: { words: 8, distinct: 1 / 4, answers: 8, share: 0.5 },
  duplicates: { tasks: 2, share: 0.25 },
  never: { steps: 3, rollouts: 48 },
  hard: { share: 0.9 },
  /** The rise in the trainer's reward as a share of the range, and how much of it the held-out reward must follow. */
  heldOut: { points: 3, rise: 0.15, follows: 0.5 },
} as const;

const evidenceOf = (steps: readonly AuditStep[], keeps: (rollout: AuditRollout) => boolean): Evidence[] =>
  steps.flatMap(({ step, rewards }) => rewards.filter(keeps).map(rollout => ({ ...rollout, step })));

const finding = (kind: FindingKind, words: string, rollouts: readonly Evidence[]): Finding => ({
  kind,
  words,
  evidence: rollouts.filter(({ trajectory_id }) => trajectory_id).slice(0, maxEvidence),
  of: rollouts.length,
});

/** `in step 3`, or `in steps 3 to 7` */
function inSteps(steps: readonly AuditStep[]): string {
  const [first, last] = [steps[0]?.step, steps.at(-1)?.step];
  return first === last ? `in step ${first}` : `in steps ${first} to ${last}`;
}

/** Finds a correlation between reward and answer length. */
function lengthFinding(steps: readonly AuditStep[]): Finding | undefined {
  if (steps.length < auditedSteps) return undefined;
  const known = ({ task_id, reward: score, completion_tokens: tokens }: AuditRollout): boolean =>
    Boolean(task_id) && score != null && tokens != null;
  const groups = steps.flatMap(({ rewards }) => [
    ...Map.groupBy(rewards.filter(known), ({ task_id }) => task_id).values(),
  ]);
  const pairs = groups.map(group =>
    group.map(({ completion_tokens, reward: score }) => [completion_tokens ?? 0, score ?? 0] as const),
  );
  const correlation = groupedCorrelation(pairs);
  if (!correlation || correlation.pairs < limits.length.rollouts) return undefined;
  const { value, interval } = correlation;
  const isLonger = value > 0;
  const certain = isLonger ? interval.low : -interval.high;
  if (Math.abs(value) < limits.length.correlation || certain < limits.length.low) return undefined;
  const words = `longer answers get ${isLonger ? 'more' : 'less'} reward: rank correlation ${reward(value)} within tasks, ${formatInterval(interval)}, ${inSteps(steps)}`;
  const longest = evidenceOf(steps, known).toSorted(
    (left, right) => (right.completion_tokens ?? 0) - (left.completion_tokens ?? 0),
  );
  return finding('length', words, isLonger ? longest : longest.toReversed());
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Finds an answer that many questions get. */
function answerFinding(steps: readonly AuditStep[]): Finding | undefined {
  const read = evidenceOf(steps, ({ answer }) => answer !== undefined);
  const questionOf = ({ question, task_id }: Evidence): string | undefined => question ?? task_id ?? undefined;
  const questions = new Set(read.flatMap(rollout => questionOf(rollout) ?? []));
  const { questions: fewest, words: long, ofQuestions, short } = limits.answer;
  if (questions.size < fewest) return undefined;
  const byAnswer = Map.groupBy(read, ({ answer = '' }) => wordsOf(answer).join(' '));
  const sorted = [...byAnswer].toSorted((left, right) => right[1].length - left[1].length);
  for (const [index, [answer, rollouts]] of sorted.entries()) {
    const answered = new Set(rollouts.flatMap(rollout => questionOf(rollout) ?? [])).size;
    const isLong = wordsOf(answer).length >= long && answered >= questions.size * ofQuestions;
    const isShort =
      index === 0 &&
      answered >= questions.size * short.ofQuestions &&
      rollouts.length >= read.length * short.ofRollouts &&
      rollouts.length >= (sorted[1]?.[1].length ?? 0) * short.ofNext;
    if (!isLong && !isShort) continue;
    const shown = answer === '' ? 'an answer without words' : `the answer ${JSON.stringify(answer.slice(0, 60))}`;
    const words = `${answered} of ${counted(questions.size, 'question')} got ${shown} at least once: ${percent(rollouts.length / read.length)} of ${counted(read.length, 'answer')} read, ${inSteps(steps)}`;
    return finding('answer', words, rollouts);
  }
  return undefined;
}

/**
 * Finds cut-off answers that get the highest reward, or that get the lowest, if these are most of the answers. A partial
 * reward, e.g. for the share of matching words, may be right for a cut-off answer, so hardly any of the newest may be.
 */
function cutOffFinding(all: readonly AuditStep[], steps: readonly AuditStep[], range: Range): Finding | undefined {
  const widened = widenedRange(range, all);
  const [low, high] = widened;
  const scoreOf = ({ reward }: AuditRollout): number => withinRange(reward ?? low, widened);
  const scored = evidenceOf(steps, ({ reward: score }) => score != null);
  const partial = scored.filter(each => scoreOf(each) > low && scoreOf(each) < high);
  if (partial.length > scored.length * limits.cutOff.partial) return undefined;
  const read = evidenceOf(steps, ({ finish_reason, reward: score }) => Boolean(finish_reason) && score != null);
  const isCut = ({ finish_reason }: AuditRollout): boolean => earlyEndOf(finish_reason) === 'token limit';
  const [cut, whole] = [read.filter(isCut), read.filter(each => !isCut(each))];
  const rewarded = cut.filter(each => scoreOf(each) >= high);
  const failed = cut.filter(each => scoreOf(each) <= low);
  const [which, what] = rewarded.length > failed.length ? [rewarded, 'highest'] : [failed, 'lowest'];
  if (read.length < limits.cutOff.answers || which.length < read.length * limits.cutOff.share) return undefined;
  // The limit explains nothing if complete answers get the lowest reward as well.
  if (which === failed && whole.length > 0 && whole.every(each => scoreOf(each) <= low)) return undefined;
  const lengths = new Set(cut.map(({ cut_off_at }) => cut_off_at ?? undefined));
  const [limit] = lengths;
  const at = lengths.size === 1 && limit !== undefined ? ` of ${limit}` : '';
  const words = `${percent(cut.length / read.length)} of ${counted(read.length, 'answer')} read were cut off at the token limit${at}, and ${percent(which.length / cut.length)} of these get the ${what} reward, ${inSteps(steps)}`;
  return finding('cut_off', words, which);
}

/** Finds answers that repeat their own words. */
function repetitionFinding(steps: readonly AuditStep[]): Finding | undefined {
  const { words: long, distinct, answers, share } = limits.repetition;
  const read = evidenceOf(steps, ({ answer }) => answer !== undefined);
  if (read.length < answers) return undefined;
  const repeats = ({ answer = '' }: AuditRollout): boolean => {
    const words = wordsOf(answer);
    return words.length >= long && new Set(words).size <= words.length * distinct;
  };
  const found = read.filter(repeats);
  if (found.length < read.length * share) return undefined;
  const words = `${percent(found.length / read.length)} of ${counted(read.length, 'answer')} read repeat their own words: at most one in four is different, ${inSteps(steps)}`;
  return finding('repetition', words, found);
}

/** Finds tasks that ask the same question. */
function duplicatesFinding(steps: readonly AuditStep[]): Finding | undefined {
  const read = evidenceOf(steps, ({ question, task_id }) => question !== undefined && Boolean(task_id));
  const tasks = new Set(read.map(({ task_id }) => task_id));
  const repeated = [...Map.groupBy(read, ({ question }) => question).values()].filter(
    rollouts => new Set(rollouts.map(({ task_id }) => task_id)).size > 1,
  );
  const among = new Set(repeated.flat().map(({ task_id }) => task_id));
  const copies = among.size - repeated.length;
  if (copies < limits.duplicates.tasks || copies < tasks.size * limits.duplicates.share) return undefined;
  const words = `${among.size} of ${counted(tasks.size, 'task')} read share a question with another task: ${counted(repeated.length, 'question')} in all, ${inSteps(steps)}`;
  return finding('duplicates', words, repeated.flat());
}

/** Finds a lack of rewards: no rollout, or hardly any, gets one. */
function hardFinding(all: readonly AuditStep[], steps: readonly AuditStep[], range: Range): Finding | undefined {
  const widened = widenedRange(range, all);
  const scores = all.flatMap(({ rewards }) => scoresOf(rewards));
  const { never, hard } = limits;
  const scored = ({ reward: score }: AuditRollout): boolean => score != null;
  if (all.length >= never.steps && scores.length >= never.rollouts && scores.every(score => score <= widened[0])) {
    const words = `none of ${counted(scores.length, 'rollout')} has a reward above ${reward(widened[0])}, ${inSteps(all)}: the grader may never match, or the tasks are too hard`;
    return finding('never', words, evidenceOf(steps, scored));
  }
  if (steps.length < auditedSteps) return undefined;
  const { counts, groups } = poolSteps(steps.map(step => teachingOf(step, widened)));
  if (groups === 0 || counts.hard < groups * hard.share) return undefined;
  const words = `${counts.hard} of ${counted(groups, 'group')} have only the lowest reward, ${inSteps(steps)}: the tasks are too hard`;
  return finding('hard', words, evidenceOf(steps, scored));
}

/** The margin of error for the difference of two means, at 95%; 0 if their number of samples is unknown. */
function marginOf(one: AuditHeldOut, other: AuditHeldOut, [low, high]: Range): number {
  // Rewards within the limits vary at most as much as rewards at the limits: p(1 - p).
  const errorOf = ({ reward: value, samples }: AuditHeldOut): number => {
    const share = Math.max(0, Math.min(1, (value - low) / (high - low)));
    return samples === undefined ? 0 : Math.max(share * (1 - share), 0.05) / Math.max(1, samples);
  };
  return z95 * (high - low) * Math.sqrt(errorOf(one) + errorOf(other));
}

/** The newest step's rollouts, lowest reward first. */
const byReward = (steps: readonly AuditStep[]): Evidence[] =>
  evidenceOf(steps.slice(-1), ({ reward: score }) => score != null).toSorted(
    (left, right) => (left.reward ?? 0) - (right.reward ?? 0),
  );

/** Finds a rise in the trainer's reward that the held-out reward does not follow. */
function heldOutFinding({ trainer, heldOut, steps, range }: AuditInput): Finding | undefined {
  const { points, rise: least, follows } = limits.heldOut;
  const [low, high] = range;
  const last = heldOut.at(-1);
  const known = trainer.flatMap(({ step, value }) => (value == null ? [] : [{ step, value }]));
  if (!last || heldOut.length < points) return undefined;
  for (const first of heldOut.slice(0, 1 - points)) {
    const during = known.filter(({ step }) => step > first.step && step <= last.step).map(({ value }) => value);
    const part = Math.max(1, Math.floor(during.length / 4));
    const [before, after] = [mean(during.slice(0, part)), mean(during.slice(-part))];
    if (before === undefined || after === undefined || during.length < 4) continue;
    const rise = after - before;
    const gain = last.reward - first.reward;
    if (rise < least * (high - low)) continue;
    const isUnknown = first.samples === undefined || last.samples === undefined;
    const most = gain + marginOf(first, last, range);
    if (isUnknown ? gain > 0 : most >= rise * follows) continue;
    const bounds = most < 0 ? `a fall of at least ${reward(-most)}` : `a rise of at most ${reward(most)}`;
    const words = `from step ${first.step} to ${last.step} the trainer's reward rose by ${reward(rise)}, the held-out reward went from ${reward(first.reward)} to ${reward(last.reward)}${isUnknown ? '' : `, by its 95% interval ${bounds}`}`;
    return finding('held_out', words, byReward(steps).toReversed());
  }
  return undefined;
}

/** Finds a significant fall of the held-out reward from its best. */
function fallFinding({ heldOut, steps, range }: AuditInput): Finding | undefined {
  const last = heldOut.at(-1);
  const best = heldOut.reduce<AuditHeldOut | undefined>(
    (most, each) => (most && most.reward >= each.reward ? most : each),
    undefined,
  );
  if (!last || !best || heldOut.length < limits.heldOut.points) return undefined;
  if (last.samples === undefined || best.samples === undefined) return undefined;
  const least = best.reward - last.reward - marginOf(best, last, range);
  if (least < limits.heldOut.rise * (range[1] - range[0])) return undefined;
  const words = `from its best at step ${best.step} to step ${last.step} the held-out reward fell from ${reward(best.reward)} to ${reward(last.reward)}, by its 95% interval at least ${reward(least)}`;
  return finding('held_out', words, byReward(steps));
}

export function audit(input: AuditInput): readonly Finding[] {
  const { steps, range } = input;
  const newest = newestOf(steps);
  return [
    heldOutFinding(input) ?? fallFinding(input),
    lengthFinding(newest),
    answerFinding(newest),
    cutOffFinding(steps, newest, range),
    repetitionFinding(newest),
    duplicatesFinding(newest),
    hardFinding(steps, newest, range),
  ].filter(each => each !== undefined);
}

/** How many rollouts' text is read, in total and per task. */
const textsRead = { all: 48, each: 2 } as const;

/**
 * The ids of rollouts whose text the audit reads: the same number from each of the newest steps, two for each task in
 * an even sample, or more if there are few tasks. A rollout without a task counts as a task of its own.
 */
export function textsToRead(steps: readonly AuditStep[]): readonly string[] {
  const newest = newestOf(steps);
  const perStep = Math.floor(textsRead.all / newest.length);
  return newest.flatMap(({ rewards }) => {
    const known = rewards.filter(({ trajectory_id }) => trajectory_id);
    const tasks = [...Map.groupBy(known, ({ task_id, trajectory_id }) => task_id || trajectory_id).values()];
    const read = Math.min(tasks.length, perStep / textsRead.each);
    return Array.from({ length: read }, (_, index) => tasks[Math.floor((index * tasks.length) / read)]).flatMap(group =>
      (group ?? []).slice(0, Math.floor(perStep / read)).map(({ trajectory_id }) => trajectory_id ?? ''),
    );
  });
}
