/** Aligns the messages of two trajectories by content and role, and finds the words that differ. Pure. */
import { differencesOf } from '../base/differences.ts';
import { pushAll } from '../base/many.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { asReceived, reward } from '../text/numbers.ts';
import { sanitise } from '../text/sanitise.ts';
import { trajectoryDetails } from './trajectory-details.ts';
import { type Block, transcriptOf } from './transcript.ts';

/** A message to compare, sanitised. */
export interface Message {
  /** The index of its step, and the number of the step. */
  readonly step: number;
  readonly number: number;
  readonly role: string;
  readonly text: string;
  /** `finish length`; empty if its finish reason is unknown. */
  readonly finish: string;
  /** The text to compare, without the ids of tool calls, which differ in every rollout. */
  readonly key: string;
}

/** The role of the rewards, which follow the last message. */
const rewardsRole = 'rewards';

/** The messages of a trajectory, followed by its rewards with the grader's explanations. */
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
    const finish = facts.find(fact => fact.startsWith('finish ')) ?? '';
    const key = body.map(withoutCallId).join('\n');
    messages.push({ step: head.step, number, role: role + flag, text, finish, key });
  }
  const graded = trajectoryDetails(trajectory).filter(({ group }) => group === 'Rewards');
  const text = [
    `reward ${reward(trajectory.reward)}`,
    ...(trajectory.error ? [trajectory.error] : []),
    ...graded.map(({ label, value }) => `${label}  ${asReceived(value)}`),
  ].join('\n');
  const shown = sanitise(text, { multiline: true });
  return [
    ...messages,
    { step: Number.MAX_SAFE_INTEGER, number, role: rewardsRole, text: shown, finish: '', key: shown },
  ];
}

function withoutCallId({ text, heading }: Block): string {
  if (heading === undefined) return text;
  const end = text.indexOf('\n');
  const title = end === -1 ? text : text.slice(0, end);
  const open = title.lastIndexOf(' (');
  return open !== -1 && title.endsWith(')') ? title.slice(0, open) + text.slice(title.length) : text;
}

/** Messages shown side by side. A side is undefined if it has no message of this role at this point. */
export interface AlignedPair {
  readonly left: Message | undefined;
  readonly right: Message | undefined;
  readonly isEqual: boolean;
}

export interface Alignment {
  readonly pairs: readonly AlignedPair[];
  /** Index of the first pair that differs; -1 if all are equal. */
  readonly first: number;
  readonly differing: number;
  /** False if the trajectories differ too much to find all equal messages. */
  readonly isExact: boolean;
}

/** Maximum insertions and deletions of messages to search for; more take seconds. */
const mostEdits = 1_000;

export function align(left: readonly Message[], right: readonly Message[]): Alignment {
  const keyOf = ({ role, key }: Message): string => `${role}\n${key}`;
  const { matched, isExact } = differencesOf(left.map(keyOf), right.map(keyOf), mostEdits);
  const pairs: AlignedPair[] = [];
  let [one, other] = [0, 0];
  for (const [toOne, toOther] of [...matched, [left.length, right.length] as const]) {
    pushAll(pairs, byRole(left.slice(one, toOne), right.slice(other, toOther)));
    if (toOne < left.length) pairs.push({ left: left[toOne], right: right[toOther], isEqual: true });
    [one, other] = [toOne + 1, toOther + 1];
  }
  const first = pairs.findIndex(({ isEqual }) => !isEqual);
  return { pairs, first, differing: pairs.filter(({ isEqual }) => !isEqual).length, isExact };
}

/** Pairs differing messages by role, in order. */
function byRole(left: readonly Message[], right: readonly Message[]): AlignedPair[] {
  const roles = (messages: readonly Message[]): string[] => messages.map(({ role }) => role.replace(' (error)', ''));
  const { matched } = differencesOf(roles(left), roles(right), mostEdits);
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
    if (toOne < left.length) pairs.push({ left: left[toOne], right: right[toOther], isEqual: false });
    [one, other] = [toOne + 1, toOther + 1];
  }
  return pairs;
}

/** Ranges of a text, in characters. */
export type Ranges = readonly (readonly [from: number, to: number])[];

/** Maximum insertions and deletions of words to search for. */
const mostWords = 400;

/** The ranges of words in which two texts differ. */
export function differingWords(left: string, right: string): readonly [left: Ranges, right: Ranges] {
  const [ones, others] = [wordsOf(left), wordsOf(right)];
  const { matched } = differencesOf(ones, others, mostWords);
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
 * How many of `others` have the same message as the left or the right side at the first difference. Undefined if
 * nothing differs.
 */
export function likeFirstDifference(
  { pairs, first }: Alignment,
  others: readonly (readonly Message[])[],
): { readonly left: number; readonly right: number } | undefined {
  const differing = pairs[first];
  if (!differing) return undefined;
  const count = (side: 'left' | 'right'): number => {
    const message = differing[side];
    const place = pairs.slice(0, first).filter(each => each[side]).length;
    return others.filter(({ [place]: own }) => message && own?.role === message.role && own.key === message.key).length;
  };
  return { left: count('left'), right: count('right') };
}
