/** Classifies rollouts by outcome: status, error, termination reason, finish reason and number of steps. Pure. */
import { perObject } from '../base/memo.ts';
import { mean } from '../base/statistics.ts';
import { earlyEndOf } from '../contract/finish-reason.ts';
import { formatStatus } from '../contract/status.ts';
import { lastToolError } from '../contract/tool-error.ts';
import type { Trajectory, TrajectoryMessage } from '../contract/trajectories.ts';
import { countOf } from '../text/numbers.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { hasFailed } from './task-groups.ts';
import { scoresOf } from './teaching.ts';

/** The criteria, in order, with their labels. */
export const outcomeKinds = {
  status: 'status',
  error: 'error',
  tool: 'tool error',
  ended: 'ended by',
  finish: 'finish reason',
  steps: 'steps',
} as const;
export type OutcomeKind = keyof typeof outcomeKinds;

const longestClass = 200;
const ids = /\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{4,30}|0x[0-9a-f]+|[a-z]{2,12}_(?=\w{0,40}\d)\w{1,60})\b/gi;
const hashes = /\b[0-9a-f]{7,64}\b/gi;
const numbers = /\d+(?:[.,:]\d+)*/g;
/** Not an apostrophe within a word. */
const quotations = /"[^"]+"|`[^`]+`|(?<!\w)'[^']+'(?!\w)/g;

/** An error's first line without ids, numbers and quoted words, so that errors with the same cause are equal. */
export function errorClass(error: string): string {
  const [first = ''] = sanitiseLine(
    error
      .slice(0, 4 * longestClass)
      .trimStart()
      .split('\n', 1)[0] ?? '',
  ).split('\n');
  return first
    .replace(quotations, quoted => `${quoted[0]}…${quoted[0]}`)
    .replace(ids, 'ID')
    .replace(hashes, hash => (/\d/.test(hash) ? 'ID' : hash))
    .replace(numbers, 'N')
    .slice(0, longestClass)
    .trim();
}

/** Minimum errors that differ in one word, and minimum words that they share, for that word to be a name. */
const named = { errors: 3, words: 4 } as const;
/** How many different errors to search for names. */
const maxErrors = 1_000;

/**
 * Error classes that differ only in a name, each with their common class: `there is no … in the store`. A name is a word
 * between others; a last word may be the cause.
 */
function withoutNames(classes: readonly string[]): ReadonlyMap<string, string> {
  const alike = new Map<string, string[]>();
  for (const each of classes.slice(0, maxErrors)) {
    const words = each.split(' ');
    for (let at = 1; at < words.length - 1 && words.length > named.words; at += 1) {
      const pattern = words.with(at, '…').join(' ');
      const known = alike.get(pattern);
      if (known) known.push(each);
      else alike.set(pattern, [each]);
    }
  }
  const found = [...alike].filter(([, { length }]) => length >= named.errors);
  // The last pattern of a class counts: that of most classes.
  found.sort(([, one], [, other]) => one.length - other.length);
  return new Map(found.flatMap(([pattern, all]) => all.map(each => [each, pattern] as const)));
}

type ErrorOf = (row: Trajectory) => string | null | undefined;

/** Returns a function that classifies the errors of these rollouts. */
function errorClasses(rows: readonly Trajectory[], errorOf: ErrorOf) {
  const own = new Map<string, string>();
  for (const row of rows) {
    const error = errorOf(row);
    if (error && !own.has(error)) own.set(error, errorClass(error));
  }
  const names = withoutNames([...new Set(own.values())]);
  return (row: Trajectory): string | undefined => {
    const known = own.get(errorOf(row) ?? '');
    return known && (names.get(known) ?? known);
  };
}

/** Why the environment or the service ended the rollout. */
export const endedBy = ({ rollout, termination_reason: own }: Trajectory): string | undefined =>
  rollout?.termination_reason ?? (typeof own === 'string' ? own : undefined);

/**
 * Why the model ended its last answer; undefined if the service sends neither the reason nor the steps. Cached because
 * the reader shows it after every key, and a trajectory may have thousands of messages.
 */
export const finishOf = perObject(({ steps, finish_reason: own }: Trajectory): string | undefined => {
  if (typeof own === 'string' && own !== '') return own;
  const messages = (steps ?? []).flatMap(step => step.messages ?? []);
  return messages.findLast(({ finish_reason }) => finish_reason)?.finish_reason ?? undefined;
});

/** The last message that was cut off at the token limit. */
export const cutMessageOf = perObject(({ steps }: Trajectory): TrajectoryMessage | undefined =>
  (steps ?? [])
    .flatMap(({ messages }) => messages ?? [])
    .findLast(({ finish_reason }) => earlyEndOf(finish_reason) === 'token limit'),
);

/** The last error of a tool; undefined if none failed, or the service sends neither errors nor steps. */
export const toolErrorOf = perObject(({ steps, tool_error: own }: Trajectory): string | undefined =>
  typeof own === 'string' && own !== '' ? own : lastToolError((steps ?? []).flatMap(step => step.messages ?? [])),
);

