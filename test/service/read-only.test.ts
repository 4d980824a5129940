/** A read-only service sends no write, however it is called. */
import { describe, expect, it } from 'vitest';
import { type Endpoint, isWrite } from '../../src/contract/common.ts';
import { endpoints, type Operation } from '../../src/contract/endpoints.ts';
import { untypedCall } from '../../src/service/call.ts';
import { ReadOnlyError } from '../../src/service/errors.ts';
import { errorOf, hostileServer, json, serviceAt, stream } from './hostile-server.ts';

const operations = Object.entries(endpoints) as [Operation, Endpoint][];
const question = { model: 'm', messages: [{ role: 'user', content: 'x' }] };

/** A read-only service at a server that takes everything, and how often its credentials were read. */
async function readOnly() {
  const server = await hostileServer(json({}));
  let credentialsRead = 0;
  const credential = async () => {
    credentialsRead += 1;
    return 'key-0123456789';
  };
  const { service } = serviceAt(server.url, { readOnly: true, apiKey: credential, inferenceToken: credential });
  return { service, server, credentialsRead: () => credentialsRead };
}

describe('an operation of the contract', () => {
  const writes = operations.filter(([, endpoint]) => isWrite(endpoint));

  const asks = writes.flatMap(([operation]) => [[operation, 'asked'] as const, [operation, 'polled'] as const]);

  it.each(asks)('%s is refused before anything is sent or read, %s', async (operation, how) => {
    const { service, server, credentialsRead } = await readOnly();
    const call = untypedCall(how === 'polled' ? service.background : service);
    const error = await errorOf(call(operation, { params: {}, body: {} }));
    expect(error).toBeInstanceOf(ReadOnlyError);
    expect(error).toMatchObject({ kind: 'read_only', code: 'read_only', operation, attempts: 0 });
    expect((error as Error).message).toContain('read-only');
    expect([server.connections(), credentialsRead()]).toEqual([0, 0]);
  });

  it('is allowed if it only reads, and so is a chat completion', () => {
    const reads = operations.filter(([, endpoint]) => !isWrite(endpoint));
    const others = reads.filter(([, { method }]) => method !== 'GET').map(([operation]) => operation);
    expect(others).toEqual(['createChatCompletion']);
  });
});

describe('a read-only service', () => {
  it('refuses to upload a file, and work that would end in a write', async () => {
    const { service, server } = await readOnly();
    const target = { path: 'a', url: `${server.url}/up?signature=1` };
    expect(await errorOf(service.putUpload(target, new Uint8Array(3)))).toBeInstanceOf(ReadOnlyError);
    expect(() => service.requireWrites()).toThrow(ReadOnlyError);
    expect(server.connections()).toBe(0);
  });

  it('answers in a chat', async () => {
    const word = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n';
    const server = await hostileServer(json({ choices: [] }), stream([word, 'data: [DONE]\n\n']));
    const { service } = serviceAt(server.url, { readOnly: true });
    await service.chat.complete(question);
    for await (const event of service.chat.stream(question)) expect(event).toBeDefined();
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'POST']);
  });

  it('writes if read-only is not set', async () => {
    const server = await hostileServer(json({ secret: { secret_id: 's' } }));
    const { service } = serviceAt(server.url);
    service.requireWrites();
    await service.call('createSecret', { body: { name: 'a', value: 'b' } });
    expect(server.requests).toHaveLength(1);
  });
});
