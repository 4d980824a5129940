import { getEventListeners, once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ChatEvent, refusesToStream } from '../../src/service/chat.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { inTime } from '../in-time.ts';
import {
  type Behaviour,
  errorOf,
  hostileServer,
  inferenceToken,
  json,
  open,
  refusal,
  resetAtOnce,
  serviceAt,
  stream,
  text,
} from './hostile-server.ts';

const question = { model: 'acme/small', messages: [{ role: 'user', content: 'hello' }] };

function chunk(delta: object | null, more: object = {}): string {
  const body = {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: question.model,
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  };
  return `data: ${JSON.stringify(body)}\n\n`;
}
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const usageChunk = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
const stop = chunk({}, { finish_reason: 'stop' });
const done = 'data: [DONE]\n\n';

async function collect(events: AsyncIterable<ChatEvent>): Promise<{ events: ChatEvent[]; error: unknown }> {
  const seen: ChatEvent[] = [];
  try {
    for await (const event of events) seen.push(event);
  } catch (error) {
    return { events: seen, error };
  }
  return { events: seen, error: undefined };
}

async function answer(behaviour: Behaviour, options = {}) {
  const server = await hostileServer(behaviour);
  const { service } = serviceAt(server.url, options);
  return { server, ...(await collect(service.chat.stream(question))) };
}

const textOf = (events: readonly ChatEvent[]) =>
  events.flatMap(event => (event.kind === 'delta' ? [event.content ?? `(${event.reasoning})`] : [])).join('');
const kinds = (events: readonly ChatEvent[]) => events.map(({ kind }) => kind);

