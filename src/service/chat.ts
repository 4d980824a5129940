/**
 * Chat completions, whole or streamed. Streams are read as OpenAI chunks, with tolerance for the known differences
 * between servers: the document leaves the format open.
 */
import type { z } from 'zod/mini';
import { parseJson } from '../base/json-depth.ts';
import {
  type ChatCompletion,
  type ChatCompletionBody,
  chatChunk,
  chatCompletion,
  inferenceEndpoints,
  type MessageTexts,
  messageTexts,
  type Usage,
} from '../contract/inference.ts';
import { parseWhole } from '../contract/proto-field.ts';
import { WireFailure } from '../net/failure.ts';
import { errorOfAnswer, tooLarge, unusableAnswer } from './answer-error.ts';
import type { Client } from './client.ts';
import { ApiError, NetworkError, ResponseError } from './errors.ts';
import { callOperation, type OpenAnswer, openOperation, readText } from './operation.ts';
import { type CallOptions, defaultMaxBytes } from './options.ts';
import type { CallFacts } from './wire-error.ts';

/** A request for a completion. The method that sends it decides whether to stream. */
export type ChatRequest = Omit<ChatCompletionBody, 'stream' | 'stream_options'>;

export interface ChatOptions extends CallOptions {
  /** Requests the whole answer at once. */
  readonly whole?: boolean | undefined;
}

/** An event in a stream. `index` numbers the choices in order of arrival, because some servers count from 1. */
export type ChatEvent =
  | ({ readonly kind: 'delta'; readonly index: number } & Partial<MessageTexts>)
  /** A fragment of the choice's tool call at this position. */
  | {
      readonly kind: 'call';
      readonly index: number;
      readonly call: number;
      readonly name: string;
      readonly input: string;
    }
  | { readonly kind: 'finish'; readonly index: number; readonly reason: string }
  /** The service reports a different model from the requested one. */
  | { readonly kind: 'model'; readonly model: string }
  /** Token counts so far. Each event replaces the previous one. */
  | { readonly kind: 'usage'; readonly usage: Usage };

type ChatChunk = z.output<typeof chatChunk>;

const endpoint = inferenceEndpoints.createChatCompletion;

/** In milliseconds. A model may have to load and reason before its first token. */
const streamTimeouts = { silenceMs: 120_000, deadlineMs: undefined } as const;
const wholeTimeouts = { silenceMs: 600_000, deadlineMs: 900_000 } as const;

export class Chat {
  readonly #client: Client;
  #usageRefused = false;
  /** Models that do not stream, with their addresses. */
  readonly #unstreamed = new Set<string>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Requests a complete answer. @throws ServiceError */
  complete(request: ChatRequest, options: CallOptions = {}): Promise<ChatCompletion> {
    return callOperation(
      this.#client,
      endpoint,
      { body: { ...request, stream: false } },
      { ...wholeTimeouts, ...options },
    );
  }

  /**
   * Streams an answer, or requests it whole if the service refuses to stream. Leaving the loop or aborting the signal
   * closes the connection, which stops the service too. An error carries the text received so far in `partial`.
   *
   * @throws ServiceError
   */
  async *stream(request: ChatRequest, options: ChatOptions = {}): AsyncGenerator<ChatEvent, void> {
    const open = await this.#open(request, options);
    let content = '';
    let reasoning = '';
    let refusal = '';
    const facts = () => {
      const isBegun = content || reasoning || refusal;
      const partial = isBegun ? { content, reasoning, ...(refusal && { refusal }) } : undefined;
      return { ...open.facts, details: { ...open.facts.details, partial } };
    };
    try {
      for await (const event of readAnswer(open, facts, this.#client.clock.now, request.model)) {
        if (event.kind === 'delta' && event.index === 0) {
          content += event.content ?? '';
          reasoning += event.reasoning ?? '';
          refusal += event.refusal ?? '';
        }
        yield event;
      }
    } catch (error) {
      if (error instanceof WireFailure) throw open.failed(error, facts());
      if (error instanceof EventStreamError) throw notUnderstood(open, facts());
      throw error;
    } finally {
      open.end();
    }
  }

  /** Requests a stream unless the service has refused to stream this model. */
  async #open(request: ChatRequest, { whole = false, ...options }: ChatOptions): Promise<OpenAnswer> {
    const route = JSON.stringify([request.model, options.at]);
    if (whole || !this.#client.assumptions.is('streamChat') || this.#unstreamed.has(route))
      return this.#openWhole(request, options);
    try {
      return await this.#openStream(request, { ...streamTimeouts, ...options });
    } catch (error) {
      if (!(error instanceof ApiError && refusesToStream(error))) throw error;
      const open = await this.#openWhole(request, options);
      this.#unstreamed.add(route);
      return open;
    }
  }

  #openWhole(body: ChatRequest, options: CallOptions): Promise<OpenAnswer> {
    return openOperation(
      this.#client,
      endpoint,
      { body: { ...body, stream: false } },
      { ...wholeTimeouts, ...options },
    );
  }

