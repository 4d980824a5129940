/** A service that ends, or comes back at another address, while it is in use. */
import { describe, expect, it } from 'vitest';
import type { Supervisor, Target } from '../../src/service/options.ts';
import {
  type Behaviour,
  errorOf,
  type HostileServer,
  hostileServer,
  json,
  open,
  refusal,
  resetAfter,
  resetAtOnce,
  serviceAt,
  silent,
  stream,
} from './hostile-server.ts';

const page = { items: [], has_more: false };
const emptyPage = json(page);
const start = { display_name: 'baseline', model_slug: 'acme/small' };
const question = { model: 'm', messages: [{ role: 'user', content: 'x' }] };
const word = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n';

/** Nothing listens there. */
const gone = 'http://127.0.0.1:1';

interface FakeSupervisor extends Supervisor {
  /** Where it says that the service is. */
  target: Target;
  readonly lost: Target[];
}

/** Says `from` at first; each time that something was lost it moves on to the next of `to`, until there is none. */
function supervisorOf(from: string, ...to: readonly string[]): FakeSupervisor {
  const lost: Target[] = [];
  const next = to.map((baseUrl, index) => ({ baseUrl, apiKey: `key-${index + 2}-0123456789` }));
  return {
    target: { baseUrl: from, apiKey: 'key-1-0123456789' },
    lost,
    async locate() {
      return this.target;
    },
    async recover(target) {
      lost.push(target);
      const found = next.shift();
      if (found) this.target = found;
      return found !== undefined;
    },
  };
}

function supervised(supervisor: Supervisor) {
  return serviceAt('http://localhost', { supervisor });
}

const keysOf = (server: HostileServer) => server.requests.map(({ headers }) => headers['x-api-key']);

describe('a call to a service that has moved', () => {
  it('does not follow a redirect of the lost one', async () => {
    const redirecting: Behaviour = (response, request) =>
      request.url.endsWith('/')
        ? resetAtOnce(response, request)
        : void response.writeHead(307, { location: `${request.url}/` }).end();
    const [before, after] = [await hostileServer(redirecting), await hostileServer(emptyPage)];
    await supervised(supervisorOf(before.url, after.url)).service.call('listBenchmarks');
    expect([before, after].map(({ requests }) => requests.map(({ url }) => url))).toEqual([
      ['/api/v1/benchmarks', '/api/v1/benchmarks/'],
      ['/api/v1/benchmarks'],
    ]);
  });

  it('goes to the new address at once, with the key for it', async () => {
    const server = await hostileServer(emptyPage);
    const supervisor = supervisorOf(gone, server.url);
    const { service, waits, log } = supervised(supervisor);
    await expect(service.call('listBenchmarks')).resolves.toMatchObject(page);
    expect(keysOf(server)).toEqual(['key-2-0123456789']);
    expect(supervisor.lost).toEqual([{ baseUrl: gone, apiKey: 'key-1-0123456789' }]);
    expect(waits).toEqual([]);
    expect(log.map(({ attempt, retryInMs }) => [attempt, retryInMs])).toEqual([
      [1, 0],
      [2, undefined],
    ]);
  });

  it('looks for the service before every attempt', async () => {
    const first = await hostileServer(emptyPage);
    const second = await hostileServer(emptyPage);
    const supervisor = supervisorOf(first.url);
    const { service } = supervised(supervisor);
    await service.call('listBenchmarks');
    supervisor.target = { baseUrl: second.url, apiKey: 'another-0123456789' };
    await service.call('listBenchmarks');
    expect(first.requests).toHaveLength(1);
    expect(keysOf(second)).toEqual(['another-0123456789']);
    expect(supervisor.lost).toEqual([]);
  });

  it.each([
    ['reset before the answer', resetAtOnce],
    ['broken off in the middle of it', resetAfter('{"items": [')],
  ])('that is %s is retried at the new address', async (_, behaviour) => {
    const first = await hostileServer(behaviour);
    const second = await hostileServer(emptyPage);
    const { service, waits } = supervised(supervisorOf(first.url, second.url));
    await expect(service.call('listBenchmarks')).resolves.toMatchObject(page);
    expect([first.requests.length, second.requests.length, waits.length]).toEqual([1, 1, 0]);
  });

  it('saves the retries for other failures', async () => {
    const busy = refusal(503, 'api_error', 'service_unavailable');
    const second = await hostileServer(busy, busy, emptyPage);
    const { service, waits } = supervised(supervisorOf(gone, second.url));
    await expect(service.call('listBenchmarks')).resolves.toMatchObject(page);
    expect(waits).toHaveLength(2);
    expect(second.requests).toHaveLength(3);
  });

  it('does not follow a service forever that exits with every request', async () => {
    const server = await hostileServer(resetAtOnce);
    const always = Array.from({ length: 20 }, () => server.url);
    const { service } = supervised(supervisorOf(server.url, ...always));
    await expect(service.call('listBenchmarks')).rejects.toMatchObject({ kind: 'network', attempts: 5 });
    expect(server.requests).toHaveLength(5);
  });

  it('is retried as usual if the service is not found again', async () => {
    const supervisor = supervisorOf(gone);
    const { service, waits } = supervised(supervisor);
    await expect(service.call('listBenchmarks')).rejects.toMatchObject({ code: 'ECONNREFUSED', attempts: 3 });
    expect(waits).toHaveLength(2);
    expect(supervisor.lost).toHaveLength(3);
  });

  it.each(['call', 'upload'])('is tried like after any lost connection if the restart fails once: %s', async what => {
    const server = await hostileServer(emptyPage, resetAtOnce, emptyPage);
    let isLost = false;
    const supervisor: Supervisor = {
      locate: async () => {
        // The second wait brings it back.
        if (isLost && waits.length === 1) throw new Error('The local service did not start.');
        return { baseUrl: server.url, apiKey: 'key-0123456789' };
      },
      recover: async () => {
        isLost = true;
        return false;
      },
    };
    const { service, waits } = supervised(supervisor);
    await service.call('listBenchmarks');
    if (what === 'call') await service.call('listBenchmarks');
    else await service.putUpload({ path: 'a', url: `${server.url}/a`, headers: {} }, Buffer.from('a'));
    expect([server.requests.length, waits.length]).toEqual([3, 2]);
  });

  it('looks three times for a lost service, and once if it is a poll', async () => {
    const server = await hostileServer(emptyPage);
    let looks = 0;
    const supervisor: Supervisor = {
      locate: async () => {
        looks += 1;
        if (looks > 1) throw new Error('The local service did not start.');
        return { baseUrl: server.url, apiKey: 'key-0123456789' };
      },
      recover: async () => false,
    };
    const { service } = supervised(supervisor);
    await service.call('listBenchmarks');
    const error = await errorOf(service.call('listBenchmarks'));
    expect(error).toMatchObject({ kind: 'network', code: 'service_lost', attempts: 0 });
    expect(looks).toBe(1 + 3);
    looks = 1;
    await errorOf(service.call('listBenchmarks', {}, { background: true }));
    expect(looks).toBe(2);
  });

  it('does not concern the supervisor if the service answers badly or slowly', async () => {
    const server = await hostileServer(refusal(500, 'api_error', 'internal_error'), silent);
    const supervisor = supervisorOf(server.url, gone);
    const { service } = supervised(supervisor);
    await errorOf(service.call('listBenchmarks', {}, { silenceMs: 50 }));
    expect(supervisor.lost).toEqual([]);
  });
});

