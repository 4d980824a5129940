/**
 * Measures text in terminal cells. A grapheme is a character as a reader sees it; it is never split. Expects sanitised
 * text: control characters have width zero here, but not in a terminal.
 */
import stringWidth from 'string-width';

/** Created on first use: creating it takes milliseconds, and a plain first screen does not need it. */
let segmenter: Intl.Segmenter | undefined;
/** Each character of such text is one cell. */
export const printableAscii = /^[ -~]*$/;

/**
 * For each simple UTF-16 unit, its cells plus one; 0 for all others. Next to each other, simple units are graphemes of
 * their own. Most text consists of them and needs no segmenter, which is about a hundred times slower.
 */
const simpleUnits = new Uint8Array(0x10000);
// Controls take up no cells and do not combine, except a carriage return with a line feed (UAX #29, GB3 to GB5).
simpleUnits.fill(1, 0x00, 0x0d).fill(1, 0x0e, 0x20);
for (const [first, last] of [
  [0x20, 0x7e],
  [0xa0, 0xa8],
  [0xaa, 0xac],
  [0xaf, 0x2ff],
  [0x370, 0x377],
  [0x37a, 0x37f],
  [0x38e, 0x3a1],
  [0x3a3, 0x482],
  [0x48a, 0x52f],
  [0x2010, 0x2027],
  [0x2030, 0x203b],
  [0x2190, 0x2193],
  [0x2500, 0x25a9],
  [0x25b2, 0x25b5],
  [0x25b8, 0x25bf],
  [0x25c6, 0x25fa],
  [0x2713, 0x2713],
  [0x2717, 0x2717],
  [0x2800, 0x28ff],
] as const) {
  simpleUnits.fill(2, first, last + 1);
}
for (const [first, last] of [
  [0x3001, 0x3029],
  [0x3041, 0x3096],
  [0x309b, 0x30ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xff01, 0xff60],
] as const) {
  simpleUnits.fill(3, first, last + 1);
}

function simpleAt(text: string, index: number): number {
  return simpleUnits[text.charCodeAt(index)] ?? 0;
}

/** Cached grapheme widths: text has few distinct graphemes, and measuring is slow. */
const knownWidths = new Map<string, number>();
const maximumKnown = 5_000;

function graphemeWidth(grapheme: string): number {
  const known = knownWidths.get(grapheme);
  if (known !== undefined) return known;
  const width = stringWidth(grapheme, { countAnsiEscapeCodes: true });
  if (grapheme.length > 32) return width;
  if (knownWidths.size >= maximumKnown) knownWidths.clear();
  knownWidths.set(grapheme, width);
  return width;
}

/**
 * Walks the graphemes of `text`: `visit` gets each one's bounds and cells, and returns `false` to stop. There is always
 * a grapheme boundary between two simple units, so only the stretches around other units are segmented.
 */
export function walk(text: string, visit: (start: number, end: number, width: number) => boolean): void {
  const { length } = text;
  let index = 0;
  while (index < length) {
    const simple = simpleAt(text, index);
    if (simple > 0 && (index + 1 === length || simpleAt(text, index + 1) > 0)) {
      if (!visit(index, index + 1, simple - 1)) return;
      index++;
      continue;
    }
    const start = index++;
    while (index < length && !(simpleAt(text, index) > 0 && simpleAt(text, index - 1) > 0)) index++;
    segmenter ??= new Intl.Segmenter();
    for (const { segment, index: offset } of segmenter.segment(text.slice(start, index))) {
      const from = start + offset;
      if (!visit(from, from + segment.length, graphemeWidth(segment))) return;
    }
  }
}

/** The width in cells of a text that consists of simple units without controls; undefined for any other. */
export function simpleTextWidth(text: string): number | undefined {
  let cells = 0;
  for (let index = 0; index < text.length; index += 1) {
    const simple = simpleAt(text, index);
    if (simple < 2) return undefined;
    cells += simple - 1;
  }
  return cells;
}

