/** The prompt of a rollout: its messages before the first answer, as they were sent. Pure. */
import { messageContent } from '../contract/common.ts';
import type { Trajectory } from '../contract/trajectories.ts';

export interface Prompt {
  /** The system messages. */
  readonly system: string;
  /** The user messages, in order; never empty. */
  readonly questions: readonly [string, ...string[]];
}

/** Roles of instructions to the model. */
const systemRoles: ReadonlySet<string> = new Set(['system', 'developer']);

/** Undefined if no user message comes before the first answer. */
export function promptOf({ steps }: Pick<Trajectory, 'steps'>): Prompt | undefined {
  const messages = (steps ?? []).flatMap(step => step.messages ?? []);
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const before = messages.slice(0, first === -1 ? messages.length : first);
  const textsOf = (isWanted: (role: string) => boolean): string[] =>
    before.flatMap(({ role, content }) => (isWanted(role ?? '') ? (messageContent(content) ?? []) : []));
  const [question, ...others] = textsOf(role => role === 'user').filter(text => text !== '');
  if (question === undefined) return undefined;
  return { system: textsOf(role => systemRoles.has(role)).join('\n\n'), questions: [question, ...others] };
}
