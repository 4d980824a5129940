/** The output of `--debug` for requests and answers: everything useful, nothing secret, and a limited length. */
import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { redactor } from '../../src/config/redaction.ts';
import type { WireRequest } from '../../src/net/wire.ts';
import type { Service } from '../../src/service/index.ts';
import { maxBodyLength, type TraceEvent, traceAnswer, traceRequest } from '../../src/service/trace.ts';
import { apiKey, hostileServer, inferenceToken, json, open, refusal, serviceAt, stream } from './hostile-server.ts';

/** The events of some work, and all their texts. */
async function traced(url: string, work: (service: Service) => Promise<unknown>) {
  const { service, trace: events } = serviceAt(url);
  await work(service).catch(() => {});
  const bodies = (of: 'request' | 'answer') =>
    events.flatMap(event => (event.kind === 'body' && event.of === of ? [event.text] : []));
  return { events, text: JSON.stringify(events), sent: bodies('request'), answered: bodies('answer') };
}

const question = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

/** The trace of an answer with this body, which arrives in chunks of this many bytes. */
async function tracedAnswer(
  text: string,
  {
    type = 'application/json',
    piece = 3,
    sensitiveAnswer = undefined as readonly string[] | undefined,
    redact = redactor([apiKey]),
  } = {},
) {
  const bytes = Buffer.from(text);
  const events: TraceEvent[] = [];
  const answer = traceAnswer(
    {
      status: 200,
      headers: { 'content-type': type },
      close() {},
      async *chunks() {
        for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
      },
    },
    {
      tracer: event => events.push(event),
      endpoint: { operation: 'listBenchmarks', ...(sensitiveAnswer && { sensitiveAnswer }) },
      body: () => undefined,
      redact,
    },
  );
  const read: Uint8Array[] = [];
  for await (const chunk of answer.chunks()) read.push(chunk);
  expect(Buffer.concat(read)).toEqual(bytes);
  return events.slice(1);
}

/** The trace of the body of a request whose visible form is `shown`. */
function tracedRequest(body: WireRequest['body'], shown: string | undefined, headers: Record<string, string> = {}) {
  const events: TraceEvent[] = [];
  const traced = {
    tracer: (event: TraceEvent) => events.push(event),
    endpoint: { operation: 'putUpload' },
    body: () => shown,
    redact: redactor([apiKey]),
  };
  traceRequest({ url: new URL('http://host/at'), method: 'PUT', headers, body } as WireRequest, traced);
  return events.slice(1);
}

