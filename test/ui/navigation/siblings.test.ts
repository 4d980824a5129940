import { expect, it } from 'vitest';
import { type SiblingList, Siblings } from '../../../src/ui/navigation/memory.tsx';

const listOf = (...ids: string[]): SiblingList => ({
  ids,
  placeAt: (index: number) => {
    const id = ids[index];
    return id === undefined ? undefined : { view: 'record', resource: 'runs', id };
  },
});

const nowhere = { place: undefined, steps: 0 };

it('steps through the list that a view was opened from', () => {
  const siblings = new Siblings();
  siblings.remember('runs', listOf('a', 'b', 'c'));
  expect(siblings.step('runs', 'b', 1)).toMatchObject({ place: { id: 'c' }, steps: 1 });
  expect(siblings.step('runs', 'b', -1)).toMatchObject({ place: { id: 'a' }, steps: 1 });
  expect([siblings.step('runs', 'c', 1), siblings.step('runs', 'a', -1)]).toEqual([nowhere, nowhere]);
  expect([siblings.step('runs', 'other', 1), siblings.step('other', 'a', 1)]).toEqual([nowhere, nowhere]);
  expect([siblings.position('runs', 'b'), siblings.position('runs', 'other')]).toEqual(['2/3', '']);
});

it('counts only what was read, and says that there is more', () => {
  const siblings = new Siblings();
  siblings.remember('runs', { ...listOf('a', 'b'), partial: true });
  expect(siblings.position('runs', 'b')).toBe('2/2+');
  expect([siblings.isPartial('runs'), siblings.isPartial('other')]).toEqual([true, false]);
});

it('moves several rows at once, and to the end if there are fewer (R9)', () => {
  const siblings = new Siblings();
  siblings.remember('runs', listOf('a', 'b', 'c', 'd'));
  expect(siblings.step('runs', 'a', 2)).toMatchObject({ place: { id: 'c' }, steps: 2 });
  expect(siblings.step('runs', 'b', 5)).toMatchObject({ place: { id: 'd' }, steps: 2 });
  expect(siblings.step('runs', 'b', -5)).toMatchObject({ place: { id: 'a' }, steps: 1 });
});

it('reads more of the list once for all callers, unless another list was opened meanwhile', async () => {
  const siblings = new Siblings();
  let reads = 0;
  const readMore = async (): Promise<SiblingList> => {
    reads += 1;
    return listOf('a', 'b', 'c');
  };
  siblings.remember('runs', { ...listOf('a', 'b'), partial: true, readMore });
  await Promise.all([siblings.readMore('runs'), siblings.readMore('runs')]);
  expect([reads, siblings.position('runs', 'b')]).toEqual([1, '2/3']);
  await siblings.readMore('runs');
  expect(reads).toBe(1);
  siblings.remember('runs', { ...listOf('a', 'b'), partial: true, readMore });
  const reading = siblings.readMore('runs');
  siblings.remember('runs', listOf('x'));
  await reading;
  expect(siblings.position('runs', 'x')).toBe('1/1');
});

it('remembers which record was shown last from the list of a row', () => {
  const siblings = new Siblings();
  siblings.remember('runs', listOf('a', 'b', 'c'));
  expect(siblings.lastShown('a')).toBe('a');
  siblings.arrive('runs', 'c');
  expect([siblings.lastShown('a'), siblings.lastShown('other')]).toEqual(['c', 'other']);
});

it('adds up steps while it waits for rows, and waits for each list separately', async () => {
  const siblings = new Siblings();
  const late = Promise.withResolvers<SiblingList>();
  const partial = { ...listOf('a', 'b'), partial: true };
  siblings.remember('runs', { ...partial, readMore: () => late.promise });
  siblings.remember('models', { ...partial, readMore: async () => listOf('a', 'b', 'c') });
  const shown: string[] = [];
  const walk = (resource: string, by: number) => siblings.walk(resource, 'a', by, ({ id }) => shown.push(id));
  // The view shows `a` until it is drawn again.
  const walks = [walk('runs', 2), walk('runs', 3), walk('runs', -1)];
  await siblings.readMore('models');
  expect([siblings.position('models', 'b'), shown]).toEqual(['2/3', ['b']]);
  late.resolve(listOf('a', 'b', 'c', 'd', 'e'));
  expect([await Promise.all(walks), shown]).toEqual([
    [0, 0, 0],
    ['b', 'e'],
  ]);
  expect([await walk('runs', 1), shown.length]).toEqual([1, 2]);
});

it('goes back at once if the steps ahead are fewer than those back', async () => {
  const siblings = new Siblings();
  siblings.remember('runs', { ...listOf('a', 'b'), partial: true, readMore: () => new Promise(() => {}) });
  const shown: string[] = [];
  void siblings.walk('runs', 'b', 1, ({ id }) => shown.push(id));
  expect([await siblings.walk('runs', 'b', -3, ({ id }) => shown.push(id)), shown]).toEqual([-1, ['a']]);
});
