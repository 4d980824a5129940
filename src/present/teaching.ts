/**
 * The teaching signal: what the groups of a training step's rollouts, each of one task, can teach. A policy gradient that
 * compares the rollouts of a group learns nothing from a group whose rewards are all equal. Pure.
 */
import { counted, percent } from '../text/numbers.ts';
import type { Range } from './statistics/tasks.ts';

/**
 * What a group can teach: its rewards differ; they are all the highest, all the lowest, or equal in between; or fewer
 * than two of its rollouts have a reward.
 */
export const groupKinds = ['teaches', 'easy', 'hard', 'equal', 'unscored'] as const;
export type GroupKind = (typeof groupKinds)[number];

export const groupWords: Readonly<Record<GroupKind, string>> = {
  teaches: 'teach',
  easy: 'too easy',
  hard: 'too hard',
  equal: 'equal',
  unscored: 'no score',
};

/** The reward of a rollout; its task may be unknown. */
interface TaskReward {
  readonly task_id?: string | null | undefined;
  readonly reward?: number | null | undefined;
}

/** The rollouts of a step, as far as the service lists them. */
export interface StepRewards<Row extends TaskReward = TaskReward> {
  readonly step: number;
  readonly rewards: readonly Row[];
}

export type GroupCounts = Readonly<Record<GroupKind, number>>;

export interface StepTeaching {
  readonly step: number;
  /** Groups of two or more rollouts, by what they can teach. */
  readonly counts: GroupCounts;
  readonly groups: number;
  /** Rollouts that could not be grouped: without a task, and alone with their task in a step without any group. */
  readonly nameless: number;
  readonly alone: number;
}

/** The rollouts of a step by task, and those without a task. */
export function byTask<Row extends TaskReward>({ rewards }: StepRewards<Row>) {
  const named = rewards.filter(({ task_id }) => task_id);
  return { tasks: Map.groupBy(named, ({ task_id }) => task_id ?? ''), nameless: rewards.length - named.length };
}

export const scoresOf = (rows: readonly TaskReward[]): number[] =>
  rows.flatMap(({ reward }) => (reward != null && Number.isFinite(reward) ? reward : []));

/** @param range the lowest and the highest reward */
export function groupKind(rows: readonly TaskReward[], [low, high]: Range): GroupKind {
  const scores = scoresOf(rows);
  const [first] = scores;
  if (first === undefined || scores.length < 2) return 'unscored';
  if (scores.some(score => score !== first)) return 'teaches';
  return first >= high ? 'easy' : first <= low ? 'hard' : 'equal';
}

/** The range of rewards, widened to those that were read. */
export function widenedRange([low, high]: Range, steps: readonly StepRewards[]): Range {
  let [least, most] = [low, high];
  for (const { rewards } of steps) {
    for (const score of scoresOf(rewards)) {
      if (score < least) least = score;
      if (score > most) most = score;
    }
  }
  return [least, most];
}

export function teachingOf(step: StepRewards, range: Range): StepTeaching {
  const { tasks, nameless } = byTask(step);
  const groups = [...tasks.values()];
  const hasGroups = groups.some(({ length }) => length > 1);
  const counts: Record<GroupKind, number> = { teaches: 0, easy: 0, hard: 0, equal: 0, unscored: 0 };
  // Beside groups, a rollout alone with its task is one that has lost the others.
  for (const rows of hasGroups ? groups : []) counts[groupKind(rows, range)] += 1;
  const [all, alone] = hasGroups ? [groups.length, 0] : [0, groups.length];
  return { step: step.step, counts, groups: all, nameless, alone };
}

/** The counts of several steps together. */
export function pooled(steps: readonly StepTeaching[]): Pick<StepTeaching, 'counts' | 'groups'> {
  const counts: Record<GroupKind, number> = { teaches: 0, easy: 0, hard: 0, equal: 0, unscored: 0 };
  for (const each of steps) for (const kind of groupKinds) counts[kind] += each.counts[kind];
  return { counts, groups: steps.reduce((sum, { groups }) => sum + groups, 0) };
}

