/** pass@k and pass^k against counting every choice of k rollouts. */

import { expect, it } from 'vitest';
import { passAtK, passCurve, passHatK } from '../../src/present/statistics/pass-at-k.ts';
import fc from '../../tools/rig/property.ts';

/** The share of the choices of `k` of these rollouts that are accepted. */
function share(rollouts: readonly boolean[], k: number, accepts: (chosen: readonly boolean[]) => boolean): number {
  const counts = { all: 0, accepted: 0 };
  for (let bits = 0; bits < 2 ** rollouts.length; bits += 1) {
    const chosen = rollouts.filter((_, index) => (bits & (2 ** index)) !== 0);
    if (chosen.length !== k) continue;
    counts.all += 1;
    if (accepts(chosen)) counts.accepted += 1;
  }
  return counts.accepted / counts.all;
}

it('agrees with enumerating every choice of k rollouts', () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 8 }),
      (rollouts, k) => {
        const passes = { count: rollouts.length, passed: rollouts.filter(Boolean).length };
        if (k > rollouts.length) {
          expect([passAtK(passes, k), passHatK(passes, k)]).toEqual([undefined, undefined]);
          return;
        }
        expect(passAtK(passes, k)).toBeCloseTo(share(rollouts, k, chosen => chosen.some(Boolean)));
        expect(passHatK(passes, k)).toBeCloseTo(share(rollouts, k, chosen => chosen.every(Boolean)));
      },
    ),
  );
});

it('is the mean over the tasks with enough rollouts', () => {
  const curve = passCurve([
    { count: 4, passed: 1 },
    { count: 4, passed: 4 },
    { count: 1, passed: 0 },
  ]);
  expect(curve.map(({ k, tasks }) => [k, tasks])).toEqual([
    [1, 3],
    [2, 2],
    [4, 2],
  ]);
  expect(curve[1]?.any).toBeCloseTo((0.5 + 1) / 2);
  expect(curve[2]).toMatchObject({ any: 1, all: 0.5 });
});

it('works for more rollouts than binomial coefficients can count', () => {
  expect(passAtK({ count: 5_000, passed: 1 }, 100)).toBeCloseTo(0.02);
});
