/** Aligns the messages of two trajectories by content and role, and finds the words that differ. Pure. */
import { type Differences, differencesOf } from '../base/differences.ts';
import { pushAll } from '../base/many.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { asReceived, reward } from '../text/numbers.ts';
import { sanitise } from '../text/sanitise.ts';
import { trajectoryDetails } from './trajectory-details.ts';
import { type Block, transcriptOf } from './transcript.ts';

/** A message to compare, sanitised. */
export interface Message {
  /** The index of its step, and the step's number. */
  readonly step: number;
  readonly number: number;
  readonly role: string;
  readonly text: string;
  /** Its finish reason and tokens, if known: `finish length  16 out`. */
  readonly end: string;
  /** The text to compare, without tool call ids, which differ in every rollout. */
  readonly key: string;
}

/** The role given to the rewards, which follow the last message. */
const rewardsRole = 'rewards';

/** A trajectory's messages, followed by its rewards with the grader's explanations. */
export function messagesOf(trajectory: Trajectory): readonly Message[] {
  const { blocks } = transcriptOf(trajectory, { showHidden: false });
  const messages: Message[] = [];
  let number = 0;
  for (let index = 0; index < blocks.length; index += 1) {
    const head = blocks[index];
    if (head?.number !== undefined) number = head.number;
    if (head?.head !== 'message') continue;
    const body: Block[] = [];
    while (blocks[index + 1] && !blocks[index + 1]?.head) {
      index += 1;
      const block = blocks[index];
      if (block && block.kind !== 'blank') body.push(block);
    }
    const [role = '', ...facts] = head.text.split('  ·  ');
    const flag = facts.includes('error') ? ' (error)' : '';
    const text = body.map(block => block.text).join('\n');
    const [finish, tokens] = [/^finish /, /^\d\S* out$/].map(form => facts.find(fact => form.test(fact)));
    const end = [finish, tokens].filter(Boolean).join('  ');
    const key = body.map(withoutCallId).join('\n');
    messages.push({ step: head.step, number, role: role + flag, text, end, key });
  }
  const graded = trajectoryDetails(trajectory).filter(({ group }) => group === 'Rewards');
  const text = [
    `reward ${reward(trajectory.reward)}`,
    ...(trajectory.error ? [trajectory.error] : []),
    ...graded.map(({ label, value }) => `${label}  ${asReceived(value)}`),
  ].join('\n');
  const shown = sanitise(text, { multiline: true });
  return [...messages, { step: Number.MAX_SAFE_INTEGER, number, role: rewardsRole, text: shown, end: '', key: shown }];
}

function withoutCallId({ text, heading }: Block): string {
  if (heading === undefined) return text;
  const end = text.indexOf('\n');
  const title = end === -1 ? text : text.slice(0, end);
  const open = title.lastIndexOf(' (');
  return open !== -1 && title.endsWith(')') ? title.slice(0, open) + text.slice(title.length) : text;
}

/** Messages shown side by side. A side is undefined if it has no message with this role at this point. */
export interface AlignedPair {
  readonly left: Message | undefined;
  readonly right: Message | undefined;
  readonly isEqual: boolean;
}

export interface Alignment {
  readonly pairs: readonly AlignedPair[];
  /** The index of the first pair that differs; -1 if all are equal. */
  readonly first: number;
  readonly differing: number;
  /** Whether all equal messages were found; false if the trajectories differ too much. */
  readonly isExact: boolean;
}

/** Maximum insertions and deletions of messages to search for; searching for more takes seconds. */
const maxEdits = 1_000;

const roleOf = ({ role }: Message): string => role.replace(' (error)', '');
const keyOf = ({ role, key }: Message): string => `${role}\n${key}`;

/** Swapping the sides does not change the alignment. */
export function align(left: readonly Message[], right: readonly Message[]): Alignment {
  const keys = [left.map(keyOf), right.map(keyOf)] as const;
  const shorter = Math.min(left.length, right.length);
  let same = 0;
  while (same < shorter && keys[0][same] === keys[1][same]) same += 1;
  const isSwapped = (keys[0][same] ?? '') > (keys[1][same] ?? '');
  const { matched: found, isExact } = isSwapped ? matchedFrom(same, right, left) : matchedFrom(same, left, right);
  const matched = isSwapped ? found.map(([toOther, toOne]) => [toOne, toOther] as const) : found;
  const pairs: AlignedPair[] = [];
  let [one, other] = [0, 0];
  for (const [toOne, toOther] of [...matched, [left.length, right.length] as const]) {
    pushAll(
      pairs,
      left.slice(one, toOne).map(each => ({ left: each, right: undefined, isEqual: false })),
    );
    pushAll(
      pairs,
      right.slice(other, toOther).map(each => ({ left: undefined, right: each, isEqual: false })),
    );
    const isEqual = keys[0][toOne] === keys[1][toOther];
    if (toOne < left.length) pairs.push({ left: left[toOne], right: right[toOther], isEqual });
    [one, other] = [toOne + 1, toOther + 1];
  }
  const first = pairs.findIndex(({ isEqual }) => !isEqual);
  return { pairs, first, differing: pairs.filter(({ isEqual }) => !isEqual).length, isExact };
}

