/** The performance patches in `patches/` must not change any results. */
import { tokenize } from '@alcalzone/ansi-tokenize';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';

/** Writes a text without any of the fast paths. */
const wide = '\n日';

function everyCharacter(): string[] {
  const characters: string[] = [];
  for (let code = 0x20; code < 0x1_0000; code += 1) {
    if ((code < 0x7f || code > 0x9f) && (code < 0xd800 || code > 0xdfff)) characters.push(String.fromCharCode(code));
  }
  return characters;
}

describe('string-width', () => {
  it('gives by the short way what it gives by the long one, for every character alone and between others', () => {
    const differing = everyCharacter()
      .flatMap(character => [character, `│${character}─`, `${character}${character}`])
      .filter(text => stringWidth(text) !== stringWidth(`${text}${wide}`) - 2);
    expect(differing).toEqual([]);
  });

  it('leaves escape sequences out, and counts them on demand', () => {
    const styled = '\u001b[1mtea ─\u001b[0m';
    expect(stringWidth(styled)).toBe(5);
    expect(stringWidth(styled, { countAnsiEscapeCodes: true })).toBe(11);
  });
});

describe('ansi-tokenize', () => {
  it('cuts a text by the short way as by the long one', () => {
    const differing = everyCharacter()
      .flatMap(character => [character, `\u001b[1ma${character}b\u001b[22m ${character}`])
      .filter(text => JSON.stringify(tokenize(text)) !== JSON.stringify(tokenize(`${text}${wide}`).slice(0, -2)));
    expect(differing).toEqual([]);
  });
});
