/** The characters that screens are drawn with: Unicode, or ASCII for terminals and fonts that lack it. */
import { blockLevels } from '../../../text/sparkline.ts';

export const unicodeGlyphs = {
  marker: '▸',
  mark: '◆',
  pinned: '★',
  dot: '●',
  circle: '○',
  check: '✓',
  cross: '✗',
  pause: '‖',
  warning: '▲',
  ellipsis: '…',
  crumb: '›',
  crumbBack: '‹',
  arrowUp: '▲',
  arrowDown: '▼',
  bullet: '•',
  folded: '▸',
  unfolded: '▾',
  /** A closed and an open branch in a list, distinct from the cursor's marker. */
  closed: '+',
  opened: '-',
  horizontal: '─',
  vertical: '│',
  topLeft: '┌',
  topRight: '┐',
  bottomLeft: '└',
  bottomRight: '┘',
  teeLeft: '┤',
  teeRight: '├',
  teeUp: '┴',
  teeDown: '┬',
  cross4: '┼',
  quote: '▎',
  full: '█',
  empty: '░',
  /** From lowest to highest. */
  levels: blockLevels,
  /** The left eighths of a cell. */
  eighths: ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'],
  /** Whether curves are plotted with braille patterns, two by four dots per cell. */
  braille: true,
} as const;

export type Glyphs = {
  readonly [Name in keyof typeof unicodeGlyphs]: (typeof unicodeGlyphs)[Name] extends readonly string[]
    ? readonly string[]
    : (typeof unicodeGlyphs)[Name] extends boolean
      ? boolean
      : string;
};

export const asciiGlyphs: Glyphs = {
  marker: '>',
  mark: '*',
  pinned: '^',
  dot: '*',
  circle: 'o',
  check: '+',
  cross: 'x',
  pause: '=',
  warning: '!',
  ellipsis: '~',
  crumb: '>',
  crumbBack: '<',
  arrowUp: '^',
  arrowDown: 'v',
  bullet: '-',
  folded: '+',
  unfolded: '-',
  closed: '+',
  opened: '-',
  horizontal: '-',
  vertical: '|',
  topLeft: '+',
  topRight: '+',
  bottomLeft: '+',
  bottomRight: '+',
  teeLeft: '+',
  teeRight: '+',
  teeUp: '+',
  teeDown: '+',
  cross4: '+',
  quote: '|',
  full: '#',
  empty: '.',
  levels: ['_', '.', '-', '=', '+', '*', '%', '#'],
  eighths: ['#', '#', '#', '#', '#', '#', '#', '#'],
  braille: false,
};
