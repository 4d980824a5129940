/** Chat requests: accepted, honoured, or refused by name. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../eventually.ts';
import { startService, type TestService } from '../server/running.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.end());

const base = {
  model: 'benchtop/aesop-small',
  messages: [{ role: 'user', content: 'tell me about the fox' }],
  temperature: 0,
  max_tokens: 12,
};
const ask = (more: object = {}) => service.call('POST', '/v1/chat/completions', { ...base, ...more });
const textOf = async (more: object = {}): Promise<string> => (await ask(more)).body.choices[0].message.content;

/** The chunks of a stream, in order. */
async function streamed(more: object): Promise<{ pieces: string[]; finish: string | null }> {
  const { body } = await ask({ ...more, stream: true });
  const chunks = (body as string)
    .split('\n\n')
    .filter(event => event.startsWith('data: {'))
    .map(event => JSON.parse(event.slice(6)).choices[0]);
  return { pieces: chunks.map(({ delta }) => delta.content ?? ''), finish: chunks.at(-1).finish_reason };
}

describe('a request', () => {
  it.each([
    ['n', 1],
    ['user', 'someone'],
    ['metadata', { run: '1' }],
    ['store', true],
    ['presence_penalty', 1.5],
    ['frequency_penalty', -1],
    ['logit_bias', { 50256: -100 }],
    ['response_format', { type: 'text' }],
    ['parallel_tool_calls', false],
    ['tools', []],
    ['tool_choice', 'none'],
    ['logprobs', false],
    ['top_logprobs', 0],
    ['modalities', ['text']],
    ['reasoning_effort', 'low'],
    ['service_tier', 'auto'],
    ['a_parameter_of_next_year', { any: 'value' }],
  ])('is answered the same with this: %s', async (name, value) => {
    const { status, body } = await ask({ [name]: value });
    expect([status, body.choices?.[0].message.content]).toEqual([200, await textOf()]);
  });

  it('may have null for every optional field', async () => {
    const names = ['stream', 'stream_options', 'temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'seed'];
    const more = ['stop', 'n', 'tools', 'tool_choice', 'response_format', 'logprobs', 'user', 'metadata', 'audio'];
    const nulls = Object.fromEntries([...names, ...more].map(name => [name, null]));
    expect((await ask(nulls)).status).toBe(200);
  });

  it('may have messages with names, parts and nulls: parts of text are joined', async () => {
    const content = [
      { type: 'text', text: 'tell me' },
      { type: 'text', text: 'about the fox' },
    ];
    expect(await textOf({ messages: [{ role: 'user', name: 'alice', content }] })).toBe(await textOf());
    const answered = { role: 'assistant', content: null, refusal: null, tool_calls: null, parsed: null, audio: null };
    expect((await ask({ messages: [...base.messages, answered, ...base.messages] })).status).toBe(200);
  });

  it.each([
    [{ tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools'],
    [{ functions: [{ name: 'f' }] }, 'functions'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ response_format: { type: 'json_object' } }, 'response_format'],
    [{ response_format: { type: 'json_schema', json_schema: {} } }, 'response_format'],
    [{ n: 2 }, 'n'],
    [{ logprobs: true }, 'logprobs'],
    [{ top_logprobs: 3 }, 'top_logprobs'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }] },
      'messages[0].content[0].image_url',
    ],
    [{ messages: [{ role: 'assistant', tool_calls: [{ id: '1' }] }] }, 'messages[0].tool_calls'],
  ])('is refused by name for what is not supported: %j', async (more, param) => {
    for (const stream of [false, true]) {
      const { status, body } = await ask({ ...more, stream });
      expect([status, body.error.type, body.error.code]).toEqual([
        400,
        'invalid_request_error',
        'unsupported_parameter',
      ]);
      expect(body.error.param).toBe(param);
      expect(body.error.message).toContain(param);
    }
  });

  it('lists all problems in its message, which has no context', async () => {
    const { body } = await ask({ temperature: -1, messages: [], stop: 5 });
    for (const field of ['temperature', 'messages', 'stop']) expect(body.error.message).toContain(`${field}: `);
    expect(body.error.message).not.toContain('context');
    const wrongKey = await service.call('POST', '/v1/chat/completions', base, { 'X-API-Key': '' });
    expect(wrongKey.body.error.param).toBeNull();
  });
});

