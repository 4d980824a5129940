import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  answerUpstream,
  modelsUpstream,
  sendUpstream,
  UpstreamError,
  withRetries,
} from '../../../src/local/engine/upstream.ts';
import { answerMessage, tapMessage } from '../../../src/local/engine/upstream-message.ts';
import { readBody } from '../../../src/net/body.ts';
import { hostileServer, json, text } from '../../service/hostile-server.ts';

const silenceMs = 120_000;
const { signal } = new AbortController();
const turn = () => new Promise(setImmediate);

/** Lets time pass until a promise is settled. */
async function passUntil(settled: Promise<unknown>): Promise<void> {
  let isSettled = false;
  void settled.finally(() => {
    isSettled = true;
  });
  while (!isSettled) {
    await turn();
    vi.advanceTimersByTime(silenceMs + 1);
  }
}

/** Another server that answers on demand. */
async function slowServer() {
  const asked = Promise.withResolvers<ServerResponse>();
  const left = Promise.withResolvers<void>();
  const { url } = await hostileServer(response => {
    response.once('close', left.resolve);
    asked.resolve(response);
  });
  return { upstream: { url, key: undefined }, asked: asked.promise, left: left.promise };
}

describe('silence of another server', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('ends an unanswered request', async () => {
    const { upstream, asked, left } = await slowServer();
    const answer = expect(sendUpstream(upstream, { content: '{}' }, signal)).rejects.toThrow(
      /does not answer: no data for 120 s\.$/,
    );
    await asked;
    await passUntil(answer);
    await left;
  });

  it('is not the total time of a stream', async () => {
    const { upstream, asked } = await slowServer();
    const sent = sendUpstream(upstream, { content: '{}' }, signal);
    const server = await asked;
    server.flushHeaders();
    const chunks = (await sent).chunks();
    for (let piece = 0; piece < 5; piece += 1) {
      const read = chunks.next();
      await turn();
      vi.advanceTimersByTime(silenceMs - 1);
      server.write(`piece ${piece}`);
      expect(Buffer.from((await read).value ?? []).toString()).toBe(`piece ${piece}`);
    }
    server.end();
    expect((await chunks.next()).done).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends a stream', async () => {
    const { upstream, asked, left } = await slowServer();
    const sent = sendUpstream(upstream, { content: '{}' }, signal);
    (await asked).write('one');
    const chunks = (await sent).chunks();
    await chunks.next();
    const silent = expect(chunks.next()).rejects.toThrow(/broke off: no data for 120 s\.$/);
    await passUntil(silent);
    await left;
  });
});

