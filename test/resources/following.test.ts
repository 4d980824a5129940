import { expect, it } from 'vitest';
import { StatusStore } from '../../src/queries/statuses/store.ts';
import { kinds } from '../../src/resources/catalogue.ts';
import { inTurn } from '../../src/resources/following.ts';

const poll = { focusedMs: 2_000, visibleMs: 10_000 };
const refs = Array.from({ length: 35 }, (_, index) => ({ kind: 'deployment', id: `dep_${index}` }));

/** Reads in turn at these times, and reports the ids of each round. */
function rounds(statuses: StatusStore, times: readonly number[]): string[][] {
  return times.map(at => {
    const read = inTurn({ statuses, poll }, refs, at);
    statuses.report(
      read.map(ref => ({ ...ref, status: 'DEPLOYING' })),
      { askedAt: at, at },
    );
    return read.map(({ id }) => id);
  });
}

it('reads the first few each time, and the others in turn', () => {
  const [first = [], second = [], third = []] = rounds(new StatusStore(kinds), [20_000, 22_000, 24_000]);
  expect([first.length, second.length, third.length]).toEqual([20, 20, 15]);
  expect(new Set([...first, ...second, ...third]).size).toBe(refs.length);
  expect(second.slice(0, 10)).toEqual(first.slice(0, 10));
});

it('reads what has an end time and an unknown status no more often than its list', () => {
  const statuses = new StatusStore(kinds);
  const over = refs.slice(0, 3).map(ref => ({ ...ref, status: 'HIBERNATED', endTime: '2026-03-04T05:06:07Z' }));
  const now = Date.parse('2026-03-04T06:00:00Z');
  statuses.report(over, { askedAt: now, at: now });
  const read = (at: number) => inTurn({ statuses, poll }, refs.slice(0, 5), at).map(({ id }) => id);
  expect(read(now + 2_000)).toEqual(['dep_3', 'dep_4']);
  expect(read(now + 12_000)).toHaveLength(5);
});

it('leaves those to their list that it has just read', () => {
  const statuses = new StatusStore(kinds);
  const listed = refs.map(ref => ({ ...ref, status: 'DEPLOYING' }));
  statuses.report(listed, { askedAt: 20_000, at: 20_000 });
  expect(rounds(statuses, [22_000, 24_000]).map(({ length }) => length)).toEqual([10, 10]);
});
