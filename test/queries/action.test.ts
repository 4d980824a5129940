/** An action on several inputs after one confirmation: each has its own outcome. */
import { describe, expect, it } from 'vitest';
import { type Action, action, sendAll, sendKeyed } from '../../src/queries/action.ts';
import {
  AuthenticationError,
  CancelledError,
  ConflictError,
  NetworkError,
  NotFoundError,
  RateLimitError,
  ServerError,
} from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import type { CallOptions } from '../../src/service/options.ts';
import { StartKeys } from '../../src/store/start-keys.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { tablesInMemory } from '../../src/store/tables.ts';
import { fakeService } from '../service/fake-service.ts';

const service = fakeService();
const signal = new AbortController().signal;

interface Write {
  readonly label: string;
  readonly send: (options: CallOptions) => Promise<unknown>;
}

const write: Action<Write> = action((_, { send }, options = {}) => send(options), { touches: [] });
/** Deletes something whose second read ends like this. */
const removing = (reread: () => Promise<unknown>): Action<Write> =>
  action((_, { send }, options = {}) => send(options), {
    touches: [],
    removes: { resource: ({ label }) => ({ id: label }), reread },
  });
const ok = (label: string): Write => ({ label, send: async () => 'done' });
const failing = (label: string, error: Error): Write => ({ label, send: () => Promise.reject(error) });
const gone = new NotFoundError('There is no run.', { status: 404, code: 'resource_not_found' });
const conflict = new ConflictError('It is running.', { status: 409, requestId: 'req_1' });

it('a start has the same key until its outcome is known, from any window (U34)', async () => {
  const sent: (string | undefined)[] = [];
  const keys = RememberedStore.inMemory('test').startKeys;
  const lost = new NetworkError('The connection was lost.', { outcomeUnknown: true });
  const outcomes: (Error | undefined)[] = [lost, lost, undefined, undefined, conflict, undefined];
  const start = action(
    async (_: Service, __: { readonly name: string }, options?: CallOptions) => {
      sent.push(options?.idempotencyKey);
      const error = outcomes.shift();
      if (error) throw error;
    },
    { touches: [], keyed: 'start' },
  );
  for (let at = 0; at < 6; at += 1) {
    await sendKeyed(service, start, { name: 'same' }, { signal, keys }).catch(() => {});
  }
  const [first, second, third, fourth, fifth, sixth] = sent;
  expect([second, third]).toEqual([first, first]);
  // Its start is known, so a repeat is a new start.
  expect(new Set([first, fourth, fifth, sixth]).size).toBe(4);
});

it('a refusal does not settle the key of an earlier start with an unknown outcome', async () => {
  const sent: (string | undefined)[] = [];
  const keys = RememberedStore.inMemory('test').startKeys;
  const failed = new ServerError('The service failed.', { status: 500, outcomeUnknown: true });
  const limited = new RateLimitError('Too many requests.', { status: 429 });
  const outcomes: (Error | undefined)[] = [failed, limited, undefined, undefined];
  const start = action(
    async (_: Service, __: { readonly name: string }, options?: CallOptions) => {
      sent.push(options?.idempotencyKey);
      const error = outcomes.shift();
      if (error) throw error;
    },
    { touches: [], keyed: 'start' },
  );
  while (outcomes.length > 0) await sendKeyed(service, start, { name: 'same' }, { signal, keys }).catch(() => {});
  const [first, second, third, fourth] = sent;
  expect([second, third]).toEqual([first, first]);
  expect(fourth).not.toBe(first);
});

it('a start whose key cannot be saved is sent only if a repeat is harmless, or with a key from the user (A1)', async () => {
  const keys = new StartKeys(tablesInMemory('test', 'History is kept only while the program runs: read-only'));
  const sent: (string | undefined)[] = [];
  const start = (effects: object) =>
    action(
      async (_: Service, __: { readonly name: string }, options?: CallOptions) => {
        sent.push(options?.idempotencyKey);
      },
      { touches: [], keyed: 'start', ...effects },
    );
  const send = (to: Service, effects = {}, idempotencyKey?: string) =>
    sendKeyed(to, start(effects), { name: 'same' }, { signal, keys, idempotencyKey });
  const refused =
    /^Nothing was sent: it cannot be recorded, .* runs: read-only\. Repeat it once that is fixed; .* --idempotency-key KEY/;
  await expect(send(service)).rejects.toThrow(refused);
  await expect(send(service)).rejects.toThrow(refused);
  expect([sent, keys.earlier('start', { name: 'same' })]).toEqual([[], undefined]);
  await send(service, {}, 'mine');
  await send({ ...service, honoursKeys: true });
  await send(service, { isRecorded: true });
  expect(sent).toEqual(['mine', expect.any(String), expect.any(String)]);
});

