/**
 * Computes the bytes that turn one frame on the terminal into another: only differing cells are sent. Pure. Expects the
 * terminal not to wrap at the right edge, and leaves its style plain.
 */
import { simpleTextWidth } from '../../../text/width.ts';
import { blank, type Cell, parseLine, sameCell } from './cells.ts';
import { findScroll, type Scroll, scrollLines } from './scroll.ts';

/** Up to this many unchanged cells between two changes are cheaper to resend than to skip. */
const bridge = 4;
/** Erasing is cheaper than sending if a line ends with at least this many blank cells. */
const eraseFrom = 4;

const oddPattern = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Cf}|\ufe0f/u;
/** Matches text longer than one accented character, e.g. a syllable, a number with a sign, a joined emoji. */
const composedPattern = /^.\p{Mn}*\P{Mn}/su;

/** How many cells after a disputed grapheme the terminal may have drawn over. */
const spill = 2;

/** Whether terminals disagree on the width of a grapheme: pictographs, joined characters, characters of width zero. */
function isDisputed(text: string): boolean {
  return simpleTextWidth(text) === undefined && (oddPattern.test(text) || composedPattern.test(text));
}

interface Pen {
  row: number;
  column: number;
  style: string;
  sent: string;
}

function moveTo(pen: Pen, row: number, column: number): void {
  if (pen.row === row && pen.column === column) return;
  const absolute = column === 0 ? `\u001b[${row + 1}H` : `\u001b[${row + 1};${column + 1}H`;
  const steps = column - pen.column;
  const forward = pen.row === row && steps > 0 ? `\u001b[${steps === 1 ? '' : steps}C` : undefined;
  const below = pen.row >= 0 && pen.row === row - 1 && column === 0 ? '\r\n' : undefined;
  const shortest = [absolute, forward, below].filter(move => move !== undefined).sort((a, b) => a.length - b.length)[0];
  pen.sent += shortest ?? absolute;
  pen.row = row;
  pen.column = column;
}

function setStyle(pen: Pen, style: string): void {
  if (pen.style === style) return;
  if (style === '') pen.sent += '\u001b[m';
  else pen.sent += pen.style === '' ? `\u001b[${style}m` : `\u001b[0;${style}m`;
  pen.style = style;
}

/** First cell of the grapheme that covers a cell. */
function startOf(cells: readonly Cell[], index: number): number {
  let start = index;
  while (start > 0 && cells[start]?.width === 0) start -= 1;
  return start;
}

function paintLine(pen: Pen, row: number, old: readonly Cell[], next: readonly Cell[]): void {
  const columns = next.length;
  let blankFrom = columns;
  while (blankFrom > 0 && sameCell(next[blankFrom - 1], blank)) blankFrom -= 1;
  let lastChange = columns - 1;
  while (lastChange >= 0 && sameCell(old[lastChange], next[lastChange])) lastChange -= 1;
  // Whether to erase the rest of the line instead of sending blanks.
  const erases = lastChange >= blankFrom && lastChange - blankFrom + 1 >= eraseFrom;
  const end = erases ? blankFrom : lastChange + 1;
  let column = 0;
  while (column < end) {
    if (sameCell(old[column], next[column])) {
      column += 1;
      continue;
    }
    // A change within an old or new wide grapheme begins at its start.
    const start = Math.min(startOf(next, column), startOf(old, column));
    let stop = column + 1;
    for (let ahead = stop; ahead < end && ahead <= stop + bridge; ahead += 1) {
      if (!sameCell(old[ahead], next[ahead])) stop = ahead + 1;
    }
    while (stop < columns && (next[stop]?.width === 0 || old[stop]?.width === 0)) stop += 1;
    moveTo(pen, row, startOf(next, start));
    for (let index = startOf(next, start); index < stop; index += 1) {
      const cell = next[index] ?? blank;
      if (cell.width === 0) continue;
      setStyle(pen, cell.style);
      pen.sent += cell.text;
      pen.column += cell.width;
      // Its width is disputed: reposition the cursor after it, and resend the following cells.
      if (isDisputed(cell.text)) {
        pen.row = -1;
        stop = Math.max(stop, Math.min(columns, index + cell.width + spill));
        while (stop < columns && next[stop]?.width === 0) stop += 1;
      }
      if (pen.row < 0 && index + 1 < stop) moveTo(pen, row, pen.column);
    }
    // After the last column the cursor position is unreliable.
    if (pen.column >= columns) pen.row = -1;
    column = stop;
  }
  if (erases) {
    moveTo(pen, row, blankFrom);
    setStyle(pen, '');
    pen.sent += '\u001b[K';
  }
}

/** The bytes that turn one frame into another, after an optional scroll. */
function paint(old: readonly string[], next: readonly string[], columns: number, scroll: Scroll | undefined): string {
  const pen: Pen = { row: -1, column: -1, style: '', sent: '' };
  const before = scroll ? scrollLines(old, scroll) : old;
  if (scroll) {
    const { top, bottom, by } = scroll;
    pen.sent += `\u001b[${top + 1};${bottom + 1}r\u001b[${Math.abs(by) === 1 ? '' : Math.abs(by)}${by > 0 ? 'S' : 'T'}\u001b[r`;
  }
  for (let row = 0; row < Math.max(next.length, before.length); row += 1) {
    const from = before[row] ?? '';
    const to = next[row] ?? '';
    if (from !== to) paintLine(pen, row, parseLine(from, columns), parseLine(to, columns));
  }
  setStyle(pen, '');
  return pen.sent;
}

/** Scrolling by at most this many lines always takes fewer bytes than repainting in place. */
const surelyShorter = 2;

/** The bytes that turn one frame into another on a terminal `columns` wide. Empty if they look the same. */
export function diffFrame(old: readonly string[], next: readonly string[], columns: number): string {
  const scroll = findScroll(old, next);
  const scrolled = paint(old, next, columns, scroll);
  if (!scroll || Math.abs(scroll.by) <= surelyShorter) return scrolled;
  // Lines that scroll in are sent whole; if lines are similar, repainting in place may send fewer cells.
  const inPlace = paint(old, next, columns, undefined);
  return inPlace.length < scrolled.length ? inPlace : scrolled;
}