const errorsBy: Partial<Record<OutcomeKind, ErrorOf>> = { error: ({ error }) => error, tool: toolErrorOf };

/** If there are more distinct numbers of steps than this, they are grouped: 1, 2-3, 4-7, 8-15, ... */
const maxNumbers = 10;

function stepsClass(steps: number | undefined, isExact: boolean): string | undefined {
  if (steps === undefined) return undefined;
  if (isExact || steps < 2) return String(steps);
  const low = 2 ** Math.floor(Math.log2(steps));
  return `${low}-${2 * low - 1}`;
}

/** Rollouts with the same outcome. */
export interface OutcomeClass {
  readonly by: OutcomeKind;
  /** Undefined if the rollouts have no value. */
  readonly value: string | undefined;
  readonly rows: readonly Trajectory[];
  /** Their share of all rollouts. */
  readonly share: number;
  /** The known rewards. */
  readonly scores: readonly number[];
  readonly mean: number | undefined;
}

/** A rollout that could not be read: its end is unknown, not missing. */
const unreadField = 'end_unread';
export const asUnread = (row: Trajectory): Trajectory => ({ ...row, [unreadField]: true });
const unreadClass = 'could not be read';

/** Returns a function that classifies the given rollouts. */
function classOf(rows: readonly Trajectory[]): (row: Trajectory, by: OutcomeKind) => string | undefined {
  const isExact = new Set(rows.map(({ num_steps }) => countOf(num_steps))).size <= maxNumbers;
  const [errorIn, toolErrorIn] = [errorClasses(rows, ({ error }) => error), errorClasses(rows, toolErrorOf)];
  const known = (row: Trajectory, by: OutcomeKind): string | undefined => {
    switch (by) {
      case 'status':
        return row.status ? formatStatus(row.status) : undefined;
      case 'error':
        return errorIn(row);
      case 'tool':
        return toolErrorIn(row);
      case 'ended':
        return endedBy(row);
      case 'finish':
        return finishOf(row);
      case 'steps':
        return stepsClass(countOf(row.num_steps), isExact);
    }
  };
  return (row, by) => known(row, by) ?? (row[unreadField] === true ? unreadClass : undefined);
}

/**
 * Returns a function that tells whether a rollout is of a class that was named when there were fewer or more rollouts:
 * `5` is one of `4-7` steps, and an error with a name has a class without it.
 */
export function inClass(
  rows: readonly Trajectory[],
  { by, value }: Pick<OutcomeClass, 'by' | 'value'>,
): (row: Trajectory) => boolean {
  const classIn = classOf(rows);
  const words = value?.split(' ') ?? [];
  const isNamed = (error: string | null | undefined): boolean => {
    const own = error ? errorClass(error).split(' ') : [];
    return own.length === words.length && words.every((word, index) => word === '…' || word === own[index]);
  };
  const errorOf = errorsBy[by];
  const wasIn = (row: Trajectory): boolean => {
    if (errorOf) return isNamed(errorOf(row));
    return by === 'steps' && [true, false].some(isExact => stepsClass(countOf(row.num_steps), isExact) === value);
  };
  return row => classIn(row, by) === value || (value !== undefined && wasIn(row));
}

/** The words in which the errors of a class differ, with their number of rollouts, most frequent first. */
export function differingWords({ by, value, rows }: OutcomeClass): readonly (readonly [word: string, count: number])[] {
  const errorOf = errorsBy[by];
  if (!errorOf) return [];
  const errors = rows.map(row => errorClass(errorOf(row) ?? '').split(' '));
  // An error may contain an ellipsis itself.
  const at = (value ?? '')
    .split(' ')
    .findIndex((word, index) => word === '…' && errors.some(each => each[index] !== word));
  if (at < 0) return [];
  const words = Map.groupBy(errors, each => each[at] ?? '');
  return [...words].map(([word, { length }]) => [word, length] as const).sort(([, one], [, other]) => other - one);
}

/** Whether a class is of rollouts without a known value. */
const isNone = (value: string | undefined): boolean => value === undefined || value === unreadClass;

/**
 * The classes of rollouts: failures first, then the most frequent; numbers of steps in numeric order. Omits criteria
 * for which no rollout has a value.
 */
export function outcomeClasses(rows: readonly Trajectory[]): readonly OutcomeClass[] {
  const classIn = classOf(rows);
  return (Object.keys(outcomeKinds) as OutcomeKind[]).flatMap(by => {
    const groups = Map.groupBy(rows, row => classIn(row, by));
    if ([...groups.keys()].every(isNone)) return [];
    const classes = [...groups].map(([value, group]): OutcomeClass => {
      const scores = scoresOf(group);
      return { by, value, rows: group, share: group.length / rows.length, scores, mean: mean(scores) };
    });
    const rank = ({ value, rows: [first] }: OutcomeClass): number =>
      isNone(value) ? 2 : by === 'status' && first && hasFailed(first) ? 0 : 1;
    const place = ({ value, rows: all }: OutcomeClass): number =>
      by === 'steps' ? Number.parseInt(value ?? '', 10) || 0 : -all.length;
    return classes.sort((one, other) => rank(one) - rank(other) || place(one) - place(other));
  });
}
