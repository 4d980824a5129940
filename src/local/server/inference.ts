/** Chat completions, whole or as server-sent events in the OpenAI chunk form. */
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { type ChatCompletionBody, chatCompletionBody } from '../../contract/inference.ts';
import { type ModelSource, ModelUnavailable } from '../engine/catalog.ts';
import { sendUpstream, UpstreamError } from '../engine/upstream.ts';
import { defaultSampling, type Generated } from '../model/policy.ts';
import { newId } from '../store/ids.ts';
import type { ServiceContext } from './context.ts';
import { ApiError } from './errors.ts';
import { check } from './validate.ts';

/** Longest answer, in tokens. */
const longestAnswer = 4096;
/** Seconds after which a deployment on its way may be asked again. */
const notReadyRetryAfter = '2';

function usageOf({ prompt_tokens, completion_tokens }: Generated) {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** What answers under a name; an error in inference's own words where nothing does. */
function sourceOf({ catalog }: ServiceContext, organizationId: string, model: string): ModelSource {
  try {
    return catalog.forChat(organizationId, model);
  } catch (error) {
    if (!(error instanceof ModelUnavailable)) throw error;
    if (error.reason === 'unknown') {
      throw new ApiError(404, 'invalid_request_error', 'model_not_found', error.message, { param: 'model' });
    }
    const waiting = error.status !== 'FAILED' && error.status !== 'DEPLOYED';
    throw new ApiError(503, 'dependency_error', 'model_not_ready', error.message, {
      param: 'model',
      headers: waiting ? { 'Retry-After': notReadyRetryAfter } : {},
    });
  }
}

/** Answers a chat completion. `model`, where it is given, answers whatever the body names. */
export async function answerChat(
  context: Context,
  service: ServiceContext,
  organizationId: string,
  raw: unknown,
  model?: string,
): Promise<Response> {
  const body: ChatCompletionBody = check(chatCompletionBody, model === undefined ? raw : named(raw, model));
  const source = sourceOf(service, organizationId, body.model);
  const left = new AbortController();
  context.req.raw.signal.addEventListener('abort', () => left.abort());
  if (source.kind === 'upstream') return passOn(source, body, left.signal);

  const sampling = {
    temperature: body.temperature ?? defaultSampling.temperature,
    top_p: body.top_p ?? defaultSampling.top_p,
    max_tokens: Math.min(longestAnswer, body.max_tokens ?? defaultSampling.max_tokens),
    seed: Math.floor(Math.random() * 2 ** 32),
  };
  const answer = service.talk(source.model, body.messages, sampling, left.signal);
  const common = { id: `chatcmpl-${newId('execution')}`, created: Math.floor(Date.now() / 1000), model: body.model };

  if (!body.stream) {
    let step = await answer.next();
    while (!step.done) step = await answer.next();
    const { text, finish_reason } = step.value;
    return context.json({
      ...common,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason }],
      usage: usageOf(step.value),
    });
  }

  // A model that cannot be loaded is an answer of its own, not a stream that breaks off.
  let step = await answer.next();
  return streamSSE(context, async stream => {
    stream.onAbort(() => left.abort());
    const send = (choices: readonly object[], more: object = {}) =>
      stream.writeSSE({ data: JSON.stringify({ ...common, object: 'chat.completion.chunk', choices, ...more }) });
    const chunk = (delta: Record<string, unknown>, finish_reason: string | null = null) =>
      send([{ index: 0, delta, finish_reason }]);
    try {
      await chunk({ role: 'assistant', content: '' });
      while (!step.done) {
        await chunk({ content: step.value.text });
        step = await answer.next();
      }
      await chunk({}, step.value.finish_reason);
      if (body.stream_options?.include_usage ?? true) await send([], { usage: usageOf(step.value) });
      await stream.writeSSE({ data: '[DONE]' });
    } catch (error) {
      if (!left.signal.aborted) await stream.writeSSE({ data: brokenOff(error) });
    }
  });
}

function named(raw: unknown, model: string): unknown {
  return typeof raw === 'object' && raw !== null ? { ...raw, model } : raw;
}

/** The event that ends a stream which cannot go on. */
function brokenOff(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return JSON.stringify(new ApiError(500, 'api_error', 'internal_error', message).inferenceEnvelope());
}

type UpstreamSource = Extract<ModelSource, { kind: 'upstream' }>;

/** Lets another server answer. Its stream is passed through as it comes; its errors are said in inference's words. */
async function passOn({ upstream, name }: UpstreamSource, body: ChatCompletionBody, signal: AbortSignal) {
  let answer: Response;
  try {
    answer = await sendUpstream(upstream, { ...body, model: name }, signal);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw upstreamFailure(error);
  }
  const type = answer.headers.get('content-type') ?? 'application/json';
  const content =
    answer.body && type.startsWith('text/event-stream') ? ReadableStream.from(whole(answer.body)) : answer.body;
  return new Response(content, { status: 200, headers: { 'Content-Type': type } });
}

async function* whole(events: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* events;
  } catch (error) {
    yield new TextEncoder().encode(`\n\ndata: ${brokenOff(error)}\n\n`);
  }
}

/** What the caller did wrong is theirs to know; what is wrong between here and there is not their fault. */
function upstreamFailure({ status, message, retryAfter }: UpstreamError): ApiError {
  const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
  if (status === 429) return new ApiError(429, 'rate_limit_error', 'rate_limited', message, { headers });
  if (status === 400 || status === 404 || status === 422) {
    const code = status === 404 ? 'model_not_found' : 'validation_error';
    return new ApiError(status, 'invalid_request_error', code, message);
  }
  return new ApiError(502, 'dependency_error', 'upstream_failed', message, { headers });
}
