/** Parses a line of a frame into cells. Pure. */
import { simpleTextWidth, walk } from '../../../text/width.ts';

export interface Cell {
  /** The grapheme; empty in the second cell of a wide grapheme. */
  readonly text: string;
  readonly width: number;
  /** SGR parameters in a fixed order, e.g. `1;36`; empty for none. Equal styles are equal strings. */
  readonly style: string;
}

export const blank: Cell = { text: ' ', width: 1, style: '' };

/** Limits for the caches below: a screen uses few styles, but text may contain any number of colours. */
const maxStyles = 200;
const maxChanges = 1_000;

const asciiUnits = 0x80;

/** Shared cells for ASCII characters, keyed by style: most cells in a frame are ASCII. */
const asciiCells = new Map<string, (Cell | undefined)[]>();

function asciiCellsOf(style: string): (Cell | undefined)[] {
  const known = asciiCells.get(style);
  if (known) return known;
  if (asciiCells.size >= maxStyles) asciiCells.clear();
  const cells = new Array<Cell | undefined>(asciiUnits).fill(undefined);
  if (style === blank.style) cells[blank.text.charCodeAt(0)] = blank;
  asciiCells.set(style, cells);
  return cells;
}

/** SGR attributes (ECMA-48 8.3.117) with the codes that switch them on and off. */
const attributes: Readonly<Record<number, number>> = { 1: 22, 2: 22, 3: 23, 4: 24, 5: 25, 7: 27, 8: 28, 9: 29, 53: 55 };
/** The attribute that each code switches off. */
const attributesOff = new Map<number, number[]>();
for (const [on, off] of Object.entries(attributes)) {
  attributesOff.set(off, [...(attributesOff.get(off) ?? []), Number(on)]);
}
const sequence = /\u001b\[([\d;:]*)m|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

class Style {
  #on = new Set<number>();
  #foreground = '';
  #background = '';

  apply(parameters: string): void {
    const codes = parameters === '' ? [0] : parameters.split(/[;:]/).map(Number);
    for (let index = 0; index < codes.length; index += 1) {
      const code = codes[index] ?? 0;
      if (code === 0) {
        this.#on.clear();
        this.#foreground = '';
        this.#background = '';
      } else if (attributes[code] !== undefined) this.#on.add(code);
      else if (code === 38 || code === 48) {
        const length = codes[index + 1] === 5 ? 3 : 5;
        const colour = codes.slice(index, index + length).join(';');
        if (code === 38) this.#foreground = colour;
        else this.#background = colour;
        index += length - 1;
      } else if (code === 39) this.#foreground = '';
      else if (code === 49) this.#background = '';
      else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) this.#foreground = String(code);
      else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) this.#background = String(code);
      else for (const on of attributesOff.get(code) ?? []) this.#on.delete(on);
    }
  }

  toString(): string {
    const on = this.#on.size === 0 ? '' : [...this.#on].sort((left, right) => left - right).join(';');
    const front = on === '' || this.#foreground === '' ? on + this.#foreground : `${on};${this.#foreground}`;
    return front === '' || this.#background === '' ? front + this.#background : `${front};${this.#background}`;
  }
}

/** The style after SGR parameters, keyed by the style before them and the parameters. */
const changes = new Map<string, string>();

function styleAfter(before: string, parameters: string): string {
  const key = `${before}m${parameters}`;
  const known = changes.get(key);
  if (known !== undefined) return known;
  if (changes.size >= maxChanges) changes.clear();
  const style = new Style();
  if (before !== '') style.apply(before);
  style.apply(parameters);
  const after = style.toString();
  changes.set(key, after);
  return after;
}

/** The cells of a line, exactly `columns` of them: cut, or padded with blanks. */
export function parseLine(line: string, columns: number): Cell[] {
  const cells: Cell[] = [];
  let style = '';
  const add = (text: string): void => {
    const ascii = asciiCellsOf(style);
    walk(text, (start, end, width) => {
      // A character without a cell of its own belongs to the previous one.
      if (width === 0) return true;
      if (cells.length + width > columns) return false;
      const unit = end - start === 1 ? text.charCodeAt(start) : asciiUnits;
      const cell = (unit < asciiUnits && ascii[unit]) || { text: text.slice(start, end), width, style };
      if (unit < asciiUnits) ascii[unit] = cell;
      cells.push(cell);
      for (let more = 1; more < width; more += 1) cells.push({ text: '', width: 0, style });
      return true;
    });
  };
  let from = 0;
  for (const match of line.matchAll(sequence)) {
    if (match.index > from) add(line.slice(from, match.index));
    if (match[1] !== undefined) style = styleAfter(style, match[1]);
    from = match.index + match[0].length;
  }
  if (from < line.length) add(line.slice(from));
  while (cells.length < columns) cells.push(blank);
  return cells;
}

/** The lines of a styled string, each with its initial style. */
export function styledLines(text: string): readonly string[] {
  if (!text.includes('\n')) return [text];
  const lines = text.split('\n');
  if (!text.includes('\u001b')) return lines;
  let style = '';
  return lines.map(line => {
    const first = style;
    for (const match of line.matchAll(sequence)) if (match[1] !== undefined) style = styleAfter(style, match[1]);
    return first === '' ? line : `\u001b[${first}m${line}`;
  });
}

const styling = /\u001b\[[\d;]*m/g;

/** Width of a line of simple text and styles; undefined if it contains anything else. */
export function simpleLineWidth(line: string): number | undefined {
  return simpleTextWidth(line.includes('\u001b') ? line.replaceAll(styling, '') : line);
}

export function sameCell(left: Cell | undefined, right: Cell | undefined): boolean {
  return left === right || (left?.text === right?.text && left?.style === right?.style);
}
