import { expect, it, vi } from 'vitest';
import { perArguments } from '../../src/base/memo.ts';

it('computes the value of equal arguments once, and forgets the oldest', () => {
  const sum = vi.fn((left: number, right: number) => left + right);
  const kept = perArguments(sum, 2);
  expect([kept(1, 2), kept(2, 1), kept(1, 2)]).toEqual([3, 3, 3]);
  expect(sum).toHaveBeenCalledTimes(2);
  kept(5, 5);
  expect([kept(2, 1), sum.mock.calls.length]).toEqual([3, 3]);
  expect([kept(1, 2), sum.mock.calls.length]).toEqual([3, 4]);
});
