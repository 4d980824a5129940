import { describe, expect, it } from 'vitest';
import {
  type Freshness,
  type FreshnessFacts,
  freshnessAt,
  freshnessOf,
  freshnessOfParts,
} from '../../src/queries/freshness.ts';

const facts: FreshnessFacts = {
  dataAt: 1_000,
  failedAt: undefined,
  intervalMs: 2_000,
  paused: false,
  gate: { kind: 'open' },
};

it('is loading until an answer arrives', () => {
  expect(freshnessOf({ ...facts, dataAt: undefined })).toEqual({ kind: 'loading' });
});

it('is fresh within its interval and stale when an answer is overdue', () => {
  expect(freshnessOf(facts)).toEqual({ kind: 'fresh', at: 1_000, intervalMs: 2_000 });
  expect(freshnessAt(freshnessOf(facts), 6_000)).toEqual(freshnessOf(facts));
  expect(freshnessAt(freshnessOf(facts), 6_001)).toEqual({ kind: 'stale', at: 1_000 });
});

it('never grows stale if it cannot change', () => {
  expect(freshnessAt(freshnessOf({ ...facts, intervalMs: undefined }), 1e9).kind).toBe('fresh');
});

it('keeps the age of what is shown while failing, and the time of the next retry', () => {
  expect(freshnessOf({ ...facts, failedAt: 3_000, intervalMs: 4_000 })).toEqual({
    kind: 'failing',
    at: 1_000,
    retryAt: 7_000,
  });
  expect(freshnessOf({ ...facts, dataAt: undefined, failedAt: 3_000 })).toMatchObject({
    kind: 'failing',
    at: undefined,
  });
});

describe('under a rate limit', () => {
  const gate = { kind: 'limited', reason: 'rate_limit', until: 9_000 } as const;

  it('is limited until it ends, whether it had arrived, failed or neither', () => {
    expect(freshnessOf({ ...facts, gate })).toEqual({ kind: 'limited', at: 1_000, until: 9_000 });
    expect(freshnessOf({ ...facts, failedAt: 3_000, gate })).toEqual({ kind: 'limited', at: 1_000, until: 9_000 });
    expect(freshnessOf({ ...facts, dataAt: undefined, gate })).toMatchObject({ kind: 'limited', at: undefined });
  });

  it('is stale afterwards, until the next answer', () => {
    const limited = freshnessOf({ ...facts, gate });
    expect(freshnessAt(limited, 8_999)).toEqual(limited);
    expect(freshnessAt(limited, 9_000)).toEqual({ kind: 'stale', at: 1_000 });
    expect(freshnessAt(freshnessOf({ ...facts, dataAt: undefined, gate }), 9_000)).toEqual({ kind: 'loading' });
  });

  it('is final all the same if it cannot change', () => {
    expect(freshnessOf({ ...facts, intervalMs: undefined, gate }).kind).toBe('fresh');
  });

  it('is failing if the host is held back for its failures', () => {
    const failing = { ...gate, reason: 'failing' } as const;
    expect(freshnessOf({ ...facts, gate: failing })).toEqual({ kind: 'failing', at: 1_000, retryAt: 9_000 });
  });
});

describe('while the host fails', () => {
  const gate = { kind: 'open', failing: true } as const;

  it('is not live before its own next answer', () => {
    expect(freshnessOf({ ...facts, gate })).toEqual({ kind: 'failing', at: 1_000, retryAt: 3_000 });
    // Data of an earlier start is never due.
    const restored = { kind: 'failing', at: 1_000, retryAt: undefined };
    expect(freshnessOf({ ...facts, isRestored: true, gate })).toEqual(restored);
  });

  it('is final or loading all the same', () => {
    expect(freshnessOf({ ...facts, intervalMs: undefined, gate }).kind).toBe('fresh');
    expect(freshnessOf({ ...facts, dataAt: undefined, gate })).toEqual({ kind: 'loading' });
  });
});

it('is paused before everything else', () => {
  expect(freshnessOf({ ...facts, failedAt: 3_000, paused: true })).toEqual({ kind: 'paused', at: 1_000 });
});

describe('what is not polled', () => {
  it('is gone, or not listed, before everything else', () => {
    for (const ended of ['gone', 'unlisted'] as const) {
      expect(freshnessOf({ ...facts, failedAt: 3_000, paused: true, ended })).toEqual({ kind: ended, at: 1_000 });
      expect(freshnessAt(freshnessOf({ ...facts, ended }), 1e9).kind).toBe(ended);
    }
  });
});

describe('a combination of several parts', () => {
  const fresh = (intervalMs: number | undefined): Freshness => ({ kind: 'fresh', at: 1_000, intervalMs });
  const failing: Freshness = { kind: 'failing', at: 0, retryAt: 5 };
  const unlisted: Freshness = { kind: 'unlisted', at: undefined };

  it('is as fresh as its worst part', () => {
    expect(freshnessOfParts([fresh(2_000), failing, { kind: 'loading' }])).toBe(failing);
    expect(freshnessOfParts([fresh(2_000), { kind: 'loading' }])).toEqual({ kind: 'loading' });
  });

  it('does not fail for a part that the service does not offer', () => {
    expect(freshnessOfParts([unlisted, fresh(2_000)])).toEqual(fresh(2_000));
    expect(freshnessOfParts([unlisted])).toBe(unlisted);
  });

  it('is live as long as one part is, and overdue when the first is', () => {
    expect(freshnessOfParts([fresh(undefined), fresh(10_000), fresh(2_000)])).toEqual(fresh(2_000));
  });
});
