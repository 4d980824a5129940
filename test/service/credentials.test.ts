/** Credentials that change while the program runs: tokens that expire, keys that are rotated. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { ServiceError } from '../../src/service/errors.ts';
import { Gates } from '../../src/service/gate.ts';
import type { Service } from '../../src/service/index.ts';
import {
  type Behaviour,
  errorOf,
  type HostileServer,
  hostileServer,
  json,
  refusal,
  resetAtOnce,
  serviceAt,
  stream,
} from './hostile-server.ts';

const page = json({ items: [], has_more: false });
const denied = refusal(401, 'authentication_error', 'invalid_api_key');
const question = { model: 'm', messages: [{ role: 'user', content: 'x' }] };
const word = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n';

interface Rotating {
  readonly server: HostileServer;
  readonly service: Service;
  /** Keys read so far. */
  readonly read: () => number;
  /** From now on the service accepts only this key; by default, the source returns it too. */
  readonly rotate: (key: string, given?: string) => void;
  /** Has the next readings fail. */
  readonly lose: (why: string) => void;
}

const firstKey = 'first-key-0123456789';
const secondKey = 'second-key-0123456789';

/** A service that takes one key only, and a source that gives it. */
async function rotating(well: Behaviour = page): Promise<Rotating> {
  let taken = firstKey;
  let given = firstKey;
  let why: string | undefined;
  let read = 0;
  const server = await hostileServer((response, request) => {
    const { 'x-api-key': key, authorization } = request.headers;
    return (key === taken || authorization === `Bearer ${taken}` ? well : denied)(response, request);
  });
  const source = async (): Promise<string> => {
    read += 1;
    await new Promise(setImmediate);
    if (why !== undefined) throw new Error(why);
    return given;
  };
  const { service } = serviceAt(server.url, { apiKey: source, inferenceToken: source });
  return {
    server,
    service,
    read: () => read,
    rotate: (key, gives = key) => {
      taken = key;
      given = gives;
    },
    lose: reason => {
      why = reason;
    },
  };
}

describe('a credential', () => {
  it('is read once, and kept while the service accepts it', async () => {
    const { service, read } = await rotating();
    await Promise.all(Array.from({ length: 5 }, () => service.call('listBenchmarks')));
    await service.chat.complete(question).catch(() => {});
    expect(read()).toBe(1);
  });

  it('is sent without surrounding spaces, and not at all if empty', async () => {
    const server = await hostileServer(page);
    for (const given of [' a-key\n', '']) {
      await serviceAt(server.url, { apiKey: async () => given }).service.call('listBenchmarks');
    }
    expect(server.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['a-key', undefined]);
  });

  it('is read again after a 401, and the call retried with it', async () => {
    const { server, service, read, rotate } = await rotating();
    await service.call('listBenchmarks');
    rotate(secondKey);
    await expect(service.call('listBenchmarks')).resolves.toMatchObject({ items: [] });
    expect(read()).toBe(2);
    expect(server.requests.map(({ headers }) => headers['x-api-key'])).toEqual([firstKey, firstKey, secondKey]);
    await service.call('listBenchmarks');
    expect(read()).toBe(2);
  });

  it('is read once for all calls refused at the same time', async () => {
    const { service, read, rotate } = await rotating();
    await service.call('listBenchmarks');
    rotate(secondKey);
    await Promise.all(Array.from({ length: 8 }, () => service.background.call('listBenchmarks')));
    expect(read()).toBe(2);
  });

  it('works for hours: each token is used until it expires', async () => {
    const { service, read, rotate } = await rotating();
    for (let hour = 0; hour < 5; hour += 1) {
      rotate(`token-of-hour-${hour}-0123456789`);
      for (let poll = 0; poll < 3; poll += 1) await service.background.call('listBenchmarks');
    }
    expect(read()).toBe(5);
  });

  it('is renewed for writes too, as a refused one was not carried out', async () => {
    const { server, service, rotate } = await rotating(json({ secret: { secret_id: 's' } }));
    await service.call('createSecret', { body: { name: 'a', value: 'b' } });
    rotate(secondKey);
    await service.call('createSecret', { body: { name: 'a', value: 'b' } });
    expect(server.requests).toHaveLength(3);
  });

  it('is renewed for streams, before their first byte', async () => {
    const { service, rotate } = await rotating(stream([word, 'data: [DONE]\n\n']));
    rotate(secondKey, firstKey);
    const said = async () => {
      for await (const event of service.chat.stream(question)) void event;
    };
    expect(await errorOf(said())).toMatchObject({ kind: 'authentication' });
    rotate(secondKey);
    await said();
  });
});

