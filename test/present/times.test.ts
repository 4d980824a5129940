import { expect, it } from 'vitest';
import { agoOf, describeRunTime, timeFact } from '../../src/present/times.ts';

it('says how far off a future time is, beyond the difference of two clocks', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect([-90_000, 60_000, 3_600_000, 3 * 86_400_000].map(ahead => agoOf(now + ahead, now))).toEqual([
    '1m ago',
    '0s ago',
    'in 1h',
    'in 3d',
  ]);
  const fact = timeFact('started', '2999-01-01T00:00:00Z');
  expect(fact.value).toMatch(/^in \d+y$/);
  expect(fact.exported).toBe('2999-01-01T00:00:00Z');
});

it('has no duration up to a future end', () => {
  const [created_at, completed_at] = ['2026-01-01T00:00:00Z', '2999-01-01T00:00:00Z'];
  expect(describeRunTime({ created_at, completed_at })).toBe('');
});
