/**
 * The teaching signal of training steps. A group consists of one task's rollouts in a step. A policy gradient with a
 * group baseline gets no gradient from a group whose rewards are all equal. Pure.
 */
import { counted, percent } from '../text/numbers.ts';
import { isSameReward, type Range, withinRange } from './statistics/tasks.ts';

/**
 * The kinds of groups. Their rewards differ, are all the highest, all the lowest, otherwise equal, or fewer than two.
 */
export const groupKinds = ['teaches', 'easy', 'hard', 'equal', 'unscored'] as const;
export type GroupKind = (typeof groupKinds)[number];

export const groupLabels: Readonly<Record<GroupKind, string>> = {
  teaches: 'teach',
  easy: 'too easy',
  hard: 'too hard',
  equal: 'equal',
  unscored: 'no score',
};

/** A rollout's reward; its task may be unknown. */
interface TaskReward {
  readonly task_id?: string | null | undefined;
  readonly reward?: number | null | undefined;
}

/** A step's rollouts that the service lists. */
export interface StepRewards<Row extends TaskReward = TaskReward> {
  readonly step: number;
  readonly rewards: readonly Row[];
}

export type GroupCounts = Readonly<Record<GroupKind, number>>;

export interface StepTeaching {
  readonly step: number;
  /** Groups of two or more rollouts, by kind. */
  readonly counts: GroupCounts;
  readonly groups: number;
  /** Rollouts without a group: without a task, or the only one of their task in a step without groups. */
  readonly nameless: number;
  readonly alone: number;
}

/** The rollouts by task, and the number of rollouts without a task. */
export function byTask<Row extends Pick<TaskReward, 'task_id'>>({ rewards }: { readonly rewards: readonly Row[] }) {
  const named = rewards.filter(({ task_id }) => task_id);
  return { tasks: Map.groupBy(named, ({ task_id }) => task_id ?? ''), nameless: rewards.length - named.length };
}

export const scoresOf = (rows: readonly TaskReward[]): number[] =>
  rows.flatMap(({ reward }) => (reward != null && Number.isFinite(reward) ? reward : []));

/** @param range the lowest and the highest reward */
export function groupKind(rows: readonly TaskReward[], range: Range): GroupKind {
  const [first, ...others] = scoresOf(rows).map(score => withinRange(score, range));
  if (first === undefined || others.length === 0) return 'unscored';
  if (others.some(score => !isSameReward(score, first))) return 'teaches';
  return first >= range[1] ? 'easy' : first <= range[0] ? 'hard' : 'equal';
}

/** The range, widened to include the rewards in these steps. */
export function widenedRange([low, high]: Range, steps: readonly StepRewards[]): Range {
  let [least, most] = [low, high];
  for (const { rewards } of steps) {
    for (const reward of scoresOf(rewards)) {
      const score = withinRange(reward, [low, high]);
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
  // In a step with groups, a task with a single rollout counts as a group that has lost its other rollouts.
  for (const rows of hasGroups ? groups : []) counts[groupKind(rows, range)] += 1;
  const [all, alone] = hasGroups ? [groups.length, 0] : [0, groups.length];
  return { step: step.step, counts, groups: all, nameless, alone };
}

/** Sums the counts of several steps. */
export function poolSteps(steps: readonly StepTeaching[]): Pick<StepTeaching, 'counts' | 'groups'> {
  const counts: Record<GroupKind, number> = { teaches: 0, easy: 0, hard: 0, equal: 0, unscored: 0 };
  for (const each of steps) for (const kind of groupKinds) counts[kind] += each.counts[kind];
  return { counts, groups: steps.reduce((sum, { groups }) => sum + groups, 0) };
}

/** How many steps to pool, because a single step has few groups. */
const window = 3;

/** The period, up to the newest step, in which most groups teach nothing. */
export interface TeachingTurn extends Pick<StepTeaching, 'counts' | 'groups'> {
  readonly since: number;
  /** How many of the steps read are in it. */
  readonly length: number;
  /** Whether it may have begun before the first step read. */
  readonly isFromStart: boolean;
}

/**
 * The period, up to the newest step, in which at least half of the groups teach nothing in every three consecutive
 * steps read. Undefined if the newest three teach more, or if fewer than three were read.
 */
export function teachingTurn(steps: readonly StepTeaching[]): TeachingTurn | undefined {
  const grouped = steps.filter(({ groups }) => groups > 0).toSorted((left, right) => left.step - right.step);
  const isIdle = (some: readonly StepTeaching[]): boolean => {
    const { counts, groups } = poolSteps(some);
    return groups > 0 && counts.teaches * 2 <= groups;
  };
  let from = grouped.length;
  while (from >= window && isIdle(grouped.slice(from - window, from))) from -= 1;
  // The first steps of the earliest window may still teach.
  let first = from === grouped.length ? grouped.length : Math.max(0, from - window + 1);
  while (first < grouped.length && !isIdle(grouped.slice(first, first + 1))) first += 1;
  const idle = grouped.slice(first);
  const [begin] = idle;
  if (!begin || idle.length < window) return undefined;
  return { since: begin.step, length: idle.length, isFromStart: from < window, ...poolSteps(idle) };
}

const causes: Readonly<Record<Exclude<GroupKind, 'teaches'>, string>> = {
  easy: 'too easy',
  hard: 'too hard',
  equal: 'with equal rewards',
  unscored: 'with fewer than two rewards',
};

/** `since step 34, 62% of the groups teach nothing, most too easy (9 of 11)` */
export function describeTurn({ since, length, isFromStart, counts, groups }: TeachingTurn): string {
  const idle = groups - counts.teaches;
  const [main = 'easy'] = (['easy', 'hard', 'equal', 'unscored'] as const).toSorted((a, b) => counts[b] - counts[a]);
  const cause = counts[main] === idle ? `all ${causes[main]}` : `most ${causes[main]} (${counts[main]} of ${idle})`;
  const when = isFromStart ? `in the newest ${length} steps read,` : `since step ${since},`;
  return `${when} ${percent(idle / groups)} of the groups teach nothing, ${cause}`;
}

/** A step's groups: `16 groups, 5 teach, 8 too easy, 3 too hard`. Omits empty kinds. */
export function describeShares({ counts, groups, alone, nameless }: StepTeaching): string {
  const shares = groupKinds.filter(kind => counts[kind] > 0).map(kind => `${counts[kind]} ${groupLabels[kind]}`);
  const words = [
    groups > 0 ? [counted(groups, 'group'), ...shares].join(', ') : '',
    alone > 0 ? `${counted(alone, 'task')} with a single rollout` : '',
    nameless > 0 ? `${counted(nameless, 'rollout')} without a task` : '',
  ].filter(Boolean);
  return words.length === 0 ? 'no rollouts listed' : words.join(', ');
}

/**
 * The teaching signal in sentences.
 *
 * @param known the total number of steps
 */
export function describeTeaching(steps: readonly StepTeaching[], known: number): readonly string[] {
  const sorted = steps.toSorted((left, right) => left.step - right.step);
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (!first || !last) return ['teaching signal: no steps read'];
  const turn = teachingTurn(sorted);
  return [
    `teaching signal: ${sorted.length} of ${counted(known, 'step')} read`,
    ...(first === last ? [] : [`step ${first.step}: ${describeShares(first)}`]),
    `step ${last.step}: ${describeShares(last)}`,
    ...(turn ? [describeTurn(turn)] : []),
  ];
}
