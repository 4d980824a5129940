/** Talks with a model: sends, streams, stops. */
import { useCallback, useEffect, useReducer, useRef } from 'react';
import type { ChatRequest } from '../service/chat.ts';
import {
  type AnswerStats,
  type Conversation,
  conversationReducer,
  emptyConversation,
  messagesOf,
  type Turn,
} from './conversation.ts';
import { faultOf } from './fault.ts';
import { useWorkbench } from './workbench.tsx';

/** The stream is drawn so often at most: faster than one can read, slow enough for a thin line. */
const drawEveryMs = 66;

export interface ChatSettings {
  readonly model: string;
  readonly system: string;
  /** A second model that is asked the same, to be read beside the first. */
  readonly beside?: string | undefined;
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly max_tokens?: number | undefined;
}

export interface Talk {
  readonly conversation: Conversation;
  readonly send: (text: string, settings: ChatSettings) => void;
  /** Asks the last question again. */
  readonly regenerate: (settings: ChatSettings) => void;
  readonly cancel: () => void;
  /** Takes the last question back and gives its text. */
  readonly takeBack: () => string;
  readonly clear: () => void;
  /** Goes on with a conversation that was kept. */
  readonly open: (turns: readonly Turn[]) => void;
}

function requestOf(
  turns: Conversation['turns'],
  { model, system, temperature, top_p, max_tokens }: ChatSettings,
): ChatRequest {
  return {
    model,
    messages: messagesOf(turns, system),
    ...(temperature === undefined ? {} : { temperature }),
    ...(top_p === undefined ? {} : { top_p }),
    ...(max_tokens === undefined ? {} : { max_tokens }),
  };
}

export function useConversation(initial: Conversation = emptyConversation): Talk {
  const workbench = useWorkbench();
  const [conversation, dispatch] = useReducer(conversationReducer, initial);
  const latest = useRef(conversation);
  latest.current = conversation;
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const answer = useCallback(
    async (request: ChatRequest, controller: AbortController): Promise<void> => {
      const { signal } = controller;
      const started = Date.now();
      let content = '';
      let reasoning = '';
      let firstMs: number | undefined;
      let stats: AnswerStats = { model: request.model };
      const flush = (): void => {
        if (content === '' && reasoning === '') return;
        dispatch({ kind: 'text', content, reasoning, firstMs });
        content = '';
        reasoning = '';
      };
      const timer = setInterval(flush, drawEveryMs);
      try {
        const service = await workbench.service();
        for await (const event of service.chat.stream(request, { signal })) {
          if (signal.aborted) return;
          if (event.kind === 'delta' && event.index === 0) {
            firstMs ??= Date.now() - started;
            content += event.content ?? '';
            reasoning += event.reasoning ?? '';
          } else if (event.kind === 'finish') stats = { ...stats, finishReason: event.reason };
          else if (event.kind === 'usage') {
            const { prompt_tokens, completion_tokens } = event.usage;
            stats = {
              ...stats,
              promptTokens: prompt_tokens ?? undefined,
              completionTokens: completion_tokens ?? undefined,
            };
          }
        }
        flush();
        if (!signal.aborted) dispatch({ kind: 'end', stats: { ...stats, firstMs, totalMs: Date.now() - started } });
      } catch (error) {
        flush();
        if (!signal.aborted) dispatch({ kind: 'fail', fault: faultOf(error) });
      } finally {
        clearInterval(timer);
        if (running.current === controller) running.current = undefined;
      }
    },
    [workbench],
  );

  const begin = useCallback(
    (request: ChatRequest): void => {
      const controller = new AbortController();
      running.current = controller;
      void answer(request, controller);
    },
    [answer],
  );

  return {
    conversation,
    send: (text, settings) => {
      if (latest.current.answering) return;
      const asked = conversationReducer(latest.current, { kind: 'ask', text, model: settings.model });
      dispatch({ kind: 'ask', text, model: settings.model });
      begin(requestOf(asked.turns, settings));
    },
    regenerate: settings => {
      if (latest.current.answering || latest.current.turns.length === 0) return;
      const asked = conversationReducer(latest.current, { kind: 'ask-again', model: settings.model });
      dispatch({ kind: 'ask-again', model: settings.model });
      begin(requestOf(asked.turns, settings));
    },
    cancel: () => {
      running.current?.abort();
      dispatch({ kind: 'cancel' });
    },
    takeBack: () => {
      const question = latest.current.turns.findLast(turn => turn.role === 'user')?.content ?? '';
      dispatch({ kind: 'take-back' });
      return question;
    },
    clear: () => {
      running.current?.abort();
      dispatch({ kind: 'clear' });
    },
    open: turns => {
      running.current?.abort();
      dispatch({ kind: 'open', turns });
    },
  };
}
