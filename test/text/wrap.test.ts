import { describe, expect, it } from 'vitest';
import { displayWidth, graphemes } from '../../src/text/width.ts';
import { wrap } from '../../src/text/wrap.ts';
import { randomText } from './random-text.ts';

describe('wrap', () => {
  it('breaks at spaces and drops them', () => {
    expect(wrap('the quick brown fox', 9)).toEqual(['the quick', 'brown fox']);
    expect(wrap('the   quick', 5)).toEqual(['the', 'quick']);
    expect(wrap('the quick   ', 9)).toEqual(['the quick']);
  });

  it('keeps line ends, empty lines and indentation', () => {
    expect(wrap('a\n\n  b\n', 10)).toEqual(['a', '', '  b', '']);
    expect(wrap('  two words', 6)).toEqual(['  two', 'words']);
    expect(wrap('\tx', 10)).toEqual(['    x']);
    expect(wrap('', 10)).toEqual(['']);
  });

  it('breaks a long word on its own line', () => {
    expect(wrap('ab 0123456789 cd', 4)).toEqual(['ab', '0123', '4567', '89', 'cd']);
  });

  it('breaks between wide characters but not inside a grapheme', () => {
    expect(wrap('中文字符测试', 5)).toEqual(['中文', '字符', '测试']);
    expect(wrap('word中文', 6)).toEqual(['word中', '文']);
    expect(wrap('👩🏽‍💻👩🏽‍💻', 3)).toEqual(['👩🏽‍💻', '👩🏽‍💻']);
    expect(wrap('中文', 1)).toEqual(['中', '文']);
    expect(wrap(`x${'e\u0301'.repeat(5)}`, 2)).toEqual(['xe\u0301', 'e\u0301e\u0301', 'e\u0301e\u0301']);
  });

  it('loses only spaces at breaks, and keeps to its width', () => {
    for (const text of randomText(1_000, 40)) {
      for (const width of [2, 5, 17]) {
        const lines = wrap(text, width);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        for (const line of lines) {
          expect(displayWidth(line), JSON.stringify([text, width, line])).toBeLessThanOrEqual(width);
        }
        expect(lines.flatMap(graphemes).filter(one => one !== ' ')).toEqual(graphemes(text).filter(one => one !== ' '));
      }
    }
  });

  it('breaks ASCII like other text', () => {
    const alphabet = ['a', 'bb', 'ccc', 'dddddddd', ' ', ' ', '   ', '\n'];
    let state = 7;
    for (let round = 0; round < 2_000; round++) {
      let text = '';
      for (let i = 0; i < 12; i++) {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        text += alphabet[(state >>> 16) % alphabet.length] ?? '';
      }
      // é is one cell like e, but takes the general path.
      const plain = wrap(text.replaceAll('a', 'e'), 6);
      const general = wrap(text.replace(/[a-z]/g, 'é'), 6);
      expect(
        plain.map(line => line.replace(/[a-z]/g, 'é')),
        JSON.stringify(text),
      ).toEqual(general);
    }
  });
});
