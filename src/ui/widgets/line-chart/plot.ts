/**
 * A grid of braille dots that belong to series, with patterns that distinguish the series even without colour. Pure.
 */
import { largestOf } from '../../../base/many.ts';
import type { Theme } from '../theme/theme.tsx';

export const dotsAcross = 2;
export const dotsDown = 4;
/** Each dot's bit in a braille pattern, by column and row (Unicode, block U+2800). */
const dotBits = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/** Line patterns by series: solid, dotted, dashed, sparse, dash-dot. */
const patterns = ['1', '10', '111100', '1000', '1111010'] as const;
const asciiMarks = ['*', '+', 'o', 'x', '#', '%'] as const;

/** The mark for faint dots if there is no braille. */
const asciiShade = '.';
/** A scatter cell with less than this share of the fullest cell's points is faint. */
const fewShare = 0.1;
/** The pattern for faint lines. */
const sparse = '100';
/** The patterns of limits by series: few dots, so that no line of another series looks like them. */
const limitPatterns = ['1000000', '101000000000', '10101000000000000'] as const;

interface PlotCell {
  readonly text: string;
  readonly series: number;
  /** Whether the cell has only faint dots. */
  readonly faint: boolean;
}

/** The series in a bit set. */
function membersOf(bits: number): number[] {
  const members: number[] = [];
  for (let series = 0; bits >> series !== 0; series += 1) if ((bits >> series) & 1) members.push(series);
  return members;
}

/** Each cell's dots, and its series as bits; series from the 31st on share the last bit. */
interface Layer {
  readonly dots: Uint8Array;
  readonly series: Int32Array;
}

const layerOf = (cells: number): Layer => ({ dots: new Uint8Array(cells), series: new Int32Array(cells) });

type Dot = readonly [x: number, y: number];

export class Plot {
  /** In cells. */
  readonly width: number;
  readonly height: number;
  readonly #braille: boolean;
  readonly #lines: Layer;
  /** Drawn behind the lines; in a cell with a line, only its peaks show. */
  readonly #shade: Layer;
  readonly #peaks: Uint8Array;

  constructor(width: number, height: number, { glyphs }: Theme) {
    const cells = width * height;
    this.width = width;
    this.height = height;
    this.#braille = glyphs.braille;
    this.#lines = layerOf(cells);
    this.#shade = layerOf(cells);
    this.#peaks = new Uint8Array(cells);
  }

  /** Lines from point to point, in the series' pattern; the points themselves are always drawn. */
  curve(points: readonly Dot[], series: number): void {
    const pattern = this.#braille ? (patterns[series % patterns.length] ?? '1') : '1';
    this.#trace(points, pattern, (x, y) => this.#dot(this.#lines, x, y, series));
  }

  /** Points without lines. Cells with few points are faint, because dots alone would hide how many there are. */
  scatter(points: readonly Dot[], series: number): void {
    const cellOf = ([x, y]: Dot): string => `${Math.floor(x / dotsAcross)} ${Math.floor(y / dotsDown)}`;
    const cells = [...Map.groupBy(points, cellOf).values()];
    const most = largestOf(cells, ({ length }) => length);
    for (const cell of cells) {
      const layer = cell.length < most * fewShare ? this.#shade : this.#lines;
      for (const [x, y] of cell) this.#dot(layer, x, y, series);
    }
  }

  /** A faint line behind the curves. */
  faintCurve(points: readonly Dot[], series: number): void {
    this.#trace(points, sparse, (x, y) => this.#dot(this.#shade, x, y, series));
  }

  /** A limit of the values of a series, faint behind the curves. Its points are not drawn, only the pattern. */
  limit(points: readonly Dot[], series: number): void {
    const pattern = limitPatterns[series % limitPatterns.length] ?? sparse;
    this.#trace(points, pattern, (x, y) => this.#dot(this.#shade, x, y, series), false);
  }

