/** An upstream server that answers in place of the local models. It must support OpenAI's chat completions. */

import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod/mini';
import { errorMessage } from '../../base/errors.ts';
import { parseDeepJson } from '../../base/json-depth.ts';
import { backoff, isTransientStatus, maxRetries, maxRetryAfterMs, retryAfter } from '../../base/retry-waits.ts';
import { trimEnd } from '../../base/trim.ts';
import { toText } from '../../contract/message-content.ts';
import { parseWhole } from '../../contract/proto-field.ts';
import { Agents } from '../../net/agents.ts';
import { readBody, readErrorBody } from '../../net/body.ts';
import { isFinal, WireFailure } from '../../net/failure.ts';
import { statusText } from '../../net/status-text.ts';
import { exchange, type WireAnswer, type WireRequest } from '../../net/wire.ts';
import { Gates } from '../../service/gate.ts';
import { duration } from '../../text/time.ts';
import type { ChatTurn, Generated, SamplingOptions } from '../model/policy.ts';
import { answerMessage } from './upstream-message.ts';

export interface Upstream {
  /** The address, with or without `/v1`. */
  readonly url: string;
  readonly key: string | undefined;
}

/** The upstream server's error body. */
interface Reason {
  readonly message: string;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
}

/** A request's JSON, unchanged. */
export interface UpstreamBody {
  readonly content: string | Uint8Array;
  /** The `Content-Encoding`, if it is compressed. */
  readonly encoding?: string | undefined;
}

/** The fields of an error response from the upstream server. */
type UpstreamAnswer = Pick<UpstreamError, 'status' | 'retryAfterMs' | 'details'>;

/** An error response from the upstream server, or a failure to reach it. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly code = 'upstream_failed';
  /** Its HTTP status; undefined if it did not respond. */
  readonly status: number | undefined;
  /** The wait that the headers ask for. */
  readonly retryAfterMs: number | undefined;
  /** The `code` and `param` in its error body, if any. */
  readonly details: Pick<Reason, 'code' | 'param'>;
  /** Whether it refuses its key or asks for payment, so a retry does not help. OpenAI sends 429 for a used-up quota. */
  readonly isRefusal: boolean;
  /** Whether the same request may succeed later. */
  readonly mayPass: boolean;

  /** @param isFinal whether a request that got no response is not worth retrying */
  constructor(
    message: string,
    { status, retryAfterMs, details = {}, isFinal = false }: Partial<UpstreamAnswer> & { readonly isFinal?: boolean },
  ) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.details = details;
    this.isRefusal = [401, 402, 403].includes(status ?? 0) || details.code === 'insufficient_quota';
    this.mayPass = status === undefined ? !isFinal : isTransientStatus(status) && !this.isRefusal;
  }
}

/** Idle timeout in milliseconds. A stream may take longer in total. */
const silenceMs = 120_000;
/** Maximum length of the text quoted from an error page. */
const longestReason = 2_000;
/** The largest response accepted. */
const maxBytes = 64 * 1024 * 1024;

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

/** Timeout for the list of models, in milliseconds. */
const listMs = 3_000;
const modelList = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

/** Uses the proxies in the environment. */
const agents = new Agents(undefined);

/** Sends a request. Redirects are not followed: they would send the key to a server that the user did not name. */
async function sendToUpstream(
  upstream: Upstream,
  path: string,
  request: Pick<WireRequest, 'method' | 'signal' | 'body'> & { readonly headers?: WireRequest['headers'] },
): Promise<WireAnswer> {
  const url = new URL(`${trimEnd(upstream.url, '/').replace(/\/v1$/, '')}/v1/${path}`);
  const agent = await agents.get(url, 'long');
  const headers = { ...request.headers, ...(upstream.key && { authorization: `Bearer ${upstream.key}` }) };
  return exchange({ ...request, url, headers, agent, connectMs: silenceMs, silenceMs, uncompressed: true });
}

/** The error for a failed connection. @throws the signal's reason, if the caller aborted it */
function failedUpstream(error: unknown, { url }: Upstream, what: string, signal: AbortSignal): UpstreamError {
  signal.throwIfAborted();
  const isTime = error instanceof WireFailure && error.reason !== 'network';
  const why = isTime ? `no data for ${silenceMs / 1_000} s` : errorMessage(error).replace(/\.$/, '');
  return new UpstreamError(`The upstream server at ${new URL(url).host} ${what}: ${why}.`, {
    isFinal: !(error instanceof WireFailure) || isFinal(error),
  });
}

/**
 * Forwards a chat completion's JSON. Returns the response once its headers have arrived; its body may be a stream.
 *
 * @throws UpstreamError
 */
