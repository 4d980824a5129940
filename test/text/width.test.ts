import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import {
  displayWidth,
  expandTabs,
  fitCells,
  graphemes,
  padEnd,
  padStart,
  simpleTextWidth,
  truncate,
} from '../../src/text/width.ts';
import { randomText } from './random-text.ts';

const segmenter = new Intl.Segmenter();

describe('displayWidth and graphemes', () => {
  it('agree with string-width and the segmenter for every character, alone and next to simple ones', () => {
    for (let block = 0; block < 0x10000; block += 0x40) {
      if (block >= 0xd800 && block < 0xe000) continue;
      const characters = Array.from({ length: 0x40 }, (_, offset) =>
        String.fromCharCode(Math.max(0x20, block + offset)),
      );
      const text = characters.map(character => `aé${character}本b`).join('');
      const name = `U+${block.toString(16)}`;
      expect(displayWidth(text), name).toBe(stringWidth(text));
      expect(graphemes(text), name).toEqual(Array.from(segmenter.segment(text), ({ segment }) => segment));
    }
  });

  it('need neither of them for most characters', () => {
    expect(['né', '、ぁ', '゛ー', '㐀䶿', '一龥', '가힣', '！｀'].map(simpleTextWidth)).toEqual([2, 4, 4, 4, 4, 4, 4]);
    // The ends of each stretch, and the marks that stand alone.
    const narrow = ' ~ \u00a0¨ ª¬ ¯˿ Ͱͷ ͺͿ ΎΡ Σ҂ ҊԮ ‐‧ ‰※ ←↓ ─▩ ▲▵ ▸▿ ◆◺ ✓ ✗ ⠀⣿';
    expect(simpleTextWidth(narrow)).toBe(narrow.length);
    expect(
      ['\u00a9', '\u00ad', '\u00ae', '▪', '☕', '\n', '\u0300', '👍'].map(text => simpleTextWidth(`a${text}`)),
    ).toEqual(Array(8).fill(undefined));
  });

  it('agree with them on random mixtures', () => {
    for (const text of randomText(2_000)) {
      expect(displayWidth(text), JSON.stringify(text)).toBe(stringWidth(text));
      expect(graphemes(text)).toEqual(Array.from(segmenter.segment(text), ({ segment }) => segment));
    }
  });

  it('find the same graphemes as the segmenter, even around controls', () => {
    for (const text of ['', 'a\r\nb\r\r\n\n', '\u001b[31mé\u0301\u001b[39m\u0007\u200d日', ...randomText(500)]) {
      for (const mixed of [text, text.split('').join('\u001b'), text.split('').join('\r\n')]) {
        const wanted = Array.from(segmenter.segment(mixed), ({ segment }) => segment);
        expect(graphemes(mixed), JSON.stringify(mixed)).toEqual(wanted);
      }
    }
  });

  it('measure known characters', () => {
    expect(displayWidth('')).toBe(0);
    expect(displayWidth('abc')).toBe(3);
    expect(displayWidth('日本')).toBe(4);
    expect(displayWidth('👩🏽‍💻')).toBe(2);
    expect(displayWidth('e\u0301')).toBe(1);
    expect(graphemes('a👩🏽‍💻e\u0301')).toEqual(['a', '👩🏽‍💻', 'e\u0301']);
  });
});

describe('truncate', () => {
  it('keeps what fits', () => {
    expect(truncate('abc', 3)).toBe('abc');
    expect(truncate('日本', 4)).toBe('日本');
  });

  it('cuts at the requested end, never through a grapheme', () => {
    expect(truncate('abcdef', 4)).toBe('abc…');
    expect(truncate('abcdef', 4, { ellipsis: '...' })).toBe('a...');
    expect(truncate('evr_0123456789', 9, { position: 'middle' })).toBe('evr_…6789');
    expect(truncate('a/long/path', 6, { position: 'start' })).toBe('…/path');
    expect(truncate('日本語', 4)).toBe('日…');
    expect(truncate('👩🏽‍💻👩🏽‍💻', 3)).toBe('👩🏽‍💻…');
    expect(truncate('ae\u0301bc', 3)).toBe('ae\u0301…');
    // Not half a number, but the digits of a name.
    expect(truncate('at step 20000, of 128', 12)).toBe('at step …');
    expect(truncate('between 0.339 and 0.516', 12)).toBe('between …');
    expect(truncate('trn_0000001', 8)).toBe('trn_000…');
  });

  it('shows as much of the ellipsis as fits if nothing else does', () => {
    expect(truncate('abc', 1)).toBe('…');
    expect(truncate('abcdef', 2, { ellipsis: '...' })).toBe('..');
    expect(truncate('abc', 0)).toBe('');
  });

  it('never exceeds its width', () => {
    for (const text of randomText(500)) {
      for (const position of ['end', 'middle', 'start'] as const) {
        expect(displayWidth(truncate(text, 7, { position }))).toBeLessThanOrEqual(7);
      }
    }
  });
});

describe('padding', () => {
  it('counts cells', () => {
    expect(padEnd('日', 4)).toBe('日  ');
    expect(padStart('日', 4)).toBe('  日');
    expect(padEnd('abc', 2)).toBe('abc');
    expect(fitCells('日本語', 4)).toBe('日… ');
    expect(fitCells('12', 4, 'right')).toBe('  12');
  });

  it('expands tabs from the start of each line', () => {
    expect(expandTabs('\ta\tb\nab\tc', 4)).toBe('    a   b\nab  c');
  });
});
