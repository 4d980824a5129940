import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../../src/text/width.ts';
import { titleLine } from '../../../src/ui/app/frame-lines.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';

const theme = createTheme('plain');

describe('titleLine', () => {
  it.each([
    ['2 running', ''],
    ['final', '●'],
    ['', ''],
    ['failing, retry in 1s • 12 running', '✗'],
  ])('is as wide as the terminal, with %j and the mark %j at the right', (words, mark) => {
    for (const columns of [60, 61, 80, 200]) {
      const line = stripVTControlCharacters(titleLine(columns, ['benchtop ── local', 'local'], [words], mark, theme));
      expect(displayWidth(line)).toBe(columns);
      expect(line).toMatch(/^┌.*┐$/);
      expect(line).toContain(words);
    }
  });

  it('drops the name of the program before it cuts that of the profile', () => {
    const titles = ['benchtop ── local (read-only)', 'local (read-only)'];
    const words = ['live, read every 10s • 1 running', 'live, every 10s • 1 running'];
    const line = (columns: number) => stripVTControlCharacters(titleLine(columns, titles, words, '●', theme));
    expect(line(120)).toMatch(/^┌─ benchtop ── local \(read-only\) ─+ ● live, read every 10s • 1 running ─┐$/);
    expect(line(60)).toMatch(/^┌─ local \(read-only\) ─+ ● live, every 10s • 1 running ─┐$/);
  });
});
