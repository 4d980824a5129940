/** Where the answers of a poll overlap the known rows. */
import { expect, it } from 'vitest';
import { type ListAnswer, ListPages } from '../../../src/queries/lists/pages.ts';

const answer = (ids: string, next: string | null = 'more'): ListAnswer<string> => ({
  cursor: null,
  next,
  rows: new Map(ids.split(' ').map(id => [id, id])),
  dropped: 0,
  repeated: 0,
  others: 0,
  unsure: new Set(),
  isCutOff: false,
  mayChange: false,
  note: undefined,
  rest: undefined,
  rememberedAt: undefined,
  readAt: 0,
  round: 0,
});

it('counts rows that a service added despite the filter over all pages', () => {
  const pages = new ListPages<string>();
  pages.splice(
    0,
    [
      { ...answer('a'), others: 2 },
      { ...answer('b', null), others: 1 },
    ],
    true,
  );
  expect(pages.data.notes).toEqual(['3 unrelated rows left out: the service did not apply the filter']);
});

it('counts possibly unrelated rows once, even if several pages doubt them, while they are there', () => {
  const pages = new ListPages<string>();
  const doubted = [
    { ...answer('a b'), unsure: new Set(['a']) },
    { ...answer('c', null), unsure: new Set(['a', 'b', 'gone']) },
  ];
  pages.splice(0, doubted, true);
  expect(pages.data.notes).toEqual(['2 rows may be unrelated: the service does not report their parents']);
  pages.remove(['b']);
  expect(pages.data.notes).toEqual(['1 row may be unrelated: the service does not report its parent']);
});

function meets(known: string, answers: readonly string[]): boolean {
  const pages = new ListPages<string>();
  pages.splice(0, [answer(known)], true);
  return pages.meets(
    0,
    answers.map(ids => answer(ids)),
  );
}

it.each([
  ['all rows that are known', 'a b c d', ['a b']],
  ['new rows before them', 'a b c d', ['x a b']],
  ['a new row after them', 'a b', ['a b x']],
  ['rows whose last one has moved up, and then the former order', 'a b c d', ['a c', 'd']],
])('an answer with %s meets the known rows', (_, known, answers) => expect(meets(known, answers)).toBe(true));

it.each([
  ['none of them', 'a b c d', ['x y']],
  ['a last one that has moved up', 'a b c d', ['a d']],
])('an answer with %s does not meet the known rows', (_, known, answers) => expect(meets(known, answers)).toBe(false));
