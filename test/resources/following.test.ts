import { describe, expect, it } from 'vitest';
import { inTurn, type Named, turnMs } from '../../src/resources/following.ts';

const poll = { focusedMs: 2_000, visibleMs: 10_000 };
const refsOf = (count: number): Named[] =>
  Array.from({ length: count }, (_, index) => ({ kind: 'training', id: `trn_${index}` }));

/** Rounds in turn until a time; returns when each was read. */
function follow(count: number, untilMs: number, roundMs = poll.focusedMs): ReadonlyMap<string, readonly number[]> {
  const refs = refsOf(count);
  const reads = new Map(refs.map(({ id }) => [id, [] as number[]]));
  for (let now = 1_000; now < untilMs; now += roundMs) {
    const readAt = ({ id }: Named): number => reads.get(id)?.at(-1) ?? 0;
    for (const { id } of inTurn(refs, { readAt, roundMs, poll, now })) reads.get(id)?.push(now);
  }
  return reads;
}

describe('what is read one by one', () => {
  it('is each of 40 in its turn, as often as the others, within 40 requests a minute (W1)', () => {
    const minutes = 10;
    const counts = [...follow(40, minutes * 60_000).values()].map(reads => reads.length);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(minutes - 1);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    expect(counts.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(minutes * 40 + 40);
  });

  it('is everything within the first rounds, and one run in each round (W1, W13)', () => {
    const first = [...follow(40, 9_000).values()];
    expect(first.every(reads => reads.length > 0)).toBe(true);
    expect([...follow(1, 60_000).values()][0]).toHaveLength(30);
    expect(turnMs(4, poll.focusedMs, poll)).toBe(6_000);
    expect(turnMs(4, poll.visibleMs, poll)).toBe(10_000);
  });

  it('is spread over the rounds, not read in bursts', () => {
    const times = [...follow(40, 300_000).values()].flat().filter(at => at > 70_000);
    const inRound = new Map<number, number>();
    for (const at of times) inRound.set(at, (inRound.get(at) ?? 0) + 1);
    expect(Math.max(...inRound.values())).toBeLessThanOrEqual(2);
  });

  it('leaves what has an end time and an unknown status to the interval of lists', () => {
    const refs = refsOf(5);
    const isOver = ({ id }: Named): boolean => id < 'trn_3';
    const at = (now: number) =>
      inTurn(refs, { readAt: () => 20_000, isOver, roundMs: 2_000, poll, now }).map(({ id }) => id);
    expect(at(28_000)).toEqual(['trn_3', 'trn_4']);
    expect(at(32_000)).toEqual(['trn_0', 'trn_1']);
  });
});
