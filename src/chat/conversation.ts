/** The state of a conversation with a model: turns, the answer being streamed, and errors. Pure. */

import { ServiceError } from '../service/errors.ts';
import { withoutData } from '../text/data-urls.ts';
import type { AnswerExtras } from './answer.ts';

/** The parameters of a request; the service has defaults for those missing. */
export interface ChatParameters {
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly max_tokens?: number | undefined;
}

/** Only the parameters that have a value. */
export function parametersOf({ temperature, top_p, max_tokens }: ChatParameters): ChatParameters {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(top_p === undefined ? {} : { top_p }),
    ...(max_tokens === undefined ? {} : { max_tokens }),
  };
}

export interface AnswerStats {
  readonly model: string;
  /** The settings of the request; unknown in conversations saved by older versions. */
  readonly parameters?: ChatParameters | undefined;
  readonly system?: string | undefined;
  /** When the request was sent, in epoch milliseconds. Distinguishes answers with the same text. */
  readonly at?: number | undefined;
  readonly finishReason?: string | undefined;
  readonly promptTokens?: number | undefined;
  readonly completionTokens?: number | undefined;
  /** Milliseconds until the first text. */
  readonly firstMs?: number | undefined;
  /** Milliseconds until the end. */
  readonly totalMs?: number | undefined;
}

export interface Turn extends AnswerExtras {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly reasoning: string;
  readonly stats?: AnswerStats | undefined;
  /** Why the answer is incomplete. Plain data, because conversations are saved to disk. */
  readonly error?: { readonly message: string; readonly requestId?: string | undefined } | undefined;
  readonly cancelled?: boolean | undefined;
  /** Whether it is an answer from a prompt, not from a model. */
  readonly isExample?: boolean | undefined;
}

export interface Conversation {
  readonly turns: readonly Turn[];
  /** Whether the last turn is still being streamed. */
  readonly answering: boolean;
}

export const emptyConversation: Conversation = { turns: [], answering: false };

type AnswerRequest = Pick<AnswerStats, 'model' | 'parameters' | 'system' | 'at'>;

export type ConversationAction =
  | ({ readonly kind: 'ask'; readonly text: string } & AnswerRequest)
  /** Replaces the last answer with a new one. */
  | ({ readonly kind: 'ask-again' } & AnswerRequest)
  | {
      readonly kind: 'text';
      readonly content: string;
      readonly reasoning: string;
      readonly extras?: AnswerExtras;
      readonly firstMs: number | undefined;
    }
  | { readonly kind: 'end'; readonly stats: AnswerStats }
  | { readonly kind: 'fail'; readonly error: Error }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'clear' }
  /** Continues a saved conversation. */
  | { readonly kind: 'open'; readonly turns: readonly Turn[] };

function changeLast(conversation: Conversation, change: (turn: Turn) => Turn, answering: boolean): Conversation {
  const last = conversation.turns.at(-1);
  if (last?.role !== 'assistant') return conversation;
  return { turns: [...conversation.turns.slice(0, -1), change(last)], answering };
}

function openAnswer({ model, parameters, system, at }: AnswerRequest): Turn {
  const stats = {
    model,
    ...(parameters && { parameters }),
    ...(system !== undefined && { system }),
    ...(at !== undefined && { at }),
  };
  return { role: 'assistant', content: '', reasoning: '', stats };
}

function withoutAnswer(turns: readonly Turn[]): readonly Turn[] {
  return turns.at(-1)?.role === 'assistant' ? turns.slice(0, -1) : turns;
}

export function conversationReducer(conversation: Conversation, action: ConversationAction): Conversation {
  switch (action.kind) {
    case 'ask': {
      const question: Turn = { role: 'user', content: action.text, reasoning: '' };
      return { turns: [...conversation.turns, question, openAnswer(action)], answering: true };
    }
    case 'ask-again': {
      const turns = withoutAnswer(conversation.turns);
      return turns.length === 0 ? conversation : { turns: [...turns, openAnswer(action)], answering: true };
    }
    case 'text':
      if (!conversation.answering) return conversation;
      return changeLast(
        conversation,
        turn => ({
          ...turn,
          content: turn.content + action.content,
          reasoning: turn.reasoning + action.reasoning,
          ...action.extras,
          stats: turn.stats && { ...turn.stats, firstMs: turn.stats.firstMs ?? action.firstMs },
        }),
        true,
      );
    case 'end':
      return changeLast(conversation, turn => ({ ...turn, stats: { ...turn.stats, ...action.stats } }), false);
    case 'fail':
      return changeLast(conversation, turn => ({ ...turn, error: plainError(action.error) }), false);
    case 'cancel':
      return conversation.answering
        ? changeLast(conversation, turn => ({ ...turn, cancelled: true }), false)
        : conversation;
    case 'clear':
      return emptyConversation;
    case 'open':
      return { turns: action.turns, answering: false };
  }
}

/** The model that answered: the requested one, unless the service named another. */
export const answeringModel = ({ answeredBy, stats }: Turn): string | undefined => answeredBy ?? stats?.model;

/** Whether an answer was stopped or interrupted, or has not ended. */
export const isIncomplete = (turn: Turn | undefined): boolean =>
  turn?.role === 'assistant' &&
  !turn.isExample &&
  (turn.error !== undefined || turn.cancelled === true || turn.stats?.totalMs === undefined);

/** The name above an answer. */
export const answererName = ({ stats, isExample }: Turn): string =>
  isExample ? 'assistant, in the prompt' : (stats?.model ?? 'assistant');

/** A turn's text, or else its refusal. */
export const turnText = ({ content, refusal = '' }: Turn): string => content || refusal;

/** The messages to send: the system prompt, if any, then the turns, without empty answers and the data of images. */
export function messagesOf(turns: readonly Turn[], system: string): { role: string; content: string }[] {
  const sent = turns.filter(turn => turn.role === 'user' || turnText(turn) !== '');
  return [
    ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
    ...sent.map(turn => ({
      role: turn.role,
      content: turn.role === 'user' ? turnText(turn) : withoutData(turnText(turn)),
    })),
  ];
}

/**
 * The system prompt that each turn was sent with: a question's is that of its answer. Empty if there was none.
 * @param current that of unanswered questions, and of answers saved by older versions
 */
export function systemsOf(turns: readonly Turn[], current: string): readonly string[] {
  let system = current;
  const backwards = turns.toReversed().map(({ role, stats }) => {
    if (role === 'assistant') system = stats?.system ?? current;
    return system.trim() === '' ? '' : system;
  });
  return backwards.toReversed();
}

/** The shortest time over which to compute a rate; over less, it would be mostly noise. */
const shortestRateMs = 200;

/** Tokens per second, from the first text to the end; undefined if the time is too short. */
export function tokensPerSecond({ completionTokens, firstMs, totalMs }: AnswerStats): number | undefined {
  if (completionTokens === undefined || firstMs === undefined || totalMs === undefined) return undefined;
  if (totalMs - firstMs < shortestRateMs) return undefined;
  return (completionTokens * 1000) / (totalMs - firstMs);
}

function plainError(error: Error): Turn['error'] {
  return { message: error.message, requestId: error instanceof ServiceError ? error.requestId : undefined };
}
