import type { Workbench } from '../workbench/workbench.ts';
import { messagesOf, type Turn } from './conversation.ts';
import type { ChatSettings } from './session.ts';

/** A conversation with its settings. */
export interface Chat {
  readonly id: string;
  readonly settings: ChatSettings;
  readonly turns: readonly Turn[];
  /** The conversation with the second model, if there was one. */
  readonly secondTurns?: readonly Turn[] | undefined;
}

export interface ListedChat extends Chat {
  readonly title: string;
  /** Epoch milliseconds of its last turn. */
  readonly at: number;
}

const titleLength = 200;

/** The title of a conversation: the beginning of its first question. */
export function titleOf(turns: readonly Turn[]): string {
  const question = turns.find(turn => turn.role === 'user')?.content.trim() ?? '';
  return question.replace(/\s+/g, ' ').slice(0, titleLength);
}

function isTurn(value: unknown): value is Turn {
  const { role, content, reasoning } = (value ?? {}) as Partial<Record<keyof Turn, unknown>>;
  return (role === 'user' || role === 'assistant') && typeof content === 'string' && typeof reasoning === 'string';
}

function areTurns(value: unknown): value is readonly Turn[] {
  return Array.isArray(value) && value.every(isTurn);
}

/** Parses a saved conversation; undefined for data of another version or program. */
export function chatOf(id: string, talk: unknown): Chat | undefined {
  const { settings, turns, secondTurns } = (talk ?? {}) as Partial<Record<keyof Chat, unknown>>;
  const { model, system } = (settings ?? {}) as Partial<Record<keyof ChatSettings, unknown>>;
  if (typeof model !== 'string' || typeof system !== 'string') return undefined;
  if (!areTurns(turns) || (secondTurns !== undefined && !areTurns(secondTurns))) return undefined;
  return { id, settings: settings as ChatSettings, turns, ...(secondTurns && { secondTurns }) };
}

/** Whether a conversation ends with an incomplete answer: stopped or interrupted. */
export function endsIncomplete({ turns, secondTurns = [] }: Pick<Chat, 'turns' | 'secondTurns'>): boolean {
  return [turns.at(-1), secondTurns.at(-1)].some(turn => turn?.cancelled === true || turn?.error !== undefined);
}

/** A conversation as one item of a trajectory upload. */
export function trajectoryOf({ settings, turns }: Pick<Chat, 'settings' | 'turns'>, taskId: string) {
  return {
    ...(taskId === '' ? {} : { task_id: taskId }),
    status: 'completed',
    model_slug: settings.model,
    messages: messagesOf(turns, settings.system),
  };
}

/** The conversation's key in `Workbench.unfinished`. */
export const unsavedKey = (id: string): string => `chat ${id}`;

/** Removes a conversation, even if it could not be saved. */
export function forgetChat({ remembered, unfinished }: Workbench, id: string): void {
  remembered.forgetChat(id);
  unfinished.delete(unsavedKey(id));
}
