import { expect, it } from 'vitest';
import { distinctNames, listOf, namesOf } from '../../../src/ui/windows/names.ts';

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `run ${index + 1}`);

it('lists a few names in a sentence and more as a list', () => {
  expect(namesOf(many(3))).toBe('run 1, run 2, run 3');
  expect(listOf(many(6), 20)).toEqual([]);
  expect(namesOf(many(8))).toBe('run 1, run 2, run 3, run 4, run 5, run 6 and 2 more');
  expect(listOf(many(8), 20)).toEqual(many(8));
  expect(listOf(many(30), 4)).toEqual(['run 1', 'run 2', 'run 3', 'and 27 more']);
});

it('adds ids to equal names', () => {
  const rows = [
    ['lost', 'evr_1'],
    ['v2', 'evr_2'],
    ['lost', 'evr_3'],
  ].map(([name = '', id = '']) => ({ name, id }));
  expect(distinctNames(rows)).toEqual(['lost (evr_1)', 'v2', 'lost (evr_3)']);
});
