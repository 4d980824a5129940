/** The state of the chat view: one conversation, or two with the same questions, kept on disk. */
import { useEffect, useState } from 'react';
import type { Turn } from '../../../chat/conversation.ts';
import { type Chat, forgetChat, type ListedChat } from '../../../chat/kept.ts';
import type { ChatSession, ChatSettings } from '../../../chat/session.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useMemory } from '../../navigation/memory.tsx';
import { useChatSession, useChats, useKeptChat } from './use-kept-chat.ts';

/** A conversation with its settings. */
export interface Side {
  readonly session: ChatSession;
  readonly settings: ChatSettings;
}

export interface ChatState {
  readonly settings: ChatSettings;
  /** One conversation, or two with a second model. */
  readonly sides: readonly [Side, ...Side[]];
  /** The turns of the first. */
  readonly turns: readonly Turn[];
  readonly answering: boolean;
  readonly send: (text: string) => void;
  readonly stop: () => void;
  /** Sends the last question again. */
  readonly again: () => void;
  /** Removes the last question, and returns it. */
  readonly takeBack: () => string;
  readonly change: (settings: ChatSettings) => void;
  /** Begins a new conversation and keeps this one. */
  readonly begin: () => void;
  /** Deletes this conversation and begins a new one. */
  readonly forget: () => void;
  readonly earlier: () => readonly ListedChat[];
  readonly open: (chat: Chat) => void;
}

const defaults: ChatSettings = { model: '', system: '' };

/** @param model the model to use until the user chooses one; empty if none is known */
export function useChat(model: string): ChatState {
  const session = useChatSession(...useMemory<ChatSession>('talk'));
  const secondSession = useChatSession(...useMemory<ChatSession>('second talk'));
  const [chosen, rememberChosen] = useMemory<ChatSettings>('settings');
  const [own, setSettings] = useState<ChatSettings>(() => ({ ...defaults, ...chosen }));
  const [knownId, rememberId] = useMemory<string>('id');
  const [id, setId] = useState(() => knownId ?? crypto.randomUUID());
  const workbench = useWorkbench();
  const earlier = useChats();
  const settings = { ...own, model: own.model || model };
  const { secondModel } = settings;
  useKeptChat({ id, settings }, session, secondModel ? secondSession : undefined);
  useEffect(() => rememberId(id), [rememberId, id]);
  useEffect(() => rememberChosen(own), [rememberChosen, own]);

  const first: Side = { session, settings };
  const second: Side[] = secondModel ? [{ session: secondSession, settings: { ...settings, model: secondModel } }] : [];
  const sides = [first, ...second] as const;
  const { turns } = session.conversation;
  const begin = (): void => {
    for (const side of sides) side.session.clear();
    setId(crypto.randomUUID());
  };
  return {
    settings,
    sides,
    turns,
    answering: sides.some(side => side.session.conversation.answering),
    send: text => {
      for (const side of sides) side.session.send(text, side.settings);
    },
    stop: () => {
      for (const side of sides) side.session.cancel();
    },
    again: () => {
      for (const side of sides) side.session.regenerate(side.settings);
    },
    takeBack: () => {
      const [text = ''] = sides.map(side => side.session.takeBack());
      return text;
    },
    change: next => {
      // A second model that is added later gets the earlier turns.
      if (next.secondModel && next.secondModel !== secondModel) secondSession.open(turns);
      setSettings(next);
    },
    begin,
    forget: () => {
      forgetChat(workbench, id);
      begin();
    },
    earlier,
    open: chat => {
      setId(chat.id);
      setSettings(chat.settings);
      session.open(chat.turns);
      secondSession.open(chat.secondTurns ?? []);
    },
  };
}
