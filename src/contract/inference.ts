/** Inference: chat completions, whole or as server-sent events in the OpenAI chunk form. */
import * as z from 'zod/mini';
import { defineEndpoints, number, rows, text, wrappedList } from './common.ts';

export const chatMessage = z.strictObject({ role: z.string().check(z.minLength(1)), content: z.string() });
export type ChatMessage = z.output<typeof chatMessage>;

export const chatCompletionBody = z.strictObject({
  model: z.string().check(z.minLength(1)),
  messages: z.array(chatMessage).check(z.minLength(1)),
  stream: z.optional(z.boolean()),
  temperature: z.optional(z.number()),
  max_tokens: z.optional(z.int().check(z.gte(1))),
  top_p: z.optional(z.number()),
  /** Requests the token counts of a stream. Not in the document; omitted once refused. */
  stream_options: z.optional(z.strictObject({ include_usage: z.boolean() })),
});
export type ChatCompletionBody = z.input<typeof chatCompletionBody>;

export const usage = z.looseObject({ prompt_tokens: number, completion_tokens: number, total_tokens: number });
export type Usage = z.output<typeof usage>;

/** A fragment of a tool call, joined by `index`. */
export const toolCallDelta = z.looseObject({
  index: number,
  id: text,
  function: z.nullish(z.looseObject({ name: text, arguments: text })),
});

/** The model's message: complete in a response, in fragments in a stream. Servers use two names for the reasoning. */
export const modelMessage = z.looseObject({
  role: text,
  content: text,
  reasoning_content: text,
  reasoning: text,
  refusal: text,
  tool_calls: z.nullish(z.array(toolCallDelta)),
});

export const chatCompletion = z.looseObject({
  id: text,
  object: text,
  created: number,
  model: text,
  choices: z.array(
    z.looseObject({
      index: number,
      message: modelMessage,
      finish_reason: text,
    }),
  ),
  usage: z.nullish(usage),
});
export type ChatCompletion = z.output<typeof chatCompletion>;

/** A chunk of a stream. `choices` may be empty (a chunk that carries only `usage`). */
export const chatChunk = z.looseObject({
  id: text,
  object: text,
  created: number,
  model: text,
  choices: z.nullish(
    z.array(
      z.looseObject({
        index: number,
        delta: z.nullish(modelMessage),
        finish_reason: text,
      }),
    ),
  ),
  usage: z.nullish(usage),
});

/** A chat model, in the form of OpenAI's list. */
export const chatModel = z.looseObject({ id: z.string(), object: text, created: number, owned_by: text });
export type ChatModel = z.output<typeof chatModel>;

export const inferenceEndpoints = defineEndpoints({
  createChatCompletion: {
    method: 'POST',
    path: '/v1/chat/completions',
    auth: 'inferenceToken',
    body: chatCompletionBody,
    response: chatCompletion,
  },
  listModels: {
    method: 'GET',
    path: '/v1/models',
    auth: 'inferenceToken',
    response: wrappedList('data', z.looseObject({ object: text, data: rows(chatModel) })),
    capability: true,
  },
  getModel: {
    method: 'GET',
    path: '/v1/models/{model}',
    auth: 'inferenceToken',
    response: chatModel,
    capability: true,
  },
});
