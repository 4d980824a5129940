import { describe, expect, it } from 'vitest';
import { canMoveCursor, hasFewColours, isAsciiOnly, toAscii, wantsColour } from '../../src/text/terminal.ts';
import { displayWidth } from '../../src/text/width.ts';
import { themeFor } from '../../src/ui/widgets/theme/theme.tsx';

describe('a terminal', () => {
  it.each([
    ['dumb', false],
    ['dumb-emacs-ansi', false],
    ['unknown', false],
    ['', true],
    ['xterm-256color', true],
    ['linux', true],
    ['vt100', true],
  ])('of type "%s" can move its cursor: %s', (TERM, can) => {
    expect(canMoveCursor({ TERM })).toBe(can);
  });

  it.each([
    [{}, undefined],
    [{ NO_COLOR: '' }, undefined],
    [{ NO_COLOR: '1' }, false],
    [{ TERM: 'dumb' }, false],
    [{ FORCE_COLOR: '' }, undefined],
    [{ FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'dumb' }, true],
    [{ FORCE_COLOR: '0' }, false],
    [{ FORCE_COLOR: 'False' }, false],
  ])('with %o has colours: %s', (environment, wanted) => {
    expect(wantsColour(environment)).toBe(wanted);
  });

  it.each([
    [{}, 'linux', false],
    [{ LANG: 'de_DE.UTF-8' }, 'linux', false],
    [{ LANG: 'de_DE.utf8' }, 'linux', false],
    [{ LANG: 'de_DE.ISO-8859-1' }, 'linux', true],
    [{ LANG: 'C.UTF-8', LC_ALL: 'C' }, 'linux', true],
    [{ LANG: 'C' }, 'win32', false],
    [{ TERM: 'linux' }, 'linux', true],
    [{ BENCHTOP_ASCII: '1' }, 'darwin', true],
    [{ BENCHTOP_ASCII: 'Yes' }, 'darwin', true],
    [{ BENCHTOP_ASCII: '0' }, 'darwin', false],
  ] as const)('with %o on %s shows ASCII only: %s', (environment, platform, only) => {
    expect(isAsciiOnly(environment, platform)).toBe(only);
  });

  it('with sixteen colours shows every theme in those', () => {
    const accent = (theme: 'dark' | 'light', TERM: string) => themeFor(theme, { TERM }).styles.accent('x');
    expect(accent('dark', 'xterm-256color')).toContain('38;5;');
    for (const TERM of ['linux', 'vt220', 'rxvt-16color']) {
      expect(hasFewColours({ TERM })).toBe(true);
      expect(accent('dark', TERM)).toBe('\u001b[36mx\u001b[0m');
    }
  });
});

describe('text in ASCII', () => {
  it('keeps its width, and the letters of other scripts', () => {
    const text = 'Asking “it’s” 2×3 → 1–2 · more… é 日';
    expect(toAscii(text)).toBe(`Asking "it's" 2x3 > 1-2 - more. é 日`);
    expect(displayWidth(toAscii(text))).toBe(displayWidth(text));
  });
});
