/** Conversations on disk: saved after every answer, to be continued later. */
import { useCallback, useEffect, useRef } from 'react';
import { clean } from '../text/sanitise.ts';
import type { ChatSession, ChatSettings } from './chat-session.ts';
import { messagesOf, type Turn } from './conversation.ts';
import { useWorkbench, type Workbench } from './workbench.tsx';

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

const unsavedKey = (id: string): string => `chat ${id}`;

/** Removes a conversation, also one that could not be saved. */
export function forgetChat({ remembered, unfinished }: Workbench, id: string): void {
  remembered.forgetChat(id);
  unfinished.delete(unsavedKey(id));
}

/**
 * Saves a conversation whenever an answer has arrived or failed, even off screen. A second model that is removed stops,
 * and is not saved any more.
 */
export function useKeptChat(
  { id, settings }: Pick<Chat, 'id' | 'settings'>,
  session: ChatSession,
  second: ChatSession | undefined,
): void {
  const workbench = useWorkbench();
  const secondBefore = useRef<ChatSession>(undefined);
  useEffect(() => {
    const keep = (): void => {
      const { turns, answering } = session.conversation;
      if (!workbench.keepsChats || answering || second?.conversation.answering || turns.length === 0) return;
      const secondTurns = second?.conversation.turns;
      const chat = { id, title: titleOf(turns), talk: { settings, turns, secondTurns } };
      const save = (): boolean => workbench.remembered.keepChat(chat);
      const key = unsavedKey(id);
      // Tried once more before the program ends.
      const unsaved = {
        words: clean`The conversation "${chat.title}", which could not be saved`,
        stop: () => void save(),
      };
      if (save()) workbench.unfinished.delete(key);
      else workbench.unfinished.set(key, unsaved);
    };
    session.onSettled = keep;
    if (second) second.onSettled = keep;
    const removed = secondBefore.current;
    secondBefore.current = second;
    if (!removed || removed === second) return;
    removed.onSettled = undefined;
    const wasAwaited = removed.conversation.answering;
    removed.clear();
    if (wasAwaited) keep();
  }, [workbench, id, settings, session, second]);
}

/** Returns the saved conversations, most recent first. */
export function useChats(): () => readonly ListedChat[] {
  const { remembered } = useWorkbench();
  return useCallback(
    () =>
      remembered.chats().flatMap(({ id, title, at, talk }) => {
        const chat = chatOf(id, talk);
        return chat ? [{ ...chat, title, at }] : [];
      }),
    [remembered],
  );
}
