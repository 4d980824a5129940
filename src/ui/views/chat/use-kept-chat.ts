/** Conversations on screen: kept alive, saved after every answer, and listed. */
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { type Chat, chatOf, type ListedChat, titleOf, unsavedKey } from '../../../chat/kept.ts';
import { ChatSession } from '../../../chat/session.ts';
import { clean } from '../../../text/sanitise.ts';
import { useWorkbench } from '../../data/workbench.tsx';

/**
 * Saves a conversation whenever an answer has arrived or failed, even off screen. A removed second model stops and is
 * no longer saved.
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
      // Tried again before the program ends.
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

/** Shows a remembered or a new conversation; `remember` is called with a new one. */
export function useChatSession(known: ChatSession | undefined, remember: (session: ChatSession) => void): ChatSession {
  const workbench = useWorkbench();
  const [session] = useState(() => known ?? new ChatSession(workbench));
  useEffect(() => remember(session), [remember, session]);
  useSyncExternalStore(session.subscribe, () => session.conversation);
  return session;
}
