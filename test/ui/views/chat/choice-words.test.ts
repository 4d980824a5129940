import { expect, it } from 'vitest';
import { countWords } from '../../../../src/ui/views/chat/choice-words.ts';

const counts = { left: 7, right: 2, equal: 1, 'both bad': 0 };

it('counts the choices with the test it names, and never cuts a number', () => {
  const long = 'left better 7, right better 2, equal 1 (n=10), exact sign test at one look: p = 0.18';
  const short = 'left 7, right 2, equal 1 (n=10), sign test p = 0.18';
  expect([countWords(counts), countWords(counts, long.length)]).toEqual([long, long]);
  expect([countWords(counts, long.length - 1), countWords(counts, short.length)]).toEqual([short, short]);
  expect(countWords(counts, short.length - 1)).toBe('');
});

it('has the names it is given, both bad if there are any, and no test without a decision', () => {
  expect(countWords({ ...counts, 'both bad': 3 }, undefined, ['a', 'b'])).toBe(
    'a better 7, b better 2, equal 1, both bad 3 (n=13), exact sign test at one look: p = 0.18',
  );
  expect(countWords({ left: 0, right: 0, equal: 2, 'both bad': 0 })).toBe(
    'left better 0, right better 0, equal 2 (n=2)',
  );
  expect(countWords({ left: 30, right: 0, equal: 0, 'both bad': 0 })).toContain('p < 0.001');
  expect(countWords({ left: 0, right: 0, equal: 0, 'both bad': 0 })).toBe('');
});
