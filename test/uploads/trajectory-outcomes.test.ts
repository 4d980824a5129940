/** For any truthful answer to an upload: no stored trajectory is sent again, and no other counts as stored. */

import { expect, it } from 'vitest';
import { uploadTrajectoriesResult } from '../../src/contract/trajectories.ts';
import { answered } from '../../src/uploads/trajectory-outcomes.ts';
import fc from '../../tools/rig/property.ts';

type Truth = 'stored' | 'skipped' | 'not';

const words: Record<Truth, readonly string[]> = {
  stored: ['uploaded', 'UPLOADED', ' Uploaded'],
  skipped: ['skipped', 'Skipped'],
  not: ['error', 'ERROR', 'failed', 'Rejected'],
};
const why = { code: 'too_long', message: 'too long' };

/** The sent item, its outcome, and the service's answer. */
const anyItem = fc.record({
  trace: fc.option(fc.constantFrom('t1', 't2', 't3', 't4', 't5')),
  conversation: fc.option(fc.constantFrom('c1', 'c2', 'c3')),
  truth: fc.constantFrom<Truth>('stored', 'stored', 'not', 'skipped'),
  isListed: fc.boolean(),
  says: fc.constantFrom('known', 'known', 'another', 'nothing'),
  word: fc.nat(3),
  namesId: fc.boolean(),
  makesId: fc.boolean(),
  hasIndex: fc.boolean(),
  hasTrajectory: fc.boolean(),
  hasFailure: fc.boolean(),
  inFailures: fc.constantFrom('no', 'no', 'with index', 'without'),
});

const anyUpload = fc.record({
  items: fc.array(anyItem, { minLength: 1, maxLength: 5 }),
  first: fc.constantFrom(0, 1),
  listsAll: fc.boolean(),
  indexed: fc.constantFrom('all', 'some', 'none'),
  counts: fc.record({ uploaded: fc.boolean(), skipped: fc.constantFrom('yes', 'no', 'and the invalid') }),
  order: fc.infiniteStream(fc.nat(1_000)),
});
type Upload = typeof anyUpload extends fc.Arbitrary<infer Value> ? Value : never;

function answerOf({ items, first, listsAll, indexed, counts, order }: Upload) {
  const sent = items.map(({ trace, conversation }, at) => ({
    ...{
      line: at + 1,
      place: `line ${at + 1}`,
      size: 1,
      start: at,
      end: at + 1,
      error: undefined,
      notFinite: 0,
      id: `${at}`,
    },
    value: { messages: [], ...(trace && { trace_id: trace }), ...(conversation && { conversation_id: conversation }) },
  }));
  const isUnique = (at: number): boolean => {
    const { trace, conversation, namesId } = items[at] as (typeof items)[number];
    const isOnly = (id: string | null, name: 'trace' | 'conversation'): boolean =>
      id !== null && items.filter(each => each[name] === id).length === 1;
    return namesId && (isOnly(trace, 'trace') || isOnly(conversation, 'conversation'));
  };
  const isIndexed = (at: number): boolean => indexed === 'all' || (indexed === 'some' && items[at]?.hasIndex === true);
  const isNamed = (at: number): boolean => isIndexed(at) || isUnique(at);
  const listed = [...items.keys()].filter(at => listsAll || items[at]?.isListed);
  const rows = listed.map(at => {
    const { truth, says, word, trace, conversation, namesId, makesId, hasTrajectory, hasFailure } = items[
      at
    ] as (typeof items)[number];
    const known = words[truth][word % words[truth].length];
    const status = { known, another: 'done', nothing: null }[says];
    // Without a known status, a failure says that it is not stored.
    const failure = hasFailure && (truth === 'not' || says === 'known') ? why : null;
    return {
      ...(isIndexed(at) && { request_index: at + first }),
      status,
      ...(namesId && { trace_id: trace, conversation_id: conversation }),
      ...(namesId && makesId && trace === null && { trace_id: `made ${at}` }),
      ...(hasTrajectory && truth !== 'not' && { trajectory_id: `trj ${at}` }),
      failure: failure && (isIndexed(at) ? { ...failure, item_index: at + first } : failure),
    };
  });
  // Rows without an id or index are in the order of the request; otherwise their subject would be unknown.
  const isFree = listed.every(isNamed) || listed.length < items.length;
  const keys = rows.map(() => order.next().value as number);
  const trajectories = isFree
    ? [...rows.keys()].sort((left, right) => (keys[left] ?? 0) - (keys[right] ?? 0)).map(at => rows[at])
    : rows;
  const failures = items.flatMap(({ truth, says, inFailures }, at) => {
    const isTold = says === 'known' && listed.includes(at) && (isNamed(at) || listed.length === items.length);
    if (inFailures === 'no' || (truth !== 'not' && !isTold)) return [];
    return [inFailures === 'without' ? why : { ...why, item_index: at + first }];
  });
  const count = (truth: Truth): number => items.filter(each => each.truth === truth).length;
  const skipped = { yes: count('skipped'), no: undefined, 'and the invalid': count('skipped') + count('not') };
  const answer = {
    ...{ trajectories, failures },
    uploaded: counts.uploaded ? count('stored') : undefined,
    skipped: skipped[counts.skipped],
  };
  const isTold = items.every(
    ({ says }, at) => says === 'known' && listed.includes(at) && (indexed === 'all' || isUnique(at)),
  );
  return { sent, answer, isTold: isTold && counts.skipped !== 'and the invalid' };
}

it('never reports a stored trajectory as failed, or a failed one as stored', () => {
  let told = 0;
  fc.assert(
    fc.property(anyUpload, upload => {
      const { sent, answer, isTold } = answerOf(upload);
      const { outcomes, counts, items } = answered(sent, uploadTrajectoriesResult.parse(answer));
      const truths = upload.items.map(({ truth }) => truth);
      const wrong = outcomes.filter(({ failed, status }, at) => {
        if (failed) return truths[at] !== 'not';
        if (isTold) return status !== { stored: 'uploaded', skipped: 'skipped', not: '' }[truths[at] as Truth];
        return status === 'uploaded' && truths[at] !== 'stored';
      });
      told += Number(isTold);
      expect(wrong, JSON.stringify(answer)).toEqual([]);
      // Trajectories that are neither recorded nor failed would be sent again.
      const recorded = [...items.stored, ...items.skipped, ...items.unknown];
      expect(recorded.length + counts.failed).toBe(sent.length);
      expect(counts.stored + counts.skipped + counts.failed + counts.unknown).toBe(sent.length);
      if (upload.counts.skipped !== 'and the invalid')
        for (const id of [...items.stored, ...items.skipped]) expect(truths[Number(id)]).not.toBe('not');
    }),
    { numRuns: 3_000 },
  );
  expect(told).toBeGreaterThan(20);
});

it('leaves out an empty context', () => {
  const sent = [
    {
      line: 1,
      place: 'line 1',
      size: 1,
      start: 0,
      end: 1,
      error: undefined,
      notFinite: 0,
      id: '1',
      value: { messages: [] },
    },
  ];
  const said = (context: object) => {
    const failures = [{ item_index: null, code: 'too_long', message: 'too long', context }];
    return JSON.stringify(answered(sent, uploadTrajectoriesResult.parse({ uploaded: 0, failed: 1, failures })));
  };
  expect(said({})).not.toContain('context');
  expect(said({ tokens: 1 })).toContain('"context":{"tokens":1}');
});
