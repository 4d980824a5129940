/** The rank correlation of reward and length. */

import { expect, it } from 'vitest';
import { describeCorrelation, lengthCorrelation, lengthPoints } from '../../src/present/reward-length.ts';
import fc from '../../tools/rig/property.ts';

const rowsOf = (pairs: readonly (readonly [steps: number, reward: number | null])[]) =>
  pairs.map(([num_steps, reward], index) => ({
    trajectory_id: `t${index}`,
    task_id: `task${index % 2}`,
    num_steps,
    reward,
  }));

/** Spearman's correlation by definition: that of the ranks, equal values sharing their mean rank. */
function byDefinition(pairs: readonly (readonly [number, number])[]): number {
  const ranks = (values: readonly number[]): number[] =>
    values.map(value => {
      const [below, same] = [values.filter(each => each < value).length, values.filter(each => each === value).length];
      return below + (same + 1) / 2;
    });
  const [xs, ys] = [ranks(pairs.map(([x]) => x)), ranks(pairs.map(([, y]) => y))];
  const middle = (pairs.length + 1) / 2;
  const sum = (of: (index: number) => number): number => xs.reduce((total, _, index) => total + of(index), 0);
  const dx = (index: number): number => (xs[index] ?? 0) - middle;
  const dy = (index: number): number => (ys[index] ?? 0) - middle;
  return sum(i => dx(i) * dy(i)) / Math.sqrt(sum(i => dx(i) ** 2) * sum(i => dy(i) ** 2));
}

it("is Spearman's, with an interval around it", () => {
  const value = fc.integer({ min: 0, max: 6 });
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value), { minLength: 5, maxLength: 20 }), pairs => {
      const { all } = lengthCorrelation(lengthPoints(rowsOf(pairs), 'steps'));
      const expected = byDefinition(pairs);
      if (Number.isNaN(expected)) expect(all).toBeUndefined();
      else {
        expect(all?.value).toBeCloseTo(expected, 4);
        expect([(all?.low ?? 1) <= (all?.value ?? 0), (all?.high ?? 0) >= (all?.value ?? 1)]).toEqual([true, true]);
      }
    }),
  );
});

it('includes the number of rollouts', () => {
  const rows = rowsOf([
    [1, 0.1],
    [2, 0.2],
    [3, 0.4],
    [4, 0.5],
    [5, 0.6],
    [6, 0.7],
    [7, null],
  ]);
  const [known, all = ''] = describeCorrelation(lengthPoints(rows, 'steps'), 'steps', rows.length);
  expect(known).toBe('6 of 7 rollouts have a reward and a known length in steps');
  expect(all).toMatch(/^rank correlation of reward and steps: 1\.00, 95% .* to 1\.00, 6 rollouts$/);
  expect(describeCorrelation([], 'tokens', 7)[1]).toBe(
    'rank correlation of reward and tokens: too few distinct values',
  );
  // Not a result before all that will be read has been.
  expect(describeCorrelation([], 'tokens', 7, true)).toEqual([
    'still reading: 0 of 7 rollouts have a reward and a known length in tokens so far',
  ]);
});

it('does not treat rollouts without a task as one task (B7)', () => {
  const rows = Array.from({ length: 30 }, (_, index) => ({
    trajectory_id: `t${index}`,
    num_steps: index,
    reward: index,
  }));
  const points = lengthPoints(rows, 'steps');
  expect(lengthCorrelation(points)).toMatchObject({ all: { pairs: 30 }, within: undefined });
  expect(describeCorrelation(points, 'steps', 30)).toHaveLength(2);
  const named = lengthPoints(
    rows.map((row, index) => ({ ...row, task_id: index < 8 ? 'one' : '' })),
    'steps',
  );
  expect(lengthCorrelation(named).within?.pairs).toBe(8);
});

it.each([
  [{ execution_metrics: { latency_ms: 1500 } }, 1.5],
  [{ metrics: { duration_s: 2 } }, 2],
])('reads seconds from the metrics: %j', (metrics, seconds) => {
  expect(lengthPoints([{ trajectory_id: 't', reward: 1, ...metrics }], 'seconds')[0]?.length).toBe(seconds);
});