describe('a write', () => {
  it('that was never sent is sent to the new address', async () => {
    const server = await hostileServer(json({ secret: { secret_id: 's' } }));
    const { service } = supervised(supervisorOf(gone, server.url));
    await service.call('createSecret', { body: { name: 'a', value: 'b' } });
    expect(server.requests).toHaveLength(1);
  });

  it('whose answer was lost is not retried, but the service is looked for', async () => {
    const first = await hostileServer(resetAtOnce);
    const second = await hostileServer(json({ secret: { secret_id: 's' } }));
    const supervisor = supervisorOf(first.url, second.url);
    const error = await errorOf(
      supervised(supervisor).service.call('createSecret', { body: { name: 'a', value: 'b' } }),
    );
    expect(error).toMatchObject({ kind: 'network', outcomeUnknown: true, attempts: 1 });
    expect(second.requests).toEqual([]);
    expect(supervisor.lost).toHaveLength(1);
  });

  it('with an idempotency key is retried with the same key', async () => {
    const first = await hostileServer(resetAtOnce);
    const second = await hostileServer(json({ eval_run_id: 'evr_1' }));
    await supervised(supervisorOf(first.url, second.url)).service.call('startEval', {
      params: { bench_id: 'b1' },
      body: start,
    });
    const keys = [...first.requests, ...second.requests].map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  it('keeps its doubt if the service is not found for the next attempt', async () => {
    const server = await hostileServer(resetAtOnce);
    const supervisor: Supervisor = {
      ...supervisorOf(server.url),
      locate: async () => {
        if (server.requests.length > 0) throw new Error('The local service did not start: no answer in 15 s.');
        return { baseUrl: server.url, apiKey: 'k' };
      },
      recover: async () => true,
    };
    const error = await errorOf(
      supervised(supervisor).service.call('startEval', { params: { bench_id: 'b1' }, body: start }),
    );
    expect(error).toMatchObject({ kind: 'network', code: 'service_lost', outcomeUnknown: true, attempts: 1 });
    expect((error as Error).message).toContain('did not start: no answer in 15 s. It may have happened');
  });
});

describe('a supervisor', () => {
  it('reports why it cannot find the service', async () => {
    const locate = async () => Promise.reject(new Error('The local service did not start: the disk is full.'));
    const error = await errorOf(supervised({ locate, recover: async () => true }).service.call('listBenchmarks'));
    expect(error).toMatchObject({ name: 'NetworkError', code: 'service_not_found', attempts: 0 });
    expect((error as Error).message).toBe('The local service did not start: the disk is full. Nothing was sent.');
  });

  it('stops when the call is cancelled or times out', async () => {
    const forever = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { service } = supervised({ locate: forever, recover: async () => false });
    const controller = new AbortController();
    const cancelled = errorOf(service.call('listBenchmarks', {}, { signal: controller.signal }));
    controller.abort();
    expect(await cancelled).toMatchObject({ kind: 'cancelled', message: 'Cancelled. Nothing was sent.' });
    expect(await errorOf(service.call('listBenchmarks', {}, { deadlineMs: 30 }))).toMatchObject({ kind: 'timeout' });
  });

  it('is not asked about what the program itself has cut off', async () => {
    const server = await hostileServer(silent);
    const supervisor = supervisorOf(server.url, server.url);
    const { service } = supervised(supervisor);
    const call = errorOf(service.call('createSecret', { body: { name: 'a', value: 'b' } }));
    await expect.poll(() => server.requests.length).toBe(1);
    await service.close();
    expect(await call).toMatchObject({ kind: 'network', outcomeUnknown: true });
    expect(supervisor.lost).toEqual([]);
  });
});

describe('a stream', () => {
  it('moves before its first byte', async () => {
    const first = await hostileServer(resetAtOnce);
    const second = await hostileServer(stream([word, 'data: [DONE]\n\n']));
    const { service } = supervised(supervisorOf(first.url, second.url));
    const said: string[] = [];
    for await (const event of service.chat.stream(question)) if (event.kind === 'delta') said.push(event.content ?? '');
    expect(said).toEqual(['hi']);
    expect(second.requests[0]?.headers.authorization).toBe('Bearer key-2-0123456789');
  });

  it('does not restart after it', async () => {
    const first = await hostileServer(async (response, request) => {
      await open([word.replace('"stop"', 'null')])(response, request);
      setImmediate(() => response.socket?.resetAndDestroy());
    });
    const second = await hostileServer(stream([word]));
    const { service } = supervised(supervisorOf(first.url, second.url));
    const reading = (async () => {
      for await (const event of service.chat.stream(question)) void event;
    })();
    expect(await errorOf(reading)).toMatchObject({ kind: 'network', partial: { content: 'hi' } });
    expect(second.requests).toEqual([]);
  });
});

describe('an upload to a URL of the service itself', () => {
  const target = (server: HostileServer) => ({ path: 'a.json', url: `${server.url}/up/a.json?signature=1` });
  const stored = json({});

  it('asks for a new URL once the service has moved', async () => {
    const first = await hostileServer(emptyPage, resetAtOnce);
    const second = await hostileServer(stored);
    const supervisor = supervisorOf(first.url, second.url);
    const { service } = supervised(supervisor);
    await service.call('listBenchmarks');
    const lost = await errorOf(service.putUpload(target(first), new Uint8Array(3)));
    expect(lost).toMatchObject({ kind: 'upload_url', code: 'upload_url_expired' });
    expect((lost as Error).message).toContain('Run the upload again to get a new address');
    const seen = first.requests.length;
    // Known to be the former address, it is not even tried.
    expect(await errorOf(service.putUpload(target(first), new Uint8Array(3)))).toMatchObject({ kind: 'upload_url' });
    expect(first.requests).toHaveLength(seen);
    await service.putUpload(target(second), new Uint8Array(3));
    expect(second.requests).toHaveLength(1);
  });

  it('is retried at once if the service is back at the same address', async () => {
    const server = await hostileServer(emptyPage, resetAtOnce, stored);
    const { service, waits } = supervised(supervisorOf(server.url, server.url));
    await service.call('listBenchmarks');
    await service.putUpload(target(server), new Uint8Array(3));
    expect(server.requests).toHaveLength(3);
    expect(waits).toEqual([]);
  });

  it('goes elsewhere as before if the storage is another host', async () => {
    const server = await hostileServer(emptyPage);
    const storage = await hostileServer(resetAtOnce, stored);
    const supervisor = supervisorOf(server.url);
    const { service } = supervised(supervisor);
    await service.call('listBenchmarks');
    await service.putUpload(target(storage), new Uint8Array(3));
    expect(storage.requests).toHaveLength(2);
    expect(supervisor.lost).toEqual([]);
  });
});
