/** The outcome of each trajectory in the answer to an upload, even if the answer contradicts itself. */
import { describe, expect, it } from 'vitest';
import { uploadTrajectoriesResult } from '../../src/contract/trajectories.ts';
import { readAnswer, refusedItems } from '../../src/contract/upload-answer.ts';

type Sent = readonly Record<string, unknown>[];

const why = { code: 'too_long', message: 'too long' };
const failed = { status: 'error', failure: why };
const stored = { status: 'uploaded', trajectory_id: 'trj' };
const traces = (...ids: string[]): Sent => ids.map(trace_id => ({ trace_id }));
const bare = (size: number): Sent => Array.from({ length: size }, () => ({}));

const read = (answer: object, sent: Sent) => readAnswer(uploadTrajectoriesResult.parse(answer), sent);
const outcomes = (answer: object, sent: Sent) => read(answer, sent).items.map(({ outcome }) => outcome);

describe('a row', () => {
  it.each<[string, Sent, object[], string[]]>([
    [
      'has its trace id, in whatever order (A11)',
      traces('a', 'b', 'c'),
      [
        { ...failed, trace_id: 'c' },
        { ...stored, trace_id: 'a' },
      ],
      ['stored', 'unknown', 'failed'],
    ],
    [
      'has its conversation id, in whatever order',
      [{ conversation_id: 'a' }, { conversation_id: 'b' }],
      [
        { ...failed, conversation_id: 'b' },
        { ...stored, conversation_id: 'a' },
      ],
      ['stored', 'failed'],
    ],
    [
      'may have an id that others have as well',
      [{ conversation_id: 'a' }, { conversation_id: 'a' }],
      [
        { ...failed, conversation_id: 'a' },
        { ...stored, conversation_id: 'a' },
      ],
      ['failed', 'stored'],
    ],
    [
      'is counted from 0',
      bare(2),
      [
        { ...failed, request_index: 1 },
        { ...stored, request_index: 0 },
      ],
      ['stored', 'failed'],
    ],
    [
      'is counted from 1',
      bare(2),
      [
        { ...failed, request_index: 2 },
        { ...stored, request_index: 1 },
      ],
      ['stored', 'failed'],
    ],
    [
      'has the index of its failure',
      bare(2),
      [
        { status: 'error', failure: { ...why, item_index: 1 } },
        { ...stored, request_index: 0 },
      ],
      ['stored', 'failed'],
    ],
    ['is in order without index and id', bare(2), [failed, stored], ['failed', 'stored']],
    ['is in order with an id of the service', bare(2), [{ ...failed, trace_id: 'made' }, stored], ['failed', 'stored']],
  ])('%s', (_, sent, trajectories, expected) => {
    expect(outcomes({ trajectories }, sent)).toEqual(expected);
  });

  it.each<[string, Sent, object[], string[]]>([
    [
      'an index out of range',
      bare(2),
      [
        { ...failed, request_index: 0 },
        { ...stored, request_index: 2 },
      ],
      ['counted', 'counted'],
    ],
    [
      'an index that occurs twice',
      bare(2),
      [
        { ...failed, request_index: 0 },
        { ...stored, request_index: 0 },
      ],
      ['counted', 'counted'],
    ],
    [
      'a single index that would be the last one',
      bare(3),
      [{ ...failed, request_index: 3 }],
      ['unknown', 'unknown', 'unknown'],
    ],
    [
      'two indices',
      bare(2),
      [
        { status: 'error', request_index: 1, failure: { ...why, item_index: 0 } },
        { ...stored, request_index: 0 },
      ],
      ['counted', 'counted'],
    ],
    [
      'the id of another one',
      traces('a', 'b'),
      [
        { ...failed, request_index: 0, trace_id: 'b' },
        { ...stored, request_index: 1 },
      ],
      ['counted', 'counted'],
    ],
    [
      'an id that was not sent with it',
      traces('a', 'b'),
      [
        { ...failed, request_index: 0, trace_id: 'c' },
        { ...stored, request_index: 1 },
      ],
      ['unknown', 'stored'],
    ],
    [
      'ids of two',
      [{ trace_id: 'a' }, { conversation_id: 'b' }],
      [{ ...failed, trace_id: 'a', conversation_id: 'b' }],
      ['unknown', 'unknown'],
    ],
    ['an id of another place', traces('a', 'b'), [{ ...failed, trace_id: 'b' }, stored], ['stored', 'failed']],
    [
      'an id that nobody was sent with',
      traces('a', 'b'),
      [{ ...failed, trace_id: 'c' }, stored],
      ['counted', 'counted'],
    ],
    [
      'an id of two others',
      [{}, ...traces('b', 'b')],
      [{ ...failed, trace_id: 'b' }, stored, stored],
      Array(3).fill('counted'),
    ],
    [
      'a row that is stored, but not clear which',
      [{ trace_id: 'a' }, { conversation_id: 'b' }],
      [
        { ...stored, trace_id: 'a', conversation_id: 'b' },
        { ...failed, trace_id: 'a' },
      ],
      ['counted', 'counted'],
    ],
    ['a row that cannot be read', bare(2), [failed, stored, { status: 1 }] as object[], ['counted', 'counted']],
    ['no place, with less than one row for each', bare(2), [failed], ['unknown', 'unknown']],
    ['a trajectory id', bare(1), [{ ...failed, trajectory_id: 'trj' }], ['unknown']],
    [
      'another row that says the contrary',
      traces('a', 'b'),
      [
        { ...failed, trace_id: 'a' },
        { ...stored, trace_id: 'a' },
      ],
      ['unknown', 'unknown'],
    ],
  ])('is not failed with %s', (_, sent, trajectories, expected) => {
    expect(outcomes({ trajectories }, sent)).toEqual(expected);
  });

  it.each<[object, string]>([
    [{ status: 'UPLOADED' }, 'stored'],
    [{ status: 'uploaded', failure: why }, 'stored'],
    [{ status: 'Skipped', failure: why }, 'skipped'],
    [{ status: 'Error' }, 'failed'],
    [{ status: 'rejected' }, 'failed'],
    [{ status: 'odd', failure: why }, 'failed'],
    [{ failure: why }, 'failed'],
    [{ status: 'duplicate' }, 'unknown'],
    [{ status: 'duplicate', trajectory_id: 'trj' }, 'unknown'],
    [{ failure: {} }, 'unknown'],
  ])('of %j is %s', (row, outcome) => {
    expect(outcomes({ trajectories: [row] }, bare(1))).toEqual([outcome]);
  });
});

