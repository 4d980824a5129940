import { expect, it } from 'vitest';
import { type Place, placeKey } from '../../src/resources/place.ts';

const key = (place: Place) => placeKey(place);

it('is the same for a place under any name', () => {
  const run = { view: 'record', resource: 'runs', id: 'evr_1' } as const;
  expect(key({ ...run, label: 'baseline', parent: 'bench_1' })).toBe(key(run));
  expect(key({ ...run, id: 'evr_2' })).not.toBe(key(run));
  expect(key({ ...run, resource: 'training' })).not.toBe(key(run));
});

it('is the same for a scope in any order, and differs for another scope', () => {
  const list = { view: 'list', resource: 'trajectories' } as const;
  const scope = { run: 'evr_1', dataset: 'd' };
  expect(key({ ...list, scope })).toBe(key({ ...list, scope: { dataset: 'd', run: 'evr_1' } }));
  expect(key({ ...list, scope })).not.toBe(key({ ...list, scope: { ...scope, run: 'evr_2' } }));
  expect(key({ ...list, scope })).not.toBe(key(list));
});