describe('the connection to another server', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('goes through the proxy in the environment, except for the exceptions there', async () => {
    const proxy = await hostileServer(json({ id: 'by the proxy' }));
    vi.stubEnv('ALL_PROXY', proxy.url);
    vi.stubEnv('NO_PROXY', 'direct.invalid');
    const answer = await sendUpstream({ url: 'http://models.invalid', key: 'k' }, { content: '{}' }, signal);
    expect(await readBody(answer, 1_000)).toBe('{"id":"by the proxy"}');
    expect(proxy.requests).toMatchObject([
      { method: 'POST', url: 'http://models.invalid/v1/chat/completions', headers: { authorization: 'Bearer k' } },
    ]);
    await expect(sendUpstream({ url: 'http://direct.invalid', key: 'k' }, { content: '{}' }, signal)).rejects.toThrow(
      'direct.invalid does not answer',
    );
    expect(proxy.requests).toHaveLength(1);
  });

  it('never bypasses an unusable proxy', async () => {
    vi.stubEnv('HTTPS_PROXY', 'socks5://127.0.0.1:1');
    await expect(sendUpstream({ url: 'https://models.invalid', key: 'k' }, { content: '{}' }, signal)).rejects.toThrow(
      'HTTPS_PROXY names a socks5 proxy',
    );
  });

  it('follows no redirect, which would send the key elsewhere', async () => {
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

describe('an evaluation request to another server', () => {
  const sampling = { temperature: 1, top_p: 1, max_tokens: 4, seed: 7 };

  it('gets an answer that a thread can grade, whatever integers are in it (A6)', async () => {
    const [part, call] = ['{"type":"text","text":"yes","n":12345678901234567890}', '{"n":12345678901234567890}'];
    const message = `{"role":"assistant","content":[${part}],"tool_calls":[{"function":{"arguments":${call}}}]}`;
    const server = await hostileServer(text(`{"choices":[{"message":${message}}]}`, 200));
    const answer = await answerUpstream({ url: server.url, key: undefined }, 'm', [], sampling, signal);
    expect(structuredClone(answer)).toMatchObject({
      text: 'yes',
      tool_calls: expect.stringContaining('12345678901234567890'),
    });
  });

  const completion = { choices: [{ message: { role: 'assistant', content: 'yes' } }] };
  const asked = async (answer: ReturnType<typeof json>) => {
    const server = await hostileServer(answer);
    const turns = [{ role: 'user', content: 'say yes' }] as const;
    const { text } = await answerUpstream({ url: server.url, key: undefined }, 'm', turns, sampling, signal);
    return { text, seeds: server.requests.map(({ body }) => (JSON.parse(body) as { seed?: number }).seed) };
  };

  it('sends the seed, so that the same run samples the same (V43)', async () => {
    expect(await asked(json(completion))).toEqual({ text: 'yes', seeds: [7] });
  });

  it('leaves out the seed if it is refused', async () => {
    const refuses = await asked((response, request) => {
      const isSeeded = request.body.includes('"seed"');
      const error = { error: { message: 'Extra inputs are not permitted', param: 'seed' } };
      return json(isSeeded ? error : completion, isSeeded ? 422 : 200)(response, request);
    });
    expect(refuses).toEqual({ text: 'yes', seeds: [7, undefined] });
  });

  it('gets everything that the answer says about itself, or nothing (B3)', async () => {
    const end = async (message: object, finish_reason?: string) => {
      const { url } = await hostileServer(json({ choices: [{ message, ...(finish_reason && { finish_reason }) }] }));
      return answerUpstream({ url, key: undefined }, 'm', [{ role: 'user', content: 'hi' }], sampling, signal);
    };
    const refused = { content: null, refusal: 'not by policy 7', reasoning_content: 'may I?' };
    expect(await end(refused, 'stop')).toMatchObject({
      ...{ text: '', refusal: 'not by policy 7', reasoning: 'may I?', finish_reason: 'stop' },
    });
    expect(await end({ content: '', reasoning: 'so' }, 'length')).toMatchObject({
      ...{ text: '', reasoning: 'so', finish_reason: 'length' },
    });
    expect(await end({ content: null }, 'content_filter')).toMatchObject({ finish_reason: 'content_filter' });
    expect(await end({ content: 'yes' })).toMatchObject({ text: 'yes', finish_reason: null });
  });

  it('keeps a field called __proto__ in a list of models (X11)', async () => {
    const row = '{"id":"m","__proto__":{"owned_by":"x"}}';
    const { url } = await hostileServer(json(JSON.parse(`{"data":[${row}]}`)));
    expect(JSON.stringify(await modelsUpstream({ url, key: undefined }))).toBe(`[${row}]`);
  });
});

it('stops waiting for another server when the run is cancelled (B5)', async () => {
  const cancel = new AbortController();
  const attempt = vi.fn(() => {
    // The wait has begun at this point.
    setImmediate(() => cancel.abort());
    return Promise.reject(new UpstreamError('Slow down.', { status: 429, retryAfterMs: 59_000 }));
  });
  await expect(withRetries({ url: 'http://cancelled.test', key: undefined }, attempt, cancel.signal)).rejects.toThrow(
    'aborted',
  );
  expect(attempt).toHaveBeenCalledTimes(1);
});

describe('a 429 of another server', () => {
  const limit = (retryAfterMs = 1) => new UpstreamError('Slow down.', { status: 429, retryAfterMs });
  const upstreamOf = (name: string) => ({ url: `http://${name}.test`, key: undefined });

  it('holds back the other rollouts until the first one is answered', async () => {
    const order: string[] = [];
    const rollout = (name: string, ...failures: Error[]) =>
      withRetries(
        upstreamOf('shared'),
        async () => {
          order.push(name);
          const failure = failures.shift();
          if (failure) throw failure;
        },
        signal,
      );
    const first = rollout('first', limit(500));
    // The limit has been met at this point.
    await new Promise(resolve => setImmediate(resolve));
    await Promise.all([first, rollout('second'), rollout('third')]);
    expect(order).toEqual(['first', 'first', 'second', 'third']);
  });

  it('is retried while other requests get through, and twice more otherwise', async () => {
    const upstream = upstreamOf('busy');
    const others: Promise<unknown>[] = [];
    const attempt = vi.fn(() => {
      if (others.length < 5) others.push(withRetries(upstream, async () => 'other', signal));
      return Promise.reject(limit());
    });
    await expect(withRetries(upstream, attempt, signal)).rejects.toThrow('Slow down.');
    await Promise.all(others);
    expect(attempt).toHaveBeenCalledTimes(5 + 3);
  });
});

it('takes the first choice to arrive as the answer, whole or streamed, whatever its index (C3)', async () => {
  const choice = (index: number | undefined, content: string) => ({ index, message: { content, tool_calls: '' } });
  const streamed = async (chunks: readonly (readonly ReturnType<typeof choice>[])[]) => {
    const lines = chunks.map(choices => {
      const deltas = choices.map(({ index, message: delta }) => ({ index, delta, finish_reason: 'stop' }));
      return `data: ${JSON.stringify({ choices: deltas })}\n\n`;
    });
    const onMessage = vi.fn();
    await new Response(new Blob([lines.join('')]).stream().pipeThrough(tapMessage(onMessage))).text();
    return onMessage.mock.calls[0]?.[0];
  };
  for (const index of [undefined, 0, 1]) {
    const choices = [choice(index, 'A'), choice(2, 'B')];
    const wanted = { content: 'A', ...{ refusal: undefined, reasoning: undefined } };
    expect(answerMessage(JSON.stringify({ choices }))).toMatchObject(wanted);
    expect(await streamed([choices, [choice(2, 'C')]])).toMatchObject(wanted);
  }
});
