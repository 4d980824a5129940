/** Which rows of a list stay unmeasured if answers fail or never come. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { QueryContext } from '../../src/queries/query-context.ts';
import { measureEach } from '../../src/resources/measure-each.ts';
import { type Call, untypedCall } from '../../src/service/call.ts';
import { NetworkError, ServerError, type ServiceError } from '../../src/service/errors.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Row {
  readonly id: string;
  readonly one?: unknown;
  readonly two?: unknown;
}

const rows: readonly Row[] = Array.from({ length: 12 }, (_, index) => ({ id: `evr_${index}` }));

/** Measures the rows by a service that answers with `answer`, once the signal allows it. */
function measuring(answer: (id: string, signal: AbortSignal) => unknown) {
  const asked: string[] = [];
  const call = (async (_, input, options) => {
    const id = String(input?.params?.['eval_run_id']);
    asked.push(id);
    return answer(id, options?.signal as AbortSignal);
  }) as ReturnType<typeof untypedCall> as Call;
  const context = { service: { call }, signal: new AbortController().signal } as QueryContext;
  const unread = new Map<object, ServiceError>();
  let isOfAll = false;
  const adding = (name: 'one' | 'two') => async (row: Row, asking: QueryContext) => {
    const params = { eval_run_id: row.id };
    return { ...row, [name]: await untypedCall(asking.service)('getEvalRun', { params }, { signal: asking.signal }) };
  };
  const onUnread = (row: object, error: ServiceError, all: boolean) => {
    unread.set(row, error);
    isOfAll ||= all;
  };
  const measuredBy = (more: object, ...names: ('one' | 'two')[]) =>
    measureEach(rows, context, { onUnread, silentMs: 5_000, ...more }, names.map(adding));
  const measured = (...names: ('one' | 'two')[]) => measuredBy({}, ...names);
  return { asked, unread, measured, measuredBy, isOfAll: () => isOfAll };
}

const silent = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));

const measuredIds = (result: readonly Row[]) => result.flatMap(({ id, one }) => (one === undefined ? [] : id));

it('loses only the row that hangs (N7)', async () => {
  const { asked, unread, measured, isOfAll } = measuring((id, signal) => (id === 'evr_5' ? silent(signal) : 1));
  const result = measured('one');
  await vi.advanceTimersByTimeAsync(4_999);
  expect([asked.length, unread.size]).toEqual([12, 0]);
  await vi.advanceTimersByTimeAsync(1);
  expect(measuredIds(await result)).toHaveLength(11);
  expect([...unread].map(([row, { message }]) => [row, message])).toEqual([[rows[5], 'There was no response for 5s.']]);
  expect([isOfAll(), vi.getTimerCount()]).toEqual([false, 0]);
});

it('waits as long as answers arrive', async () => {
  const { unread, measured } = measuring(() => new Promise(resolve => setTimeout(resolve, 4_000, 1)));
  const result = measured('one');
  await vi.advanceTimersByTimeAsync(12_000);
  expect([measuredIds(await result).length, unread.size]).toEqual([12, 0]);
});

it('waits longer for the first value if it needs one, and for no other', async () => {
  const { unread, measuredBy, isOfAll } = measuring((id, signal) =>
    Promise.race([silent(signal), ...(id === 'evr_5' ? [] : [new Promise(resolve => setTimeout(resolve, 12_000, 1))])]),
  );
  const result = measuredBy({ needsOne: true }, 'one');
  await vi.advanceTimersByTimeAsync(12_000);
  expect(unread.size).toBe(0);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(measuredIds(await result)).toHaveLength(4);
  expect([unread.has(rows[5] as Row), isOfAll()]).toEqual([true, false]);
});

it('stops asking a service that does not answer at all', async () => {
  const { asked, unread, measured, isOfAll } = measuring((_, signal) => silent(signal));
  const result = measured('one', 'two');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(measuredIds(await result)).toEqual([]);
  expect([asked.length, unread.size, isOfAll()]).toEqual([4, 12, true]);
});

it('keeps what was read before all rows failed', async () => {
  const { asked, unread, measured, isOfAll } = measuring(id => {
    if (id !== 'evr_6') return 1;
    throw new NetworkError('The connection was lost.');
  });
  const result = await measured('one');
  expect(measuredIds(result)).toEqual(expect.arrayContaining(['evr_0', 'evr_5']));
  expect(unread.size).toBe(12 - measuredIds(result).length);
  expect([asked.length < 12, isOfAll()]).toEqual([true, true]);
});

it('loses nothing in the next measure if one cannot be read', async () => {
  let isFirst = true;
  const { unread, measured } = measuring(id => {
    if (id !== 'evr_0' || !isFirst) return 1;
    isFirst = false;
    throw new ServerError('Broken.', { status: 500 });
  });
  expect((await measured('one', 'two'))[0]).toEqual({ id: 'evr_0', two: 1 });
  expect([...unread.keys()]).toEqual([rows[0]]);
});
