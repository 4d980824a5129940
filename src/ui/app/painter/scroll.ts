/** Lines that moved as a block: the terminal can move them itself, for a few bytes. Pure. */

export interface Scroll {
  /** First and last row of the band. */
  readonly top: number;
  readonly bottom: number;
  /** Rows that the content moves up; negative for down. */
  readonly by: number;
}

const furthest = 30;
/** Fewer lines are as cheap to send. */
const fewest = 3;

/** The largest block of lines that stands elsewhere in the next frame, if it is worth moving. */
export function findScroll(old: readonly string[], next: readonly string[]): Scroll | undefined {
  const rows = Math.min(old.length, next.length);
  let changed = 0;
  for (let row = 0; row < rows; row += 1) if (old[row] !== next[row]) changed += 1;
  if (changed < fewest) return undefined;
  let best: (Scroll & { readonly gain: number }) | undefined;
  for (let distance = 1; distance <= Math.min(furthest, rows - 1); distance += 1) {
    for (const by of [distance, -distance]) {
      let start = -1;
      for (let row = 0; row <= rows; row += 1) {
        const source = row + by;
        const moved = row < rows && source >= 0 && source < rows && old[source] === next[row];
        if (moved && start < 0) start = row;
        if (!moved && start >= 0) {
          const end = row - 1;
          const gain = gainOf(old, next, start, end);
          if (gain >= fewest && gain > (best?.gain ?? 0)) {
            best = { top: Math.min(start, start + by), bottom: Math.max(end, end + by), by, gain };
          }
          start = -1;
        }
      }
    }
  }
  return best;
}

/** Lines of a block that would otherwise have to be sent. */
function gainOf(old: readonly string[], next: readonly string[], start: number, end: number): number {
  let gain = 0;
  for (let row = start; row <= end; row += 1) if (old[row] !== next[row]) gain += 1;
  return gain;
}

/** The lines as the terminal shows them after it has scrolled the band. */
export function scrollLines(lines: readonly string[], { top, bottom, by }: Scroll): string[] {
  return lines.map((line, row) => {
    if (row < top || row > bottom) return line;
    const source = row + by;
    return source >= top && source <= bottom ? (lines[source] ?? '') : '';
  });
}
