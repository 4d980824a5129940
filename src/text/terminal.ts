/** The capabilities of the terminal, according to the environment. Pure. */

/** How many columns to use without a terminal, or if the terminal does not report its width. */
export const defaultColumns = 80;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Terminals that cannot move their cursor (terminfo has no `cup` for them). */
const withoutCursor = /^(dumb|unknown|network|dialup|lpr|printer|emacs)(-|$)/;

/** Whether the cursor can be moved, which a full screen needs. Assumed to be true if TERM is not set. */
export function canMoveCursor({ TERM = '' }: Environment): boolean {
  return !withoutCursor.test(TERM);
}

/**
 * Whether colours are requested or disabled: by `FORCE_COLOR` (0 and false disable them), else by `NO_COLOR`
 * (https://no-color.org), else by a terminal without colours. Undefined if no variable decides: then a terminal gets
 * colours and a pipe does not.
 */
export function wantsColour({ FORCE_COLOR, NO_COLOR, TERM }: Environment): boolean | undefined {
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR.toLowerCase() !== 'false';
  return NO_COLOR || TERM === 'dumb' ? false : undefined;
}

/** Whether the terminal has only the sixteen basic colours. */
export function hasFewColours({ TERM = '' }: Environment): boolean {
  return /^(linux|ansi|cons25|vt\d+)(-|$)|-16color$/.test(TERM);
}

/** Whether a variable's value turns something on. */
export const isOn = (value = ''): boolean => /^(1|true|yes|on)$/i.test(value);

/** Whether only ASCII can be shown, because of the console's font or a locale other than UTF-8. */
export function isAsciiOnly(environment: Environment, platform: NodeJS.Platform = process.platform): boolean {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || '';
  return (
    isOn(environment['BENCHTOP_ASCII']) ||
    environment['TERM'] === 'linux' ||
    // Without a locale, assume UTF-8, which today's terminals use. The plain POSIX locales do not.
    (platform !== 'win32' && /^(C|POSIX)$|\.(?!utf-?8)/i.test(locale))
  );
}

/** The non-ASCII characters in benchtop's own text; their replacements have the same width. */
const beyondAscii = '…·•–−×±≈“”‘’→←↑↓↵';
const inAscii = `.----x~~""''><^v/`;
const nonAscii = new RegExp(`[${beyondAscii}]`, 'g');

/** The text with punctuation and arrows in ASCII, at the same width. Letters stay, since they may be data. */
export function toAscii(text: string): string {
  return text.replace(nonAscii, character => inAscii.charAt(beyondAscii.indexOf(character)));
}