it('does not blame a refused credential once it is renewed, but what blocks the call then', async () => {
  const server = await hostileServer(denied);
  const gates = new Gates();
  let read = 0;
  const apiKey = async () => {
    read += 1;
    // Meanwhile another call meets a rate limit.
    if (read === 2) gates.of(new URL(server.url).host).limit(60_000);
    return `key-${read}`;
  };
  const { service } = serviceAt(server.url, { apiKey, gates });
  const error = await errorOf(service.call('listBenchmarks', {}, { deadlineMs: 20_000 }));
  expect(error).toMatchObject({ kind: 'rate_limit', code: 'rate_limited', attempts: 1 });
});

describe('a credential refused for good', () => {
  it('is the error of the call, after one more read', async () => {
    const { server, service, read, rotate } = await rotating();
    rotate(secondKey, firstKey);
    expect(await errorOf(service.call('listBenchmarks'))).toMatchObject({ name: 'AuthenticationError', attempts: 1 });
    expect([server.requests.length, read()]).toEqual([1, 2]);
  });

  it('is not read a third time if the new one is refused too', async () => {
    const { server, service, read, rotate } = await rotating();
    await service.call('listBenchmarks');
    rotate(secondKey, 'third-key-0123456789');
    expect(await errorOf(service.call('listBenchmarks'))).toMatchObject({ kind: 'authentication', attempts: 2 });
    expect([server.requests.length, read()]).toEqual([3, 2]);
  });

  it('is kept if it cannot be read again, with the reason', async () => {
    const { service, rotate, lose } = await rotating();
    await service.call('listBenchmarks');
    rotate(secondKey);
    lose('The command from apiKeyCommand (op) failed with exit code 1.');
    const error = await errorOf(service.call('listBenchmarks'));
    expect(error).toMatchObject({ kind: 'authentication', status: 401 });
    expect((error as Error).message).toBe(
      'it says invalid_api_key. Check the API key of this profile. Reading it again failed: The command from apiKeyCommand (op) failed with exit code 1.',
    );
    // And used as soon as the service takes it again.
    rotate(firstKey);
    await service.call('listBenchmarks');
  });

  it('leaves a doubt if an earlier attempt was lost', async () => {
    let taken = firstKey;
    const server = await hostileServer(resetAtOnce, (response, request) => {
      const well = request.headers['x-api-key'] === taken;
      return (well ? json({ eval_run_id: 'evr_1' }) : denied)(response, request);
    });
    taken = secondKey;
    const { service } = serviceAt(server.url, {
      apiKey: async () => firstKey,
      assumptions: { honoursIdempotencyKey: 'yes' },
    });
    const error = await errorOf(service.call('startEval', { params: { bench_id: 'b1' }, body: { display_name: 'x' } }));
    expect(error).toMatchObject({ kind: 'authentication', outcomeUnknown: true, attempts: 2 });
  });

  it('for one trajectory is not read again, as it came with the call', async () => {
    const { server, service, read } = await rotating();
    const reward = { reward_id: 'r', name: 'n', value: 1 };
    const error = await errorOf(
      service.call('logReward', { params: { trajectory_id: 't' }, body: reward }, { token: 'trajectory-token-0001' }),
    );
    expect(error).toMatchObject({ kind: 'authentication', attempts: 1 });
    expect([server.requests.length, read()]).toEqual([1, 0]);
  });
});