describe('stop', () => {
  it('ends the answer before it: at a word, within one and across two, whole and streamed', async () => {
    const whole = await textOf();
    const words = whole.split(' ');
    const [, , third = '', fourth = ''] = words;
    const stops = [third, third.slice(-2), `${third.slice(-1)} ${fourth.slice(0, 1)}`, ` ${fourth}`];
    for (const stop of stops) {
      const expected = whole.slice(0, whole.indexOf(stop));
      expect(whole).toContain(stop);
      const { body } = await ask({ stop });
      expect([stop, body.choices[0].message.content, body.choices[0].finish_reason]).toEqual([stop, expected, 'stop']);
      const { pieces, finish } = await streamed({ stop: [stop, 'never said'] });
      expect([stop, pieces.join(''), finish]).toEqual([stop, expected, 'stop']);
    }
  });

  it('drops nothing that only starts like it', async () => {
    const whole = await textOf();
    const last = whole.split(' ').at(-1) ?? '';
    const { pieces, finish } = await streamed({ stop: `${last} and more` });
    expect([pieces.join(''), finish]).toEqual([whole, 'length']);
    expect(await textOf({ stop: ['', `${last}!`] })).toBe(whole);
  });

  it('counts the sampled tokens, and samples no more', async () => {
    const whole = await textOf();
    const { body } = await ask({ stop: ` ${whole.split(' ')[2]}` });
    const { prompt_tokens, completion_tokens, total_tokens } = body.usage;
    expect(completion_tokens).toBeGreaterThan(1);
    expect(completion_tokens).toBeLessThan(base.max_tokens);
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);
  });
});

describe('seed and length', () => {
  it('return the same for the same seed, and something else for another', async () => {
    const sample = (seed: number) => textOf({ temperature: 1, seed, max_tokens: 30 });
    const [first, again, other] = [await sample(1), await sample(1), await sample(2)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect((await ask({ seed: -1 })).status).toBe(200);
  });

  it('use max_completion_tokens as the limit, before max_tokens', async () => {
    const { body } = await ask({ max_completion_tokens: 3 });
    expect([body.usage.completion_tokens, body.choices[0].finish_reason]).toEqual([3, 'length']);
  });
});

describe('a model at its own address', () => {
  it('answers whatever model the body names', async () => {
    for (const path of ['benchtop/tutor-base', 'benchtop%2Ftutor-base']) {
      const answer = await service.call('POST', `/v1/playground/${path}/chat/completions`, base);
      expect([answer.status, answer.body.model]).toEqual([200, 'benchtop/tutor-base']);
      const { model: _, ...unnamed } = base;
      expect((await service.call('POST', `/v1/playground/${path}/chat/completions`, unnamed)).status).toBe(200);
    }
  });
});

describe('before an upstream server', () => {
  let upstream: Server;
  let relayed: TestService;
  const seen: string[] = [];
  beforeAll(async () => {
    upstream = createServer((request, response) => {
      response.setHeader('Content-Type', 'application/json');
      if (request.url === '/v1/models') {
        response.end(JSON.stringify({ object: 'list', data: [{ id: 'far-away', object: 'model', created: 1 }] }));
        return;
      }
      void text(request).then(body => {
        seen.push(body);
        if (body.includes('"slow"')) {
          request.socket.once('close', () => seen.push('left'));
          return;
        }
        response.end('{"choices":[]}');
      });
    });
    await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    relayed = await startService({ upstream: { url: `http://127.0.0.1:${port}`, key: undefined } });
  });
  afterAll(async () => {
    await relayed.end();
    upstream.close();
  });

  it.each([
    [
      '{"model": "far-away",\n "tools": [{"type": "function"}], "n": 3, "seed": 1e3, "messages": [{"role":"user","content":[{"type":"image_url"}]}]}',
    ],
    ['{"model":"far-away","messages":"wrong","temperature":-1,"model":"far-away"}'],
    ['{"messages":[]}'],
  ])('passes a body on unchanged: %s', async body => {
    expect((await relayed.call('POST', '/v1/chat/completions', body)).status).toBe(200);
    expect(seen.at(-1)).toBe(body);
  });

  it('lists its models after the local ones', async () => {
    const { body } = await relayed.call('GET', '/v1/models');
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(
      expect.arrayContaining(['benchtop/tutor-base', 'far-away']),
    );
    expect((await relayed.call('GET', '/v1/models/far-away')).body.id).toBe('far-away');
  });

  it('keeps an aborted call out of the log, and aborts the upstream call too', async () => {
    const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const body = '{"model":"slow","messages":[]}';
    const stop = new AbortController();
    const headers = { Authorization: `Bearer ${relayed.apiKey}` };
    const url = `${relayed.baseUrl}/v1/chat/completions`;
    const asked = fetch(url, { method: 'POST', headers, body, signal: stop.signal });
    await eventually(() => expect(seen).toContain(body));
    stop.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    await eventually(() => expect(seen).toContain('left'));
    // Answered after the aborted request has been handled.
    expect((await relayed.call('GET', '/v1/models')).status).toBe(200);
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });
});
