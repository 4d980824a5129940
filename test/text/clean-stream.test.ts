import { describe, expect, it, vi } from 'vitest';
import { cleanStream } from '../../src/text/clean-stream.ts';
import { sanitise } from '../../src/text/sanitise.ts';

vi.mock('../../src/text/sanitise.ts', { spy: true });

function streamed(pieces: readonly string[]): string {
  const clean = cleanStream();
  return pieces.map(piece => clean(piece)).join('');
}

describe('streamed text', () => {
  it('is written as it arrives', () => {
    const clean = cleanStream();
    expect(clean('two w')).toBe('two w');
    expect(clean('ords\nand')).toBe('ords\nand');
    expect(clean(' more')).toBe(' more');
  });

  it('writes each line completely, even one that starts like the previous one', () => {
    expect(streamed(['mut', 'able\nmuta', 'ble\n', 'mutant', '\nm'])).toBe('mutable\nmutable\nmutant\nm');
  });

  it.each([
    ['an escape sequence', ['a\u001b', '[31', 'mred\n', 'next']],
    ['a title', ['a\u001b]0;own', 'ed\u0007b\n']],
    ['marks without end', ['e', ...Array.from({ length: 60 }, () => '\u0301'), 'x\n']],
    ['half a character', ['\ud83d', '\ude00 ok\n']],
  ])('holds back %s split across chunks', (_, pieces) => {
    const whole = sanitise(pieces.join(''), { multiline: true });
    const out = streamed(pieces);
    expect(out.endsWith('\n') || out.endsWith('next')).toBe(true);
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(out.length).toBeLessThanOrEqual(whole.length + 8);
    expect(out.match(/\u0301/g)?.length ?? 0).toBeLessThanOrEqual(whole.match(/\u0301/g)?.length ?? 0);
  });

  it('continues after a sequence that ended only after part of it was written', () => {
    expect(streamed(['\u001b', ']', '0;title', '\u0007', 'after', ' it'])).toBe('0;titleafter it');
    expect(streamed(['\u001b', ']', '0;title', '\u0007after'])).toBe('0;titleafter');
  });

  it.each([
    ['emoji', ['a', '\ud83d', '\ude00 ok ', '👩', '\u200d', '🚀 and\tmore\n', 'x\n']],
    ['tabs', ['ab', '\t', 'c\tde', 'f\t\tg', '\n\t1']],
    ['signs before a number', ['at \u0600', '\u0661 left\n']],
    ['Arabic, Thai and Chinese', ['مر', 'حبا\u200cب', 'ك ', 'ภาษา', 'ไทย ', '汉', '字\n']],
    ['joiners and marks', ['a', '\u200d', 'b\u0301', '\u0301\u0301', ' क\u094d', '\u200d', 'ष\n']],
  ])('is the same as unsplit text with %s', (_, pieces) => {
    expect(streamed(pieces)).toBe(
      pieces
        .join('')
        .split('\n')
        .map(line => sanitise(line, { multiline: true }))
        .join('\n'),
    );
  });

  it.each([
    ['letters', 'abc d'],
    ['umlauts', 'äbc d'],
    ['no firm place', '\u0e20\u0e32\u0e29'],
    ['marks', '\u0301\u0301\u0301'],
    ['escapes', '\u001b[31mx'],
    ['an open title', 'ab;c'],
  ])('costs linear time on one line of %s (X7)', (_, piece) => {
    const workOf = (pieces: number): number => {
      vi.mocked(sanitise).mockClear();
      const clean = cleanStream();
      let out = clean('\u001b]0;');
      for (let count = 0; count < pieces; count += 1) out += clean(piece);
      expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
      return vi.mocked(sanitise).mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    };
    expect(workOf(8_000)).toBeLessThan(2.5 * workOf(4_000));
  });
});
