/**
 * A deployment that does not answer for its slug gets requests at its own address, and no key goes to another origin.
 */
import dns, { type LookupOptions } from 'node:dns';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { chatRoute } from '../../src/chat/route.ts';
import type { Generation } from '../../src/contract/generation.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { errorOf, hostileServer, inferenceToken, json, refusal, serviceAt, stream } from './hostile-server.ts';

const answer = stream([
  'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
]);
const request = { model: 'talker', messages: [{ role: 'user', content: 'say hi' }] };

async function answerAt(at: string, service: ReturnType<typeof serviceAt>['service']): Promise<string> {
  let content = '';
  for await (const event of service.chat.stream(request, { at })) {
    if (event.kind === 'delta') content += event.content ?? '';
  }
  return content;
}

describe('the address', () => {
  it.each([
    ['/playground/dep_1/v1/chat/completions', '/playground/dep_1/v1/chat/completions'],
    ['/playground/dep_1/v1', '/playground/dep_1/v1/chat/completions'],
    ['/playground/dep_1/', '/playground/dep_1/v1/chat/completions'],
  ])('%s of the service gets the key', async (path, url) => {
    const server = await hostileServer(answer);
    const { service } = serviceAt(server.url);
    expect(await answerAt(`${server.url}${path}`, service)).toBe('hi');
    expect(server.requests[0]).toMatchObject({ method: 'POST', url });
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${inferenceToken}`);
  });

  it('of the service in another spelling gets the key, if the profile has the service', async () => {
    const server = await hostileServer(answer);
    const { port } = new URL(server.url);
    const { service } = serviceAt(`http://localhost:${port}`);
    expect(await answerAt(`http://LocalHost.:${port}/p/dep_1`, service)).toBe('hi');
    const { authorization, host } = server.requests[0]?.headers ?? {};
    expect([authorization, host]).toEqual([`Bearer ${inferenceToken}`, `localhost:${port}`]);
  });

  it('of another origin gets none', async () => {
    const [server, other] = [await hostileServer(answer), await hostileServer(answer)];
    const { service } = serviceAt(server.url);
    expect(await answerAt(`${other.url}/p/dep_1`, service)).toBe('hi');
    expect(server.requests).toEqual([]);
    expect(JSON.stringify(other.requests[0]?.headers)).not.toContain(inferenceToken);
    expect(other.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('of another origin that requires one is reported', async () => {
    const server = await hostileServer(answer);
    const other = await hostileServer(refusal(401, 'authentication_error', 'authentication_required'));
    const error = await errorOf(answerAt(`${other.url}/p/dep_1`, serviceAt(server.url).service));
    expect(error).toMatchObject({ kind: 'authentication' });
    expect(String(error)).toContain('None was sent');
    expect(String(error)).toContain('inferenceUrl');
  });

  it.each(['http://playground.example/p/dep_1', 'ftp://x/y', 'nonsense'])('%s is refused', async at => {
    const server = await hostileServer(answer);
    expect(await errorOf(answerAt(at, serviceAt(server.url).service))).toMatchObject({ kind: 'request' });
    expect(server.requests).toEqual([]);
  });
});

it.each([
  [true, 'address_invalid'],
  [false, 'address_insecure'],
])('is refused without TLS unless the profile allows it: %s, %s', async (allowInsecureHttp, code) => {
  const { service } = serviceAt('https://service.example', { allowInsecureHttp });
  // Either way it is too far inside.
  expect(await errorOf(answerAt('http://10.0.0.1/p/dep_1', service))).toMatchObject({ code });
});

it.each(['inside', 'outside'])('that leads into the user’s network is refused, as the service is %s', async where => {
  const model = await hostileServer(answer);
  const addresses = new Map([
    ['rebound.invalid', '127.0.0.1'],
    ['service.invalid', where === 'inside' ? '127.0.0.2' : '203.0.113.1'],
  ]);
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((
    name: string,
    { all }: LookupOptions,
    done: (...found: unknown[]) => void,
  ) => {
    const address = addresses.get(name);
    return all ? done(null, [{ address, family: 4 }]) : done(null, address, 4);
  }) as never);
  onTestFinished(() => lookup.mockRestore());
  const { service } = serviceAt('https://service.invalid', { allowInsecureHttp: true });
  const asking = answerAt(model.url.replace('127.0.0.1', 'rebound.invalid'), service);
  if (where === 'inside') {
    expect(await asking).toBe('hi');
    return;
  }
  expect(await errorOf(asking)).toMatchObject({
    code: 'address_invalid',
    message: expect.stringMatching(
      /leads to rebound\.invalid:\d+ \(this machine\), further inside your network than the service itself\. Nothing/,
    ),
    attempts: 1,
  });
  expect(model.connections()).toBe(0);
});

describe('the way to a model', () => {
  const test = { deployment_id: 'dep_1', model_slug: 'talker', is_active: false };

  it.each<[string, string, object | undefined, Generation | undefined, object]>([
    ['a slug is its own name', 'acme/small', undefined, undefined, { model: 'acme/small' }],
    ['one that answers for its slug', 'dep_1', { ...test, is_active: true }, undefined, { model: 'talker' }],
    [
      'one with an address',
      'dep_1',
      { ...test, playground_endpoint_url: 'https://p.example/1' },
      undefined,
      { model: 'talker', at: 'https://p.example/1' },
    ],
    [
      'one of the newest generation',
      'dep_1',
      test,
      'newest',
      { model: 'talker', at: '/v1/playground/dep_1/chat/completions' },
    ],
    ['one without an address', 'dep_1', test, undefined, { model: 'dep_1' }],
    [
      'one whose id looks like a name',
      'd-2',
      { ...test, deployment_id: 'd-2', playground_endpoint_url: 'https://p.example/2' },
      undefined,
      { model: 'talker', at: 'https://p.example/2' },
    ],
    ['a slug that was not seen', 'talker', undefined, undefined, { model: 'talker' }],
    ['one that is not found', 'dep_1', undefined, undefined, { model: 'dep_1' }],
  ])('%s', async (_, name, record, generation, route) => {
    const notFound = refusal(404, 'invalid_request_error', 'resource_not_found');
    const server = await hostileServer(record ? json(record) : notFound);
    const { service } = serviceAt(server.url, { generation });
    const memory = RememberedStore.inMemory('test');
    expect(await chatRoute(service, memory, name, new AbortController().signal, true)).toEqual(route);
    expect(server.requests).toHaveLength(name === 'acme/small' ? 0 : 1);
    await chatRoute(service, memory, name, new AbortController().signal, true);
    // At this point it is known that the name is not an id.
    expect(server.requests).toHaveLength(name === 'acme/small' ? 0 : record ? 2 : 1);
  });
});
