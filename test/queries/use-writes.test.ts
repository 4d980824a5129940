/** Several writes under one confirmation: each has its outcome. */
import { describe, expect, it } from 'vitest';
import { sendWrites, type Write } from '../../src/queries/use-writes.ts';
import {
  AuthenticationError,
  CancelledError,
  ConflictError,
  NetworkError,
  NotFoundError,
} from '../../src/service/errors.ts';
import { fakeService } from '../service/fake-service.ts';

const service = fakeService();
const signal = new AbortController().signal;
const ok = (label: string): Write => ({ label, send: async () => 'done' });
const failing = (label: string, error: Error): Write => ({ label, send: () => Promise.reject(error) });
const gone = new NotFoundError('There is no run.', { status: 404, code: 'resource_not_found' });
const conflict = new ConflictError('It is running.', { status: 409, requestId: 'req_1' });

describe('sendWrites', () => {
  it('sends all, also where one fails, and reports the one with its request id', async () => {
    const writes = [ok('one'), failing('two', conflict), ok('three'), ok('four'), ok('five'), ok('six')];
    let done = 0;
    const report = await sendWrites(service, writes, {
      signal,
      onSuccess: (_, count) => {
        done = count;
      },
    });
    expect(done).toBe(5);
    expect(report.left).toEqual([writes[1]]);
    expect(report.failures).toMatchObject([{ label: 'two', fault: { message: 'It is running.', requestId: 'req_1' } }]);
  });

  it('takes what is gone for deleted, and for nothing else', async () => {
    const writes = [failing('one', gone)];
    expect((await sendWrites(service, writes, { signal, deletes: true })).left).toEqual([]);
    expect((await sendWrites(service, writes, { signal })).left).toEqual(writes);
    // A gateway that knows no such page has deleted nothing.
    const gateway = [failing('one', new NotFoundError('The service answered 404.', { status: 404 }))];
    expect((await sendWrites(service, gateway, { signal, deletes: true })).left).toEqual(gateway);
  });

  it.each([
    ['nobody answers', new NetworkError('It refuses connections.', {})],
    ['the key is refused', new AuthenticationError('The key is not known.', {})],
  ])('sends no more where %s, and says which were not sent', async (_, error) => {
    let sent = 0;
    const writes = Array.from({ length: 50 }, (__, index) => ({
      label: `run ${index}`,
      send: async () => {
        sent += 1;
        throw error;
      },
    }));
    const { left, failures } = await sendWrites(service, writes, { signal });
    expect(left).toHaveLength(50);
    expect(failures.filter(({ fault }) => fault)).toHaveLength(sent);
    expect(sent).toBeLessThan(6);
  });

  it('sends few at a time', async () => {
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
    expect((await sendWrites(service, writes, { signal })).left).toEqual([]);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThan(9);
  });

  it('stops with the signal: what was not sent is left, what was under way says that it may have happened', async () => {
    const controller = new AbortController();
    const writes: Write[] = Array.from({ length: 20 }, (_, index) => ({
      label: String(index),
      send: async (__, aborted) => {
        if (index === 1) controller.abort();
        if (aborted.aborted) throw new CancelledError('Cancelled. It may have happened.', { outcomeUnknown: true });
      },
    }));
    const { left, failures } = await sendWrites(service, writes, { signal: controller.signal });
    expect(left[0]?.label).toBe('1');
    expect(failures[0]?.fault).toMatchObject({ outcomeUnknown: true });
    expect(failures.at(-1)).toEqual({ label: '19', fault: undefined });
  });
});
