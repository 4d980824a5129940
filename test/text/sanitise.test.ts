import { describe, expect, it } from 'vitest';
import { clean, safeJson, safeJsonParts, sanitise, sanitiseLine } from '../../src/text/sanitise.ts';
import { displayWidth } from '../../src/text/width.ts';
import { inTime } from '../in-time.ts';
import { randomText } from './random-text.ts';

/** Everything that may never reach a terminal in text, besides line feed and tab. */
const forbidden = new RegExp(
  [
    String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Cs}\u{e0000}-\u{e007f}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e]`,
    String.raw`[\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u034f|\u115f|\u1160|\u180e`,
  ].join('|'),
  'u',
);

const hostile: Record<string, [text: string, dropped: string]> = {
  colours: ['a\x1b[31mb\x1b[0mc', 'abc'],
  'cursor and erase': ['a\x1b[2J\x1b[Hb', 'ab'],
  'private modes': ['a\x1b[?1049hb\x1b[?25l', 'ab'],
  'a C1 control sequence': ['a\x9b31mb', 'ab'],
  'a control sequence cut short': ['a\x1b[31', 'a'],
  'a control sequence cut by another': ['a\x1b[3\x1b[1mb', 'ab'],
  'OSC ended by BEL': ['a\x1b]0;title\x07b', 'ab'],
  'OSC ended by ST': ['a\x1b]52;c;aGk=\x1b\\b', 'ab'],
  'a C1 OSC': ['a\x9d0;title\x9cb', 'ab'],
  'a hyperlink': ['\x1b]8;;https://evil\x07text\x1b]8;;\x07', 'text'],
  'an OSC without an end': ['a\x1b]0;title and all', 'a0;title and all'],
  'a C1 OSC without an end': ['a\x9d0;title', 'a0;title'],
  DCS: ['a\x1bPq#0;2\x1b\\b', 'ab'],
  'a C1 DCS': ['a\x90q\x9cb', 'ab'],
  'APC, PM and SOS': ['a\x1b_x\x1b\\b\x1b^y\x1b\\c\x1bXz\x1b\\d', 'abcd'],
  'reset and charset': ['a\x1bcb\x1b(0c\x1b7', 'abc'],
  'nested openers': ['a\x1b]0;\x1b[31mb\x07c', 'a0;bc'],
  'escapes that would join into one': ['\x1b\x1b[31m[31mx', '[31mx'],
  'BEL and BS': ['a\x07b\x08c', 'abc'],
  'DEL and NUL': ['a\x7fb\0c', 'abc'],
  'bidi overrides': ['a\u202eb\u202cc', 'abc'],
  'bidi isolates and marks': ['a\u2066b\u2069\u200e\u200f\u061cc', 'abc'],
  'zero-width characters': ['pass\u200bword\u2060\ufeff', 'password'],
  'a joiner between Latin letters': ['pass\u200dword', 'password'],
  'fillers and soft hyphens': ['a\u3164b\u00adc\u115fd', 'abcd'],
  'tag characters': ['a\u{e0041}\u{e0042}b', 'ab'],
  'annotation signs': ['a\ufff9b\ufffbc', 'abc'],
  'a noncharacter': ['a\uffffb', 'ab'],
  'number signs without a number': ['a\u0600\u0601 b\u06dd\nc\u070f', 'a b\nc'],
  'a lone surrogate': ['a\ud800b\udc00', 'a\ufffdb\ufffd'],
};

describe('sanitise, dropping', () => {
  for (const [name, [text, dropped]] of Object.entries(hostile)) {
    it(`removes ${name}`, () => expect(sanitise(text, { multiline: true })).toBe(dropped));
  }

  it('leaves nothing that would join the next character', () => {
    for (const text of randomText(2_000)) {
      const clean = sanitiseLine(text);
      expect([text, displayWidth(`${clean} `)]).toEqual([text, displayWidth(clean) + 1]);
    }
  });

  it('turns every kind of line end into one line feed', () => {
    expect(sanitise('a\r\nb\rc\u2028d\u2029e\x85f\ng', { multiline: true })).toBe('a\nb\nc\nd\ne\nf\ng');
  });

  it('keeps what scripts and emoji need', () => {
    for (const text of [
      '👩🏽‍💻',
      '🏳️‍🌈',
      '❤️',
      '可\u{e0100}',
      'می\u200cخواهم',
      'क्\u200dष',
      'é',
      'e\u0301',
      '日本',
      '\u{1f1e9}\u{1f1ea}',
    ]) {
      expect(sanitise(text)).toBe(text);
      expect(sanitise(text, { mode: 'show' })).toBe(text);
    }
  });

  it('keeps four number signs before a character, which a terminal may draw in one cell each', () => {
    expect(sanitiseLine(`${'\u0600'.repeat(60_000)}12 \u{110bd}3`)).toBe(`${'\u0600'.repeat(4)}12 \u{110bd}3`);
    expect(sanitiseLine(`${'\u{110bd}'.repeat(6)}1`, 'show')).toBe(`${'\u{110bd}'.repeat(4)}<U+110BD><U+110BD>1`);
  });

  it('keeps four combining marks of a stack, however it is built', () => {
    expect(sanitise(`a${'\u0301'.repeat(50)}b`)).toBe(`a${'\u0301'.repeat(4)}b`);
    expect(sanitise(`a${'\u0301\u0302\u200b'.repeat(50)}b`)).toBe('a\u0301\u0302\u0301\u0302b');
    expect(sanitise(`a${'\u0301\u200d'.repeat(50)}b`).length).toBeLessThan(8);
  });

  it('expands tabs to stops by display width, or keeps them', () => {
    expect(sanitise('a\tb\n日本\tc', { multiline: true })).toBe('a   b\n日本    c');
    expect(sanitise('a\tb', { multiline: true, tabs: 8 })).toBe('a       b');
    expect(sanitise('a\tb', { multiline: true, tabs: 'keep' })).toBe('a\tb');
  });

  it('keeps one line on one line', () => {
    expect(sanitiseLine('a\nb\tc\r\nd')).toBe('a b c d');
    expect(sanitise('a\nb')).toBe('a b');
    expect(sanitise('plain')).toBe('plain');
  });
});

describe('sanitise, showing', () => {
  it('loses nothing and passes nothing on', () => {
    for (const [name, [text]] of Object.entries(hostile)) {
      const shown = sanitise(text, { mode: 'show', multiline: true });
      expect(shown, name).not.toMatch(forbidden);
      for (const letter of text.match(/[\x21-\x7e]/g) ?? []) expect(shown, name).toContain(letter);
    }
  });

  it('names what it found', () => {
    expect(sanitise('\x1b[31m', { mode: 'show' })).toBe('␛[31m');
    expect(sanitise('\u202eabc\u200b', { mode: 'show' })).toBe('<U+202E>abc<U+200B>');
    expect(sanitise('\x1b]0;all of this stays', { mode: 'show' })).toBe('␛]0;all of this stays');
    expect(sanitise('\x07\x7f\x9b\ud800\u{e0041}', { mode: 'show' })).toBe('␇␡<U+009B><U+D800><U+E0041>');
    expect(sanitiseLine('a\nb\tc', 'show')).toBe('a↵b→c');
    expect(sanitiseLine('\u0600\u06dd b \u06001', 'show')).toBe('<U+0600><U+06DD> b \u06001');
    expect(sanitise('10%\r20%\r\nx', { mode: 'show', multiline: true })).toBe('10%␍20%\nx');
    expect(sanitise(`a${'\u0301'.repeat(5)}`, { mode: 'show' })).toBe(`a${'\u0301'.repeat(4)}<U+0301>`);
  });
});

describe('sanitise, every code point', () => {
  it('leaves no forbidden one, between letters or in a row', () => {
    const all = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
    for (const text of [all.join('x'), all.join('')]) {
      expect(sanitise(text, { multiline: true })).not.toMatch(forbidden);
      expect(sanitise(text, { mode: 'show' })).not.toMatch(forbidden);
    }
    expect(safeJson(all.join(''))).not.toMatch(forbidden);
  });

  it('changes nothing when applied twice', () => {
    for (const [text] of Object.values(hostile)) {
      const once = sanitise(text, { multiline: true });
      expect(sanitise(once, { multiline: true })).toBe(once);
    }
  });
});

describe('safeJson', () => {
  it('escapes unsafe characters and parses back to the same value', () => {
    const value = Object.fromEntries(Object.entries(hostile).map(([name, [text]]) => [`${name}\u202e`, text]));
    const json = safeJson(value, 2);
    expect(json).not.toMatch(forbidden);
    expect(JSON.parse(json)).toEqual(value);
    expect(json).toContain('\\u202e');
  });

  it('escapes the marks of a stack beyond the fourth', () => {
    const pile = `a${'\u0301'.repeat(6)}`;
    expect(safeJson(pile)).toBe(`"a${'\u0301'.repeat(4)}\\u0301\\u0301"`);
    expect(JSON.parse(safeJson(pile))).toBe(pile);
  });

  it('equals JSON.stringify for plain values', () => {
    expect(safeJson({ a: [1, 'ü 👩🏽‍💻'] }, 2)).toBe(JSON.stringify({ a: [1, 'ü 👩🏽‍💻'] }, undefined, 2));
    expect(safeJson(undefined)).toBe('null');
  });

  it('is the same in chunks', () => {
    const nested = {
      a: [[], {}, [undefined, { b: 'x\u202e', c: undefined, 'd"': [1, [2, { e: [null, 'é'] }]] }]],
      f: 0,
    };
    for (const value of [nested, [], {}, { a: undefined }, [nested, nested], 'text', null, undefined, hostile]) {
      for (const indent of [0, 2]) {
        expect([...safeJsonParts(value, indent)].join('')).toBe(safeJson(value, indent));
      }
    }
    expect([...safeJsonParts({ steps: [{ messages: ['a', 'b'] }] }, 0)]).toEqual(
      expect.arrayContaining(['"a"', '"b"']),
    );
  });
});

it('keeps its own part of a sentence, whatever the values end with', () => {
  const name = 'a\n::b\u001b[';
  expect(clean`Delete ${name} for good? ${2} of ${[name, 'c\u001b]']}.\nNext`).toBe(
    'Delete a ::b for good? 2 of a ::b, c.\nNext',
  );
});

describe('sanitising takes linear time', () => {
  const parts = [
    '\u0600',
    '\u0301',
    '\u200d',
    '\u180b',
    '\u200b',
    '\u2028',
    '\ufdd0',
    '\ud800',
    '\udc00',
    '\x1b',
    '\x9b',
  ];
  const openers = ['\x1b[', '\x1b]', '\x1b[0', '\x1b ', '\x90a', '\t', '\r', ' ', 'a\u0600', '\u0600 ', '👩\u200d'];
  for (const part of [...parts, ...openers]) {
    it(JSON.stringify(part), () => {
      const text = `${part.repeat(200_000 / part.length)}x`;
      inTime('one line', () => sanitiseLine(text));
      inTime('several lines', () => sanitise(text, { multiline: true }));
      inTime('shown', () => sanitise(text, { mode: 'show' }));
      inTime('JSON', () => safeJson(text));
    });
  }
});
