/**
 * Chat requests from OpenAI's clients. Ignores fields that cannot change the answer, and refuses unsupported fields by
 * name.
 */
import * as z from 'zod/mini';
import { own } from '../../base/own-property.ts';
import { messageContent } from '../../contract/message-content.ts';
import { type ChatTurn, defaultSampling, type SamplingOptions } from '../model/policy.ts';
import { ApiError, apiError } from './errors.ts';
import { check, describeAll, type Issue } from './validate.ts';

/** Maximum number of tokens in an answer. */
const longestAnswer = 4096;
const maxStops = 16;

const tokens = z.nullish(z.int().check(z.gte(1)));
const stop = z.string().check(z.maxLength(1_000));

/** Every optional field may be null. */
const chatBody = z.looseObject({
  model: z.string().check(z.minLength(1)),
  messages: z
    .array(
      z.looseObject({
        role: z.string().check(z.minLength(1)),
        content: z.nullish(z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])),
      }),
    )
    .check(z.minLength(1)),
  stream: z.nullish(z.boolean()),
  stream_options: z.nullish(z.looseObject({ include_usage: z.nullish(z.boolean()) })),
  temperature: z.nullish(z.number().check(z.gte(0))),
  top_p: z.nullish(z.number().check(z.gte(0), z.lte(1))),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  seed: z.nullish(z.int()),
  stop: z.nullish(z.union([stop, z.array(stop).check(z.maxLength(maxStops))])),
});
type ChatBody = z.output<typeof chatBody>;

export interface ChatOrder {
  readonly model: string;
  readonly turns: readonly ChatTurn[];
  readonly sampling: SamplingOptions;
  readonly stream: boolean;
  /** Whether the stream ends with token counts. */
  readonly usage: boolean;
}

const textParts: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text', 'refusal']);

const isFilled = (value: unknown): boolean => !Array.isArray(value) || value.length > 0;
const asksTool = (value: unknown): boolean => value !== 'none' && value !== 'auto';
const typeOf = (value: unknown): unknown => (value as { type?: unknown } | null)?.type;

/** Unsupported parameters, each with a check of its value. Null is never refused. */
const unsupported: readonly (readonly [name: string, asks: (value: unknown) => boolean])[] = [
  ['n', value => value !== 1],
  ['tools', isFilled],
  ['tool_choice', asksTool],
  ['functions', isFilled],
  ['function_call', asksTool],
  ['response_format', value => typeOf(value) !== 'text'],
  ['logprobs', value => value !== false],
  ['top_logprobs', value => value !== 0],
  ['modalities', value => !Array.isArray(value) || value.some(each => each !== 'text')],
  ['audio', () => true],
  ['web_search_options', () => true],
];

function refuse(param: string): never {
  const message = `The local service does not support ${param}. Send the request without it.`;
  throw new ApiError(400, 'invalid_request_error', 'unsupported_parameter', message, { param });
}

/** An error without a context, which the inference envelope lacks. */
const invalid = (issues: readonly Issue[]): ApiError =>
  apiError('validation_error', describeAll(issues), { param: issues[0]?.path || undefined });

function turnOf({ role, content, tool_calls }: ChatBody['messages'][number], index: number): ChatTurn {
  if (tool_calls != null && isFilled(tool_calls)) refuse(`messages[${index}].tool_calls`);
  if (Array.isArray(content)) {
    const place = content.findIndex(({ type }) => !textParts.has(type));
    if (place >= 0) refuse(`messages[${index}].content[${place}].${content[place]?.type}`);
  }
  return { role, content: messageContent(content) ?? '' };
}

/**
 * Reads a request for one of this service's models.
 *
 * @throws ApiError `validation_error`, or `unsupported_parameter`
 */
export function readChat(raw: unknown): ChatOrder {
  const body = check(chatBody, raw, invalid);
  for (const [name, asks] of unsupported) {
    const value = own(body, name);
    if (value != null && asks(value)) refuse(name);
  }
  const { temperature, top_p, max_tokens } = defaultSampling;
  return {
    model: body.model,
    turns: body.messages.map(turnOf),
    sampling: {
      temperature: body.temperature ?? temperature,
      top_p: body.top_p ?? top_p,
      max_tokens: Math.min(longestAnswer, body.max_completion_tokens ?? body.max_tokens ?? max_tokens),
      seed: (body.seed ?? Math.floor(Math.random() * 2 ** 32)) >>> 0,
      stop: [body.stop ?? []].flat().filter(text => text !== ''),
    },
    stream: body.stream ?? false,
    usage: body.stream_options?.include_usage ?? false,
  };
}