describe('an action on several inputs', () => {
  it('sends all, even if one fails, and reports that one with its request id', async () => {
    const writes = [ok('one'), failing('two', conflict), ok('three'), ok('four'), ok('five'), ok('six')];
    let done = 0;
    const left = await sendAll(service, write, writes, {
      signal,
      onSuccess: (_, count) => {
        done = count;
      },
    });
    expect(done).toBe(5);
    expect(left).toMatchObject([{ input: writes[1], error: { message: 'It is running.', requestId: 'req_1' } }]);
  });

  it('sends each with the idempotency key of its content', async () => {
    const sent: (string | undefined)[] = [];
    const noting = (label: string): Write => ({ label, send: async ({ idempotencyKey }) => sent.push(idempotencyKey) });
    const keyed = action(write, { touches: [], keyed: 'start' });
    const keys = RememberedStore.inMemory('test').startKeys;
    await sendAll(service, keyed, [noting('one'), noting('two')], { signal, keys });
    await sendAll(service, write, [noting('three')], { signal, keys });
    expect(sent).toEqual([expect.any(String), expect.any(String), undefined]);
    expect(new Set(sent).size).toBe(3);
  });

  const gateway = new NotFoundError('The service answered 404. Check the base URL.', {
    status: 404,
    words: 'The service answered 404.',
  });
  const pathless = new NotFoundError('There is no such path.', { status: 404, code: 'not_found' });

  it.each([gone, gateway, pathless])('takes what is gone after a 404 as deleted, and nothing else', async error => {
    const writes = [failing('one', error)];
    const rejecting = removing(() => Promise.reject(gone));
    const done: unknown[] = [];
    const onSuccess = (...outcome: unknown[]) => done.push(outcome);
    expect(await sendAll(service, rejecting, writes, { signal, onSuccess })).toEqual([]);
    expect(done).toEqual([[writes[0], 1, undefined]]);
    expect(
      await sendAll(
        service,
        removing(async () => undefined),
        writes,
        { signal },
      ),
    ).toEqual([]);
    expect(await sendAll(service, write, writes, { signal })).toEqual([{ input: writes[0], error }]);
  });

  it.each([
    [gone, 'There is no run.'],
    [gateway, 'The service answered 404.'],
    [pathless, 'There is no such path.'],
  ])('says that what can still be read was not deleted (A8)', async (error, words) => {
    const there = removing(async () => ({}));
    const [left] = await sendAll(service, there, [failing('one', error)], { signal });
    expect(left?.error).toMatchObject({ kind: 'response', status: 404, outcomeUnknown: false });
    expect(left?.error?.message).toContain(`${words} But one can still be read, so it was not deleted.`);
  });

  it.each([new NetworkError('It refuses connections.'), gateway, pathless])(
    'says that the outcome is unknown if it cannot be read again (A8)',
    async failure => {
      const unreadable = removing(() => Promise.reject(failure));
      const [left] = await sendAll(service, unreadable, [failing('one', gone)], { signal });
      expect(left?.error).toMatchObject({ kind: 'response', outcomeUnknown: true });
      expect(left?.error?.message).toBe(
        `There is no run. It is not known whether one was deleted, because it could not be read again. ${failure.message}`,
      );
    },
  );

  it('reads nothing again after other refusals', async () => {
    const unread = removing(() => Promise.reject(new Error('read')));
    const left = await sendAll(service, unread, [failing('one', conflict)], { signal });
    expect(left).toMatchObject([{ error: conflict }]);
  });

  it.each([
    ['the service does not answer', new NetworkError('It refuses connections.', {})],
    ['the key is refused', new AuthenticationError('The key is not known.', {})],
  ])('stops sending if %s, and says which were not sent', async (_, error) => {
    let sent = 0;
    const writes = Array.from({ length: 50 }, (__, index) => ({
      label: `run ${index}`,
      send: async () => {
        sent += 1;
        throw error;
      },
    }));
    const left = await sendAll(service, write, writes, { signal });
    expect(left).toHaveLength(50);
    expect(left.filter(({ error }) => error)).toHaveLength(sent);
    expect(sent).toBeLessThan(6);
  });

  it('sends a few at a time', async () => {
    let most = 0;
    let now = 0;
    const writes = Array.from({ length: 40 }, (_, index) => ({
      label: String(index),
      send: async () => {
        now += 1;
        most = Math.max(most, now);
        await new Promise(setImmediate);
        now -= 1;
      },
    }));
    expect(await sendAll(service, write, writes, { signal })).toEqual([]);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThan(9);
  });

  it('stops with the signal: the rest is not sent, and what was in flight may have happened', async () => {
    const controller = new AbortController();
    const writes: Write[] = Array.from({ length: 20 }, (_, index) => ({
      label: String(index),
      send: async ({ signal: given }) => {
        if (index === 1) controller.abort();
        if (given?.aborted) throw new CancelledError('Cancelled. It may have happened.', { outcomeUnknown: true });
      },
    }));
    const left = await sendAll(service, write, writes, { signal: controller.signal });
    expect(left[0]).toMatchObject({ input: { label: '1' }, error: { outcomeUnknown: true } });
    expect(left.at(-1)).toMatchObject({ input: { label: '19' }, error: undefined });
  });
});
