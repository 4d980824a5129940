/** A service with a rate limit, and all its callers in the process. */
import { describe, expect, it } from 'vitest';
import { Gates } from '../../src/service/gate.ts';
import type { Service } from '../../src/service/index.ts';
import {
  type Behaviour,
  errorOf,
  type HostileServer,
  hostileServer,
  json,
  refusal,
  serviceAt,
  silent,
  stream,
} from './hostile-server.ts';
import { flush, type ManualClock, manualClock } from './manual-clock.ts';

const page = json({ items: [], has_more: false, next_cursor: null });
const word = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n';
const question = { model: 'm', messages: [{ role: 'user', content: 'x' }] };
const limited = (headers: Record<string, string>): Behaviour =>
  refusal(429, 'rate_limit_error', 'rate_limited', {}, headers);

/** After the script's first answers, everything succeeds. */
const well: Behaviour = (response, request) => {
  if (request.url.startsWith('/v1/chat/')) return stream([word, 'data: [DONE]\n\n'])(response, request);
  return page(response, request);
};

interface Setting {
  readonly server: HostileServer;
  readonly service: Service;
  readonly clock: ManualClock;
}

/** A service with a manual clock, on a server that begins with `script` and then succeeds. */
async function setting(...script: readonly Behaviour[]): Promise<Setting> {
  const server = await hostileServer(...script, well);
  const clock = manualClock();
  return { server, service: serviceAt(server.url, { clock }).service, clock };
}

/** Is limited by the first answer of the server, in a poll. */
async function meetLimit({ service }: Setting): Promise<void> {
  expect(await errorOf(service.background.call('listBenchmarks'))).toMatchObject({ kind: 'rate_limit', attempts: 1 });
}

/** A later request has been answered, so anything that an earlier one could have sent has arrived. */
async function settled(server: HostileServer): Promise<number> {
  const before = server.requests.length;
  await fetch(`${server.url}/probe`);
  return server.requests.length - 1 - before;
}