it('counts what the rows leave open, unless the answer contradicts it', () => {
  const rows = [
    { ...stored, request_index: 0 },
    { request_index: 1, status: 'duplicate', trajectory_id: 'trj' },
  ];
  expect(outcomes({ uploaded: 1, skipped: 1, trajectories: rows }, bare(2))).toEqual(['stored', 'skipped']);
  const failures = [{ ...why, item_index: 0 }];
  expect(outcomes({ uploaded: 1, failures }, bare(2))).toEqual(['failed', 'stored']);
  const { items } = read({ uploaded: 2, failures }, bare(2));
  expect(items).toMatchObject([{ outcome: 'unknown', failure: why }, { outcome: 'stored' }]);
  expect(items[0]?.doubt).toContain('counts');
  expect(outcomes({ skipped: 1, trajectories: [failed] }, bare(1))).toEqual(['unknown']);
  // One of the two is stored, which the answer does not name.
  expect(read({ uploaded: 2, skipped: 0, failures: [...failures, { ...why, item_index: 1 }] }, bare(3))).toMatchObject({
    items: Array(3).fill({ outcome: 'counted' }),
    counted: { stored: 2, skipped: 0 },
  });
});

it('is no more certain than the counts of the answer (out29 B4)', () => {
  const rows = (...statuses: string[]) =>
    statuses.map((status, request_index) => ({
      ...stored,
      status,
      trajectory_id: `trj_${request_index}`,
      request_index,
    }));
  const doubt = 'The response counts fewer trajectories than it lists';
  const two = { trajectories: rows('uploaded', 'uploaded') };
  expect(read({ ...two, uploaded: 1, skipped: 0 }, bare(2))).toMatchObject({
    items: Array(2).fill({ outcome: 'counted', doubt }),
    counted: { stored: 1, skipped: 0 },
    unknown: 1,
  });
  expect(read({ ...two, uploaded: 0, skipped: 0 }, bare(2))).toMatchObject({
    items: Array(2).fill({ outcome: 'unknown', doubt }),
    unknown: 2,
  });
  const mixed = { trajectories: rows('uploaded', 'skipped') };
  expect(outcomes({ ...mixed, uploaded: 1, skipped: 0 }, bare(2))).toEqual(['stored', 'unknown']);
  // All of them are there, whatever the service calls them; no count and no whole number says nothing.
  for (const counts of [{ uploaded: 1, skipped: 1 }, {}, { uploaded: 0.5, skipped: null }])
    expect(outcomes({ ...two, ...counts }, bare(2))).toEqual(['stored', 'stored']);
});

