/** Differences against a longest common subsequence by brute force. */

import { expect, it } from 'vitest';
import { differencesOf } from '../../src/base/differences.ts';
import fc from '../../tools/rig/property.ts';

/** The length of the longest common subsequence, by definition. */
function longest(left: readonly number[], right: readonly number[]): number {
  const [one, ...rest] = left;
  if (one === undefined || right.length === 0) return 0;
  const at = right.indexOf(one);
  return Math.max(longest(rest, right), at === -1 ? 0 : 1 + longest(rest, right.slice(at + 1)));
}

const few = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 9 });

it('matches a longest common subsequence', () => {
  fc.assert(
    fc.property(few, few, (left, right) => {
      const { matched, isExact } = differencesOf(left, right, 100);
      expect(isExact).toBe(true);
      expect(matched).toHaveLength(longest(left, right));
      for (const [index, [one, other]] of matched.entries()) {
        expect(left[one]).toBe(right[other]);
        const [before, beforeOther] = matched[index - 1] ?? [-1, -1];
        expect([one > before, other > beforeOther]).toEqual([true, true]);
      }
    }),
    { numRuns: 2_000 },
  );
});

it('matches only the common beginning and end of lists that differ too much', () => {
  const left = [1, ...Array.from({ length: 50 }, (_, index) => 100 + index), 2, 3];
  const right = [1, ...Array.from({ length: 40 }, (_, index) => 200 + index), 2, 3];
  expect(differencesOf(left, right, 10)).toEqual({
    matched: [
      [0, 0],
      [51, 41],
      [52, 42],
    ],
    isExact: false,
  });
});
