/** Chat completions, whole or as server-sent events in OpenAI's chunk format. */

import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { errorMessage } from '../../base/errors.ts';
import { hasEnded } from '../../contract/status.ts';
import type { WireAnswer } from '../../net/wire.ts';
import { type ModelSource, ModelUnavailable } from '../engine/catalog.ts';
import { sendUpstream, type Upstream, type UpstreamBody, UpstreamError } from '../engine/upstream.ts';
import { type AssistantMessage, answerMessage, tapMessage } from '../engine/upstream-message.ts';
import type { Generated, SampledToken } from '../model/policy.ts';
import { newId } from '../store/ids.ts';
import { decodedText, parseJson } from './body.ts';
import { type ChatOrder, readChat } from './chat-request.ts';
import { ApiError, apiError, conflict, invalid, notFound } from './errors.ts';
import type { ServiceContext } from './handlers.ts';

/** `Retry-After` for a deployment in progress, in seconds. */
const notReadyRetryAfter = '2';

/** The usage of a local model, which counts all tokens. */
function usageOf({ prompt_tokens, completion_tokens }: Generated) {
  return { prompt_tokens, completion_tokens, total_tokens: Number(prompt_tokens) + Number(completion_tokens) };
}

/**
 * The model for a request. If the request names no model, the upstream server chooses.
 *
 * @throws ApiError in the inference envelope if no model answers
 */
function findSource({ catalog }: ServiceContext, organizationId: string, model: string | undefined): ModelSource {
  if (model === undefined) {
    if (catalog.upstream) return { kind: 'upstream', name: '', upstream: catalog.upstream };
    throw invalid('model', 'name the model.');
  }
  try {
    return catalog.forChat(organizationId, model);
  } catch (error) {
    if (!(error instanceof ModelUnavailable)) throw error;
    if (error.reason === 'unknown') {
      throw new ApiError(404, 'invalid_request_error', 'model_not_found', error.message, { param: 'model' });
    }
    // No `Retry-After`: the user has to deploy or promote it first.
    if (error.status === 'FAILED' || error.status === 'DEPLOYED') {
      throw conflict('model_not_ready', error.message, { param: 'model' });
    }
    throw new ApiError(503, 'dependency_error', 'model_not_ready', error.message, {
      param: 'model',
      headers: { 'Retry-After': notReadyRetryAfter },
    });
  }
}

/** The model that a request names, in any form. */
function modelOf(request: unknown): string | undefined {
  const { model } = (request ?? {}) as { model?: unknown };
  return typeof model === 'string' && model !== '' ? model : undefined;
}

/**
 * Records an answer as a step of the trajectory that the request names.
 *
 * @throws ApiError if that trajectory does not exist or has ended
 */
function recorderOf({ trajectories }: ServiceContext, organizationId: string, id: string | undefined) {
  if (id === undefined) return undefined;
  const trajectory = trajectories.row(organizationId, id);
  if (!trajectory) throw notFound('trajectory', id);
  if (hasEnded(trajectory.status)) {
    throw apiError('trajectory_already_terminal', `The trajectory has ended as ${trajectory.status}.`);
  }
  return (model: string, messages: readonly unknown[]): void => trajectories.addStep(id, model, { messages });
}

/**
 * Answers a chat completion. `model` overrides the model in the body. A request for an upstream model is forwarded
 * unchanged, and so is the response. If the request names a trajectory, both are recorded there.
 *
 * @throws ApiError
 */
export async function answerChat(
  context: Context,
  service: ServiceContext,
  organizationId: string,
  model?: string,
): Promise<Response> {
  const body = Buffer.from(await context.req.arrayBuffer());
  const encoding = context.req.header('content-encoding');
  const raw = parseJson(await decodedText(body, encoding));
  const request = model === undefined || typeof raw !== 'object' ? raw : { ...raw, model };
  const source = findSource(service, organizationId, modelOf(request));
  const left = new AbortController();
  context.req.raw.signal.addEventListener('abort', () => left.abort());
  const record = recorderOf(service, organizationId, context.req.header('x-trajectory-id'));
  if (source.kind === 'upstream') {
    const asIs = request === raw || modelOf(raw) === model;
    const { messages } = (request ?? {}) as { messages?: unknown };
    const conversation: readonly unknown[] = Array.isArray(messages) ? messages : [];
    const onMessage =
      record &&
      (({ content, content_parts, ...message }: AssistantMessage) =>
        record(modelOf(request) ?? 'upstream', [...conversation, { ...message, content: content_parts ?? content }]));
    const sent = asIs ? { content: body, encoding } : { content: JSON.stringify(request) };
    return forward(context, source.upstream, sent, left.signal, onMessage);
  }

  const order = readChat(request);
  const answer = service.sampleChat(source.model, order.turns, order.sampling, left.signal);
  const onGenerated = ({ text: content, tokens: _, ...generated }: Generated): void =>
    record?.(order.model, [...order.turns, { role: 'assistant', content, ...generated }]);
  return order.stream
    ? streamAnswer(context, order, answer, onGenerated, left)
    : context.json(await wholeAnswer(order, answer, onGenerated));
}

