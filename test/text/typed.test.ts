/** The text to type for a confirmation is never empty, for any answer of the service. */
import { expect, it, vi } from 'vitest';
import { asTyped, isTyped, typeable } from '../../src/text/typed.ts';

it.each([
  [['talker', 'dep_1'], 'talker'],
  [['  two\u00a0\n words ', 'dep_1'], 'two words'],
  [['', 'dep_1'], 'dep_1'],
  [[undefined, 'dep_1'], 'dep_1'],
  [[' \t\u3000', 'dep_1'], 'dep_1'],
  [['\u200b\u2060\u00ad', 'dep_1'], 'dep_1'],
  [['\u001b[31m', 'dep_1'], 'dep_1'],
  [['\u2800\u0301', 'dep_1'], 'dep_1'],
  [['', ''], 'yes'],
])('%j is typed as %j', (names, typed) => {
  expect(typeable(...names)).toBe(typed);
});

it('is the shown text, with any spaces the user types', () => {
  expect(isTyped(' two   words', 'two\u200b words')).toBe(true);
  expect(isTyped('caf\u00e9', 'cafe\u0301')).toBe(true);
  for (const nothing of ['', ' ', '\u200b']) expect(isTyped(nothing, nothing)).toBe(false);
});

it('takes printable ASCII with single spaces as it is, without work (rev38data B4)', () => {
  const normalize = vi.spyOn(String.prototype, 'normalize');
  const names = ['sft', 'acme/tutor v1 ~ step!'];
  expect(names.map(asTyped)).toEqual(names);
  expect(normalize).not.toHaveBeenCalled();
  expect(['', ' a', 'a ', 'a  b', 'a\tb', 'a\x7fb'].map(asTyped)).toEqual(['', 'a', 'a', 'a b', 'a b', 'ab']);
  normalize.mockRestore();
});
