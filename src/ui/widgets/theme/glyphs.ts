/** The characters that the screens are drawn with: Unicode ones, and ASCII ones for terminals and fonts without them. */

export const unicodeGlyphs = {
  marker: '▸',
  mark: '◆',
  dot: '●',
  circle: '○',
  check: '✓',
  cross: '✗',
  pause: '‖',
  warning: '▲',
  ellipsis: '…',
  crumb: '›',
  arrowUp: '▲',
  arrowDown: '▼',
  bullet: '•',
  folded: '▸',
  unfolded: '▾',
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
  /** From the lowest to the highest. */
  levels: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
  /** Parts of one cell from the left, eighths. */
  eighths: ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'],
  /** Plots curves with Unicode's braille patterns, two by four dots in a cell. */
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
  dot: '*',
  circle: 'o',
  check: '+',
  cross: 'x',
  pause: '=',
  warning: '!',
  ellipsis: '~',
  crumb: '>',
  arrowUp: '^',
  arrowDown: 'v',
  bullet: '-',
  folded: '+',
  unfolded: '-',
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