/** Steps whose groups together decide whether training still teaches: one step has few groups. */
const window = 3;

/** A run whose groups mostly teach nothing, up to its newest step. */
export interface TeachingTurn extends Pick<StepTeaching, 'counts' | 'groups'> {
  readonly since: number;
  /** It has been so since the first step that was read. */
  readonly isFromStart: boolean;
}

/**
 * Since when at least half of the groups teach nothing: in the newest three steps read, and in each three before them
 * back to that step. Undefined if they teach, or if fewer steps were read.
 */
export function teachingTurn(steps: readonly StepTeaching[]): TeachingTurn | undefined {
  const grouped = steps.filter(({ groups }) => groups > 0).toSorted((left, right) => left.step - right.step);
  const isIdle = (some: readonly StepTeaching[]): boolean => {
    const { counts, groups } = pooled(some);
    return groups > 0 && counts.teaches * 2 <= groups;
  };
  let from = grouped.length;
  while (from >= window && isIdle(grouped.slice(from - window, from))) from -= 1;
  // The first of the earliest three may still teach.
  let first = from === grouped.length ? grouped.length : Math.max(0, from - window + 1);
  while (first < grouped.length && !isIdle(grouped.slice(first, first + 1))) first += 1;
  const idle = grouped.slice(first);
  const [begin] = idle;
  if (!begin || idle.length < window) return undefined;
  return { since: begin.step, isFromStart: first === 0, ...pooled(idle) };
}

const causes: Readonly<Record<Exclude<GroupKind, 'teaches'>, string>> = {
  easy: 'too easy',
  hard: 'too hard',
  equal: 'with equal rewards',
  unscored: 'without two scores',
};

/** `since step 34 62% of the groups teach nothing, most too easy (9 of 11)` */
export function turnWords({ since, isFromStart, counts, groups }: TeachingTurn): string {
  const idle = groups - counts.teaches;
  const [main = 'easy'] = (['easy', 'hard', 'equal', 'unscored'] as const).toSorted((a, b) => counts[b] - counts[a]);
  const cause = counts[main] === idle ? `all ${causes[main]}` : `most ${causes[main]} (${counts[main]} of ${idle})`;
  const when = isFromStart ? `since step ${since}, the first one read,` : `since step ${since}`;
  return `${when} ${percent(idle / groups)} of the groups teach nothing, ${cause}`;
}

/** The shares of a step: `of 16 groups 5 teach, 8 too easy, 3 too hard`. Kinds without a group are left out. */
export function shareWords({ counts, groups, alone, nameless }: StepTeaching): string {
  const shares = groupKinds.filter(kind => counts[kind] > 0).map(kind => `${counts[kind]} ${groupWords[kind]}`);
  const words = [
    groups > 0 ? `of ${counted(groups, 'group')} ${shares.join(', ')}` : '',
    alone > 0 ? `${counted(alone, 'rollout')} alone with ${alone === 1 ? 'its task' : 'their tasks'}` : '',
    nameless > 0 ? `${counted(nameless, 'rollout')} without a task` : '',
  ].filter(Boolean);
  return words.length === 0 ? 'no rollouts listed' : words.join(', ');
}

/**
 * The teaching signal in sentences.
 *
 * @param known the number of steps of which some were read
 */
export function teachingWords(steps: readonly StepTeaching[], known: number): readonly string[] {
  const sorted = steps.toSorted((left, right) => left.step - right.step);
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (!first || !last) return ['teaching signal: no steps read'];
  const turn = teachingTurn(sorted);
  return [
    `teaching signal: ${sorted.length} of ${counted(known, 'step')} read`,
    ...(first === last ? [] : [`step ${first.step}: ${shareWords(first)}`]),
    `step ${last.step}: ${shareWords(last)}`,
    ...(turn ? [turnWords(turn)] : []),
  ];
}
