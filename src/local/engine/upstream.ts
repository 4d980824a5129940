/** Another server that answers instead of the local models: any that speaks OpenAI's chat completions. */
import * as z from 'zod/mini';
import { chatCompletion } from '../../contract/inference.ts';
import { parseWhole } from '../../contract/proto-field.ts';
import { errorMessage } from '../../text/errors.ts';
import type { ChatTurn, Generated, SamplingOptions } from '../model/policy.ts';
import { ask } from './upstream-wire.ts';

export interface Upstream {
  /** Address with or without `/v1`. */
  readonly url: string;
  readonly key: string | undefined;
}

/** The error body of the other server. */
interface Reason {
  readonly message: string;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
}

/** The JSON of a request, as it came. */
export interface UpstreamBody {
  readonly content: string | Uint8Array;
  /** Its `Content-Encoding`, if it is compressed. */
  readonly encoding?: string | undefined;
}

/** An error from the other server, or the reason why it did not answer. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly code = 'upstream_failed';
  /** Its HTTP status; undefined if it did not answer. */
  readonly status: number | undefined;
  /** When to try again, from its headers. */
  readonly retryAfter: string | undefined;
  /** Its own `code` and `param`, if it sent them. */
  readonly said: Pick<Reason, 'code' | 'param'>;

  constructor(message: string, status?: number, retryAfter?: string, said: Pick<Reason, 'code' | 'param'> = {}) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
    this.said = said;
  }
}

/** Time limits for the first answer and for silence, in milliseconds. A stream may take longer. */
const silenceMs = 120_000;
/** An error page is read no further than this. */
const longestReason = 2_000;

const errorBody = z.looseObject({
  error: z.union([
    z.string(),
    z.looseObject({
      message: z.string(),
      code: z.nullish(z.union([z.string(), z.number()])),
      param: z.nullish(z.string()),
    }),
  ]),
});

/** Time limit for the list of models, in milliseconds. */
const listMs = 3_000;
const modelList = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

function addressOf(url: string, path: string): string {
  const bare = url.replace(/\/+$/, '');
  return `${bare.endsWith('/v1') ? bare : `${bare}/v1`}/${path}`;
}

function credentialsOf({ key }: Upstream): Record<string, string> {
  return key ? { Authorization: `Bearer ${key}` } : {};
}

/** Aborts after a period of silence. */
class Silence {
  readonly #ms: number;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.#restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  #restart(): void {
    clearTimeout(this.#timer);
    const error = new Error(`no data for ${this.#ms / 1000} s`);
    this.#timer = setTimeout(() => this.#controller.abort(error), this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  /** The response; every chunk resets the silence timer. */
  over(answer: Response): Response {
    const { body, status, statusText, headers } = answer;
    if (!body) {
      this.end();
      return answer;
    }
    const pieces = async function* (silence: Silence): AsyncGenerator<Uint8Array> {
      try {
        for await (const piece of body) {
          silence.#restart();
          yield piece;
        }
      } finally {
        silence.end();
      }
    };
    this.#restart();
    return new Response(ReadableStream.from(pieces(this)), { status, statusText, headers });
  }
}

/**
 * Forwards the JSON of a chat completion. Returns the response once its headers have arrived; its body may be a
 * stream.
 *
 * @throws UpstreamError
 */
export async function sendUpstream(
  upstream: Upstream,
  { content, encoding }: UpstreamBody,
  signal: AbortSignal,
  patienceMs = silenceMs,
): Promise<Response> {
  const silence = new Silence(patienceMs);
  let answer: Response;
  try {
    answer = await ask(addressOf(upstream.url, 'chat/completions'), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(encoding && { 'Content-Encoding': encoding }),
        ...credentialsOf(upstream),
      },
      body: content,
      signal: AbortSignal.any([signal, silence.signal]),
    });
  } catch (error) {
    silence.end();
    signal.throwIfAborted();
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new UpstreamError(
      `The upstream server at ${new URL(upstream.url).host} does not answer: ${errorMessage(cause)}.`,
    );
  }
  answer = silence.over(answer);
  if (answer.ok) return answer;
  const text = (await answer.text().catch(() => '')).slice(0, longestReason);
  const retryAfter = answer.headers.get('retry-after') ?? undefined;
  // Some servers repeat the rejected key.
  const { message, ...said } = reasonOf(upstream.key ? text.replaceAll(upstream.key, '…') : text);
  throw new UpstreamError(
    `The upstream server answered ${answer.status}: ${message || answer.statusText}`,
    answer.status,
    retryAfter,
    said,
  );
}

function reasonOf(text: string): Reason {
  try {
    const { error } = errorBody.parse(JSON.parse(text));
    if (typeof error === 'string') return { message: error };
    const { message, code, param } = error;
    return { message, code: code == null ? undefined : String(code), param: param ?? undefined };
  } catch {
    return { message: text.trim() };
  }
}

/** Whether the other server does not take a seed, which not all that speak this protocol know. */
function refusesSeed(error: unknown): boolean {
  if (!(error instanceof UpstreamError) || (error.status !== 400 && error.status !== 422)) return false;
  return /\bseed\b/.test(`${error.said.param} ${error.message}`);
}

/** A complete answer of the other server: by the seed, where it takes one. @throws UpstreamError */
export async function answerUpstream(
  upstream: Upstream,
  model: string,
  messages: readonly ChatTurn[],
  sampling: SamplingOptions,
  signal: AbortSignal,
): Promise<Generated> {
  const send = (options: Partial<SamplingOptions>): Promise<Response> =>
    sendUpstream(upstream, { content: JSON.stringify({ model, messages, ...options, stream: false }) }, signal);
  const answer = await send(sampling).catch((error: unknown) => {
    if (!refusesSeed(error)) throw error;
    const { seed: _, ...others } = sampling;
    return send(others);
  });
  const read = parseWhole(chatCompletion, await answer.json().catch(() => undefined));
  const choice = read.data?.choices[0];
  if (!read.success || !choice) {
    throw new UpstreamError('The answer of the upstream server is not a chat completion.', answer.status);
  }
  return {
    text: choice.message.content ?? '',
    tokens: [],
    prompt_tokens: read.data.usage?.prompt_tokens ?? 0,
    completion_tokens: read.data.usage?.completion_tokens ?? 0,
    finish_reason: choice.finish_reason === 'length' ? 'length' : 'stop',
  };
}

/** The models of the other server; none if it does not list them in time. */
export async function modelsUpstream(upstream: Upstream): Promise<z.output<typeof modelList>['data']> {
  try {
    const answer = await ask(addressOf(upstream.url, 'models'), {
      headers: credentialsOf(upstream),
      signal: AbortSignal.timeout(listMs),
    });
    return answer.ok ? (parseWhole(modelList, await answer.json()).data?.data ?? []) : [];
  } catch {
    return [];
  }
}
