import { expect, it } from 'vitest';
import { type SiblingList, Siblings } from '../../../src/ui/navigation/memory.tsx';

const listOf = (...ids: string[]): SiblingList => ({
  ids,
  placeAt: (index: number) => {
    const id = ids[index];
    return id === undefined ? undefined : { view: 'record', resource: 'runs', id };
  },
});

it('steps through the list that a view was opened from', () => {
  const siblings = new Siblings();
  siblings.remember('runs', listOf('a', 'b', 'c'));
  expect(siblings.next('runs', 'b', 1)).toMatchObject({ id: 'c' });
  expect(siblings.next('runs', 'b', -1)).toMatchObject({ id: 'a' });
  expect([siblings.next('runs', 'c', 1), siblings.next('runs', 'a', -1)]).toEqual([undefined, undefined]);
  expect([siblings.next('runs', 'other', 1), siblings.next('other', 'a', 1)]).toEqual([undefined, undefined]);
  expect([siblings.position('runs', 'b'), siblings.position('runs', 'other')]).toEqual(['2/3', '']);
});

it('counts no more than was read, and says that there is more', () => {
  const siblings = new Siblings();
  siblings.remember('runs', { ...listOf('a', 'b'), partial: true });
  expect(siblings.position('runs', 'b')).toBe('2/2+');
  expect([siblings.isPartial('runs'), siblings.isPartial('other')]).toEqual([true, false]);
});
