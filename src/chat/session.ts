/** Chat sessions: send, stream, stop. Answers keep streaming while their conversation is off screen. */

import { asError } from '../base/errors.ts';
import { Listeners } from '../base/listeners.ts';
import type { ChatRequest } from '../service/chat.ts';
import { clean } from '../text/sanitise.ts';
import type { Workbench } from '../workbench/workbench.ts';
import { Answer } from './answer.ts';
import {
  type AnswerStats,
  type ChatParameters,
  type Conversation,
  type ConversationAction,
  conversationReducer,
  emptyConversation,
  messagesOf,
  parametersOf,
  type Turn,
} from './conversation.ts';
import { chatRoute } from './route.ts';

/** How often a stream is redrawn: faster than a user reads, slow enough for a slow connection. */
const drawEveryMs = 66;
/** How often a streaming answer is saved, in case the program is killed. */
const saveEveryMs = 5_000;

export interface ChatSettings extends ChatParameters {
  readonly model: string;
  readonly system: string;
  /** A second model that is sent the same messages, for comparison. */
  readonly secondModel?: string | undefined;
}

function requestOf(turns: Conversation['turns'], settings: ChatSettings): ChatRequest {
  const { model, system } = settings;
  return { model, messages: messagesOf(turns, system), ...parametersOf(settings) };
}

const messageOptions = (settings: ChatSettings) => ({
  model: settings.model,
  parameters: parametersOf(settings),
  system: settings.system,
  at: Date.now(),
});

/** A conversation and its stream. Lasts as long as the connection to the service. */
export class ChatSession {
  readonly #workbench: Pick<Workbench, 'service' | 'unfinished' | 'remembered'>;
  readonly #id = crypto.randomUUID();
  readonly #listeners = new Listeners();
  #conversation: Conversation = emptyConversation;
  #running: AbortController | undefined;
  /** Shows the buffered text. */
  #flush = (): void => {};
  /** Called after each answer, and every few seconds of it, even while the conversation is off screen. */
  save: (() => void) | undefined;

  constructor(workbench: Pick<Workbench, 'service' | 'unfinished' | 'remembered'>) {
    this.#workbench = workbench;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  readonly subscribe = this.#listeners.subscribe;

  /** Sends a message; does nothing while an answer is streaming. */
  send(text: string, settings: ChatSettings): void {
    if (this.#conversation.answering) return;
    this.#dispatch({ kind: 'ask', text, ...messageOptions(settings) });
    this.#begin(settings);
  }

  /** Sends the last question again, unless the last answer is an example. */
  regenerate(settings: ChatSettings): void {
    const { answering, turns } = this.#conversation;
    if (answering || turns.length === 0 || turns.at(-1)?.isExample) return;
    this.#dispatch({ kind: 'ask-again', ...messageOptions(settings) });
    this.#begin(settings);
  }

  cancel(): void {
    this.#flush();
    this.#running?.abort();
    this.#dispatch({ kind: 'cancel' });
  }

  clear(): void {
    this.#running?.abort();
    this.#dispatch({ kind: 'clear' });
  }

  /** Continues a saved conversation. */
  open(turns: readonly Turn[]): void {
    this.#running?.abort();
    this.#dispatch({ kind: 'open', turns });
  }

  #dispatch(action: ConversationAction): void {
    const before = this.#conversation;
    this.#conversation = conversationReducer(before, action);
    if (this.#conversation === before) return;
    this.#listeners.notify();
    if (this.#conversation.answering) return;
    this.#workbench.unfinished.delete(this.#id);
    // An opened or cleared conversation has no new answer.
    if (action.kind !== 'open' && action.kind !== 'clear') this.save?.();
  }

  #begin(settings: ChatSettings): void {
    const words = clean`The answer from ${settings.model} in the chat`;
    this.#workbench.unfinished.set(this.#id, { words, stop: () => this.cancel() });
    const controller = new AbortController();
    this.#running = controller;
    void this.#answer(requestOf(this.#conversation.turns.slice(0, -1), settings), controller);
  }

  async #answer(request: ChatRequest, controller: AbortController): Promise<void> {
    const { signal } = controller;
    const started = Date.now();
    const answer = new Answer(request.model);
    /** How many characters are already on screen. */
    let shown = { content: 0, reasoning: 0 };
    let isNew = false;
    let firstMs: number | undefined;
    let stats: AnswerStats = { model: request.model };
    const flush = (): void => {
      if (!isNew) return;
      isNew = false;
      const content = answer.content.slice(shown.content);
      const reasoning = answer.reasoning.slice(shown.reasoning);
      shown = { content: answer.content.length, reasoning: answer.reasoning.length };
      this.#dispatch({ kind: 'text', content, reasoning, extras: answer.extras, firstMs });
    };
    this.#flush = flush;
    const timer = setInterval(flush, drawEveryMs);
    let saved = this.#conversation;
    const saving = setInterval(() => {
      if (signal.aborted || saved === this.#conversation) return;
      saved = this.#conversation;
      this.save?.();
    }, saveEveryMs);
    try {
      const service = await this.#workbench.service();
      const { model, at } = await chatRoute(service, this.#workbench.remembered, request.model, signal);
      for await (const event of service.chat.stream({ ...request, model }, { signal, at })) {
        if (signal.aborted) return;
        answer.add(event);
        isNew ||= event.kind !== 'usage' && event.kind !== 'finish';
        if (event.kind === 'delta' && event.index === 0) firstMs ??= Date.now() - started;
        if (event.kind === 'usage') {
          const { prompt_tokens, completion_tokens } = event.usage;
          stats = {
            ...stats,
            promptTokens: prompt_tokens ?? undefined,
            completionTokens: completion_tokens ?? undefined,
          };
        }
      }
      if (signal.aborted) return;
      flush();
      const { reason: finishReason } = answer;
      if (finishReason !== undefined) stats = { ...stats, finishReason };
      this.#dispatch({ kind: 'end', stats: { ...stats, firstMs, totalMs: Date.now() - started } });
    } catch (error) {
      if (signal.aborted) return;
      flush();
      this.#dispatch({ kind: 'fail', error: asError(error) });
    } finally {
      clearInterval(timer);
      clearInterval(saving);
      if (this.#running === controller) this.#running = undefined;
    }
  }
}