describe('a stream', () => {
  it('is read as it comes', async () => {
    const { events, error, server } = await answer(
      stream([
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'Hel' }),
        chunk({ content: 'lo' }),
        stop,
        usageChunk,
        done,
      ]),
    );
    expect(error).toBeUndefined();
    expect(events).toEqual([
      { kind: 'delta', index: 0, content: 'Hel' },
      { kind: 'delta', index: 0, content: 'lo' },
      { kind: 'finish', index: 0, reason: 'stop' },
      { kind: 'usage', usage },
    ]);
    const [request] = server.requests;
    expect(request?.url).toBe('/v1/chat/completions');
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${inferenceToken}`,
      'accept-encoding': 'identity',
    });
    expect(request?.headers).not.toHaveProperty('x-api-key');
    expect(JSON.parse(request?.body ?? '')).toEqual({
      ...question,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('yields each token before the next one is sent', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const server = await hostileServer(async (response, request) => {
      await open([chunk({ content: 'a' })])(response, request);
      await promise;
      response.end(stop + done);
    });
    const events = serviceAt(server.url).service.chat.stream(question);
    expect((await events.next()).value).toMatchObject({ content: 'a' });
    resolve();
    expect(kinds((await collect(events)).events)).toEqual(['finish']);
  });

  it.each<[string, string[], string]>([
    [
      'null and empty content',
      [chunk({ role: 'assistant', content: null }), chunk({ content: '' }), chunk({ content: 'a' })],
      'a',
    ],
    ['a single space', [chunk({ content: 'a' }), chunk({ content: ' ' }), chunk({ content: 'b' })], 'a b'],
    [
      'reasoning in either field',
      [chunk({ reasoning: 'x' }), chunk({ reasoning_content: 'y' }), chunk({ content: 'a' })],
      '(x)(y)a',
    ],
    ['no delta at all', [chunk(null), chunk({ content: 'a' })], 'a'],
    ['comments and empty data', [': ping\n\n', 'data:\n\n', 'data: \n\n', chunk({ content: 'a' })], 'a'],
    [
      'usage null on each chunk',
      [`data: ${JSON.stringify({ choices: [{ delta: { content: 'a' } }], usage: null })}\n\n`],
      'a',
    ],
    ['no choices', ['data: {}\n\n', chunk({ content: 'a' })], 'a'],
  ])('accepts %s', async (_, chunks, expected) => {
    const { events, error } = await answer(stream([...chunks, stop, done]));
    expect(error).toBeUndefined();
    expect(textOf(events)).toBe(expected);
  });

  it('accepts characters split across chunks', async () => {
    const bytes = new TextEncoder().encode(chunk({ content: 'zażółć 😀' }) + stop + done);
    const { events } = await answer(stream(Array.from(bytes, byte => Uint8Array.of(byte))));
    expect(textOf(events)).toBe('zażółć 😀');
  });

  it.each([
    ['[DONE] without a blank line', [chunk({ content: 'a' }), 'data: [DONE]']],
    ['no [DONE] after the end of the answer', [chunk({ content: 'a' }), stop]],
    ['[DONE] alone', ['data: [DONE]\n\n']],
  ])('ends normally with %s', async (_, chunks) => {
    expect((await answer(stream(chunks))).error).toBeUndefined();
  });

  it('is cut off if only a hidden choice has finished', async () => {
    const other = chunk({}, { index: 1, finish_reason: 'stop' });
    const { events, error } = await answer(stream([chunk({ content: 'The answer is' }), other]));
    expect(textOf(events)).toBe('The answer is');
    expect(error).toMatchObject({ code: 'stream_cut' });
  });

  it('names the model that answers, once, if it is not the one asked for', async () => {
    const by = (model: string, content: string) =>
      chunk({ content }).replace(`"model":"${question.model}"`, `"model":"${model}"`);
    const named = (events: readonly ChatEvent[]) =>
      events.flatMap(event => (event.kind === 'model' ? [event.model] : []));
    const streamed = await answer(stream([by('', 'a'), by('acme/other', 'b'), by('acme/other', 'c'), stop, done]));
    expect([named(streamed.events), textOf(streamed.events)]).toEqual([['acme/other'], 'abc']);
    expect(named((await answer(stream([chunk({ content: 'a' }), stop, done]))).events)).toEqual([]);
    const message = { role: 'assistant', content: 'a' };
    const whole = await answer(json({ model: 'acme/other', choices: [{ index: 0, message }] }));
    expect(kinds(whole.events)).toEqual(['model', 'delta']);
  });

  it('closes at [DONE] if the server leaves the connection open', async () => {
    const { error, server } = await answer(open([chunk({ content: 'a' }), stop, done]));
    expect(error).toBeUndefined();
    await server.requests[0]?.closed;
  });

  it('counts usage sent with the last token, or throughout', async () => {
    const finish = { choices: [{ index: 0, delta: {}, finish_reason: 'length' }], usage };
    const { events } = await answer(stream([chunk({ content: 'a' }), `data: ${JSON.stringify(finish)}\n\n`, done]));
    expect(events.slice(-2)).toEqual([
      { kind: 'finish', index: 0, reason: 'length' },
      { kind: 'usage', usage },
    ]);
  });

  it('ends if a model calls a tool, which is named and not shown as text (B13)', async () => {
    const call = (piece: object) => chunk({ tool_calls: [piece] });
    const { events } = await answer(
      stream([
        call({ index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } }),
        call({ index: 0, function: { arguments: '{"a"' } }),
        call({ index: 0, function: { arguments: ':1}' } }),
        chunk({}, { finish_reason: 'tool_calls' }),
        done,
      ]),
    );
    expect(events.at(-1)).toEqual({ kind: 'finish', index: 0, reason: 'tool_calls' });
    const calls = events.flatMap(event => (event.kind === 'call' ? [event] : []));
    expect(calls.map(({ call, name, input }) => [call, name, input])).toEqual([
      [0, 'look', ''],
      [0, '', '{"a"'],
      [0, '', ':1}'],
    ]);
  });
});

describe('an answer, streamed or whole', () => {
  const typed = (type: string, text: string) => ({ type, text });
  const messages: readonly (readonly [string, object, object])[] = [
    ['a refusal', { content: null, refusal: 'I will not.' }, { refusal: 'I will not.' }],
    ['a refusal as a part', { content: [{ type: 'refusal', refusal: 'No.' }] }, { refusal: 'No.' }],
    ['content as parts', { content: [typed('text', 'a'), 'b', typed('text', 'c')] }, { content: 'abc' }],
    [
      'thoughts as parts',
      { content: [{ type: 'thinking', thinking: [typed('text', 'hm')] }, typed('text', 'a')] },
      { reasoning: 'hm', content: 'a' },
    ],
    [
      'a part of another kind',
      { content: [typed('text', 'see '), { type: 'reference', reference_ids: [3] }] },
      { content: 'see {"type":"reference","reference_ids":[3]}' },
    ],
    [
      'images beside its content (out33 B9)',
      { content: 'see ', images: [{ type: 'image_url', image_url: { url: 'x' } }] },
      { content: 'see {"type":"image_url","image_url":{"url":"x"}}' },
    ],
    ['images alone (out33 B9)', { content: null, images: [typed('text', 'a')] }, { content: 'a' }],
  ];

  it.each(messages)('has %s (B13, C17)', async (_, message, said) => {
    const expected = [{ kind: 'delta', index: 0, ...said }];
    const whole = await answer(json({ choices: [{ message: { role: 'assistant', ...message } }] }));
    const streamed = await answer(stream([chunk(message), stop, done]));
    expect([whole.error, streamed.error]).toEqual([undefined, undefined]);
    expect(whole.events).toEqual(expected);
    expect(streamed.events.slice(0, -1)).toEqual(expected);
  });

  it.each([
    [
      { prompt_tokens: '3', completion_tokens: 'many' },
      { prompt_tokens: 3, completion_tokens: null },
    ],
    [
      { prompt_tokens: -1, completion_tokens: 0.5 },
      { prompt_tokens: null, completion_tokens: null },
    ],
    ['none', undefined],
  ])('survives wrong token counts: %j (C17)', async (counts, read) => {
    const last = `data: ${JSON.stringify({ choices: [], usage: counts })}\n\n`;
    const whole = json({ choices: [{ message: { content: 'a' } }], usage: counts });
    for (const behaviour of [whole, stream([chunk({ content: 'a' }), stop, last, done])]) {
      const { events, error } = await answer(behaviour);
      expect([error, textOf(events)]).toEqual([undefined, 'a']);
      expect(events.flatMap(event => (event.kind === 'usage' ? [event.usage] : []))).toEqual(read ? [read] : []);
    }
  });

  it.each([
    { tool_calls: '' },
    { tool_calls: {} },
    { tool_calls: [null] },
    { tool_calls: [{ index: 'a', id: 7, function: 'f' }] },
    { role: 3 },
  ])('survives a malformed side field, or a choice counted from 1: %j (C3)', async side => {
    const [index, finish_reason] = ['1', { type: 'stop' }];
    const whole = json({ choices: [{ index, message: { content: 'a', ...side }, finish_reason }] });
    const piece = `data: ${JSON.stringify({ choices: [{ index, delta: { content: 'a', ...side } }] })}\n\n`;
    for (const behaviour of [whole, stream([piece, done])]) {
      const { events, error } = await answer(behaviour);
      expect([error, textOf(events)]).toEqual([undefined, 'a']);
      expect(events.flatMap(event => ('index' in event ? event.index : []))).not.toContain(1);
    }
  });

  it('uses the positions of choices without an index (B13)', async () => {
    const choices = [{ message: { content: 'first' } }, { message: { content: 'second' } }];
    const { events } = await answer(json({ choices }));
    expect(events).toMatchObject([
      { index: 0, content: 'first' },
      { index: 1, content: 'second' },
    ]);
  });
});

/** Begins to answer as soon as it has the head of a request, from another thread, and ends once it has read the body. */
const hasty = `
  const event = delta => 'data: ' + JSON.stringify({ choices: [{ index: 0, delta }] }) + '\\n\\n';
  const server = require('node:http').createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event({ content: 'begun' }));
    request.resume().on('end', () => response.end(event({ content: ' and ended' }) + 'data: [DONE]\\n\\n'));
  });
  server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port));
