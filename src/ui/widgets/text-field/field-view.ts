/** Lays out a text field: one line that scrolls sideways, or wrapped lines. Pure. */
import { displayWidth, fitCells, graphemes } from '../../../text/width.ts';
import type { Style } from '../theme/theme.tsx';
import type { EditState } from './editing.ts';

interface FieldView {
  readonly lines: readonly string[];
  /** The cursor's cell within the lines. */
  readonly cursor: { readonly x: number; readonly y: number };
}

/** A part of a line in its own style, counted in characters from the cursor. */
export interface StyledPart {
  readonly from: number;
  readonly to: number;
  readonly style: Style;
}

/** One line of `width` cells around the cursor. */
export function lineView({ characters, cursor }: EditState, width: number, mask = false): FieldView {
  const shown = mask ? characters.map(() => '•') : characters;
  // Backwards from the cursor, so that long text costs no more than the width of the field. The cursor may be after the
  // last character.
  let start = cursor;
  let cells = 0;
  while (start > 0) {
    const size = displayWidth(shown[start - 1] ?? '');
    if (cells + size > width - 1) break;
    cells += size;
    start -= 1;
  }
  return {
    lines: [fitCells(firstCells(shown, start, width), width, 'left', { ellipsis: '' })],
    cursor: { x: cells, y: 0 },
  };
}

/** The characters from `start` on that fit into `width` cells, and one more. */
function firstCells(characters: readonly string[], start: number, width: number): string {
  let end = start;
  for (let cells = 0; end < characters.length && cells <= width; end += 1) cells += displayWidth(characters[end] ?? '');
  return characters.slice(start, end).join('');
}

/** At most `height` lines of `width` cells, including the cursor's. */
export function areaView({ characters, cursor }: EditState, width: number, height: number): FieldView {
  const lines: string[] = [''];
  let at = { x: 0, y: 0 };
  let cells = 0;
  for (const [index, character] of [...characters, ''].entries()) {
    const size = character === '\n' ? 0 : displayWidth(character);
    if (cells + Math.max(1, size) > width && character !== '\n') {
      lines.push('');
      cells = 0;
    }
    if (index === cursor) at = { x: cells, y: lines.length - 1 };
    if (character === '\n') {
      lines.push('');
      cells = 0;
      continue;
    }
    lines[lines.length - 1] += character;
    cells += size;
  }
  const first = Math.max(
    0,
    Math.min(at.y - height + 1, lines.length - height),
    lines.length <= height ? 0 : at.y - height + 1,
  );
  return {
    lines: lines.slice(first, first + height).map(line => fitCells(line, width, 'left', { ellipsis: '' })),
    cursor: { x: at.x, y: at.y - first },
  };
}

/**
 * A line with the caret drawn in it. The terminal's own cursor is not used: moving a drawn caret costs two cells, and
 * it looks the same everywhere.
 */
export function withCaret(view: FieldView, line: number, caret: Style, part?: StyledPart): string {
  const text = view.lines[line] ?? '';
  if (line !== view.cursor.y) return text;
  let cells = 0;
  let index = 0;
  const characters = graphemes(text);
  while (cells < view.cursor.x && index < characters.length) {
    cells += displayWidth(characters[index] ?? '');
    index += 1;
  }
  const styled = (from: number, to?: number): string => inPart(characters.slice(from, to), from - index, part);
  return `${styled(0, index)}${caret(characters[index] ?? ' ')}${styled(index + 1)}`;
}

/** Characters from `at` on; those in the part get its style. */
function inPart(characters: readonly string[], at: number, part: StyledPart | undefined): string {
  if (!part) return characters.join('');
  const [from, to] = [part.from - at, part.to - at].map(place => Math.max(0, place));
  const inside = characters.slice(from, to).join('');
  const [before, after] = [characters.slice(0, from), characters.slice(to)].map(some => some.join(''));
  return `${before}${inside === '' ? '' : part.style(inside)}${after}`;
}