/**
 * The indexes of messages to show side by side. In the step with the first difference, messages are paired by role.
 * Equal messages are matched only in later steps, so that a tool call is not matched with the same call that the other
 * side makes later.
 *
 * @param same the number of equal messages before the first difference
 */
function matchedFrom(same: number, left: readonly Message[], right: readonly Message[]): Differences {
  const matched: (readonly [left: number, right: number])[] = Array.from({ length: same }, (_, at) => [at, at]);
  let [one, other] = [same, same];
  const pairByRole = (to: number, toOther: number): void => {
    const roles = [left.slice(one, to).map(roleOf), right.slice(other, toOther).map(roleOf)] as const;
    const [from, fromOther] = [one, other];
    for (const [at, atOther] of differencesOf(...roles, maxEdits).matched) {
      matched.push([from + at, fromOther + atOther]);
    }
    [one, other] = [to, toOther];
  };
  pairByRole(...endsOfStep(same, left, right));
  const [start, startOther] = [one, other];
  const equal = differencesOf(left.slice(start).map(keyOf), right.slice(startOther).map(keyOf), maxEdits);
  for (const [at, atOther] of equal.matched) {
    pairByRole(start + at, startOther + atOther);
    matched.push([one, other]);
    [one, other] = [one + 1, other + 1];
  }
  pairByRole(left.length, right.length);
  return { matched, isExact: equal.isExact };
}

/**
 * Where the step with the first difference ends on each side. On a side that is already at its next step, the step ends
 * before the difference.
 */
function endsOfStep(first: number, left: readonly Message[], right: readonly Message[]): readonly [number, number] {
  const [one, other] = [left[first], right[first]];
  const areInside = [left, right].map(side => side[first]?.step === side[first - 1]?.step);
  const isSameRole = one && other && roleOf(one) === roleOf(other);
  const endOf = (side: readonly Message[], isInside: boolean | undefined): number => {
    if (!isInside && !isSameRole && areInside.includes(true)) return first;
    const end = side.findIndex(
      ({ step, role }, at) => at >= first && (step !== side[first]?.step || role === rewardsRole),
    );
    return end === -1 ? side.length : end;
  };
  return [endOf(left, areInside[0]), endOf(right, areInside[1])];
}

/** Ranges in a text, in characters. */
export type Ranges = readonly (readonly [from: number, to: number])[];

/** Maximum insertions and deletions of words to search for. */
const maxWords = 400;

/** The ranges of words in which two texts differ. */
export function differingWords(left: string, right: string): readonly [left: Ranges, right: Ranges] {
  const [ones, others] = [wordsOf(left), wordsOf(right)];
  const { matched } = differencesOf(ones, others, maxWords);
  const ranges = (words: readonly string[], equal: ReadonlySet<number>): Ranges => {
    const found: [number, number][] = [];
    let place = 0;
    for (const [index, word] of words.entries()) {
      const last = found.at(-1);
      if (!equal.has(index)) {
        if (last?.[1] === place) last[1] = place + word.length;
        else found.push([place, place + word.length]);
      }
      place += word.length;
    }
    return found;
  };
  return [
    ranges(ones, new Set(matched.map(([one]) => one))),
    ranges(others, new Set(matched.map(([, other]) => other))),
  ];
}

const wordsOf = (text: string): readonly string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/**
 * Counts the `others` that equal both sides up to the first difference, and then continue with the left or the right
 * side's message, or end as that side does. Undefined if nothing differs.
 */
export function likeFirstDifference(
  { pairs, first }: Alignment,
  others: readonly (readonly Message[])[],
): { readonly left: number; readonly right: number } | undefined {
  if (first === -1) return undefined;
  const begun = others.filter(own => pairs.every(({ left }, at) => at >= first || isLike(own[at], left)));
  // A side may have no message opposite the other's; its next message then comes after this point.
  const [left, right] = (['left', 'right'] as const).map(
    side => pairs.find((each, at) => at >= first && each[side] !== undefined)?.[side],
  );
  const isEnd = left?.role !== right?.role;
  const count = (message: Message | undefined): number =>
    begun.filter(({ [first]: own }) =>
      isEnd && own?.role === rewardsRole ? message?.role === own.role : isLike(own, message),
    ).length;
  return { left: count(left), right: count(right) };
}

const isLike = (one: Message | undefined, other: Message | undefined): boolean =>
  one?.role === other?.role && one?.key === other?.key;