`;

it('is read to its end if it starts before the whole request is sent', async () => {
  const worker = new Worker(hasty, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = await once(worker, 'message');
  const { service } = serviceAt(`http://127.0.0.1:${port}`);
  const long = { ...question, messages: [{ role: 'user', content: 'hello '.repeat(2_000_000) }] };
  const { events, error } = await collect(service.chat.stream(long));
  expect([textOf(events), error]).toEqual(['begun and ended', undefined]);
});

describe('a stream that fails', () => {
  const begun = [chunk({ content: 'Hel' }), chunk({ reasoning: 'hm' }), chunk({ content: 'lo' })];
  const kept = { content: 'Hello', reasoning: 'hm' };

  it('keeps the first of several answers', async () => {
    const other = 'data: {"choices": [{"index": 1, "delta": {"content": "Bye"}}]}\n\n';
    const { error } = await answer(stream([...begun, chunk({ refusal: 'no' }), other]));
    expect(error).toMatchObject({ partial: { ...kept, refusal: 'no' } });
  });

  it.each<[string, string, object]>([
    [
      'an error in an event, and [DONE] after it',
      'data: {"error": {"message": "out of memory", "type": "BadRequestError", "code": 400}}\n\ndata: [DONE]\n\n',
      { kind: 'validation', code: '400', message: expect.stringContaining('out of memory') },
    ],
    [
      'an error of a known type',
      'data: {"error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limited", "param": null}}\n\n',
      { kind: 'rate_limit', code: 'rate_limited' },
    ],
    [
      'an event called error',
      'event: error\ndata: {"message": "no slot", "type": "api_error"}\n\n',
      { kind: 'server', type: 'api_error' },
    ],
    [
      'an event called error, in plain words',
      'event: error\ndata: it broke\n\n',
      { kind: 'server', message: expect.stringContaining('it broke.') },
    ],
    [
      'a field called error',
      'error: {"code": 503, "message": "Loading model", "type": "unavailable_error"}\n\n',
      { kind: 'server', code: '503' },
    ],
    [
      'an error that is a text',
      'data: {"error": "it broke"}\n\n',
      { kind: 'server', message: expect.stringContaining('it broke.') },
    ],
    ['an event of another form', 'data: {"choices": "none"}\n\n', { kind: 'response', code: 'answer_unexpected' }],
  ])('%s keeps the text so far', async (_, bad, expected) => {
    const { events, error } = await answer(stream([...begun, bad, chunk({ content: 'never' })]));
    expect(textOf(events)).toBe('Hel(hm)lo');
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ ...expected, partial: kept, status: 200, operation: 'createChatCompletion' });
  });

  it.each<[string, Behaviour]>([
    ['ends too early', stream(begun)],
    ['ends inside an event', stream([...begun, 'data: {"choices": [{"del'])],
  ])('says if it %s', async (_, behaviour) => {
    const { error } = await answer(behaviour);
    expect(error).toMatchObject({ kind: 'network', code: 'stream_cut', partial: kept, outcomeUnknown: false });
  });

  it('says if the connection is reset', async () => {
    const { error } = await answer(async (response, request) => {
      await open(begun)(response, request);
      setImmediate(() => response.socket?.resetAndDestroy());
    });
    expect(error).toMatchObject({ kind: 'network', partial: kept });
  });

  it('says if it falls silent; comments count as activity', async () => {
    const server = await hostileServer(async (response, request) => {
      await open(begun)(response, request);
      let left = 8;
      const timer = setInterval(() => {
        left -= 1;
        if (left < 0) clearInterval(timer);
        else response.write(left === 0 ? chunk({ content: '!' }) : ': ping\n\n');
      }, 25);
      response.once('close', () => clearInterval(timer));
    });
    const { service } = serviceAt(server.url);
    const { error } = await collect(service.chat.stream(question, { silenceMs: 150 }));
    expect(error).toMatchObject({ kind: 'timeout', code: 'silence', partial: { content: 'Hello!', reasoning: 'hm' } });
  });

  it.each([{ created: '' }, { created: '1' }, { id: 7 }, { object: {} }, { model: false }])(
    'survives a field of the wrong type beside it: %j (B4)',
    async side => {
      const whole = json({ choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }], ...side });
      const piece = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' } }], ...side })}\n\n`;
      for (const behaviour of [whole, stream([piece, stop, done])]) {
        const { events, error } = await answer(behaviour);
        expect([error, textOf(events)]).toEqual([undefined, 'a']);
      }
      const { service } = serviceAt((await hostileServer(whole)).url);
      expect(await service.chat.complete(question)).toMatchObject({ choices: [{ message: { content: 'a' } }] });
    },
  );

  it('refuses what is not a chat stream', async () => {
    const html = await answer(text('<html>sign in</html>'));
    expect(html.error).toMatchObject({ kind: 'response', code: 'answer_not_json' });
    const endless = await answer(stream([`data: ${'x'.repeat(9 * 1024 * 1024)}`]));
    expect(endless.error).toMatchObject({ kind: 'response', code: 'stream_not_understood' });
    const wrapped = await answer(json({ error: { message: 'not today', type: 'api_error' } }));
    expect(wrapped.error).toMatchObject({ kind: 'server', message: expect.stringContaining('not today') });
  });
});

