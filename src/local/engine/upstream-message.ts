/**
 * Extracts the message for a trajectory from an upstream response: a whole one, or a stream that is forwarded
 * unchanged.
 */
import { createParser } from 'eventsource-parser';
import { parseDeepJson } from '../../base/json-depth.ts';
import { answerText, chatChunk, chatCompletion, messageTexts, partsIn, type Usage } from '../../contract/inference.ts';

/** A model's answer as a message in a step. */
export interface AssistantMessage {
  readonly role: 'assistant';
  /** The text in the content. */
  readonly content: string;
  /** The whole content, if it is more than text. */
  readonly content_parts?: readonly unknown[] | undefined;
  readonly reasoning?: string | undefined;
  readonly refusal?: string | undefined;
  readonly tool_calls?: unknown;
  readonly finish_reason: string | null;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
}

const tokenCounts = (usage: Usage | null | undefined) => ({
  prompt_tokens: usage?.prompt_tokens ?? null,
  completion_tokens: usage?.completion_tokens ?? null,
});

/** The message in a whole response; undefined if the response is not a chat completion. */
export function answerMessage(text: string): AssistantMessage | undefined {
  const answer = chatCompletion.safeParse(parseDeepJson(text)).data;
  const choice = answer?.choices[0];
  if (!choice) return undefined;
  const { reasoning, refusal } = messageTexts(choice.message);
  return {
    role: 'assistant',
    content: answerText(choice.message),
    content_parts: partsIn(choice.message)?.parts,
    reasoning: reasoning || undefined,
    refusal: refusal || undefined,
    tool_calls: choice.message.tool_calls?.length ? choice.message.tool_calls : undefined,
    finish_reason: choice.finish_reason ?? null,
    ...tokenCounts(answer.usage),
  };
}

interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Forwards a stream of events. If the stream ends properly, calls `onMessage` with its message. */
export function tapMessage(onMessage: (message: AssistantMessage) => void): TransformStream<Uint8Array, Uint8Array> {
  let content = '';
  let reasoning = '';
  let refusal = '';
  let finish_reason: string | null = null;
  let isDone = false;
  /** The index of the first choice to arrive, which all readers take as the answer. */
  let first: number | undefined;
  let usage: Usage | null | undefined;
  const calls = new Map<number, ToolCall>();
  const parser = createParser({
    onEvent: ({ data }) => {
      isDone ||= data === '[DONE]';
      const chunk = chatChunk.safeParse(parseDeepJson(data)).data;
      usage = chunk?.usage ?? usage;
      const choices = chunk?.choices ?? [];
      first ??= choices.length === 0 ? undefined : (choices[0]?.index ?? 0);
      const choice = choices.find(({ index }, position) => (index ?? position) === first);
      if (!choice) return;
      finish_reason = choice.finish_reason ?? finish_reason;
      const { delta } = choice;
      const piece = messageTexts(delta);
      content += piece.content;
      reasoning += piece.reasoning;
      refusal += piece.refusal;
      for (const [at, { index, id, function: called }] of (delta?.tool_calls ?? []).entries()) {
        const call = calls.get(index ?? at);
        calls.set(index ?? at, {
          id: call?.id || (id ?? ''),
          type: 'function',
          function: {
            name: (call?.function.name ?? '') + (called?.name ?? ''),
            arguments: (call?.function.arguments ?? '') + (called?.arguments ?? ''),
          },
        });
      }
    },
  });
  const decoder = new TextDecoder();
  return new TransformStream({
    transform: (piece, controller) => {
      parser.feed(decoder.decode(piece, { stream: true }));
      controller.enqueue(piece);
    },
    flush: () => {
      parser.feed(`${decoder.decode()}\n\n`);
      if (!isDone && finish_reason === null) return;
      const said = { content, reasoning: reasoning || undefined, refusal: refusal || undefined };
      onMessage({
        role: 'assistant',
        ...said,
        finish_reason,
        ...(calls.size > 0 && { tool_calls: [...calls.values()] }),
        ...tokenCounts(usage),
      });
    },
  });
}