export async function sendUpstream(
  upstream: Upstream,
  { content, encoding }: UpstreamBody,
  signal: AbortSignal,
): Promise<WireAnswer> {
  let answer: WireAnswer;
  try {
    answer = await sendToUpstream(upstream, 'chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(encoding && { 'content-encoding': encoding }) },
      body: typeof content === 'string' ? Buffer.from(content) : content,
      signal,
    });
  } catch (error) {
    throw failedUpstream(error, upstream, 'does not answer', signal);
  }
  const { status, headers } = answer;
  if (status >= 200 && status < 300) {
    const chunks = async function* (): AsyncGenerator<Uint8Array, void> {
      try {
        yield* answer.chunks();
      } catch (error) {
        throw failedUpstream(error, upstream, 'broke off', signal);
      }
    };
    return { ...answer, chunks };
  }
  const text = (await readErrorBody(answer).catch(() => '')).slice(0, longestReason);
  // Some servers quote the rejected key.
  const { message, ...details } = reasonOf(upstream.key ? text.replaceAll(upstream.key, '…') : text);
  const words = `The upstream server answered ${status}: ${message || statusText(status)}`;
  const isKeyRefused = status === 401 || status === 403;
  throw new UpstreamError(
    isKeyRefused ? `${trimEnd(words, '.')}. ${upstream.key ? 'Check' : 'Set'} the upstream key.` : words,
    { status, retryAfterMs: retryAfter(headers, Date.now()), details },
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

/** Whether the upstream server rejected the seed, which not all servers support. */
function refusesSeed(error: unknown): boolean {
  if (!(error instanceof UpstreamError) || (error.status !== 400 && error.status !== 422)) return false;
  return /\bseed\b/.test(`${error.details.param} ${error.message}`);
}

/** Returns a complete answer, sampled with the seed if the server supports one. @throws UpstreamError */
export async function answerUpstream(
  upstream: Upstream,
  model: string,
  messages: readonly ChatTurn[],
  sampling: SamplingOptions,
  signal: AbortSignal,
): Promise<Generated> {
  const send = (options: Partial<SamplingOptions>): Promise<WireAnswer> =>
    sendUpstream(upstream, { content: JSON.stringify({ model, messages, ...options, stream: false }) }, signal);
  const answer = await send(sampling).catch((error: unknown) => {
    if (!refusesSeed(error)) throw error;
    const { seed: _, ...others } = sampling;
    return send(others);
  });
  const text = await readBody(answer, maxBytes).catch((error: unknown) => {
    if (error instanceof UpstreamError) throw error;
    signal.throwIfAborted();
    return '';
  });
  const message = answerMessage(text);
  if (!message) throw new UpstreamError("The upstream server's response is not a chat completion.", answer);
  return {
    text: message.content,
    tokens: [],
    prompt_tokens: message.prompt_tokens,
    completion_tokens: message.completion_tokens,
    finish_reason: message.finish_reason,
    reasoning: message.reasoning,
    refusal: message.refusal,
    content_parts: message.content_parts && JSON.stringify(message.content_parts),
    tool_calls: toText(message.tool_calls),
  };
}

/** Shared, so that a rate limit on one rollout delays all rollouts on the same upstream server. */
const gates = new Gates();
/** How many attempts have succeeded on each upstream server, by host. */
const successes = new Map<string, number>();

/**
 * Makes an attempt with the same retries and waits as a chat; retries more often while a rate limit lets other rollouts
 * through.
 *
 * @throws UpstreamError from the last attempt, or AbortError as soon as the signal aborts
 */
export async function withRetries<Value>(
  { url }: Upstream,
  attempt: () => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const { host } = new URL(url);
  const gate = gates.of(host);
  const answered = (): number => successes.get(host) ?? 0;
  let before = answered();
  for (let retries = 1; ; retries += 1) {
    const mayTry = await gate.pass({ signal, endsAt: Number.POSITIVE_INFINITY, background: false });
    signal.throwIfAborted();
    if (!mayTry) {
      const words = `The upstream server at ${host} limits the rate of requests, so nothing was sent.`;
      throw new UpstreamError(withWait(words, gate.requested()), { status: 429 });
    }
    try {
      const value = await attempt();
      gate.succeeded();
      successes.set(host, answered() + 1);
      return value;
    } catch (error) {
      if (!(error instanceof UpstreamError)) {
        gate.abandoned();
        throw error;
      }
      const { retryAfterMs: requestedMs } = error;
      const isLimited = error.status === 429 && error.mayPass;
      if (isLimited) gate.limit(requestedMs);
      else if (error.status === undefined) gate.unreachable();
      else gate.answered();
      // Start counting again: others got through, so the server is only limiting the rate.
      if (isLimited && answered() > before) retries = 1;
      before = answered();
      const isTooLong = requestedMs !== undefined && requestedMs > maxRetryAfterMs;
      if (error.mayPass && isTooLong) throw new UpstreamError(withWait(error.message, requestedMs), error);
      if (!error.mayPass || retries > maxRetries) throw error;
      // Rollouts that wait equally long must not all be sent at once.
      const waitMs = requestedMs ? requestedMs * (1 + Math.random() / 4) : backoff(retries, Math.random());
      if (!isLimited) await wait(waitMs, undefined, { signal });
    }
  }
}

/** Adds to a message the wait that the upstream server asks for. */
const withWait = (message: string, ms: number): string =>
  `${/[.!?…]$/.test(message) ? message : `${message}.`} It asks for a wait of ${duration(ms)}.`;

/** The upstream server's models; none if it does not list them in time. */
export async function modelsUpstream(upstream: Upstream): Promise<z.output<typeof modelList>['data']> {
  try {
    const answer = await sendToUpstream(upstream, 'models', { method: 'GET', signal: AbortSignal.timeout(listMs) });
    const body = parseDeepJson(await readBody(answer, maxBytes));
    return answer.status < 300 ? (parseWhole(modelList, body).data?.data ?? []) : [];
  } catch {
    return [];
  }
}
