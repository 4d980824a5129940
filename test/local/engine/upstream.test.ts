import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sendUpstream } from '../../../src/local/engine/upstream.ts';

const upstream = { url: 'http://127.0.0.1:9', key: undefined };
const patienceMs = 120_000;

/** Another server that answers on demand. */
function fakeServer() {
  let send: ReadableStreamDefaultController<Uint8Array> | undefined;
  let signal: AbortSignal | null | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: controller => {
      send = controller;
    },
  });
  const head = Promise.withResolvers<Response>();
  vi.stubGlobal('fetch', (_url: string, init: RequestInit) => {
    signal = init.signal;
    signal?.addEventListener('abort', () => {
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
    vi.unstubAllGlobals();
  });

  it('ends where no answer begins', async () => {
    fakeServer();
    const answer = expect(sendUpstream(upstream, '{}', new AbortController().signal)).rejects.toThrow(
      'does not answer',
    );
    vi.advanceTimersByTime(patienceMs + 1);
    await answer;
  });

  it('lasts as long as pieces come, however long that is in all', async () => {
    const server = fakeServer();
    const sent = sendUpstream(upstream, '{}', new AbortController().signal);
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
    const sent = sendUpstream(upstream, '{}', new AbortController().signal);
    server.answer();
    const reader = (await sent).body?.getReader();
    server.piece('one');
    await reader?.read();
    const silent = expect(reader?.read()).rejects.toThrow('nothing came for 120 s');
    vi.advanceTimersByTime(patienceMs + 1);
    await silent;
  });
});
