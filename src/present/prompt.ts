/** A rollout's prompt: the text of its messages before the first answer. Pure. */
import type { Trajectory } from '../contract/trajectories.ts';
import { messagesBeforeAnswer } from './task-groups.ts';
import { type MessagePart, partsOf } from './transcript-parts.ts';

interface Prompt {
  /** The system messages. */
  readonly system: string;
  /** The messages before the last question: earlier ones, and answers as examples. */
  readonly turns: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  /** The user's last message. */
  readonly question: string;
  /** Parts of these messages that are not text: `image png 288 KB`. */
  readonly leftOut: readonly string[];
  /** Whether it ends with the beginning of the answer. */
  readonly isBegun: boolean;
}

/** The roles of messages that give instructions. */
const systemRoles: ReadonlySet<string> = new Set(['system', 'developer']);

/** Describes a part that cannot be sent as text; undefined for text. */
function otherThanText(part: MessagePart): string | undefined {
  switch (part.kind) {
    case 'attachment':
      return part.text;
    case 'reasoning':
      return 'reasoning';
    case 'call':
      return 'tool call';
    case 'response':
      return 'tool response';
    default:
      return undefined;
  }
}

/** The prompt; undefined if there is no user message before the first answer. */
export function promptOf(trajectory: Pick<Trajectory, 'steps'>): Prompt | undefined {
  const sent = messagesBeforeAnswer(trajectory).map(message => ({ role: message.role ?? '', parts: partsOf(message) }));
  const texts = sent
    .map(({ role, parts }) => ({ role, content: parts.map(part => (otherThanText(part) ? '' : part.text)).join('') }))
    .filter(({ content }) => content !== '');
  const turns = texts.flatMap(({ role, content }) =>
    role === 'user' || role === 'assistant' ? [{ role, content } as const] : [],
  );
  const last = turns.findLastIndex(({ role }) => role === 'user');
  const question = turns[last]?.content;
  if (question === undefined) return undefined;
  const leftOut = sent.flatMap(({ parts }) => parts.flatMap(part => otherThanText(part) ?? []));
  return {
    system: texts.flatMap(({ role, content }) => (systemRoles.has(role) ? [content] : [])).join('\n\n'),
    turns: turns.slice(0, last),
    question,
    leftOut,
    isBegun: last < turns.length - 1,
  };
}
