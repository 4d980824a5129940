/** The duration of a run, without its time in the queue. */
import { expect, it } from 'vitest';
import { describeRunTime, durationColumn, queueColumn, type RunTimes } from '../../src/present/times.ts';

const times = { created_at: '2026-01-01T10:00:00Z', completed_at: '2026-01-01T10:41:00Z' };
const column = durationColumn<RunTimes>();
const queue = queueColumn<RunTimes>();
const textsOf = (row: RunTimes) => [column.text?.(row), queue.text?.(row), describeRunTime(row)];

it('leaves out the time in the queue, and says if that is unknown, in lists and in facts (C3)', () => {
  expect(textsOf({ ...times, began_at: Date.parse('2026-01-01T10:03:00Z') })).toEqual([
    '38m',
    '3m',
    'queued 3m, ran 38m',
  ]);
  expect(textsOf(times)).toEqual(['41m', 'in TOOK', '41m, including any time in the queue']);
  // It was in the queue, but nobody saw it leave.
  expect(textsOf({ ...times, began_at: null })).toEqual([
    ...['41m', 'in TOOK', '41m, including any time in the queue'],
  ]);
  expect(textsOf({ created_at: times.created_at, began_at: Date.parse('2026-01-01T10:03:00Z') })).toEqual([
    '',
    '3m',
    'queued 3m',
  ]);
  expect(textsOf({ created_at: times.created_at })).toEqual(['', '', '']);
  expect(column.exported?.({ ...times, began_at: Date.parse('2026-01-01T10:03:00Z') })).toBe(38 * 60);
});
