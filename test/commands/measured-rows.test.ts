/** What a list says while it reads the values of its rows for long. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MeasuredRows } from '../../src/commands/measured-rows.ts';
import type { CommandContext } from '../../src/commands/with-service.ts';
import type { Resource } from '../../src/resources/define.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('says once, after 3 seconds, what it reads', async () => {
  const columns = ['best', '95% ci'].map(id => ({ id, title: id.toUpperCase(), width: 8, value: () => undefined }));
  let reads: PromiseWithResolvers<readonly object[]>[] = [];
  const read = () => {
    const answer = Promise.withResolvers<readonly object[]>();
    reads.push(answer);
    return answer.promise;
  };
  const measures = { columns: () => columns, costly: ['best', '95% ci'], field: () => undefined, read };
  const resource = { columns, measures } as unknown as Resource;
  const notes: string[] = [];
  const options = {
    filter: '',
    sort: undefined,
    field: undefined,
    shown: ['95% ci'],
    scope: {},
    range: [0, 1] as const,
  };
  const context = { service: {}, signal: new AbortController().signal } as CommandContext;
  const rowsOf = () => new MeasuredRows(resource, () => '', options, context, { note: text => void notes.push(text) });
  const measured = rowsOf();
  const page = async () => {
    const shown = measured.shown([{}, {}], columns, undefined);
    await vi.advanceTimersByTimeAsync(1_600);
    for (const each of reads) each.resolve([{}, {}]);
    await shown;
  };
  await page();
  // A read that has ended announces nothing.
  await vi.advanceTimersByTimeAsync(1_399);
  expect(notes).toEqual([]);
  reads = [];
  await page();
  const words = 'Reading 95% CI of 2 rows: a list without it (--columns) is faster.';
  expect(notes).toEqual([words]);
  await page();
  measured.note();
  expect(notes).toEqual([words]);
  expect(vi.getTimerCount()).toBe(0);
});
