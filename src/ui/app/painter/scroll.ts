/** Finds lines that moved as a block, which the terminal can move itself for a few bytes. Pure. */

export interface Scroll {
  /** First and last row of the band. */
  readonly top: number;
  readonly bottom: number;
  /** Rows that the content moves up; negative for down. */
  readonly by: number;
}

const maxDistance = 30;
/** Sending fewer lines costs no more than moving them. */
const minLines = 3;

/** The largest block of lines that has moved in the next frame, if moving it saves bytes. */
export function findScroll(old: readonly string[], next: readonly string[]): Scroll | undefined {
  const rows = Math.min(old.length, next.length);
  let changed = 0;
  for (let row = 0; row < rows; row += 1) if (old[row] !== next[row]) changed += 1;
  if (changed < minLines) return undefined;
  let best: (Scroll & { readonly gain: number }) | undefined;
  for (let distance = 1; distance <= Math.min(maxDistance, rows - 1); distance += 1) {
    for (const by of [distance, -distance]) {
      let start = -1;
      for (let row = 0; row <= rows; row += 1) {
        const source = row + by;
        const moved = row < rows && source >= 0 && source < rows && old[source] === next[row];
        if (moved && start < 0) start = row;
        if (!moved && start >= 0) {
          const end = row - 1;
          const scroll = { top: Math.min(start, start + by), bottom: Math.max(end, end + by), by };
          const gain = gainOf(old, next, scroll);
          if (gain >= minLines && gain > (best?.gain ?? 0)) best = { ...scroll, gain };
          start = -1;
        }
      }
    }
  }
  return best;
}

/** The number of lines saved by scrolling the band; negative if it costs more than it saves. */
function gainOf(old: readonly string[], next: readonly string[], { top, bottom, by }: Scroll): number {
  let gain = 0;
  for (let row = top; row <= bottom; row += 1) {
    const source = row + by;
    const there = source >= top && source <= bottom ? old[source] : '';
    gain += Number(there === next[row]) - Number(old[row] === next[row]);
  }
  return gain;
}

/** The lines as the terminal shows them after scrolling the band. */
export function scrollLines(lines: readonly string[], { top, bottom, by }: Scroll): string[] {
  return lines.map((line, row) => {
    if (row < top || row > bottom) return line;
    const source = row + by;
    return source >= top && source <= bottom ? (lines[source] ?? '') : '';
  });
}
