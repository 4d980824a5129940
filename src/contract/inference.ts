/** Inference: chat completions, whole or as server-sent events in OpenAI's chunk format. */
import * as z from 'zod/mini';
import { isRecord } from '../base/own-property.ts';
import { defineEndpoints, number, rows, text, textOrJson, wrappedList } from './common.ts';
import { toText } from './message-content.ts';

export const chatMessage = z.strictObject({ role: z.string().check(z.minLength(1)), content: z.string() });
export type ChatMessage = z.output<typeof chatMessage>;

export const chatCompletionBody = z.strictObject({
  model: z.string().check(z.minLength(1)),
  messages: z.array(chatMessage).check(z.minLength(1)),
  stream: z.optional(z.boolean()),
  temperature: z.optional(z.number()),
  max_tokens: z.optional(z.int().check(z.gte(1))),
  top_p: z.optional(z.number()),
  /** Requests token counts with a stream. Not in the document; omitted once refused. */
  stream_options: z.optional(z.strictObject({ include_usage: z.boolean() })),
});
export type ChatCompletionBody = z.input<typeof chatCompletionBody>;

/** Reads anything but an object as null, so that the answer is not lost. */
function objectOrNull<Schema extends z.ZodMiniType>(schema: Schema) {
  type Read = z.output<Schema> | null | undefined;
  return z.nullish(
    z.pipe(
      z.transform((value: unknown) => (isRecord(value) ? value : null)),
      z.nullish(schema) as unknown as z.ZodMiniType<Read, Record<string, unknown> | null>,
    ) as unknown as z.ZodMiniType<Read, unknown>,
  );
}

/** A count, an index or a time. Any other value is read as null, so that the answer is not lost. */
const wholeNumber = z.nullish(
  z.pipe(
    z.unknown(),
    z.transform((value: unknown) => {
      const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
      return Number.isSafeInteger(count) && Number(count) >= 0 ? Number(count) : null;
    }),
  ) as unknown as z.ZodMiniType<number | null, unknown>,
);

export const usage = z.looseObject({
  prompt_tokens: wholeNumber,
  completion_tokens: wholeNumber,
  total_tokens: wholeNumber,
});
export type Usage = z.output<typeof usage>;

/** A fragment of a tool call, joined by `index`. */
export const toolCallDelta = z.looseObject({
  index: wholeNumber,
  id: textOrJson,
  function: objectOrNull(z.looseObject({ name: textOrJson, arguments: textOrJson })),
});

/** Drops entries that are not objects, so that the answer is not lost. */
const toolCalls = z.nullish(
  z.pipe(
    z.transform((value: unknown) => [value].flat().filter(each => isRecord(each) && Object.keys(each).length > 0)),
    z.array(toolCallDelta) as unknown as z.ZodMiniType<z.output<typeof toolCallDelta>[], unknown[]>,
  ) as unknown as z.ZodMiniType<z.output<typeof toolCallDelta>[], unknown>,
);

/** The model's message: complete in a response, in fragments in a stream. Servers use two names for the reasoning. */
export const modelMessage = z.looseObject({
  role: textOrJson,
  /** Text or parts, unchanged; see `messageTexts`. */
  content: z.optional(z.unknown()),
  /** Where some servers put the parts that are images. */
  images: z.optional(z.unknown()),
  reasoning_content: textOrJson,
  reasoning: textOrJson,
  refusal: textOrJson,
  tool_calls: toolCalls,
});

/** The text in a message or fragment, by kind; empty if missing. */
export interface MessageTexts {
  readonly content: string;
  readonly reasoning: string;
  readonly refusal: string;
}

/** Reads content as text or as parts: `text`, `refusal`, `thinking`. */
export function messageTexts(message: z.output<typeof modelMessage> | null | undefined): MessageTexts {
  const { content: sent, images, reasoning_content, reasoning, refusal } = message ?? {};
  const content = Array.isArray(images) ? [sent ?? [], images].flat() : sent;
  const own = { reasoning: reasoning_content || reasoning || '', refusal: refusal || '' };
  if (!Array.isArray(content)) return { content: toText(content) ?? '', ...own };
  const textOf = (kind: keyof MessageTexts): string =>
    content
      .filter(part => kindOfPart(part) === kind)
      .map(textOfPart)
      .join('');
  return {
    content: textOf('content'),
    reasoning: own.reasoning || textOf('reasoning'),
    refusal: own.refusal || textOf('refusal'),
  };
}

function kindOfPart(part: unknown): keyof MessageTexts {
  const type = isRecord(part) ? part['type'] : undefined;
  if (type === 'refusal') return 'refusal';
  return type === 'thinking' || type === 'reasoning' ? 'reasoning' : 'content';
}

/** The text of a part; anything else is converted to JSON, so that nothing is lost. */
function textOfPart(part: unknown): string {
  if (!isRecord(part)) return toText(part) ?? '';
  const text = part['text'] ?? part['refusal'] ?? part['thinking'];
  if (Array.isArray(text)) return text.map(textOfPart).join('');
  return typeof text === 'string' ? text : JSON.stringify(part);
}

const isTextPart = (part: unknown): boolean =>
  typeof part === 'string' || (isRecord(part) && (typeof part['text'] === 'string' || Array.isArray(part['text'])));

/** The parts of an answer that has more than text, e.g. an image, and their text. Undefined for plain text. */
export function partsIn({
  content,
}: Pick<z.output<typeof modelMessage>, 'content'>):
  | { readonly parts: readonly unknown[]; readonly text: string }
  | undefined {
  if (!Array.isArray(content)) return undefined;
  const parts = content.filter(part => kindOfPart(part) === 'content');
  const texts = parts.filter(isTextPart);
  return texts.length === parts.length ? undefined : { parts, text: texts.map(textOfPart).join('') };
}

/** The text of an answer for graders: without reasoning, refusal, images and tool calls. */
export const answerText = (message: Pick<z.output<typeof modelMessage>, 'content'>): string =>
  partsIn(message)?.text ?? messageTexts(message).content;

export const chatCompletion = z.looseObject({
  id: textOrJson,
  object: textOrJson,
  created: wholeNumber,
  model: textOrJson,
  choices: z.array(
    z.looseObject({
      index: wholeNumber,
      message: modelMessage,
      finish_reason: textOrJson,
    }),
  ),
  usage: objectOrNull(usage),
});
export type ChatCompletion = z.output<typeof chatCompletion>;

/** A chunk in a stream. `choices` may be empty (a chunk that carries only `usage`). */
export const chatChunk = z.looseObject({
  id: textOrJson,
  object: textOrJson,
  created: wholeNumber,
  model: textOrJson,
  choices: z.nullish(
    z.array(
      z.looseObject({
        index: wholeNumber,
        delta: z.nullish(modelMessage),
        finish_reason: textOrJson,
      }),
    ),
  ),
  usage: objectOrNull(usage),
});

/** A chat model, as in OpenAI's list. */
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
