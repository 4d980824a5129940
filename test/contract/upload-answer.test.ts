/** Which trajectory of an upload each row of an answer concerns. */
import { expect, it } from 'vitest';
import { placedAnswer } from '../../src/contract/upload-answer.ts';

const failure = { code: 'too_long', message: 'the second is too long' };
const sent = [{ trace_id: 'first' }, { trace_id: 'second' }, { messages: [] }];
const placed = (
  trajectories: Record<string, unknown>[],
  items: readonly (Record<string, unknown> | undefined)[] = sent,
) => {
  const { listed, batchFailures } = placedAnswer({ trajectories, failures: null }, items);
  return [[...listed].toSorted(([a], [b]) => a - b).map(([index, { status }]) => [index, status]), batchFailures];
};

it('is that of its trace id, in whatever order (A11)', () => {
  const rows = [
    { trace_id: 'second', status: 'error', failure },
    { trace_id: 'first', status: 'uploaded' },
  ];
  const both = [
    [0, 'uploaded'],
    [1, 'error'],
  ];
  expect(placed(rows, sent.slice(0, 2))).toEqual([both, []]);
  expect(placed(rows)).toEqual([both, []]);
  expect(placed([...rows, { status: 'skipped' }])).toEqual([[...both, [2, 'skipped']], []]);
});

it('is unknown if another trace id was sent there, or the same one twice', () => {
  const rows = [
    { trace_id: 'other', status: 'uploaded' },
    { trace_id: 'second', status: 'error', failure },
  ];
  expect(placed(rows, [{ trace_id: 'first' }, { trace_id: 'first' }])).toEqual([[], [failure]]);
  expect(placed([{ trace_id: 'first', status: 'error', failure }], [sent[0], sent[0]])).toEqual([[], [failure]]);
});

it('may be in the order of what was sent without trace ids', () => {
  const rows = ['uploaded', 'skipped'].map((status, index) => ({ trace_id: `made ${index}`, status }));
  expect(placed(rows, [{}, undefined])).toEqual([
    [
      [0, 'uploaded'],
      [1, 'skipped'],
    ],
    [],
  ]);
});