  /** A faint column of dots between two rows. Its ends are never hidden. */
  shade(x: number, top: number, bottom: number, series: number): void {
    for (let y = top; y <= bottom; y += 1) {
      const isEnd = y === top || y === bottom;
      if (!isEnd && (x + y) % 2 === 1) continue;
      const cell = this.#dot(this.#shade, x, y, series);
      if (isEnd && cell !== undefined) this.#peaks[cell] = (this.#peaks[cell] ?? 0) | bitOf(x, y);
    }
  }

  /** Returns the dot's cell; undefined outside the plot. */
  #dot({ dots, series }: Layer, x: number, y: number, of: number): number | undefined {
    const cellX = Math.floor(x / dotsAcross);
    const cellY = Math.floor(y / dotsDown);
    if (cellX < 0 || cellY < 0 || cellX >= this.width || cellY >= this.height) return undefined;
    const cell = cellY * this.width + cellX;
    dots[cell] = (dots[cell] ?? 0) | bitOf(x, y);
    series[cell] = (series[cell] ?? 0) | (1 << Math.min(30, of));
    return cell;
  }

  /** Bresenham's line algorithm. @param drawsPoints whether points are drawn regardless of the pattern */
  #trace(points: readonly Dot[], pattern: string, dot: (x: number, y: number) => void, drawsPoints = true): void {
    let drawn = 0;
    let last: Dot | undefined;
    for (const [toX, toY] of points) {
      if (!Number.isInteger(toX) || !Number.isInteger(toY)) continue;
      let [x, y] = last ?? [toX, toY];
      const across = Math.abs(toX - x);
      const down = -Math.abs(toY - y);
      const stepX = x < toX ? 1 : -1;
      const stepY = y < toY ? 1 : -1;
      let error = across + down;
      while (x !== toX || y !== toY) {
        if (pattern[drawn % pattern.length] === '1') dot(x, y);
        drawn += 1;
        const doubled = 2 * error;
        if (doubled >= down) {
          error += down;
          x += stepX;
        }
        if (doubled <= across) {
          error += across;
          y += stepY;
        }
      }
      if (drawsPoints || last === undefined) dot(toX, toY);
      last = [toX, toY];
    }
  }

  /**
   * Undefined for an empty cell. If several series share a cell, their colours and marks alternate from cell to cell.
   */
  at(x: number, y: number): PlotCell | undefined {
    const cell = y * this.width + x;
    const faint = this.#lines.dots[cell] === 0;
    const { dots, series: bits } = faint ? this.#shade : this.#lines;
    const drawn = (dots[cell] ?? 0) | (this.#peaks[cell] ?? 0);
    if (drawn === 0) return undefined;
    const members = membersOf(bits[cell] ?? 0);
    const series = members[(x + y) % members.length] ?? 0;
    if (this.#braille) return { text: String.fromCodePoint(0x2800 + drawn), series, faint };
    return { text: faint ? asciiShade : (asciiMarks[series % asciiMarks.length] ?? '*'), series, faint };
  }
}

const bitOf = (x: number, y: number): number => dotBits[x % dotsAcross === 0 ? 0 : 1][(y % dotsDown) as 0 | 1 | 2 | 3];

/** How many cells a {@link seriesSample} takes. */
export const sampleWidth = 4;

/** A sample of a series' line in its colour, for a legend. */
export function seriesSample(series: number, theme: Theme, isFaint = false): string {
  const plot = new Plot(sampleWidth, 1, theme);
  const row = dotsDown / 2;
  // End outside the plot, because end points are drawn regardless of the pattern.
  const end = sampleWidth * dotsAcross;
  const line = [
    [0, row],
    [end, row],
  ] as const;
  if (isFaint) plot.faintCurve(line, series);
  else plot.curve(line, series);
  const cells = Array.from({ length: sampleWidth }, (_, x) => plot.at(x, 0)?.text ?? ' ');
  return (isFaint ? theme.faint : theme.series)(series)(cells.join(''));
}
