/** What goes over the wire, for debugging: requests and answers with their bodies, without secrets. */
import { StringDecoder } from 'node:string_decoder';
import { hidden, type Redact } from '../config/redaction.ts';
import type { Endpoint } from '../contract/common.ts';
import { parseJson, type WireAnswer, type WireRequest } from './http.ts';

type Headers = Readonly<Record<string, string>>;

/** Part of a request or an answer as it may be shown. A body is cut at `longestBody`. */
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
  /** A body, or a line of one that streams. */
  | { readonly kind: 'body'; readonly of: 'request' | 'answer'; readonly text: string }
  /** So many bytes of the body before it are not shown. */
  | { readonly kind: 'left out'; readonly of: 'request' | 'answer'; readonly bytes: number };

export type Tracer = (event: TraceEvent) => void;

/** What is known of a request that is traced. */
export interface Traced {
  readonly tracer: Tracer | undefined;
  readonly endpoint: Pick<Endpoint, 'operation' | 'sensitiveAnswer'>;
  /** The body without what is sensitive; if there is none, only its size is shown. */
  readonly body: () => string | undefined;
  readonly redact: Redact;
}

/** Characters of a body that are shown. */
export const longestBody = 8_192;
/** Characters that are kept behind them, so that a secret is found that lies across the end. */
const beyond = 8_192;

const secretHeader = /^(x-api-key|(proxy-)?authorization|(set-)?cookie)$|token|secret|signature|credential/;

/** Headers without the values of those that hold a secret. */
export function shownHeaders(headers: Headers, redact: Redact): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeader.test(name) ? hidden : redact(value)]),
  );
}

/** Shows a request to the tracer, if there is one. */
export function traceRequest(request: WireRequest, traced: Traced): void {
  const { tracer, endpoint, redact } = traced;
  if (!tracer) return;
  const { url, method } = request;
  const path = redact(`${url.pathname}${url.search}`);
  const headers = shownHeaders(request.headers, redact);
  tracer({ kind: 'request', operation: endpoint.operation, method, path, headers });
  traceRequestBody(request, traced, tracer);
}

/** The answer, whose body the tracer sees as it is read; as it came if there is no tracer. */
export function traceAnswer(answer: WireAnswer, traced: Traced): WireAnswer {
  const { tracer, endpoint, redact } = traced;
  if (!tracer) return answer;
  const headers = shownHeaders(answer.headers, redact);
  tracer({ kind: 'answer', operation: endpoint.operation, status: answer.status, headers });
  const body = new AnswerBody(tracer, traced, /^text\/event-stream\b/i.test(answer.headers['content-type'] ?? ''));
  return { ...answer, chunks: () => watched(answer.chunks(), body) };
}

function traceRequestBody({ body, headers }: WireRequest, { body: shownBody, redact }: Traced, tracer: Tracer): void {
  const bytes = body instanceof Uint8Array ? body.byteLength : body ? Number(headers['content-length'] ?? 0) : 0;
  if (bytes === 0) return;
  const shown = shownBody();
  const text = shown === undefined ? '' : redact(shown).slice(0, longestBody);
  if (text !== '') tracer({ kind: 'body', of: 'request', text });
  if (shown === undefined || shown.length > longestBody) {
    tracer({ kind: 'left out', of: 'request', bytes: Math.max(0, bytes - Buffer.byteLength(text)) });
  }
}

async function* watched(chunks: AsyncGenerator<Uint8Array, void>, body: AnswerBody): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of chunks) {
      body.take(chunk);
      yield chunk;
    }
  } finally {
    body.end();
  }
}

/** Shows the body of an answer: once it has ended, or line by line where it streams. */
class AnswerBody {
  readonly #tracer: Tracer;
  readonly #traced: Traced;
  readonly #streams: boolean;
  readonly #decoder = new StringDecoder('utf8');
  #bytes = 0;
  /** Of these so many are shown. */
  #shownBytes = 0;
  /** Characters. */
  #shown = 0;
  #text = '';

  constructor(tracer: Tracer, traced: Traced, streams: boolean) {
    this.#tracer = tracer;
    this.#traced = traced;
    this.#streams = streams;
  }

  take(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#streams ? this.#shown >= longestBody : this.#isFull) return;
    this.#text += this.#decoder.write(chunk);
    if (this.#streams) this.#showLines();
  }

  /** What has secrets in fields of JSON is read whole. */
  get #isFull(): boolean {
    return !this.#traced.endpoint.sensitiveAnswer && this.#text.length > longestBody + beyond;
  }

  #showLines(): void {
    const end = this.#text.lastIndexOf('\n') + 1;
    for (const line of this.#text.slice(0, end).split('\n').slice(0, -1)) {
      if (line.trim() !== '') this.#show(line);
      if (this.#shown < longestBody) this.#shownBytes += 1;
    }
    this.#text = this.#text.slice(end);
    if (this.#text.length <= longestBody + beyond) return;
    this.#show(this.#text);
    this.#text = '';
  }

  #show(text: string): void {
    const room = longestBody - this.#shown;
    if (room <= 0) return;
    const whole = this.#traced.redact(text);
    const shown = whole.slice(0, room);
    this.#shown += shown.length;
    // What is redacted counts with its own length.
    this.#shownBytes += Buffer.byteLength(shown.length < whole.length ? shown : text);
    if (shown !== '') this.#tracer({ kind: 'body', of: 'answer', text: shown });
  }

  end(): void {
    this.#show(this.#withoutSensitive(this.#text + this.#decoder.end()));
    const left = this.#shown < longestBody ? 0 : this.#bytes - this.#shownBytes;
    if (left > 0) this.#tracer({ kind: 'left out', of: 'answer', bytes: left });
  }

  #withoutSensitive(text: string): string {
    const { sensitiveAnswer } = this.#traced.endpoint;
    if (!sensitiveAnswer || text === '') return text;
    const body = parseJson(text);
    return body === undefined ? hidden : JSON.stringify(masked(body, sensitiveAnswer));
  }
}

/** A value with everything under these names replaced, at any depth. */
function masked(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(item => masked(item, names));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, names.includes(name) ? hidden : masked(item, names)]),
  );
}
