import { describe, expect, it } from 'vitest';
import { PasteEnd, splitAnswers } from '../../../../src/ui/app/terminal/input.ts';

const start = '\u001b[200~';
const end = '\u001b[201~';
const esc = '\u001b';

describe('splitAnswers', () => {
  it('removes replies of the terminal, and holds back what may become one', () => {
    expect(splitAnswers('j\u001b[0nk')).toEqual({ keys: 'jk', answers: 1, rest: '' });
    expect(splitAnswers('j\u001b[0')).toEqual({ keys: 'j', answers: 0, rest: '\u001b[0' });
    expect(splitAnswers('\u001b')).toEqual({ keys: '\u001b', answers: 0, rest: '' });
  });
});

describe('PasteEnd', () => {
  /** The result of each read, with its time in milliseconds. */
  function reads(...parts: readonly (readonly [text: string, at: number])[]): string[] {
    const paste = new PasteEnd();
    return parts.map(([text, at]) => paste.take(text, at));
  }

  it('leaves a whole paste unchanged, even with keys after it', () => {
    expect(reads([`${start}a${esc}b${end}`, 0], [esc, 5_000])).toEqual([`${start}a${esc}b${end}`, esc]);
    expect(reads([`${start}a`, 0], [`b${end}`, 9_000], ['\u0003', 20_000])).toEqual([`${start}a`, `b${end}`, '\u0003']);
  });

  it.each([esc, '\u0003'])('ends a paste that has stalled when %j is pressed', key => {
    expect(reads([`${start}half`, 0], [key, 2_000], [key, 9_000])).toEqual([`${start}half`, end + key, key]);
  });

  it('takes nothing else as the end: late characters are still pasted', () => {
    expect(reads([`${start}half`, 0], ['d', 9_000], ['y', 20_000], [`${esc}[A`, 30_000])).toEqual([
      `${start}half`,
      'd',
      'y',
      `${esc}[A`,
    ]);
    expect(reads([`${start}half`, 0], [esc, 200])).toEqual([`${start}half`, esc]);
  });

  it('recognises the marks even in chunks', () => {
    expect(reads(['\u001b[20', 0], ['0~a', 10], [esc, 2_000])).toEqual(['\u001b[20', '0~a', end + esc]);
    expect(reads([`${start}a\u001b[2`, 0], ['01~', 10], [esc, 2_000])).toEqual([`${start}a\u001b[2`, '01~', esc]);
  });
});
