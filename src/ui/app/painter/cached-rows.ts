/**
 * Ink composes every cell of every frame from objects, which at 200×60 takes milliseconds and creates ten megabytes of
 * garbage for one cursor move. This wraps Ink's own `Output`: it checks each row's content, composes only rows that
 * were not in the previous frame, and simply joins adjacent pieces of simple text. Ink creates its outputs with
 * `Output.create`, which patches/ink+8.0.0.patch adds.
 */
import { maxOf } from '../../../base/many.ts';
import { simpleLineWidth, styledLines } from './cells.ts';

/** Half-open ranges of columns and rows; a missing bound means no limit. */
interface Clip {
  readonly x1?: number | undefined;
  readonly x2?: number | undefined;
  readonly y1?: number | undefined;
  readonly y2?: number | undefined;
}

/** Transforms one line of drawn text, given the line's index. */
type Transformer = (line: string, index: number) => string;

export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/** The object that Ink draws a frame into. */
export interface FrameOutput {
  /** In rows. */
  readonly height: number;
  write(x: number, y: number, text: string, options: { readonly transformers: readonly Transformer[] }): void;
  clip(clip: Clip): void;
  unclip(): void;
  get(): { output: string; height: number };
}

/** Ink's class, with the internals used here. */
interface InkOutput extends FrameOutput {
  /** Caches of split and measured strings; each frame has its own unless shared. */
  caches: { getStringWidth(text: string): number };
  sliceLineToColumns(line: string, from: number, to: number): string;
}

/** A line of text at its position in a row. */
interface Piece {
  readonly x: number;
  readonly line: string;
}

function bound(
  left: number | undefined,
  right: number | undefined,
  tighter: (a: number, b: number) => number,
): number | undefined {
  if (left === undefined) return right;
  return right === undefined ? left : tighter(left, right);
}

function intersect(outer: Clip | undefined, inner: Clip): Clip {
  return {
    x1: bound(outer?.x1, inner.x1, Math.max),
    x2: bound(outer?.x2, inner.x2, Math.min),
    y1: bound(outer?.y1, inner.y1, Math.max),
    y2: bound(outer?.y2, inner.y2, Math.min),
  };
}

function isEmpty({ x1, x2, y1, y2 }: Clip): boolean {
  return (x1 !== undefined && x2 !== undefined && x1 >= x2) || (y1 !== undefined && y2 !== undefined && y1 >= y2);
}

/** Maximum number of strings in Ink's own caches, which take about a hundred bytes per character. */
const keptTexts = 1_000;
/** Separates the parts of a row's key; no drawn text contains it. */
const keySeparator = '\u0000';

const resetStyle = '\u001b[m';

/** Joins simple pieces from left to right into a line; undefined if they overlap or are not simple. */
function joinPieces(pieces: readonly Piece[], width: number): string | undefined {
  let row = '';
  let end = 0;
  for (const { x, line } of pieces) {
    const cells = simpleLineWidth(line);
    if (cells === undefined || x < end || x + cells > width) return undefined;
    row += ' '.repeat(x - end) + line;
    // An unclosed style must not reach the next part.
    if (line.includes('\u001b')) row += resetStyle;
    end = x + cells;
  }
  return row;
}

/** Creates outputs that draw the same frames as `Ink`'s. */
export function cachedRows(Ink: InkClass): (size: FrameSize) => FrameOutput {
  const rows = new Rows(Ink);
  return size => new Frame(rows, size);
}

type InkClass = new (size: FrameSize) => InkOutput;

/** The state between frames: the drawn rows, and Ink's own caches. */
class Rows {
  readonly #Ink: InkClass;
  /** For each width, the last frame's rows, keyed by their content. */
  readonly #frames = new Map<number, ReadonlyMap<string, string>>();
  #ink: InkOutput;
  #texts = 0;

  constructor(Ink: InkClass) {
    this.#Ink = Ink;
    this.#ink = new Ink({ width: 0, height: 0 });
  }

  /** Drops Ink's caches once they are large. Called only between frames. */
  trim(): void {
    if (this.#texts < keptTexts) return;
    this.#ink = new this.#Ink({ width: 0, height: 0 });
    this.#texts = 0;
  }

  cells(line: string): number {
    return simpleLineWidth(line) ?? this.#ink.caches.getStringWidth(line);
  }

  slice(line: string, from: number, to: number): string {
    return this.#ink.sliceLineToColumns(line, from, to);
  }

  /** The rows of a frame as lines. */
  draw(rows: readonly (readonly Piece[])[], width: number): string[] {
    const known = this.#frames.get(width);
    const drawn = new Map<string, string>();
    const lines = rows.map(pieces => {
      const key = pieces.map(({ x, line }) => `${x}${keySeparator}${line}`).join(keySeparator);
      const line = drawn.get(key) ?? known?.get(key) ?? joinPieces(pieces, width) ?? this.#compose(pieces, width);
      drawn.set(key, line);
      return line;
    });
    // Only one width is on screen at a time; a resize drops the rows of the old one.
    if (!known) this.#frames.clear();
    this.#frames.set(width, drawn);
    return lines;
  }

  #compose(pieces: readonly Piece[], width: number): string {
    const row = new this.#Ink({ width, height: 1 });
    row.caches = this.#ink.caches;
    this.#texts += pieces.length;
    for (const { x, line } of pieces) row.write(x, 0, line, { transformers: [] });
    return row.get().output;
  }
}

/** One frame: Ink writes text into it and gets lines back. */
class Frame implements FrameOutput {
  readonly height: number;
  readonly #kept: Rows;
  readonly #width: number;
  readonly #rows: Piece[][];
  readonly #clips: Clip[] = [];

  constructor(kept: Rows, { width, height }: FrameSize) {
    this.#kept = kept;
    this.#width = width;
    this.height = height;
    this.#rows = Array.from({ length: height }, () => []);
    kept.trim();
  }

  clip(clip: Clip): void {
    this.#clips.push(intersect(this.#clips.at(-1), clip));
  }

  unclip(): void {
    this.#clips.pop();
  }

  write(x: number, y: number, text: string, { transformers }: { readonly transformers: readonly Transformer[] }): void {
    const clip = this.#clips.at(-1) ?? {};
    if (text === '' || isEmpty(clip)) return;
    const { x1, x2, y1 = 0, y2 = this.#rows.length } = clip;
    const lines = styledLines(text);
    const kept = this.#kept;
    const widths = x1 !== undefined && x2 !== undefined ? lines.map(line => kept.cells(line)) : [];
    if (x1 !== undefined && x2 !== undefined && (x > x2 || x + maxOf(widths) < x1)) return;
    for (const [index, whole] of lines.entries()) {
      const row = this.#rows[y + index];
      if (!row || y + index < y1 || y + index >= y2) continue;
      let line = whole;
      let from = x;
      if (x1 !== undefined && x2 !== undefined) {
        const cells = widths[index] ?? 0;
        const start = Math.max(0, x1 - x);
        const end = Math.min(cells, x2 - x);
        if (start > 0 || end < cells) line = kept.slice(whole, start, end);
        from = Math.max(x, x1);
      }
      for (const transformer of transformers) line = transformer(line, index);
      if (line !== '') row.push({ x: from, line });
    }
  }

  get(): { output: string; height: number } {
    return { output: this.#kept.draw(this.#rows, this.#width).join('\n'), height: this.height };
  }
}
