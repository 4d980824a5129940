/** Chat completions, whole or as server-sent events in the OpenAI chunk form. */
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { type ChatCompletionBody, chatCompletionBody } from '../../contract/inference.ts';
import { defaultSampling, type Generated } from '../model/policy.ts';
import { newId } from '../store/ids.ts';
import type { ServiceContext } from './context.ts';
import { ApiError } from './errors.ts';
import { check } from './validate.ts';

/** Longest answer; more is asked for by nobody who waits for it. */
const longestAnswer = 4096;

function usageOf({ prompt_tokens, completion_tokens }: Generated) {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

export async function answerChat(context: Context, service: ServiceContext, raw: unknown): Promise<Response> {
  const body: ChatCompletionBody = check(chatCompletionBody, raw);
  if (!service.inference.has(body.model)) {
    throw new ApiError(404, 'invalid_request_error', 'model_not_found', `There is no model ${body.model}.`, {
      param: 'model',
    });
  }
  const left = new AbortController();
  context.req.raw.signal.addEventListener('abort', () => left.abort());
  const sampling = {
    temperature: body.temperature ?? defaultSampling.temperature,
    top_p: body.top_p ?? defaultSampling.top_p,
    max_tokens: Math.min(longestAnswer, body.max_tokens ?? defaultSampling.max_tokens),
    seed: Math.floor(Math.random() * 2 ** 32),
  };
  const answer = service.inference.generate(body.model, body.messages, sampling, left.signal);
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

  return streamSSE(context, async stream => {
    stream.onAbort(() => left.abort());
    const chunk = (delta: Record<string, unknown>, finish_reason: string | null = null) =>
      stream.writeSSE({
        data: JSON.stringify({
          ...common,
          object: 'chat.completion.chunk',
          choices: [{ index: 0, delta, finish_reason }],
        }),
      });
    try {
      await chunk({ role: 'assistant', content: '' });
      let step = await answer.next();
      while (!step.done) {
        await chunk({ content: step.value.text });
        step = await answer.next();
      }
      await chunk({}, step.value.finish_reason);
      if (body.stream_options?.include_usage ?? true) {
        await stream.writeSSE({
          data: JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [], usage: usageOf(step.value) }),
        });
      }
      await stream.writeSSE({ data: '[DONE]' });
    } catch (error) {
      if (left.signal.aborted) return;
      const failure = new ApiError(
        500,
        'api_error',
        'internal_error',
        error instanceof Error ? error.message : String(error),
      );
      await stream.writeSSE({ data: JSON.stringify(failure.inferenceEnvelope()) });
    }
  });
}