describe('after a 429', () => {
  it('holds thirty pollers back, and then lets them pass one by one', async () => {
    const at = await setting(limited({ 'retry-after': '12' }));
    const { server, service, clock } = at;
    await meetLimit(at);
    let answered = 0;
    const polls = Array.from({ length: 30 }, async (_, index) => {
      await service.background.call('getEvalRun', { params: { eval_run_id: `evr_${index}` } }).catch(() => {});
      answered += 1;
    });
    await clock.advance(11_999);
    expect(await settled(server)).toBe(0);
    await clock.advance(1);
    await Promise.all(polls);
    expect(answered).toBe(30);
    // One connection was enough: none was sent before the one before it had been answered.
    expect(server.requests.filter(({ url }) => url.includes('evr_'))).toHaveLength(30);
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it('releases none of the others if the first of them gets another', async () => {
    const at = await setting(limited({ 'retry-after': '2' }), limited({ 'retry-after': '20' }));
    const { server, service, clock } = at;
    await meetLimit(at);
    const polls = Array.from({ length: 30 }, () => service.background.call('listBenchmarks').catch(() => {}));
    await clock.advance(2_000);
    await expect.poll(() => service.gate.state().kind).toBe('limited');
    await clock.advance(19_000);
    expect(await settled(server)).toBe(0);
    expect(server.requests.filter(({ url }) => url.includes('benchmarks'))).toHaveLength(2);
    await clock.advance(1_000);
    await Promise.all(polls);
  });

  it('actions, pages, chat and uploads wait too', async () => {
    const at = await setting(limited({ 'retry-after': '12' }));
    const { server, service, clock } = at;
    await meetLimit(at);
    const read = async () => {
      for await (const event of service.chat.stream(question)) void event;
    };
    const waiting = [
      service.call('cancelEval', { params: { eval_run_id: 'evr_1' } }),
      service.call('listBenchmarks', { query: { cursor: 'next' } }),
      service.call('createBenchmarkUpload', {
        body: { files: [{ path: 'a', content_type: 'text/plain', size_bytes: 1 }] },
      }),
      service.putUpload({ path: 'a', url: `${server.url}/up?signature=1` }, new Uint8Array(3)),
      service.chat.complete(question),
      read(),
    ].map(call => call.catch((error: unknown) => error));
    await clock.advance(11_999);
    expect(await settled(server)).toBe(0);
    await clock.advance(1);
    await Promise.all(waiting);
    expect(server.requests.length).toBe(1 + 1 + waiting.length);
  });

  it('files to storage on another host do not wait', async () => {
    const at = await setting(limited({ 'retry-after': '12' }));
    const storage = await hostileServer(page);
    await meetLimit(at);
    await at.service.putUpload({ path: 'a', url: `${storage.url}/up?signature=1` }, new Uint8Array(3));
    expect(storage.requests).toHaveLength(1);
  });

  it('another service of the process waits too, if they share their gates', async () => {
    const server = await hostileServer(limited({ 'retry-after': '12' }), page);
    const clock = manualClock();
    const gates = new Gates(clock);
    const one = serviceAt(server.url, { clock, gates }).service;
    const other = serviceAt(server.url, { clock, gates }).service;
    await errorOf(one.background.call('listBenchmarks'));
    const waiting = other.call('listBenchmarks');
    await clock.advance(11_999);
    expect(await settled(server)).toBe(0);
    await clock.advance(1);
    await waiting;
  });

  it.each([
    ['seconds', (_: number) => '30', 30_000],
    ['a date', (now: number) => new Date(now + 30_000).toUTCString(), 30_000],
    ['a date that has passed', (now: number) => new Date(now - 30_000).toUTCString(), 0],
    ['an hour, which is limited to a minute', (_: number) => '3600', 52_500],
  ])('its time may be given as %s', async (_, headerAt, expected) => {
    const clock = manualClock();
    const server = await hostileServer(limited({ 'retry-after': headerAt(clock.now()) }), page);
    const { service } = serviceAt(server.url, { clock });
    await errorOf(service.background.call('listBenchmarks'));
    const state = service.gate.state();
    expect(state.kind === 'limited' ? state.until - clock.now() : 0).toBe(expected);
  });
});

describe('a 503 that asks to wait an hour', () => {
  const down = refusal(503, 'dependency_error', 'service_unavailable', {}, { 'retry-after': '3600' });

  it('blocks only what was requested, again and again (B23)', async () => {
    const at = await setting(down, down, down, down);
    const { background } = at.service;
    for (let round = 0; round < 4; round += 1) {
      expect(await errorOf(background.call('listDeployments'))).toMatchObject({ retryAfterMs: 3_600_000 });
    }
    expect(at.service.gate.state()).toEqual({ kind: 'open' });
    await expect(background.call('listBenchmarks')).resolves.toMatchObject({ items: [] });
    await expect(at.service.call('cancelEval', { params: { eval_run_id: 'evr_1' } })).resolves.toBeDefined();
  });

  it('is an outage, not a rate limit, once several operations answer it, and user actions wait seconds (W9, B23)', async () => {
    const at = await setting(down, down, down);
    const { service, server, clock } = at;
    for (const operation of ['listDeployments', 'listSecrets', 'listDatasets'] as const) {
      await errorOf(service.background.call(operation));
    }
    expect(service.gate.state()).toEqual({ kind: 'limited', reason: 'failing', until: clock.now() + 438 });
    const cancelled = service.call('cancelEval', { params: { eval_run_id: 'evr_1' } });
    await clock.advance(437);
    expect(await settled(server)).toBe(0);
    await clock.advance(1);
    await expect(cancelled).resolves.toBeDefined();
    expect(service.gate.state()).toEqual({ kind: 'open' });
  });
});

describe('a waiting call', () => {
  it('is retried automatically after the wait, if a user asked for it', async () => {
    const { server, service, clock } = await setting(limited({ 'retry-after': '7' }));
    const call = service.call('listBenchmarks');
    await expect.poll(() => service.gate.state().kind).toBe('limited');
    await clock.advance(6_999);
    expect(await settled(server)).toBe(0);
    await clock.advance(1);
    await expect(call).resolves.toMatchObject({ items: [] });
  });

  it('is not retried inside if it is a poll', async () => {
    const at = await setting(refusal(500, 'api_error', 'internal_error'));
    expect(await errorOf(at.service.background.call('listBenchmarks'))).toMatchObject({ kind: 'server', attempts: 1 });
    expect(at.server.requests).toHaveLength(1);
  });

  it('ends when it is cancelled, and sends nothing', async () => {
    const at = await setting(limited({ 'retry-after': '30' }));
    await meetLimit(at);
    const controller = new AbortController();
    const call = errorOf(
      at.service.call('cancelEval', { params: { eval_run_id: 'evr_1' } }, { signal: controller.signal }),
    );
    await flush();
    controller.abort();
    expect(await call).toMatchObject({ kind: 'cancelled', message: 'Cancelled. Nothing was sent.' });
    await at.clock.advance(60_000);
    expect(await settled(at.server)).toBe(0);
  });

  it('is rejected at once if it would end before, with the time', async () => {
    const at = await setting(limited({ 'retry-after': '42' }));
    await meetLimit(at);
    const error = await errorOf(
      at.service.call('cancelEval', { params: { eval_run_id: 'evr_1' } }, { deadlineMs: 20_000 }),
    );
    expect(error).toMatchObject({ name: 'RateLimitError', code: 'rate_limited', attempts: 0, retryAfterMs: 42_000 });
    expect((error as Error).message).toMatch(
      /^127\.0\.0\.1:\d+ limits the rate of requests\. Nothing was sent\. Try again in 42 s\.$/,
    );
    expect(at.server.requests).toHaveLength(1);
  });

  it('ends at its deadline even if its turn has not come', async () => {
    const at = await setting(limited({ 'retry-after': '1' }), silent);
    await meetLimit(at);
    const stop = new AbortController();
    const first = errorOf(at.service.background.call('listBenchmarks', {}, { signal: stop.signal }));
    await at.clock.advance(1_000);
    await expect.poll(() => at.server.requests.length).toBe(2);
    const second = errorOf(at.service.call('listBenchmarks', {}, { deadlineMs: 30 }));
    expect(await second).toMatchObject({ kind: 'timeout', code: 'deadline', attempts: 0 });
    stop.abort();
    expect(await first).toMatchObject({ kind: 'cancelled' });
  });
});

describe('a failing service', () => {
  it('is asked less and less often after repeated failures, by all callers', async () => {
    const failing = refusal(500, 'api_error', 'internal_error');
    const at = await setting(...Array.from({ length: 10 }, () => failing));
    for (const operation of ['listBenchmarks', 'listSecrets', 'listDatasets'] as const) {
      await errorOf(at.service.background.call(operation));
    }
    expect(at.service.gate.state()).toMatchObject({ kind: 'limited', reason: 'failing' });
    const next = errorOf(at.service.background.call('listBenchmarks'));
    await at.clock.advance(437);
    expect(await settled(at.server)).toBe(0);
    await at.clock.advance(1);
    await next;
    const error = await errorOf(at.service.background.call('listBenchmarks', {}, { deadlineMs: 500 }));
    expect(error).toMatchObject({ kind: 'server', code: 'service_failing', retryAfterMs: 875 });
    expect((error as Error).message).toMatch(/^127\.0\.0\.1:\d+ is failing\. Nothing was sent\.$/);
  });

  it('with one failing endpoint is asked as before at the others', async () => {
    const moody: Behaviour = (response, request) =>
      (request.url.includes('evr_bad') ? refusal(500, 'api_error', 'internal_error') : page)(response, request);
    const server = await hostileServer(moody);
    const { service } = serviceAt(server.url, { clock: manualClock() });
    for (let round = 0; round < 5; round += 1) {
      await errorOf(service.background.call('getEvalRun', { params: { eval_run_id: 'evr_bad' } }));
      await service.background.call('listBenchmarks');
    }
    expect(service.gate.state()).toEqual({ kind: 'open' });
    expect(server.requests).toHaveLength(10);
  });
});
