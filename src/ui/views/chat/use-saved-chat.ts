/** Conversations on screen: kept alive, and saved after every answer. */
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Turn } from '../../../chat/conversation.ts';
import {
  type Chat,
  chatOf,
  endsIncomplete,
  savedTalk,
  stoppedTurns,
  titleOf,
  unsavedKey,
  withSaved,
} from '../../../chat/saved.ts';
import { ChatSession } from '../../../chat/session.ts';
import { clean } from '../../../text/sanitise.ts';
import { useWorkbench } from '../../data/workbench.tsx';

/** A saved conversation without its turns. */
type ChatWithoutTurns = Omit<Chat, 'turns' | 'secondTurns' | 'choices'>;

/**
 * Saves a conversation after each question and each answer, complete or failed, even off screen, and when its branches
 * change. A removed second model stops and is no longer saved.
 *
 * @param onMerged called with the branches if another screen has changed the conversation
 */
export function useSavedChat(
  { id, settings, others, branch }: ChatWithoutTurns,
  session: ChatSession,
  second: ChatSession | undefined,
  onMerged: (merged: Chat) => void = () => {},
): void {
  const workbench = useWorkbench();
  const secondBefore = useRef<ChatSession>(undefined);
  const known = useRef<readonly unknown[]>([]);
  const merging = useRef(onMerged);
  useEffect(() => {
    merging.current = onMerged;
  });
  const { answering } = session.conversation;
  const isAnswering = answering || second?.conversation.answering;
  useEffect(() => {
    let own = { id, settings, others, branch };
    const keep = (): void => {
      const turns = stoppedTurns(session.conversation);
      if (!workbench.keepsChats || turns.length === 0) return;
      const secondTurns = second && stoppedTurns(second.conversation);
      const chat = {
        ...{ id, title: titleOf(turns), model: settings.model },
        isIncomplete: endsIncomplete({ turns, secondTurns }),
        talk: savedTalk({ ...own, turns, secondTurns }),
      };
      const merge = (theirs: unknown): unknown => {
        const merged = withSaved({ ...own, turns, secondTurns }, chatOf(id, theirs));
        own = merged;
        merging.current(merged);
        return savedTalk(merged);
      };
      const save = (): boolean => workbench.remembered.saveChat(chat, undefined, merge);
      const key = unsavedKey(id);
      // Try again to save it before the program exits.
      const unsaved = {
        words: clean`The conversation "${chat.title}", which could not be saved`,
        stop: () => void save(),
      };
      if (save()) workbench.unfinished.delete(key);
      else workbench.unfinished.set(key, unsaved);
    };
    session.save = keep;
    if (second) second.save = keep;
    const [idBefore, ...before] = known.current;
    const now = [others, isAnswering];
    known.current = [id, ...now];
    const hasChanged = idBefore === id && now.some((each, index) => each !== before[index]);
    const removed = secondBefore.current;
    secondBefore.current = second;
    if (removed && removed !== second) {
      removed.save = undefined;
      removed.clear();
      keep();
    } else if (hasChanged) keep();
  }, [workbench, id, settings, others, branch, isAnswering, session, second]);
}

/** Shows a remembered conversation, or a new one with these turns, and passes it to `remember`. */
export function useChatSession(
  known: ChatSession | undefined,
  remember: (session: ChatSession) => void,
  turns: readonly Turn[] = [],
): ChatSession {
  const workbench = useWorkbench();
  const [session] = useState(() => {
    if (known) return known;
    const begun = new ChatSession(workbench);
    begun.open(turns);
    return begun;
  });
  useEffect(() => remember(session), [remember, session]);
  useSyncExternalStore(session.subscribe, () => session.conversation);
  return session;
}
