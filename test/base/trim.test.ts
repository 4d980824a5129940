import { expect, it } from 'vitest';
import { trimEnd } from '../../src/base/trim.ts';

it('trims the given characters from the end only', () => {
  expect(trimEnd('//a/b//', '/')).toBe('//a/b');
  expect(trimEnd('a.b!.!', '.!')).toBe('a.b');
  expect(trimEnd('///', '/')).toBe('');
  expect(trimEnd('', '/')).toBe('');
});
