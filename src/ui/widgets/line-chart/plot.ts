/**
 * A grid of braille dots that belong to series, with patterns that distinguish the series even without colour. Pure.
 */
import type { Theme } from '../theme/theme.tsx';

export const dotsAcross = 2;
export const dotsDown = 4;
/** Bit of each dot of a braille pattern, by column and row (Unicode, block U+2800). */
const dotBits = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/** Line patterns by series: solid, dotted, dashed, sparse, dash-dot. */
const patterns = ['1', '10', '111100', '1000', '1111010'] as const;
const asciiMarks = ['*', '+', 'o', 'x', '#', '%'] as const;

export interface PlotCell {
  readonly text: string;
  readonly series: number;
}

/** The members of a bit set of series. */
function membersOf(bits: number): number[] {
  const members: number[] = [];
  for (let series = 0; bits >> series !== 0; series += 1) if ((bits >> series) & 1) members.push(series);
  return members;
}

export class Plot {
  readonly #width: number;
  readonly #height: number;
  readonly #braille: boolean;
  readonly #dots: Uint8Array;
  /** The series in each cell, as bits; more than 31 series share the last one. */
  readonly #series: Int32Array;

  /** `width` and `height` in cells. */
  constructor(width: number, height: number, { glyphs }: Theme) {
    this.#width = width;
    this.#height = height;
    this.#braille = glyphs.braille;
    this.#dots = new Uint8Array(width * height);
    this.#series = new Int32Array(width * height);
  }

  dot(x: number, y: number, series: number): void {
    const cellX = Math.floor(x / dotsAcross);
    const cellY = Math.floor(y / dotsDown);
    if (cellX < 0 || cellY < 0 || cellX >= this.#width || cellY >= this.#height) return;
    const cell = cellY * this.#width + cellX;
    const bit = dotBits[x % dotsAcross === 0 ? 0 : 1][(y % dotsDown) as 0 | 1 | 2 | 3];
    this.#dots[cell] = (this.#dots[cell] ?? 0) | bit;
    this.#series[cell] = (this.#series[cell] ?? 0) | (1 << Math.min(30, series));
  }

  /** Bresenham's lines from point to point, in the pattern of the series; the points themselves are always drawn. */
  curve(points: readonly (readonly [x: number, y: number])[], series: number): void {
    const pattern = this.#braille ? (patterns[series % patterns.length] ?? '1') : '1';
    let drawn = 0;
    let last: readonly [number, number] | undefined;
    for (const [toX, toY] of points) {
      let [x, y] = last ?? [toX, toY];
      const across = Math.abs(toX - x);
      const down = -Math.abs(toY - y);
      const stepX = x < toX ? 1 : -1;
      const stepY = y < toY ? 1 : -1;
      let error = across + down;
      while (x !== toX || y !== toY) {
        if (pattern[drawn % pattern.length] === '1') this.dot(x, y, series);
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
      this.dot(toX, toY, series);
      last = [toX, toY];
    }
  }

  /** Undefined for an empty cell. A cell shared by series alternates their colours and marks. */
  at(x: number, y: number): PlotCell | undefined {
    const cell = y * this.#width + x;
    const dots = this.#dots[cell] ?? 0;
    if (dots === 0) return undefined;
    const members = membersOf(this.#series[cell] ?? 0);
    const series = members[(x + y) % members.length] ?? 0;
    return {
      text: this.#braille ? String.fromCodePoint(0x2800 + dots) : (asciiMarks[series % asciiMarks.length] ?? '*'),
      series,
    };
  }
}

/** Cells of a {@link seriesSample}. */
export const sampleWidth = 4;

/** A sample of a series' line in its colour, for a legend. */
export function seriesSample(series: number, theme: Theme): string {
  const plot = new Plot(sampleWidth, 1, theme);
  const row = dotsDown / 2;
  // The end is outside the plot, because points are drawn regardless of the pattern.
  const end = sampleWidth * dotsAcross;
  plot.curve(
    [
      [0, row],
      [end, row],
    ],
    series,
  );
  const cells = Array.from({ length: sampleWidth }, (_, x) => plot.at(x, 0)?.text ?? ' ');
  return theme.series(series)(cells.join(''));
}