  /** Requests token counts unless the service has refused to send them. */
  async #openStream(body: ChatRequest, options: CallOptions): Promise<OpenAnswer> {
    const client = this.#client;
    const requestsUsage = client.assumptions.is('streamUsage') && !this.#usageRefused;
    const usage = requestsUsage ? { stream_options: { include_usage: true } } : {};
    try {
      return await openOperation(client, endpoint, { body: { ...body, stream: true, ...usage } }, options);
    } catch (error) {
      const isRefused = error instanceof ApiError && error.kind === 'validation';
      if (!requestsUsage || !isRefused || !`${error.param} ${error.message}`.includes('stream_options')) throw error;
      this.#usageRefused = true;
      return openOperation(client, endpoint, { body: { ...body, stream: true } }, options);
    }
  }
}

/** `streaming is not supported`, `stream=true is unsupported`, `stream must be false` and the like. */
const unstreamedPattern =
  /\bstream(s|ed|ing)?\b.{0,200}(\bnot\b|n't\b|\bunsupported|\bdisabled|\bunavailable|\bmust be false|\bcannot)|(\bnot|n't|\bcannot|\bunsupported)\b.{0,200}\bstream(s|ed|ing)?\b/i;

/**
 * Whether a service refused a request because it asks for a stream. Servers name the field in `param` or in the
 * message.
 */
export function refusesToStream({
  kind,
  status,
  param,
  message,
}: Pick<ApiError, 'kind' | 'status' | 'param' | 'message'>) {
  if (kind !== 'validation' && status !== 501) return false;
  return param === 'stream' || ([undefined, 'model'].includes(param) && unstreamedPattern.test(message));
}

type Facts = () => CallFacts;

/** @param requested the requested model */
async function* readAnswer(
  open: OpenAnswer,
  facts: Facts,
  now: () => number,
  requested: string,
): AsyncGenerator<ChatEvent, void> {
  const { answer } = open;
  const type = answer.headers['content-type'];
  if (type !== undefined && !/^text\/event-stream\b/i.test(type)) {
    yield* readVerified(open, facts, now, requested);
    return;
  }
  const places = new Map<number, number>();
  let named = requested;
  let finished = false;
  let length = 0;
  for await (const { event, data } of readEvents(answer.chunks())) {
    length += data.length;
    if (length > defaultMaxBytes) throw tooLarge(answer, facts(), defaultMaxBytes);
    const text = data.trim();
    if (text === '') continue;
    if (text === '[DONE]') return;
    const body = parseJson(text);
    if (event === 'error' || hasError(body)) throw streamedError(open, facts(), event, body, text, now());
    const chunk = parseWhole(chatChunk, body);
    if (!chunk.success) {
      // Invalid JSON means that the stream was cut off; JSON in another format is the service's error.
      if (body === undefined) throw cutOff(open, facts());
      throw unusableAnswer({ ...answer, text, body }, facts(), chunk.error.issues);
    }
    const { model = requested } = chunk.data;
    if (model && model !== requested && model !== named) yield { kind: 'model', model };
    named = model || named;
    for (const chatEvent of eventsOf(chunk.data, places)) {
      // The other choices are not shown.
      finished ||= chatEvent.kind === 'finish' && chatEvent.index === 0;
      yield chatEvent;
    }
  }
  if (!finished) throw cutOff(open, facts());
}

/** @param places the places of the choices so far, by index */
function* eventsOf({ choices, usage }: ChatChunk, places: Map<number, number>): Generator<ChatEvent, void> {
  for (const [position, { index, delta, finish_reason }] of (choices ?? []).entries()) {
    const choice = places.get(index ?? position) ?? places.size;
    places.set(index ?? position, choice);
    const said = Object.entries(messageTexts(delta)).filter(([, text]) => text !== '');
    if (said.length > 0) yield { kind: 'delta', index: choice, ...Object.fromEntries(said) };
    for (const [at, { index: call, function: called }] of (delta?.tool_calls ?? []).entries()) {
      const [name, input] = [called?.name ?? '', called?.arguments ?? ''];
      yield { kind: 'call', index: choice, call: call ?? at, name, input };
    }
    if (finish_reason) yield { kind: 'finish', index: choice, reason: finish_reason };
  }
  if (usage) yield { kind: 'usage', usage };
}

