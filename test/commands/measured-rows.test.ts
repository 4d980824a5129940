/** What a list prints while it reads the values of its rows, and how long it waits for them. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MeasuredRows } from '../../src/commands/measured-rows.ts';
import type { CommandContext } from '../../src/commands/with-service.ts';
import type { Resource } from '../../src/resources/define.ts';
import { measureEach } from '../../src/resources/measure-each.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('says after 3 seconds what it is reading', async () => {
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
  const noteWait = (text: string) => void notes.push(text);
  const context = {
    service: {},
    signal: new AbortController().signal,
    noteWait,
    io: { note: noteWait },
  } as unknown as CommandContext;
  const rowsOf = () => new MeasuredRows(resource, () => '', options, context);
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
  const words = 'Reading 95% CI of 2 rows: a list without it is faster (--columns).';
  measured.note();
  expect(notes).toEqual([words]);
  expect(vi.getTimerCount()).toBe(0);
});

it('sorts without the value of a row that hangs for 5 seconds, and names the row', async () => {
  interface Row {
    readonly id: string;
    readonly best?: number;
  }
  const value = (row: object) => (row as Row).best;
  const columns = [{ id: 'best', title: 'BEST', width: 8, value }];
  const bestOf = ({ id }: Row, signal: AbortSignal) =>
    new Promise<number>((resolve, reject) => {
      if (id !== 'run_2') resolve(1);
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const measures: Partial<Resource['measures']> = {
    ...{ columns: () => columns, costly: ['best'] },
    read: (rows, _, context, list) =>
      measureEach(rows as Row[], context, list, [
        async (row, { signal }) => ({ ...row, best: await bestOf(row, signal) }),
      ]),
  };
  const notes: string[] = [];
  const options = { filter: '', sort: 'best', field: undefined, shown: ['best'], scope: {}, range: [0, 1] as const };
  const measured = new MeasuredRows({ columns, measures } as unknown as Resource, row => (row as Row).id, options, {
    service: {},
    signal: new AbortController().signal,
    noteWait: (_: string) => {},
    io: { note: (text: string) => void notes.push(text) },
  } as unknown as CommandContext);
  const filtered = measured.filtered(['run_1', 'run_2', 'run_3'].map(id => ({ id })));
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await filtered).map(value)).toEqual([1, undefined, 1]);
  measured.note();
  expect(notes.at(-1)).toBe(
    'BEST could not be read for 1 row (run_2): There was no response for 5s. Rows without the value come last.',
  );
});