it('takes a failure of a stored trajectory as a report', () => {
  const trajectories = [0, 1].map(request_index => ({ ...stored, request_index }));
  const { items, batchFailures } = read({ uploaded: 2, trajectories, failures: [{ ...why, item_index: 0 }] }, bare(2));
  expect(items).toMatchObject([{ outcome: 'stored', failure: why }, { outcome: 'stored' }]);
  expect(batchFailures).toEqual([]);
});

it('is certain only about indexes that mean the same counted from 0 and from 1', () => {
  const failures = [{ ...why, item_index: 2 }];
  const { items, batchFailures } = read({ uploaded: 4, failures }, bare(5));
  expect(items.map(({ outcome }) => outcome)).toEqual(['stored', 'unknown', 'unknown', 'stored', 'stored']);
  expect(batchFailures).toEqual(failures);
  expect(outcomes({ uploaded: 3, failures }, bare(5))).toEqual(Array(5).fill('counted'));
  // An index or an id elsewhere decides.
  const first = { ...stored, request_index: 0 };
  expect(outcomes({ uploaded: 4, failures, trajectories: [first] }, bare(5))[2]).toBe('failed');
});

it('has failed as a whole if both counts are 0 and the batch has a failure, unless a row may contradict that', () => {
  const none = { uploaded: 0, skipped: 0, failures: [{ message: 'whole batch refused' }] };
  const { items, unknown, batchFailures } = read({ ...none, trajectories: [] }, bare(3));
  expect([items.map(({ outcome }) => outcome), unknown]).toEqual([Array(3).fill('failed'), 0]);
  expect(batchFailures).toEqual([{ message: 'whole batch refused' }]);
  const other = Array(3).fill('unknown');
  for (const less of [{ uploaded: null }, { skipped: undefined }, { failures: [] }])
    expect(outcomes({ ...none, ...less }, bare(3))).toEqual(other);
  for (const row of [{ status: 'accepted' }, { ...failed, trajectory_id: 'trj' }, 'unreadable'])
    expect(outcomes({ ...none, trajectories: [row] }, bare(3))).toEqual(other);
  expect(outcomes({ ...none, trajectories: [{ ...failed, request_index: 0 }] }, bare(2))).toEqual(['failed', 'failed']);
});

it('matches no row by position if another is unreadable', () => {
  expect(outcomes({ trajectories: [failed, stored] }, bare(2))).toEqual(['failed', 'stored']);
  expect(outcomes({ trajectories: [failed, 'unreadable', stored] }, bare(2))).toEqual(['counted', 'counted']);
});

it('does not match a row by id if its index names another trajectory', () => {
  const sent = [{ conversation_id: 'a' }, { conversation_id: 'b' }, { conversation_id: 'c' }];
  const row = { ...failed, conversation_id: 'a', request_index: 1 };
  const { items, batchFailures } = read({ trajectories: [row] }, sent);
  expect(items.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown', 'unknown']);
  expect(batchFailures).toEqual([why]);
  // From 1, if nothing is left out; and an index of no other one contradicts no id.
  const rest = ['b', 'c'].map(conversation_id => ({ ...stored, conversation_id }));
  expect(outcomes({ trajectories: [row, ...rest] }, sent)).toEqual(['failed', 'stored', 'stored']);
  expect(outcomes({ trajectories: [{ ...row, request_index: 100 }] }, sent)).toEqual(['failed', 'unknown', 'unknown']);
});

it('matches the failures of a refused request, which is never stored', () => {
  const placed = (...indices: (number | null)[]) => {
    const { byItem, ofBatch } = refusedItems(
      indices.map(item_index => ({ ...why, item_index })),
      bare(3),
    );
    return [[...byItem.keys()], ofBatch.length];
  };
  expect(placed(1, 2)).toEqual([[1, 2], 0]);
  expect(placed(1, 2, 3)).toEqual([[0, 1, 2], 0]);
  expect(placed(0, null)).toEqual([[0], 1]);
  expect(placed(1, 3)).toEqual([[], 2]);
  expect(placed(1, 1)).toEqual([[], 2]);
});
