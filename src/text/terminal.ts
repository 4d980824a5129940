/** What the terminal can show, as the environment says. Pure. */

/** Columns of text that no terminal limits, and of a terminal that does not say how many it has. */
export const defaultColumns = 80;

/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Types of terminals that cannot move their cursor (terminfo knows no `cup` for them). */
const withoutCursor = /^(dumb|unknown|network|dialup|lpr|printer|emacs)(-|$)/;

/** Whether the cursor can be moved, which a full screen needs. A terminal that says nothing of itself can. */
export function canMoveCursor({ TERM = '' }: Environment): boolean {
  return !withoutCursor.test(TERM);
}

/**
 * Whether colours are asked for or refused: by `FORCE_COLOR` (0 and false refuse them), else by `NO_COLOR`
 * (https://no-color.org), else by a terminal without any. Undefined if nothing says so: a terminal has colours, a pipe
 * has none.
 */
export function wantsColour({ FORCE_COLOR, NO_COLOR, TERM }: Environment): boolean | undefined {
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR.toLowerCase() !== 'false';
  return NO_COLOR || TERM === 'dumb' ? false : undefined;
}

/** Whether the terminal has its own sixteen colours and no more. */
export function hasFewColours({ TERM = '' }: Environment): boolean {
  return /^(linux|ansi|cons25|vt\d+)(-|$)|-16color$/.test(TERM);
}

/** Whether only ASCII can be shown: by the console's font, or by a locale that is not UTF-8. */
export function isAsciiOnly(environment: Environment, platform: NodeJS.Platform = process.platform): boolean {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || '';
  return (
    environment['BENCHTOP_ASCII'] === '1' ||
    environment['TERM'] === 'linux' ||
    // A locale that is not set says nothing; terminals of today speak UTF-8. The plain POSIX ones say that they do not.
    (platform !== 'win32' && /^(C|POSIX)$|\.(?!utf-?8)/i.test(locale))
  );
}

/** What takes as much room, and means as much, as the characters beyond ASCII that benchtop's own words hold. */
const beyondAscii = '…·•–−×±≈“”‘’→←↑↓↵';
const inAscii = `.----x~~""''><^v/`;
const beyond = new RegExp(`[${beyondAscii}]`, 'g');

/** The text with its punctuation and arrows in ASCII, as wide as before. Letters stay: they are somebody's data. */
export function toAscii(text: string): string {
  return text.replace(beyond, character => inAscii.charAt(beyondAscii.indexOf(character)));
}
