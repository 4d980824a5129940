import { describe, expect, it } from 'vitest';
import { cleanStream } from '../../src/text/clean-stream.ts';
import { sanitise } from '../../src/text/sanitise.ts';

function streamed(pieces: readonly string[]): string {
  const clean = cleanStream();
  return pieces.map(piece => clean(piece)).join('');
}

describe('text that comes in pieces', () => {
  it('is written as it comes', () => {
    const clean = cleanStream();
    expect(clean('two w')).toBe('two w');
    expect(clean('ords\nand')).toBe('ords\nand');
    expect(clean(' more')).toBe(' more');
  });

  it.each([
    ['an escape sequence', ['a\u001b', '[31', 'mred\n', 'next']],
    ['a title', ['a\u001b]0;own', 'ed\u0007b\n']],
    ['marks without end', ['e', ...Array.from({ length: 60 }, () => '\u0301'), 'x\n']],
    ['half a character', ['\ud83d', '\ude00 ok\n']],
  ])('holds back %s that is spread over them', (_, pieces) => {
    const whole = sanitise(pieces.join(''), { multiline: true });
    const out = streamed(pieces);
    expect(out.endsWith('\n') || out.endsWith('next')).toBe(true);
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(out.length).toBeLessThanOrEqual(whole.length + 8);
    expect(out.match(/\u0301/g)?.length ?? 0).toBeLessThanOrEqual(whole.match(/\u0301/g)?.length ?? 0);
  });
});
