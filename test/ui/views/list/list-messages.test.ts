import { describe, expect, it } from 'vitest';
import type { Freshness } from '../../../../src/queries/freshness.ts';
import { restKey } from '../../../../src/queries/lists/list-source.ts';
import { describeDelay } from '../../../../src/ui/app/loading.tsx';
import { Router } from '../../../../src/ui/keys/key-router.ts';
import {
  describeEmptyList,
  describeRowsAge,
  listFacts,
  listNotes,
  shownFreshness,
} from '../../../../src/ui/views/list/list-messages.ts';

describe('the messages of a list', () => {
  const { keyOf } = new Router({ overrides: {}, readOnly: false });
  const quiet = { dropped: 0, repeated: 0, notes: [] };

  it('are empty if there is nothing to say', () => {
    expect(listNotes(quiet, keyOf)).toEqual([]);
  });

  it('name everything that is not shown', () => {
    expect(listNotes({ dropped: 1, repeated: 2, notes: ['why'] }, keyOf)).toEqual([
      '1 row could not be read',
      '2 rows with a duplicate id left out',
      'why',
    ]);
  });

  it('name the key from the settings (U38)', () => {
    const chosen = new Router({ overrides: { 'list.bottom': ['f5'] }, readOnly: false });
    const notes = [`These benchmarks have more runs: ${restKey} reads the rest`];
    expect(listNotes({ ...quiet, notes }, chosen.keyOf)).toEqual([
      'These benchmarks have more runs: f5 reads the rest',
    ]);
  });

  const whole = {
    reading: undefined,
    stop: undefined,
    hasMore: false,
    sortedAs: 'all',
    read: 250,
    filtered: true,
    sorted: true,
  } as const;

  it('say how many rows a sort and a filter cover', () => {
    expect(listFacts(whole, keyOf)).toEqual([]);
    const partial = { ...whole, hasMore: true, sortedAs: 'read', read: 1_200 } as const;
    expect(listFacts(partial, keyOf)).toEqual(['sorted among the 1,200 read; G reads the rest']);
    expect(listFacts({ ...partial, sorted: false }, keyOf)).toEqual(['of the 1,200 read; G reads the rest']);
    expect(listFacts({ ...partial, sorted: false, filtered: false }, keyOf)).toEqual([]);
    expect(listFacts({ ...partial, sortedAs: 'pending' }, keyOf)).toEqual(['asking the service to sort…']);
    expect(listFacts({ ...partial, sortedAs: 'service', filtered: false }, keyOf)).toEqual(["in the service's order"]);
    expect(listFacts({ ...partial, sortedAs: 'service' }, keyOf)).toEqual([
      "in the service's order",
      'of the 1,200 read; G reads the rest',
    ]);
    const stop = () => {};
    expect(listFacts({ ...partial, reading: 12_400, stop }, keyOf)).toEqual(['reading the rest… esc stops']);
    expect(listFacts({ ...partial, reading: 12_400 }, keyOf)).toEqual(['reading the rest…']);
    expect(listFacts({ ...whole, reading: 250 }, keyOf)).toEqual([]);
  });

  it('name the keys from the settings', () => {
    const overrides = { 'list.bottom': ['ctrl-e', 'G'], 'list.stop': [] };
    const chosen = new Router({ overrides, readOnly: false }).keyOf;
    const partial = { ...whole, hasMore: true, sortedAs: 'read', read: 1_200, sorted: false } as const;
    expect(listFacts(partial, chosen)).toEqual(['of the 1,200 read; ctrl-e reads the rest']);
    expect(listFacts({ ...partial, reading: 1, stop: () => {} }, chosen)).toEqual([
      'reading the rest… list.stop stops',
    ]);
  });

  it('explain in place of the rows why there are none', () => {
    const say = (state: Partial<Parameters<typeof describeEmptyList>[0]>) =>
      describeEmptyList(
        { loaded: true, asking: 'Loading…', filter: '', read: 0, dropped: 0, hasMore: false, ...state },
        'No runs yet',
        keyOf,
      );
    expect(say({ loaded: false })).toBe('Loading…');
    expect(say({})).toBe('No runs yet');
    expect(say({ dropped: 1 })).toBe('1 row could not be read, and there are no others');
    expect(say({ dropped: 2, hasMore: true })).toBe('2 rows could not be read');
    expect(say({ filter: 'x' })).toBe('No runs yet');
    expect(say({ filter: '/(x+)+/', read: 7, notice: 'Only 3 of 7 rows were searched.' })).toBe(
      'esc clears the filter',
    );
    expect(say({ filter: 'x', read: 7 })).toBe('No row matches /x; esc clears the filter');
    expect(say({ filter: 'x', read: 200, hasMore: true })).toBe(
      'No row of the 200 read matches /x; G reads the rest, esc clears the filter',
    );
  });
});

describe('the age of rows', () => {
  const now = 10 * 60_000;
  const fresh: Freshness = { kind: 'fresh', at: now - 2_000, intervalMs: 10_000 };
  const old = { readAt: now - 3 * 60_000, from: 201, to: 400 };

  it('is shown if they are much older than their list', () => {
    expect(describeRowsAge(old, fresh, true, now)).toBe('rows 201–400 read 3m ago');
    expect(describeRowsAge(old, fresh, false, now)).toBe('some of these rows read 3m ago');
  });

  it('is not shown if they are as new as the list', () => {
    expect(describeRowsAge({ ...old, readAt: now - 9_000 }, fresh, true, now)).toBe('');
    expect(describeRowsAge(undefined, fresh, true, now)).toBe('');
    expect(describeRowsAge(old, { kind: 'failing', at: old.readAt, retryAt: undefined }, true, now)).toBe('');
  });

  it('is that of the list in the frame: old rows are not called live', () => {
    expect(shownFreshness(fresh, old)).toEqual({ ...fresh, at: old.readAt });
    expect(shownFreshness(fresh, { ...old, readAt: now - 5_000 })).toBe(fresh);
    expect(shownFreshness({ kind: 'loading' }, old)).toEqual({ kind: 'loading' });
  });
});

it.each([
  [{ kind: 'open' }, undefined],
  [{ kind: 'limited', reason: 'rate_limit', until: 12_000 }, 'Rate limited, retry in 12s'],
  [
    { kind: 'limited', reason: 'rate_limit', until: 58_000, requestedUntil: 3_599_000 },
    'Rate limited, the service asks to wait 59m, retry in 58s',
  ],
  [{ kind: 'limited', reason: 'failing', until: 5_000 }, 'The service is failing, retry in 5s'],
  [{ kind: 'limited', reason: 'rate_limit', until: 0 }, undefined],
] as const)('explains for a gate that is %j why the service is not asked', (gate, words) => {
  expect(describeDelay(gate, 0)).toBe(words);
});
