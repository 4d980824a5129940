/** Trajectories with steps larger than everything else in memory. */
import { expect, it } from 'vitest';
import { storesInMemory } from './memory.ts';

it('are read step by step, in chunks of limited size', () => {
  const { trajectories } = storesInMemory().stores;
  const content = 'x'.repeat(10_000);
  const steps = Array.from({ length: 100 }, () => ({ messages: [{ role: 'tool', content }] }));
  const [large, none] = [steps, []].map(each => {
    const of = { organization_id: 'org_1', source: 'upload', status: 'completed' };
    const row = trajectories.row('org_1', trajectories.add({ ...of, steps: each }));
    if (!row) throw new Error('It was not stored.');
    const pieces = [...trajectories.jsonOf(row)];
    expect(JSON.parse(pieces.join(''))).toEqual(trajectories.recordOf(row, true));
    return pieces.map(({ length }) => length);
  });
  expect(large?.length).toBeGreaterThan(10);
  expect(Math.max(...(large ?? []))).toBeLessThan(100_000);
  expect(none).toHaveLength(1);
});
