/** What `--debug` is given of requests and answers: all that helps, nothing that is secret, and no more than fits. */
import { describe, expect, it } from 'vitest';
import { redactor } from '../../src/config/redaction.ts';
import type { Service } from '../../src/service/index.ts';
import { longestBody, type TraceEvent, traceAnswer } from '../../src/service/trace.ts';
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

describe('a request and its answer', () => {
  it('are shown with headers and bodies, in the order in which they come', async () => {
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

  it('are shown of a refusal too', async () => {
    const server = await hostileServer(refusal(422, 'validation_error', 'nope'));
    const { answered } = await traced(server.url, service => service.call('listBenchmarks'));
    expect(answered.join()).toContain('it says nope');
  });
});

describe('what is secret', () => {
  it('is not in the body of an unknown path, of which only names and the size are shown (V13)', async () => {
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

  it('is in no event: keys, values of secrets however short, and addresses that are signed', async () => {
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

  it('is found if it lies across two pieces of a stream, or across the end of what is shown', async () => {
    const half = Math.floor(inferenceToken.length / 2);
    const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
    const line = chunk(inferenceToken);
    const cut = line.indexOf(inferenceToken) + half;
    const long = json({ items: [{ bench_id: `${'x'.repeat(longestBody - 30)}${apiKey}` }] });
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

describe('a body that is long', () => {
  it('is cut, with the number of bytes that are not shown', async () => {
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
    expect(answered[0]).toBe(whole.slice(0, longestBody));
    const left = events.flatMap(event => (event.kind === 'left out' ? [event] : []));
    expect(left).toEqual([
      { kind: 'left out', of: 'answer', bytes: Buffer.byteLength(whole) - Buffer.byteLength(answered[0] ?? '') },
      { kind: 'left out', of: 'request', bytes: (server.requests[1]?.body.length ?? 0) - longestBody },
    ]);
    expect(sent[0]).toHaveLength(longestBody);
  });

  it.each(['application/json', 'text/event-stream'])(
    'is cut where it is long without its secrets, and never in one of them: %s',
    async type => {
      // Most of the body is the key, which is shown as fewer characters.
      const eventsOf = async (keys: number) => {
        const bytes = Buffer.from(apiKey.repeat(keys));
        const events: TraceEvent[] = [];
        const answer = traceAnswer(
          {
            status: 200,
            headers: { 'content-type': type },
            close() {},
            async *chunks() {
              for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
            },
          },
          {
            tracer: event => events.push(event),
            endpoint: { operation: 'listBenchmarks' },
            body: () => undefined,
            redact: redactor([apiKey]),
          },
        );
        for await (const chunk of answer.chunks()) void chunk;
        return events.slice(1);
      };
      const shown = '[redacted]'.repeat(longestBody);
      const whole = longestBody / 10;
      expect(await eventsOf(Math.floor(whole))).toEqual([
        { kind: 'body', of: 'answer', text: shown.slice(0, 10 * Math.floor(whole)) },
      ]);
      const [body, rest, ...others] = await eventsOf(10 * Math.ceil(whole));
      expect([body, others]).toEqual([{ kind: 'body', of: 'answer', text: shown.slice(0, longestBody) }, []]);
      expect(rest).toEqual({
        kind: 'left out',
        of: 'answer',
        bytes: apiKey.length * 10 * Math.ceil(whole) - longestBody,
      });
    },
  );

  it('streams line by line, until as much has been shown', async () => {
    const chunk = `data: ${JSON.stringify({ choices: [{ delta: { content: 'x'.repeat(3_000) } }] })}\n\n`;
    const server = await hostileServer(stream([chunk, chunk, chunk, chunk, 'data: [DONE]\n\n']));
    const { events, answered } = await traced(server.url, async service => {
      for await (const event of service.chat.stream(question)) void event;
    });
    expect(answered.map(text => text.length)).toEqual([
      chunk.length - 2,
      chunk.length - 2,
      longestBody - 2 * (chunk.length - 2),
    ]);
    const bytes = 4 * chunk.length + 'data: [DONE]\n\n'.length;
    const shown = answered.join('').length + 4;
    expect(events.at(-1)).toEqual({ kind: 'left out', of: 'answer', bytes: bytes - shown });
  });

  it('shows a line that does not end once it is long enough', async () => {
    const { promise: isShown, resolve: show } = Promise.withResolvers<void>();
    const long = `: ${'x'.repeat(3 * longestBody)}`;
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
    expect(shown).toEqual([long.slice(0, longestBody)]);
  });

  it('of unknown fields names the first', async () => {
    const server = await hostileServer(json({}));
    const fields = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}`, index]));
    const body = Buffer.from(JSON.stringify(fields));
    const { sent } = await traced(server.url, service => service.sendRaw({ method: 'POST', path: '/x', body }));
    expect(sent[0]).toMatch(/"f49": …, …\} \(\d+ bytes\)$/);
  });

  it('of a file says only how long it is', async () => {
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
