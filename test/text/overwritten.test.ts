import { expect, it } from 'vitest';
import { overwritten } from '../../src/text/overwritten.ts';
import { hiddenIn } from '../../src/text/sanitise.ts';

it('shows what a terminal shows after carriage returns (R20)', () => {
  const shown = (text: string) => overwritten(text).text;
  expect(overwritten('10%\r50%\r100%\ndone')).toEqual({ text: '100%\ndone', lines: 1 });
  // A shorter text leaves the rest of the earlier one.
  expect(shown('downloading\rok')).toBe('okwnloading');
  expect(shown('downloading\r\u001b[Kok')).toBe('ok');
  expect(shown('downloading\u001b[2K\rok')).toBe('ok');
  expect(shown('\u001b[32m10%\u001b[0m\r\u001b[32m9%\u001b[0m\r')).toBe('9%%');
  // Line ends of other systems write nothing over.
  expect(overwritten('one\r\ntwo\r\n')).toEqual({ text: 'one\ntwo\n', lines: 0 });
});

it('handles a long line of many returns in linear time', () => {
  const text = `${'x'.repeat(1_000_000)}${'\r'.repeat(1_000_000)}y`;
  expect(overwritten(text).text.slice(0, 3)).toBe('yxx');
});

it('counts what is hidden: control sequences, and characters (R21)', () => {
  expect(hiddenIn('plain\n\ttext')).toEqual({ sequences: 0, characters: 0 });
  expect(hiddenIn('é\u001b[31mred\u001b[0m\r\n')).toEqual({ sequences: 2, characters: 0 });
  expect(hiddenIn('a\u202eb\u200bc\u0000')).toEqual({ sequences: 0, characters: 3 });
});