type Answer = AsyncGenerator<SampledToken, Generated>;
type OnGenerated = (generated: Generated) => void;

const answerHead = ({ model }: ChatOrder) => ({
  id: `chatcmpl-${newId('execution')}`,
  created: Math.floor(Date.now() / 1000),
  model,
});

async function wholeAnswer(order: ChatOrder, answer: Answer, onGenerated: OnGenerated) {
  const head = answerHead(order);
  let step = await answer.next();
  while (!step.done) step = await answer.next();
  onGenerated(step.value);
  const { text: content, finish_reason } = step.value;
  const message = { role: 'assistant', content, refusal: null };
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: usageOf(step.value),
  };
}

/** @param left aborts the answer when the caller leaves */
async function streamAnswer(
  context: Context,
  order: ChatOrder,
  answer: Answer,
  onGenerated: OnGenerated,
  left: AbortController,
): Promise<Response> {
  const head = answerHead(order);
  // A model that cannot be loaded gives an error response, not a broken stream.
  let step = await answer.next();
  return streamSSE(context, async stream => {
    stream.onAbort(() => left.abort());
    const send = (choices: readonly object[], usage: object | null = null) => {
      const chunk = { ...head, object: 'chat.completion.chunk', choices, ...(order.usage && { usage }) };
      return stream.writeSSE({ data: JSON.stringify(chunk) });
    };
    const sendDelta = (delta: object, finish_reason: string | null = null) =>
      send([{ index: 0, delta, logprobs: null, finish_reason }]);
    try {
      await sendDelta({ role: 'assistant', content: '' });
      while (!step.done) {
        if (step.value.text !== '') await sendDelta({ content: step.value.text });
        step = await answer.next();
      }
      onGenerated(step.value);
      await sendDelta({}, step.value.finish_reason);
      if (order.usage) await send([], usageOf(step.value));
      await stream.writeSSE({ data: '[DONE]' });
    } catch (error) {
      if (!left.signal.aborted) await stream.writeSSE({ data: brokenOff(error) });
    }
  });
}

/** The event that ends a stream that has failed. */
function brokenOff(error: unknown): string {
  const message = errorMessage(error);
  return JSON.stringify(new ApiError(500, 'api_error', 'internal_error', message).inferenceEnvelope());
}

/**
 * Forwards a request to the upstream server. Streams are passed through; errors are converted to the inference
 * envelope. `onMessage` is called with the message in a complete response.
 */
async function forward(
  context: Context,
  upstream: Upstream,
  body: UpstreamBody,
  signal: AbortSignal,
  onMessage?: (message: AssistantMessage) => void,
): Promise<Response> {
  let answer: WireAnswer;
  try {
    answer = await sendUpstream(upstream, body, signal);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw upstreamFailure(error);
  }
  const { 'content-type': type = 'application/json', ...others } = answer.headers;
  const forwarded = Object.entries(others).filter(([name]) => name === 'content-encoding' || name === 'x-request-id');
  const headers = { 'Content-Type': type, ...Object.fromEntries(forwarded) };
  const content = ReadableStream.from(answer.chunks());
  if (type.startsWith('text/event-stream')) {
    const events = onMessage ? content.pipeThrough(tapMessage(onMessage)) : content;
    return context.body(ReadableStream.from(endingWithError(events)), 200, headers);
  }
  if (!onMessage) return context.body(content, 200, headers);
  const bytes = await new Response(content).arrayBuffer();
  const message = answerMessage(new TextDecoder().decode(bytes));
  if (message) onMessage(message);
  return context.body(bytes, 200, headers);
}

/** Forwards events. A failure ends them with an error event. */
async function* endingWithError(events: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* events;
  } catch (error) {
    yield new TextEncoder().encode(`\n\ndata: ${brokenOff(error)}\n\n`);
  }
}

/** Keeps the caller's errors, and turns errors between here and the upstream server into gateway errors. */
function upstreamFailure({ status = 502, message, retryAfterMs, details, isRefusal }: UpstreamError): ApiError {
  const { code, param } = details;
  // A 401 would mean that the local service refused the caller's key.
  if (isRefusal) return new ApiError(403, 'permission_error', 'upstream_refused', message);
  const headers = retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) };
  if (status === 429) {
    return new ApiError(429, 'rate_limit_error', code ?? 'rate_limited', message, { param, headers });
  }
  // If a proxy wants a credential, that is not the caller's error.
  if (status >= 400 && status < 500 && status !== 407) {
    const defaultCode = status === 404 ? 'model_not_found' : 'validation_error';
    return new ApiError(status, 'invalid_request_error', code ?? defaultCode, message, { param, headers });
  }
  return new ApiError(502, 'dependency_error', 'upstream_failed', message, { headers });
}