it('takes a whole answer from a server that does not stream', async () => {
  const whole = {
    id: 'c',
    model: question.model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', reasoning: 'hm' }, finish_reason: 'stop' }],
    usage,
  };
  const { events, error } = await answer(json(whole));
  expect(error).toBeUndefined();
  expect(events).toEqual([
    { kind: 'delta', index: 0, content: 'Hello', reasoning: 'hm' },
    { kind: 'finish', index: 0, reason: 'stop' },
    { kind: 'usage', usage },
  ]);
});

it('stops an endless answer, keeping the text so far', async () => {
  // Sixteen of them are as much as is read.
  const bytes = 4 * 1024 * 1024;
  const around = chunk({ content: '' }).slice('data: '.length).trim().length;
  const delta = chunk({ content: 'a'.repeat(bytes - around) });
  const server = await hostileServer(stream(Array.from({ length: 17 }, () => delta)));
  const { events, error } = await collect(serviceAt(server.url).service.chat.stream(question));
  expect(error).toMatchObject({ kind: 'response' });
  expect(String(error)).toContain('is larger than 65536 KiB');
  expect(events.filter(({ kind }) => kind === 'delta')).toHaveLength(16);
});

describe('stopping a stream', () => {
  it('closes the connection when the loop is left', async () => {
    const server = await hostileServer(open([chunk({ content: 'a' }), chunk({ content: 'b' })]));
    for await (const event of serviceAt(server.url).service.chat.stream(question)) if (event.kind === 'delta') break;
    await server.requests[0]?.closed;
  });

  it('closes it on abort too, keeping the text so far', async () => {
    const server = await hostileServer(open([chunk({ content: 'a' })]));
    const controller = new AbortController();
    const events = serviceAt(server.url).service.chat.stream(question, { signal: controller.signal });
    await events.next();
    setImmediate(() => controller.abort());
    expect(await errorOf(events.next())).toMatchObject({ kind: 'cancelled', partial: { content: 'a', reasoning: '' } });
    await server.requests[0]?.closed;
  });
});

