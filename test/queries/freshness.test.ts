import { expect, it } from 'vitest';
import { type FreshnessFacts, freshnessAt, freshnessOf } from '../../src/queries/freshness.ts';

const facts: FreshnessFacts = { dataAt: 1_000, failedAt: undefined, intervalMs: 2_000, paused: false };

it('is loading until something arrives', () => {
  expect(freshnessOf({ ...facts, dataAt: undefined })).toEqual({ kind: 'loading' });
});

it('is fresh within its interval and stale when the answer is overdue', () => {
  expect(freshnessOf(facts)).toEqual({ kind: 'fresh', at: 1_000, intervalMs: 2_000 });
  expect(freshnessAt(freshnessOf(facts), 6_000)).toEqual(freshnessOf(facts));
  expect(freshnessAt(freshnessOf(facts), 6_001)).toEqual({ kind: 'stale', at: 1_000 });
});

it('does not grow stale when it will not change any more', () => {
  expect(freshnessAt(freshnessOf({ ...facts, intervalMs: undefined }), 1e9).kind).toBe('fresh');
});

it('keeps the age of what is shown while failing, and says when it tries again', () => {
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

it('is paused above everything', () => {
  expect(freshnessOf({ ...facts, failedAt: 3_000, paused: true })).toEqual({ kind: 'paused', at: 1_000 });
});