it('does not let a slow command hold a cancelled call', async () => {
  const never = () => new Promise<string>(() => {});
  const server = await hostileServer(page);
  const { service } = serviceAt(server.url, { apiKey: never });
  const controller = new AbortController();
  const call = errorOf(service.call('listBenchmarks', {}, { signal: controller.signal }));
  controller.abort();
  expect(await call).toMatchObject({ kind: 'cancelled' });
  expect(await errorOf(service.call('listBenchmarks', {}, { deadlineMs: 20 }))).toMatchObject({ kind: 'timeout' });
  expect(server.connections()).toBe(0);
});

it('puts neither the old nor the new one in an error, whatever the service echoes', async () => {
  const keys = [firstKey, secondKey];
  const parrot: Behaviour = (response, request) => {
    const more = { message: `no ${keys.join(' ')} ${request.headers['x-api-key']}`, param: firstKey };
    return refusal(request.headers['x-api-key'] === firstKey ? 401 : 422, 'x', 'y', more)(response, request);
  };
  const server = await hostileServer(parrot);
  const given = [...keys];
  const { service, log } = serviceAt(server.url, { apiKey: async () => given.shift() ?? secondKey });
  const error = (await errorOf(service.call('listBenchmarks'))) as ServiceError;
  expect(server.requests).toHaveLength(2);
  for (const key of keys) expect(inspect([error, log], { depth: 9 }) + JSON.stringify(error)).not.toContain(key);
});

it('reads the key of a restarted service together with its address', async () => {
  const { server } = await rotating();
  const keys = ['old-key-0123456789', firstKey];
  const supervisor = {
    locate: async () => ({ baseUrl: server.url, apiKey: keys.length > 1 ? (keys.shift() ?? '') : firstKey }),
    recover: async () => false,
  };
  const { service } = serviceAt('http://localhost', { supervisor });
  await service.call('listBenchmarks');
  expect(server.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['old-key-0123456789', firstKey]);
});

it('does not send the key of a service twice if it is the same', async () => {
  const server = await hostileServer(denied);
  const supervisor = { locate: async () => ({ baseUrl: server.url, apiKey: firstKey }), recover: async () => false };
  const { service } = serviceAt('http://localhost', { supervisor });
  expect(await errorOf(service.call('listBenchmarks'))).toMatchObject({ kind: 'authentication', attempts: 1 });
  expect(server.requests).toHaveLength(1);
});

it('restarts a lost service, even after the connections were closed, but not for a call cut off by that', async () => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const hang: Behaviour = () => ask();
  const server = await hostileServer(resetAtOnce, page, resetAtOnce, page, hang);
  let recoveries = 0;
  const supervisor = {
    locate: async () => ({ baseUrl: server.url, apiKey: firstKey }),
    recover: async () => {
      recoveries += 1;
      return true;
    },
  };
  const { service } = serviceAt('http://localhost', { supervisor });
  await service.background.call('listBenchmarks');
  await service.close();
  await service.background.call('listBenchmarks');
  expect(recoveries).toBe(2);
  const cut = errorOf(service.background.call('listBenchmarks'));
  await asked;
  await service.close();
  expect(await cut).toMatchObject({ kind: 'network' });
  expect(recoveries).toBe(2);
});

it('stops reading a key once the last call waiting for it is stopped (V14)', async () => {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const apiKey = async (signal: AbortSignal): Promise<string> => {
    signal.addEventListener('abort', () => stop());
    begin();
    await stopped;
    throw new Error('was stopped');
  };
  const { service } = serviceAt('http://127.0.0.1:9', { apiKey });
  const [one, other] = [new AbortController(), new AbortController()];
  const calls = [one, other].map(({ signal }) => errorOf(service.call('listBenchmarks', {}, { signal })));
  await begun;
  one.abort();
  expect(await calls[0]).toMatchObject({ kind: 'cancelled' });
  other.abort();
  expect(await calls[1]).toMatchObject({ kind: 'cancelled' });
  await stopped;
});
