import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import measure from '../../src/text/string-width.ts';

it('gives the same number as the package for every character and for mixed text', () => {
  const differing: string[] = [];
  for (let code = 0; code < 0x1_0000; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    for (const text of [character, `│${character}─`]) {
      if (measure(text) !== stringWidth(text)) differing.push(`U+${code.toString(16)}`);
    }
  }
  expect(differing).toEqual([]);
});

it('still leaves escape sequences out, and counts them when told to', () => {
  const styled = '\u001b[1mtea\u001b[0m';
  expect(measure(styled)).toBe(3);
  expect(measure(styled, { countAnsiEscapeCodes: true })).toBe(stringWidth(styled, { countAnsiEscapeCodes: true }));
});