describe('a body', () => {
  const body = (text: string) => ({ kind: 'body', of: 'answer', text });

  it('is shown once complete, or line by line if streamed, in any chunks', async () => {
    const text = '{"é":"日本"}\n\ndata: 🙂\r\n\r\nend';
    for (const piece of [1, 2, 3, 5, 100]) {
      expect(await tracedAnswer(text, { piece })).toEqual([body(text)]);
      expect(await tracedAnswer(text, { piece, type: 'Text/Event-Stream; charset=utf-8' })).toEqual([
        body('{"é":"日本"}'),
        body('data: 🙂\r'),
        body('end'),
      ]);
    }
    expect(await tracedAnswer('', {})).toEqual([]);
    expect(await tracedAnswer('x', { type: 'application/text/event-stream' })).toEqual([body('x')]);
  });

  it('with secrets in some of its fields is read completely, and hidden if unreadable', async () => {
    const rows = (url: string) => Array.from({ length: 2_000 }, (_, path) => ({ path, url, more: [null, { url }] }));
    const options = { sensitiveAnswer: ['url'], piece: 1_000 };
    const [shown, rest, ...others] = await tracedAnswer(JSON.stringify(rows('https://a/?signature=1')), options);
    expect(shown).toEqual(body(JSON.stringify(rows('••••')).slice(0, maxBodyLength)));
    expect([rest?.kind, others]).toEqual(['left out', []]);
    expect(await tracedAnswer('{"url":"https://a', options)).toEqual([body('••••')]);
    expect(await tracedAnswer('', options)).toEqual([]);
    expect(await tracedAnswer('"url"', options)).toEqual([body('"url"')]);
  });

  it('of a stream is counted with its secrets', async () => {
    const line = 'x'.repeat(2 * maxBodyLength);
    const text = `${apiKey}\n${line}\n${line}\n`;
    expect(await tracedAnswer(text, { type: 'text/event-stream', piece: 1_000 })).toEqual([
      body('[redacted]'),
      body(line.slice(0, maxBodyLength - '[redacted]'.length)),
      { kind: 'left out', of: 'answer', bytes: text.length - apiKey.length - 1 - maxBodyLength + '[redacted]'.length },
    ]);
  });

  it('is not touched without a trace', () => {
    const answer = { status: 200, headers: {}, close() {}, async *chunks() {} };
    const redact = vi.fn(redactor([]));
    const traced = { tracer: undefined, endpoint: { operation: 'listBenchmarks' }, body: () => 'x', redact };
    expect(traceAnswer(answer, traced)).toBe(answer);
    traceRequest(
      { url: new URL('http://host/at'), method: 'PUT', headers: {}, body: new Uint8Array(3) } as WireRequest,
      traced,
    );
    expect(redact).not.toHaveBeenCalled();
  });

  it('that is absent, or of unknown size, is not mentioned', () => {
    const stream = () => Readable.from([]);
    const left = (bytes: number) => [{ kind: 'left out', of: 'request', bytes }];
    expect([tracedRequest(undefined, 'x', { 'content-length': '7' }), tracedRequest(new Uint8Array(), 'x')]).toEqual([
      [],
      [],
    ]);
    expect([tracedRequest(stream, undefined), tracedRequest(stream, undefined, { 'content-length': '7' })]).toEqual([
      [],
      left(7),
    ]);
    expect(tracedRequest(new Uint8Array(3), undefined)).toEqual(left(3));
    expect(tracedRequest(new Uint8Array(3), '')).toEqual([]);
  });
});

