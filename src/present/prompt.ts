/** A rollout's prompt: the text of its messages before the first answer. Pure. */
import type { Trajectory } from '../contract/trajectories.ts';
import { messagesBeforeAnswer } from './task-groups.ts';
import { type MessagePart, partsOf } from './transcript-parts.ts';

interface Prompt {
  /** The system messages. */
  readonly system: string;
  /** The user messages, in order; never empty. */
  readonly questions: readonly [string, ...string[]];
  /** Parts of these messages that are not text: `image png 288 KB`. */
  readonly leftOut: readonly string[];
  /** Whether it contains answers as examples. */
  readonly hasExamples: boolean;
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
  const textsOf = (isWanted: (role: string) => boolean): string[] =>
    sent
      .filter(({ role }) => isWanted(role))
      .map(({ parts }) => parts.map(part => (otherThanText(part) ? '' : part.text)).join(''))
      .filter(text => text !== '');
  const [question, ...others] = textsOf(role => role === 'user');
  if (question === undefined) return undefined;
  const leftOut = sent.flatMap(({ parts }) => parts.flatMap(part => otherThanText(part) ?? []));
  return {
    system: textsOf(role => systemRoles.has(role)).join('\n\n'),
    questions: [question, ...others],
    leftOut,
    hasExamples: sent.some(({ role }) => role === 'assistant'),
  };
}