/** A service without streaming sends the whole answer, or an error with status 200. */
async function* readVerified(
  open: OpenAnswer,
  facts: Facts,
  now: () => number,
  requested: string,
): AsyncGenerator<ChatEvent, void> {
  const { answer } = open;
  const text = await readText(answer, facts(), defaultMaxBytes);
  const body = parseJson(text);
  if (hasError(body)) throw streamedError(open, facts(), undefined, body, text, now());
  const read = parseWhole(chatCompletion, body);
  if (!read.success) throw unusableAnswer({ ...answer, text, body }, facts(), read.error.issues);
  yield* eventsOfCompletion(read.data, requested);
}

/** A whole answer as stream events. @param requested the requested model */
export function* eventsOfCompletion(
  { choices, usage, model }: ChatCompletion,
  requested: string,
): Generator<ChatEvent, void> {
  if (model && model !== requested) yield { kind: 'model', model };
  yield* eventsOf(
    { choices: choices.map(({ message, ...choice }) => ({ ...choice, delta: message })), usage },
    new Map(),
  );
}

function hasError(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'error' in body && body.error != null;
}

/** An error that replaces the rest of an answer. Servers send an envelope, a bare object or plain text. */
function streamedError(
  { answer }: OpenAnswer,
  facts: CallFacts,
  event: string | undefined,
  body: unknown,
  text: string,
  now: number,
) {
  const inner = hasError(body)
    ? (body as { readonly error: unknown }).error
    : event === 'error'
      ? (body ?? text)
      : body;
  const error = typeof inner === 'object' && inner !== null ? inner : { message: String(inner) };
  const code = 'code' in error ? Number(error.code) : Number.NaN;
  const impliedStatus = code >= 400 && code < 600 ? code : 500;
  return errorOfAnswer({ ...answer, impliedStatus, text, body: { error } }, facts, now);
}

function cutOff({ answer }: OpenAnswer, facts: CallFacts): NetworkError {
  return new NetworkError(
    `The answer from ${facts.host} broke off. The part that arrived is kept; send the message again for a whole answer.`,
    { ...facts.details, code: 'stream_cut', status: answer.status },
  );
}

function notUnderstood({ answer }: OpenAnswer, facts: CallFacts): ResponseError {
  return new ResponseError(
    `${facts.host} sent a stream that is not a chat completion. The part that arrived is kept. Check the inference address.`,
    { ...facts.details, code: 'stream_not_understood', status: answer.status },
  );
}

export interface ServerEvent {
  /** Name of the event, if any. */
  readonly event: string | undefined;
  readonly data: string;
}

/** Maximum length of a line or event in characters; no chat event is longer. */
const maxEventLength = 8 * 1024 * 1024;

/** The stream does not consist of server-sent events. */
export class EventStreamError extends Error {}

/**
 * Reads server-sent events. Comments, which keep a connection alive, are skipped. The non-standard field `error`, which
 * some servers send, is read as an event named `error`.
 *
 * @throws EventStreamError, and any error from `chunks`
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const { createParser } = await import('eventsource-parser');
  const ready: ServerEvent[] = [];
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event, data }) => ready.push({ event, data }),
    onError: error => {
      if (error.type === 'unknown-field' && error.field === 'error') {
        ready.push({ event: 'error', data: (error.value ?? '').trim() });
      }
      if (error.type === 'max-buffer-size-exceeded') throw new EventStreamError();
    },
  });
  const decoder = new TextDecoder();
  // The parser drops an unfinished line of an unknown field, so it gets whole lines only.
  let rest = '';
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    if (rest.length + text.length > maxEventLength) throw new EventStreamError();
    if (end === 0) {
      rest += text;
      continue;
    }
    parser.feed(rest + text.slice(0, end));
    rest = text.slice(end);
    yield* ready.splice(0);
  }
  // The last event may lack the blank line that ends it.
  parser.feed(`${rest}${decoder.decode()}\n\n`);
  yield* ready.splice(0);
}
