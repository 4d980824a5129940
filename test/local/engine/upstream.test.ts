import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answerUpstream, modelsUpstream, sendUpstream } from '../../../src/local/engine/upstream.ts';
import * as wire from '../../../src/local/engine/upstream-wire.ts';
import { hostileServer, json } from '../../service/hostile-server.ts';

const upstream = { url: 'http://127.0.0.1:9', key: undefined };
const patienceMs = 120_000;

/** Another server that answers on demand. */
function fakeServer() {
  let send: ReadableStreamDefaultController<Uint8Array> | undefined;
  let signal: AbortSignal | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: controller => {
      send = controller;
    },
  });
  const head = Promise.withResolvers<Response>();
  vi.spyOn(wire, 'ask').mockImplementation((_address, request) => {
    signal = request.signal;
    signal.addEventListener('abort', () => {
      head.reject(signal?.reason);
      send?.error(signal?.reason);
    });
    return head.promise;
  });
  return {
    answer: () => head.resolve(new Response(body)),
    piece: (text: string) => send?.enqueue(new TextEncoder().encode(text)),
    end: () => send?.close(),
    wasLeft: () => signal?.aborted,
  };
}

describe('patience with another server', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('ends where no answer begins', async () => {
    fakeServer();
    const answer = expect(sendUpstream(upstream, { content: '{}' }, new AbortController().signal)).rejects.toThrow(
      'does not answer',
    );
    vi.advanceTimersByTime(patienceMs + 1);
    await answer;
  });

  it('lasts as long as pieces come, however long that is in all', async () => {
    const server = fakeServer();
    const sent = sendUpstream(upstream, { content: '{}' }, new AbortController().signal);
    server.answer();
    const reader = (await sent).body?.getReader();
    for (let piece = 0; piece < 5; piece += 1) {
      vi.advanceTimersByTime(patienceMs - 1);
      server.piece(`piece ${piece}`);
      expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(`piece ${piece}`);
    }
    server.end();
    expect((await reader?.read())?.done).toBe(true);
    expect(server.wasLeft()).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends where a stream falls silent', async () => {
    const server = fakeServer();
    const sent = sendUpstream(upstream, { content: '{}' }, new AbortController().signal);
    server.answer();
    const reader = (await sent).body?.getReader();
    server.piece('one');
    await reader?.read();
    const silent = expect(reader?.read()).rejects.toThrow('no data for 120 s');
    vi.advanceTimersByTime(patienceMs + 1);
    await silent;
  });
});

describe('the way to another server', () => {
  const { signal } = new AbortController();
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('leads through the proxy that a variable names, except for what another one excepts', async () => {
    const proxy = await hostileServer(json({ id: 'by the proxy' }));
    vi.stubEnv('ALL_PROXY', proxy.url);
    vi.stubEnv('NO_PROXY', 'direct.invalid');
    const answer = await sendUpstream({ url: 'http://models.invalid', key: 'k' }, { content: '{}' }, signal);
    expect(await answer.json()).toEqual({ id: 'by the proxy' });
    expect(proxy.requests).toMatchObject([
      { method: 'POST', url: 'http://models.invalid/v1/chat/completions', headers: { authorization: 'Bearer k' } },
    ]);
    await expect(sendUpstream({ url: 'http://direct.invalid', key: 'k' }, { content: '{}' }, signal)).rejects.toThrow(
      'direct.invalid does not answer',
    );
    expect(proxy.requests).toHaveLength(1);
  });

  it('goes past no proxy that cannot be used', async () => {
    vi.stubEnv('HTTPS_PROXY', 'socks5://127.0.0.1:1');
    await expect(sendUpstream({ url: 'https://models.invalid', key: 'k' }, { content: '{}' }, signal)).rejects.toThrow(
      'HTTPS_PROXY names a socks5 proxy',
    );
  });

  it('follows no redirect, which would take the key elsewhere', async () => {
    const other = await hostileServer(json({}));
    const server = await hostileServer(response => {
      response.writeHead(307, { location: other.url });
      response.end();
    });
    await expect(sendUpstream({ url: server.url, key: 'k' }, { content: '{}' }, signal)).rejects.toThrow(
      'answered 307',
    );
    expect(other.requests).toEqual([]);
  });
});

describe('what another server is asked for an evaluation', () => {
  const sampling = { temperature: 1, top_p: 1, max_tokens: 4, seed: 7 };
  const completion = { choices: [{ message: { role: 'assistant', content: 'yes' } }] };
  const asked = async (answer: ReturnType<typeof json>) => {
    const server = await hostileServer(answer);
    const turns = [{ role: 'user', content: 'say yes' }] as const;
    const { text } = await answerUpstream(
      { url: server.url, key: undefined },
      'm',
      turns,
      sampling,
      new AbortController().signal,
    );
    return { text, seeds: server.requests.map(({ body }) => (JSON.parse(body) as { seed?: number }).seed) };
  };

  it('holds the seed, so that the same run draws the same (V43)', async () => {
    expect(await asked(json(completion))).toEqual({ text: 'yes', seeds: [7] });
  });

  it('leaves the seed out where it is refused', async () => {
    const refuses = await asked((response, request) => {
      const isSeeded = request.body.includes('"seed"');
      const error = { error: { message: 'Extra inputs are not permitted', param: 'seed' } };
      return json(isSeeded ? error : completion, isSeeded ? 422 : 200)(response, request);
    });
    expect(refuses).toEqual({ text: 'yes', seeds: [7, undefined] });
  });

  it('keeps a field called __proto__ of what it says about its models (X11)', async () => {
    const row = '{"id":"m","__proto__":{"owned_by":"x"}}';
    const { url } = await hostileServer(json(JSON.parse(`{"data":[${row}]}`)));
    expect(JSON.stringify(await modelsUpstream({ url, key: undefined }))).toBe(`[${row}]`);
  });
});