it('leaves no listener on the caller’s signal, however the stream ends', async () => {
  const delta = chunk({ content: 'a' });
  const server = await hostileServer(stream([delta, stop, done]), open([delta]), stream(['data: {\n\n']));
  const { service } = serviceAt(server.url);
  const { signal } = new AbortController();
  const asked = () => service.chat.stream(question, { signal });
  expect((await collect(asked())).error).toBeUndefined();
  for await (const event of asked()) if (event.kind === 'delta') break;
  expect((await collect(asked())).error).toBeInstanceOf(ServiceError);
  expect(server.requests).toHaveLength(3);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

describe('before the first token', () => {
  it('retries only if that is harmless', async () => {
    const lost = await answer(resetAtOnce);
    expect(lost.error).toMatchObject({ kind: 'network', attempts: 1, outcomeUnknown: false });
    expect(String(lost.error)).toContain('Send it again.');
    expect(String(lost.error)).not.toContain('Nothing was changed');
    const server = await hostileServer(
      refusal(503, 'api_error', 'x', {}, { 'x-should-retry': 'true' }),
      stream([stop]),
    );
    const { error } = await collect(serviceAt(server.url).service.chat.stream(question));
    expect(error).toBeUndefined();
  });

  it('stops asking for token counts if a server refuses, and remembers that', async () => {
    const server = await hostileServer(
      json(
        {
          error: {
            message: 'Unknown parameter: stream_options',
            type: 'invalid_request_error',
            param: 'stream_options',
            code: null,
          },
        },
        400,
      ),
      stream([chunk({ content: 'a' }), stop, done]),
    );
    const { service } = serviceAt(server.url);
    expect(textOf((await collect(service.chat.stream(question))).events)).toBe('a');
    await collect(service.chat.stream(question));
    expect(server.requests.map(({ body }) => 'stream_options' in JSON.parse(body))).toEqual([true, false, false]);
  });

  it('does not ask if the profile says so, and passes on other refusals', async () => {
    const quiet = await answer(stream([stop]), { assumptions: { streamUsage: 'no' } });
    expect(JSON.parse(quiet.server.requests[0]?.body ?? '')).toEqual({ ...question, stream: true });
    const refused = await answer(
      json({ error: { message: 'no such model', type: 'not_found_error', param: 'model', code: null } }, 404),
    );
    expect(refused.error).toMatchObject({ kind: 'not_found', param: 'model' });
    expect(refused.server.requests).toHaveLength(1);
  });
});

describe('a service that refuses to stream (C5)', () => {
  const message = { role: 'assistant', content: 'hi' };
  const whole = json({ id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }], usage });
  const refused = json(
    { error: { message: 'streaming is not supported', type: 'invalid_request_error', param: 'stream', code: null } },
    400,
  );
  const streams = ({ body }: { readonly body: string }): unknown => JSON.parse(body).stream;

  it('is asked for the whole answer, and no longer for a stream of this model', async () => {
    const server = await hostileServer(refused, whole, whole, refused, whole);
    const { service } = serviceAt(server.url);
    const first = await collect(service.chat.stream(question));
    expect(first.error).toBeUndefined();
    expect(kinds(first.events)).toEqual(['delta', 'finish', 'usage']);
    expect(textOf(first.events)).toBe('hi');
    expect(textOf((await collect(service.chat.stream(question))).events)).toBe('hi');
    await collect(service.chat.stream({ ...question, model: 'acme/other' }));
    expect(server.requests.map(streams)).toEqual([true, false, false, true, false]);
    expect(JSON.parse(server.requests[1]?.body ?? '')).toEqual({ ...question, stream: false });
  });

  it('passes on why the whole answer is refused, and asks for a stream again', async () => {
    const server = await hostileServer(refused, refusal(400, 'invalid_request_error', 'no such model'), refused, whole);
    const { service } = serviceAt(server.url);
    expect((await collect(service.chat.stream(question))).error).toMatchObject({
      message: expect.stringContaining('no such model'),
    });
    expect(textOf((await collect(service.chat.stream(question))).events)).toBe('hi');
    expect(server.requests.map(streams)).toEqual([true, false, true, false]);
  });

  it('is asked without streaming from the start, by the call or the profile', async () => {
    const server = await hostileServer(whole);
    await collect(serviceAt(server.url).service.chat.stream(question, { whole: true }));
    const { service } = serviceAt(server.url, { assumptions: { streamChat: 'no' } });
    await collect(service.chat.stream(question));
    expect(server.requests.map(streams)).toEqual([false, false]);
  });

  it.each([
    ['stream', 'Extra inputs are not permitted', 422, true],
    [undefined, 'Streaming is not supported by this model.', 400, true],
    [undefined, 'This model does not support streaming', 400, true],
    [undefined, 'stream must be false', 422, true],
    [undefined, 'Streaming is disabled.', 400, true],
    ['messages', 'The messages are not a stream of roles.', 400, false],
    [undefined, 'The upstream service is not there', 400, false],
    ['max_tokens', 'is not supported', 400, false],
  ])('is recognised by the field %s or the words %s', (param, words, status, expected) => {
    expect(refusesToStream({ kind: 'validation', param, message: words, status })).toBe(expected);
    expect(refusesToStream({ kind: 'server', param, message: words, status: 501 })).toBe(expected);
    expect(refusesToStream({ kind: 'server', param, message: words, status: 500 })).toBe(false);
  });

  it('is searched once in a message', () => {
    const message = 'stream '.repeat(100_000);
    const look = () => refusesToStream({ kind: 'validation', param: undefined, message, status: 400 });
    expect(inTime('the look', look)).toBe(false);
  });
});