/** The width of `text` in cells, on one line. */
export function displayWidth(text: string): number {
  if (printableAscii.test(text)) return text.length;
  let cells = 0;
  walk(text, (_start, _end, width) => {
    cells += width;
    return true;
  });
  return cells;
}

/** The graphemes of `text`, in order: the same as `Intl.Segmenter`, but faster. */
export function graphemes(text: string): string[] {
  if (printableAscii.test(text)) return text.split('');
  const found: string[] = [];
  walk(text, (start, end) => found.push(text.slice(start, end)) > 0);
  return found;
}

export interface TruncateOptions {
  /** Marks the omitted part; `…` by default, `...` or `~` with ASCII glyphs. */
  readonly ellipsis?: string;
  /** Which part to omit; `end` by default. `middle` suits ids and paths. */
  readonly position?: 'end' | 'middle' | 'start';
}

/** `text` (a single line) in at most `width` cells. */
export function truncate(text: string, width: number, options: TruncateOptions = {}): string {
  const { ellipsis = '…', position = 'end' } = options;
  if (width <= 0) return '';
  if (text.length <= width && printableAscii.test(text)) return text;
  if (fits(text, width)) return text;
  const room = width - displayWidth(ellipsis);
  if (room < 0) return takeStart(ellipsis, width);
  if (position === 'start') return ellipsis + takeEnd(text, room);
  if (position === 'end') return withoutCutNumber(takeStart(text, room)) + ellipsis;
  return takeStart(text, Math.ceil(room / 2)) + ellipsis + takeEnd(text, Math.floor(room / 2));
}

/**
 * A truncated number would look like a smaller one, so a number at the cut is left out. Ids and names keep their
 * digits.
 */
const withoutCutNumber = (start: string): string =>
  /\d$/.test(start) ? start.replace(/(\s)[-+]?[\d.,]+$/, '$1') : start;

function fits(text: string, width: number): boolean {
  let cells = 0;
  walk(text, (_start, _end, own) => {
    cells += own;
    return cells <= width;
  });
  return cells <= width;
}

/** The longest prefix of `text` that fits into `width` cells. */
function takeStart(text: string, width: number): string {
  let cells = 0;
  let taken = 0;
  walk(text, (_start, end, own) => {
    cells += own;
    if (cells > width) return false;
    taken = end;
    return true;
  });
  return text.slice(0, taken);
}

/** The longest suffix of `text` that fits into `width` cells. */
function takeEnd(text: string, width: number): string {
  const marks: { start: number; width: number }[] = [];
  walk(text, (start, _end, own) => marks.push({ start, width: own }) > 0);
  let cells = 0;
  let from = text.length;
  for (const mark of marks.reverse()) {
    cells += mark.width;
    if (cells > width) break;
    from = mark.start;
  }
  return text.slice(from);
}

/** `text` padded with spaces up to `width` cells; longer text is returned unchanged. */
export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** `text` preceded by spaces up to `width` cells; longer text is returned unchanged. */
export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - displayWidth(text))) + text;
}

/** `text` cut or padded to exactly `width` cells. */
export function fitCells(
  text: string,
  width: number,
  align: 'left' | 'right' = 'left',
  options?: TruncateOptions,
): string {
  const cut = truncate(text, width, options);
  return align === 'right' ? padStart(cut, width) : padEnd(cut, width);
}

/** Replaces tabs with spaces up to the next stop, counted from the start of each line. */
export function expandTabs(text: string, stop: number): string {
  if (!text.includes('\t')) return text;
  return text
    .split('\n')
    .map(line => (line.includes('\t') ? expandLine(line, stop) : line))
    .join('\n');
}

function expandLine(line: string, stop: number): string {
  const size = Math.max(1, Math.floor(stop));
  let expanded = '';
  let cells = 0;
  for (const [index, part] of line.split('\t').entries()) {
    if (index > 0) {
      const gap = size - (cells % size);
      expanded += ' '.repeat(gap);
      cells += gap;
    }
    expanded += part;
    cells += displayWidth(part);
  }
  return expanded;
}
