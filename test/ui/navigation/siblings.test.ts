import { expect, it } from 'vitest';
import { Siblings } from '../../../src/ui/navigation/siblings.ts';

const listOf = (...ids: string[]) => ({
  ids,
  placeAt: (index: number) => {
    const id = ids[index];
    return id === undefined ? undefined : { view: 'run', params: { id } };
  },
});

it('steps through the list that a view was opened from', () => {
  const siblings = new Siblings();
  siblings.remember('run', listOf('a', 'b', 'c'));
  expect(siblings.next('run', 'b', 1)?.params).toEqual({ id: 'c' });
  expect(siblings.next('run', 'b', -1)?.params).toEqual({ id: 'a' });
  expect([siblings.next('run', 'c', 1), siblings.next('run', 'a', -1)]).toEqual([undefined, undefined]);
  expect([siblings.next('run', 'other', 1), siblings.next('other', 'a', 1)]).toEqual([undefined, undefined]);
  expect([siblings.position('run', 'b'), siblings.position('run', 'other')]).toEqual(['2/3', '']);
});

it('counts no more than was read, and says that there is more', () => {
  const siblings = new Siblings();
  siblings.remember('run', { ...listOf('a', 'b'), partial: true });
  expect(siblings.position('run', 'b')).toBe('2/2+');
  expect([siblings.isPartial('run'), siblings.isPartial('other')]).toEqual([true, false]);
});
