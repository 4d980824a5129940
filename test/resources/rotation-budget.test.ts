import { describe, expect, it } from 'vitest';
import { inTurn, type Turn, turnMs } from '../../src/resources/rotation-budget.ts';

const poll = { focusedMs: 2_000, visibleMs: 10_000 };
const idsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `trn_${index}`);

/** Rounds until a time; returns when each resource was read. */
function follow(count: number, untilMs: number, { roundMs = poll.focusedMs, isWatched = false } = {}) {
  const ids = idsOf(count);
  const reads = new Map(ids.map(id => [id, [] as number[]]));
  const everyMs = turnMs(count, roundMs, poll, isWatched);
  for (let now = 1_000; now < untilMs; now += roundMs) {
    const turns = ids.map(id => {
      const askedAt = reads.get(id)?.at(-1) ?? 0;
      return { id, queries: [], dueAt: askedAt && askedAt + everyMs };
    });
    const spent = [...reads.values()].flat().filter(at => at > now - 60_000).length;
    for (const { id } of inTurn(turns, { now, roundMs, poll, spent })) reads.get(id)?.push(now);
  }
  return reads;
}

/** The most reads within a time. */
function mostWithin(reads: ReadonlyMap<string, readonly number[]>, ms: number): number {
  const times = [...reads.values()].flat();
  return Math.max(...times.map(from => times.filter(at => at >= from && at < from + ms).length));
}

describe('the rotation of reads', () => {
  it('reads each of 40 in turn, equally often, within 41 requests per minute (W1)', () => {
    const minutes = 10;
    const counts = [...follow(40, minutes * 60_000).values()].map(reads => reads.length);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(minutes - 1);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    expect(counts.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(minutes * 41);
  });

  it('reads each of 40 in Watch again within a minute, even if reads are a round late (W21)', () => {
    const waits = (isWatched: boolean) =>
      [...follow(40, 10 * 60_000, { isWatched }).values()].flatMap(times => {
        const late = times.filter(at => at > 3 * 60_000);
        return late.slice(1).map((at, index) => at - (late[index] ?? 0));
      });
    expect(Math.max(...waits(false)) + poll.focusedMs).toBeGreaterThan(60_000);
    expect(Math.max(...waits(true)) + poll.focusedMs).toBeLessThanOrEqual(60_000);
  });

  it('reads everything within the first rounds, and one run in each round (W1, W13)', () => {
    const first = [...follow(40, 9_000).values()];
    expect(first.every(reads => reads.length > 0)).toBe(true);
    expect([...follow(1, 60_000).values()][0]).toHaveLength(30);
    expect(turnMs(4, poll.focusedMs, poll)).toBe(5_920);
    expect(turnMs(4, poll.visibleMs, poll)).toBe(10_000);
  });

  it('spreads reads over the rounds, without bursts', () => {
    const late = follow(40, 300_000);
    for (const times of late.values())
      (times as number[]).splice(
        0,
        times.findIndex(at => at > 70_000),
      );
    expect(mostWithin(late, poll.focusedMs)).toBeLessThanOrEqual(2);
  });

  it('does not wait for room after many first reads', () => {
    const turns = [{ queries: [], dueAt: 1 }];
    const round = { now: 10_000_000, roundMs: poll.focusedMs, poll };
    expect(inTurn(turns, { ...round, spent: 10, spentFirst: 100 })).toEqual(turns);
    expect(inTurn(turns, { ...round, spent: 60, spentFirst: 0 })).toEqual([]);
  });

  it.each([poll.focusedMs, poll.visibleMs])(
    'takes 60 requests per minute, 120 at first, for any number, in rounds of %i ms',
    roundMs => {
      const reads = follow(300, 20 * 60_000, { roundMs });
      expect(mostWithin(reads, 60_000)).toBeLessThanOrEqual(120);
      const again = new Map([...reads].map(([id, times]) => [id, times.slice(1)]));
      expect(mostWithin(again, 60_000)).toBeLessThanOrEqual(60);
      const counts = [...reads.values()].map(times => times.length);
      expect(Math.min(...counts)).toBeGreaterThanOrEqual(2);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    },
  );

  it('starts with what a just completed resource lacks, for which other first reads leave room', () => {
    const turn = (dueAt: number, more: Partial<Turn> = {}): Turn => ({ queries: [], dueAt, ...more });
    const unread = Array.from({ length: 30 }, () => turn(0));
    const last = turn(0, { isDetail: true, isLast: true });
    const round = { now: 10_000_000, roundMs: poll.focusedMs, poll, spent: 0 };
    expect(inTurn([turn(1), ...unread, last], round)[0]).toBe(last);
    expect(inTurn(unread, { ...round, spentFirst: 110 })).toEqual([]);
    expect(inTurn([...unread, last], { ...round, spentFirst: 110 })).toEqual([last]);
    expect(inTurn([...unread, last], { ...round, spentFirst: 120 })).toEqual([]);
  });

  it('reads statuses before curves, whichever is due first', () => {
    const turn = (dueAt: number, isDetail: boolean): Turn => ({ queries: [], dueAt, isDetail });
    const turns = [turn(1, true), turn(3, false), turn(2, false)];
    const round = { now: 10_000_000, roundMs: poll.focusedMs, poll, spent: 0 };
    expect(inTurn(turns, round)).toEqual([turns[2], turns[1]]);
    expect(inTurn(turns, { ...round, byHand: true })).toEqual([turns[2], turns[1], turns[0]]);
  });
});