it('returns one answer, from the inference address', async () => {
  const elsewhere = await hostileServer(
    json({ id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' } }], usage }),
  );
  const base = await hostileServer(text('no'));
  const { service } = serviceAt(base.url, { inferenceUrl: `${elsewhere.url}/openai/` });
  const completion = await service.chat.complete({ ...question, temperature: 0, max_tokens: 5, top_p: 1 });
  expect(completion.choices[0]?.message.content).toBe('Hello');
  const [request] = elsewhere.requests;
  expect(request?.url).toBe('/openai/v1/chat/completions');
  expect(JSON.parse(request?.body ?? '')).toEqual({
    ...question,
    temperature: 0,
    max_tokens: 5,
    top_p: 1,
    stream: false,
  });
  expect(base.requests).toEqual([]);
});

it('keeps a field called __proto__ as data, streamed and whole (X11)', async () => {
  const usage = '{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,"__proto__":{"cached":1}}';
  const streamed = `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":${usage}}\n\ndata: [DONE]\n\n`;
  const whole = JSON.parse(`{"choices":[{"message":{"role":"assistant","content":"a"}}],"usage":${usage}}`);
  for (const { events } of [await answer(stream([streamed])), await answer(json(whole))]) {
    expect(events.map(event => (event.kind === 'usage' ? JSON.stringify(event.usage) : '')).join('')).toBe(usage);
  }
});
