/** Traces requests and responses with their bodies for debugging, without secrets. */

import { StringDecoder } from 'node:string_decoder';
import { parseJson } from '../base/json-depth.ts';
import { isRecord } from '../base/own-property.ts';
import { hiddenValue, type Redact } from '../config/redaction.ts';
import type { Endpoint } from '../contract/common.ts';
import type { WireAnswer, WireRequest } from '../net/wire.ts';

type Headers = Readonly<Record<string, string>>;

/** An event in a request or a response. A body is cut at `maxBodyLength`. */
export type TraceEvent =
  | {
      readonly kind: 'request';
      readonly operation: string;
      readonly method: string;
      /** Path with the query. */
      readonly path: string;
      readonly headers: Headers;
    }
  | { readonly kind: 'answer'; readonly operation: string; readonly status: number; readonly headers: Headers }
  /** A body, or a line from a streaming one. */
  | { readonly kind: 'body'; readonly of: 'request' | 'answer'; readonly text: string }
  /** How many bytes of the body were left out. */
  | { readonly kind: 'left out'; readonly of: 'request' | 'answer'; readonly bytes: number };

export type Tracer = (event: TraceEvent) => void;

/** How to trace a request. */
export interface TraceOptions {
  readonly tracer: Tracer | undefined;
  readonly endpoint: Pick<Endpoint, 'operation' | 'sensitiveAnswer'>;
  /** The body without sensitive values; if undefined, only its size is shown. */
  readonly body: () => string | undefined;
  readonly redact: Redact;
}

/** The most characters to show of a body. */
export const maxBodyLength = 8_192;
/** The most characters to keep of a body: redaction may make it shorter. */
const maxKeptLength = 65_536;
/** The most characters of a secret, which may span the end of the kept part. */
const maxSecretLength = 8_192;

const secretHeader = /^(x-api-key|(proxy-)?authorization|(set-)?cookie)$|token|secret|signature|credential/;

/** Headers without secret values. */
export function shownHeaders(headers: Headers, redact: Redact): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeader.test(name) ? hiddenValue : redact(value)]),
  );
}

/** Reports a request to the tracer, if there is one. */
export function traceRequest(request: WireRequest, traced: TraceOptions): void {
  const { tracer, endpoint, redact } = traced;
  if (!tracer) return;
  const { url, method } = request;
  const path = redact(`${url.pathname}${url.search}`);
  const headers = shownHeaders(request.headers, redact);
  tracer({ kind: 'request', operation: endpoint.operation, method, path, headers });
  traceRequestBody(request, traced, tracer);
}

/** Returns the response, reporting its body to the tracer as it is read; unchanged without a tracer. */
export function traceAnswer(answer: WireAnswer, traced: TraceOptions): WireAnswer {
  const { tracer, endpoint, redact } = traced;
  if (!tracer) return answer;
  const headers = shownHeaders(answer.headers, redact);
  tracer({ kind: 'answer', operation: endpoint.operation, status: answer.status, headers });
  const body = new AnswerBody(tracer, traced, /^text\/event-stream\b/i.test(answer.headers['content-type'] ?? ''));
  return { ...answer, chunks: () => watchChunks(answer.chunks(), body) };
}

function traceRequestBody(
  { body, headers }: WireRequest,
  { body: redactedBody, redact }: TraceOptions,
  tracer: Tracer,
): void {
  const bytes = body instanceof Uint8Array ? body.byteLength : body ? Number(headers['content-length'] ?? 0) : 0;
  if (bytes === 0) return;
  const shown = redactedBody();
  const whole = shown === undefined ? '' : redact(shown);
  const text = whole.slice(0, maxBodyLength);
  if (text !== '') tracer({ kind: 'body', of: 'request', text });
  if (shown === undefined || whole.length > maxBodyLength) {
    tracer({ kind: 'left out', of: 'request', bytes: Math.max(0, bytes - Buffer.byteLength(text)) });
  }
}

async function* watchChunks(
  chunks: AsyncGenerator<Uint8Array, void>,
  body: AnswerBody,
): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of chunks) {
      body.take(chunk);
      yield chunk;
    }
  } finally {
    body.end();
  }
}

/** Reports a response's body: at its end, or line by line if it streams. */
class AnswerBody {
  readonly #tracer: Tracer;
  readonly #traced: TraceOptions;
  readonly #streams: boolean;
  readonly #decoder = new StringDecoder();
  /** Whether the rest of the body is dropped. */
  #isFull = false;
  #bytes = 0;
  /** The shown part of `#bytes`, before redaction. */
  #shownBytes = 0;
  /** Number of shown characters. */
  #shown = 0;
  #text = '';

  constructor(tracer: Tracer, traced: TraceOptions, streams: boolean) {
    this.#tracer = tracer;
    this.#traced = traced;
    this.#streams = streams;
  }

  take(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#isFull) return;
    this.#text += this.#decoder.write(chunk);
    if (this.#streams) this.#showLines();
    // A body with secrets in JSON fields must be read whole.
    if (this.#text.length <= maxKeptLength || this.#traced.endpoint.sensitiveAnswer) return;
    this.#isFull = true;
    this.#show(this.#text);
    this.#text = '';
  }

  #showLines(): void {
    const end = this.#text.lastIndexOf('\n') + 1;
    for (const line of this.#text.slice(0, end).split('\n').slice(0, -1)) {
      if (line.trim() !== '') this.#show(line);
      if (this.#shown < maxBodyLength) this.#shownBytes += 1;
    }
    this.#text = this.#text.slice(end);
  }

  #show(text: string): void {
    const whole = this.#traced.redact(text);
    const safe = this.#isFull ? Math.max(0, whole.length - maxSecretLength) : whole.length;
    const shown = whole.slice(0, Math.min(safe, maxBodyLength - this.#shown));
    this.#shown += shown.length;
    // If the whole body is shown, count its length before redaction.
    this.#shownBytes += Buffer.byteLength(shown.length < whole.length ? shown : text);
    if (shown !== '') this.#tracer({ kind: 'body', of: 'answer', text: shown });
  }

  end(): void {
    this.#show(this.#withoutSensitive(this.#text + this.#decoder.end()));
    const isCut = this.#isFull || this.#shown >= maxBodyLength;
    const left = isCut ? this.#bytes - this.#shownBytes : 0;
    if (left > 0) this.#tracer({ kind: 'left out', of: 'answer', bytes: left });
  }

  #withoutSensitive(text: string): string {
    const { sensitiveAnswer } = this.#traced.endpoint;
    if (!sensitiveAnswer || text === '') return text;
    const body = parseJson(text);
    return body === undefined ? hiddenValue : JSON.stringify(masked(body, sensitiveAnswer));
  }
}

/** Hides the values of these fields, at any depth. */
function masked(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map(item => masked(item, names));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, names.includes(name) ? hiddenValue : masked(item, names)]),
  );
}