describe('a request and its answer', () => {
  it('are shown with headers and bodies, in the order of arrival', async () => {
    const server = await hostileServer(json({ eval_run_id: 'evr_1' }, 202, { 'x-request-id': 'req_1' }));
    const input = { params: { bench_id: 'b' }, body: { model_slug: 'm', display_name: 'x' } };
    const { events, sent, answered } = await traced(`${server.url}/at`, service => service.call('startEval', input));
    expect(events.map(({ kind }) => kind)).toEqual(['request', 'body', 'answer', 'body']);
    expect(events[0]).toMatchObject({
      operation: 'startEval',
      method: 'POST',
      path: expect.stringMatching(/^\/at\/api\/v1\//),
      headers: { 'x-api-key': '••••', 'user-agent': 'benchtop/test', 'content-type': 'application/json' },
    });
    expect(sent.map(text => JSON.parse(text))).toEqual([JSON.parse(server.requests[0]?.body ?? '')]);
    expect(events[2]).toMatchObject({ status: 202, headers: { 'x-request-id': 'req_1' } });
    expect(answered).toEqual(['{"eval_run_id":"evr_1"}']);
  });

  it('are shown for a refusal too', async () => {
    const server = await hostileServer(refusal(422, 'validation_error', 'nope'));
    const { answered } = await traced(server.url, service => service.call('listBenchmarks'));
    expect(answered.join()).toContain('it says nope');
  });
});

describe('a secret', () => {
  it('is not in the body of an unknown path, which shows only names and the size (V13)', async () => {
    const server = await hostileServer(json({}));
    const body = Buffer.from(
      JSON.stringify({ name: 'A', value: 'hidden-1', deep: { more: 'hidden-2', list: [1, 2] } }),
    );
    const { text, sent } = await traced(server.url, async service => {
      await service.sendRaw({ method: 'POST', path: '/api/v2/secrets', body });
      await service.sendRaw({ method: 'POST', path: '/api/v2/secrets', body: Buffer.from('hidden-3') });
    });
    expect(text).not.toContain('hidden-');
    expect(sent).toEqual([
      `{"name": …, "value": …, "deep": {"more": …, "list": [2 items]}} (${body.byteLength} bytes)`,
      '… (8 bytes)',
    ]);
  });

  it('is in no event: keys, secret values of any length, and signed URLs', async () => {
    const url = 'https://storage.example/a?policy=abc';
    const upload = { bench_id: 'b', urls: [{ path: 'a', url, headers: { 'x-lock': 'lock-1' } }] };
    const server = await hostileServer(
      json({ secret: { secret_id: 's', name: apiKey } }, 200, { 'set-cookie': 'session=1', 'x-echo': apiKey }),
      json(upload),
    );
    const { text, sent, answered } = await traced(server.url, async service => {
      await service.call('createSecret', { body: { name: 'A', value: 'xyz' } });
      await service.call('createBenchmarkUpload', {
        body: { files: [{ path: 'a', content_type: 't', size_bytes: 1 }] },
      });
    });
    expect(text).not.toMatch(new RegExp(`${apiKey}|xyz|session=1|policy=abc|lock-1`));
    expect(JSON.parse(sent[0] ?? '')).toEqual({ name: 'A', value: '••••' });
    expect(JSON.parse(answered[1] ?? '')).toMatchObject({ bench_id: 'b', urls: [{ path: 'a', url: '••••' }] });
  });

  it('is found across two chunks of a stream, or across the end of what is shown', async () => {
    const half = Math.floor(inferenceToken.length / 2);
    const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
    const line = chunk(inferenceToken);
    const cut = line.indexOf(inferenceToken) + half;
    const long = json({ items: [{ bench_id: `${'x'.repeat(maxBodyLength - 30)}${apiKey}` }] });
    const server = await hostileServer(stream([line.slice(0, cut), line.slice(cut), 'data: [DONE]\n\n']), long);
    const { text, answered } = await traced(server.url, async service => {
      for await (const event of service.chat.stream(question)) void event;
      await service.call('listBenchmarks');
    });
    expect(answered.slice(0, 2)).toEqual([expect.stringContaining('[redacted]'), 'data: [DONE]']);
    expect(text).not.toContain(inferenceToken.slice(0, half));
    expect(text).not.toContain(apiKey.slice(0, 8));
  });
});

describe('a long body', () => {
  it('is cut, with the number of hidden bytes', async () => {
    const label = 'é'.repeat(100_000);
    const answer = { items: [{ bench_id: 'b', label }], has_more: false };
    const server = await hostileServer(json(answer), json({ bench_id: 'b', urls: [] }));
    const files = Array.from({ length: 1_000 }, (_, index) => ({
      path: `${index}`,
      content_type: 't',
      size_bytes: 1,
    }));
    const { events, sent, answered } = await traced(server.url, async service => {
      await service.call('listBenchmarks');
      await service.call('createBenchmarkUpload', { body: { files } });
    });
    const whole = JSON.stringify(answer);
    expect(answered[0]).toBe(whole.slice(0, maxBodyLength));
    const left = events.flatMap(event => (event.kind === 'left out' ? [event] : []));
    expect(left).toEqual([
      { kind: 'left out', of: 'answer', bytes: Buffer.byteLength(whole) - Buffer.byteLength(answered[0] ?? '') },
      { kind: 'left out', of: 'request', bytes: (server.requests[1]?.body.length ?? 0) - maxBodyLength },
    ]);
    expect(sent[0]).toHaveLength(maxBodyLength);
  });

  it.each(['application/json', 'text/event-stream'])(
    'is cut if it is long without its secrets, and never inside one: %s',
    async type => {
      // Most of the body is the key, which is shown as fewer characters.
      const eventsOf = (keys: number) => tracedAnswer(apiKey.repeat(keys), { type, piece: 1_000 });
      const shown = '[redacted]'.repeat(maxBodyLength);
      const [short, long] = [Math.floor(maxBodyLength / 10), maxBodyLength];
      expect(await eventsOf(short)).toEqual([{ kind: 'body', of: 'answer', text: shown.slice(0, 10 * short) }]);
      expect(await eventsOf(long)).toEqual([
        { kind: 'body', of: 'answer', text: shown.slice(0, maxBodyLength) },
        { kind: 'left out', of: 'answer', bytes: apiKey.length * long - maxBodyLength },
      ]);
    },
  );

  it.each(['application/json', 'text/event-stream'])(
    'is redacted once, and hidden if a long secret may be cut: %s',
    async type => {
      const secret = 'k'.repeat(7_000);
      let redacted = 0;
      const redact = (text: string): string => {
        if (text.length > maxBodyLength) redacted += 1;
        return redactor([secret])(text);
      };
      const text = `${'x'.repeat(100)}${secret.repeat(30)}`;
      expect(await tracedAnswer(text, { type, piece: 1_000, redact })).toEqual([
        { kind: 'left out', of: 'answer', bytes: text.length },
      ]);
      const long = `${secret}${'x'.repeat(100_000)}`;
      expect(await tracedAnswer(long, { type, piece: 1_000, redact })).toEqual([
        { kind: 'body', of: 'answer', text: `[redacted]${'x'.repeat(maxBodyLength - 10)}` },
        { kind: 'left out', of: 'answer', bytes: long.length - maxBodyLength },
      ]);
      expect(redacted).toBe(2);
    },
  );

  it('is complete if it is short without its secrets', () => {
    const shown = (keys: number) => tracedRequest(new Uint8Array(keys * apiKey.length), apiKey.repeat(keys));
    expect(shown(500)).toEqual([{ kind: 'body', of: 'request', text: '[redacted]'.repeat(500) }]);
    expect(shown(1_000)).toEqual([
      { kind: 'body', of: 'request', text: '[redacted]'.repeat(1_000).slice(0, maxBodyLength) },
      { kind: 'left out', of: 'request', bytes: 1_000 * apiKey.length - maxBodyLength },
    ]);
    expect(tracedRequest(new Uint8Array(maxBodyLength), 'x'.repeat(maxBodyLength))).toHaveLength(1);
  });

  it('streams line by line, up to the limit', async () => {
    const chunk = `data: ${JSON.stringify({ choices: [{ delta: { content: 'x'.repeat(3_000) } }] })}\n\n`;
    const server = await hostileServer(stream([chunk, chunk, chunk, chunk, 'data: [DONE]\n\n']));
    const { events, answered } = await traced(server.url, async service => {
      for await (const event of service.chat.stream(question)) void event;
    });
    expect(answered.map(text => text.length)).toEqual([
      chunk.length - 2,
      chunk.length - 2,
      maxBodyLength - 2 * (chunk.length - 2),
    ]);
    const bytes = 4 * chunk.length + 'data: [DONE]\n\n'.length;
    const shown = answered.join('').length + 4;
    expect(events.at(-1)).toEqual({ kind: 'left out', of: 'answer', bytes: bytes - shown });
  });

  it('shows an endless line once it is long enough', async () => {
    const { promise: isShown, resolve: show } = Promise.withResolvers<void>();
    const long = `: ${'x'.repeat(9 * maxBodyLength)}`;
    const server = await hostileServer(async (response, request) => {
      await open([long])(response, request);
      await isShown;
      response.end('\n\ndata: [DONE]\n\n');
    });
    const shown: string[] = [];
    const tracer = (event: TraceEvent) => {
      if (event.kind !== 'body' || event.of !== 'answer') return;
      shown.push(event.text);
      show();
    };
    const { service } = serviceAt(server.url, { tracer });
    for await (const event of service.chat.stream(question)) void event;
    expect(shown).toEqual([long.slice(0, maxBodyLength)]);
  });

  it('of unknown fields names the first', async () => {
    const server = await hostileServer(json({}));
    const fields = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}`, index]));
    const body = Buffer.from(JSON.stringify(fields));
    const { sent } = await traced(server.url, service => service.sendRaw({ method: 'POST', path: '/x', body }));
    expect(sent[0]).toMatch(/"f49": …, …\} \(\d+ bytes\)$/);
  });

  it('of a file shows only its length', async () => {
    const server = await hostileServer(json({}));
    const target = {
      path: 'a.txt',
      url: `${server.url}/a?signature=secret-signature`,
      headers: { 'x-token': 'tok-1' },
    };
    const { events, text } = await traced(server.url, service => service.putUpload(target, Buffer.from('hello')));
    expect(events.slice(0, 2)).toMatchObject([
      { kind: 'request', method: 'PUT', operation: 'putUpload' },
      { kind: 'left out', of: 'request', bytes: 5 },
    ]);
    expect(text).not.toMatch(/secret-signature|tok-1|hello/);
  });
});
