/** The rank correlation of reward and length. */

import { expect, it } from 'vitest';
import { describeCorrelation, lengthCorrelation, lengthPoints } from '../../src/present/reward-length.ts';
import fc from '../../tools/rig/property.ts';

/** One rollout of each task. */
const rowsOf = (pairs: readonly (readonly [steps: number, reward: number | null])[]) =>
  pairs.map(([num_steps, reward], index) => ({
    trajectory_id: `t${index}`,
    task_id: `task${index}`,
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
      const all = lengthCorrelation(lengthPoints(rowsOf(pairs), 'steps'));
      const expected = byDefinition(pairs);
      if (Number.isNaN(expected)) expect(all).toBeUndefined();
      else {
        expect(all?.value).toBeCloseTo(expected, 4);
        const { low = 1, high = 0 } = all?.interval ?? {};
        expect([low <= (all?.value ?? 0), high >= (all?.value ?? 1)]).toEqual([true, true]);
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
  expect(describeCorrelation([], 'tokens', 7, { isReading: true })).toEqual([
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
  expect(lengthCorrelation(points)).toMatchObject({ pairs: 30, within: '' });
  const named = lengthPoints(
    rows.map((row, index) => ({ ...row, task_id: index < 16 ? 'one' : '' })),
    'steps',
  );
  expect(lengthCorrelation(named)).toMatchObject({ pairs: 16, within: 'task' });
});

it.each([
  [195, 5, 196],
  [196, 4, 198],
])('does not let a few repeated tasks hide the others (rev38data A2): %i and %i', (once, repeated, pairs) => {
  const rows = Array.from({ length: once + repeated }, (_, index) => ({
    ...{ trajectory_id: `t${index}`, num_steps: index, reward: (index * 7) % 31 },
    task_id: index < once ? `task${index}` : `again${repeated === 5 ? 0 : index % 2}`,
  }));
  const points = lengthPoints(rows, 'steps');
  expect(lengthCorrelation(points)).toMatchObject({ pairs, within: '', interval: {} });
  expect(describeCorrelation(points, 'steps', 200)[1]).toMatch(
    new RegExp(`^rank correlation of reward and steps: .*, 95% CI .*, ${pairs} rollouts, one of each task$`),
  );
});

it('compares only rollouts of the same training step, as rewards and lengths grow together (out34 A1)', () => {
  // In each step, the longer rollouts of a task get less reward.
  const rows = Array.from({ length: 240 }, (_, index) => {
    const [step, sample] = [Math.floor(index / 12), index % 4];
    return {
      ...{ trajectory_id: `t${index}`, task_id: `task${Math.floor(index / 4) % 3}`, policy_step: step },
      ...{ num_steps: 10 * step + sample, reward: step / 20 - sample / 1000 },
    };
  });
  const found = lengthCorrelation(lengthPoints(rows, 'steps'));
  expect(found).toMatchObject({ within: 'task and step', pairs: 240, value: -1, interval: { low: -1 } });
  expect(describeCorrelation(lengthPoints(rows, 'steps'), 'steps', 240)[1]).toMatch(
    /^rank correlation of reward and steps within each task and step: -1\.00, 95% CI -1\.00 to -0\.\d+, 240 rollouts$/,
  );
  // One rollout of each task and step: they are not independent, so there is no interval.
  const few = lengthPoints(
    rows.filter((_, index) => index % 4 === 0),
    'steps',
  );
  expect(describeCorrelation(few, 'steps', 240, { unread: 180 })).toEqual([
    'an even sample: 60 of 240 rollouts',
    'rank correlation of reward and steps: 1.00, 60 rollouts, over different steps',
  ]);
});

it.each([
  [{ execution_metrics: { latency_ms: 1500 } }, 1.5],
  [{ metrics: { duration_s: 2 } }, 2],
])('reads seconds from the metrics: %j', (metrics, seconds) => {
  expect(lengthPoints([{ trajectory_id: 't', reward: 1, ...metrics }], 'seconds')[0]?.length).toBe(seconds);
});
