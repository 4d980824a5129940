/** Lines that a terminal program overwrote, such as progress bars. Pure. */
import { withoutEscapes } from './sanitise.ts';

/** Erases the line, or the line from the cursor on (ECMA-48 EL). */
const erasesLine = '\u001b[2K';
const erasesRest = /^\u001b\[0?K/;

/**
 * The text as a terminal would finally show it, and how many lines were overwritten: text after a carriage return
 * replaces the text before it. Linear in the length of the text.
 */
export function overwritten(text: string): { readonly text: string; readonly lines: number } {
  if (!text.includes('\r')) return { text, lines: 0 };
  let lines = 0;
  const shown = text.split('\n').map(line => {
    // A carriage return before a line feed ends the line.
    const end = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (!end.includes('\r')) return end;
    lines += 1;
    return lastOf(end.split('\r'));
  });
  return { text: shown.join('\n'), lines };
}

/** Works back from the last part: an earlier part shows only where it is longer than the later ones. */
function lastOf(parts: readonly string[]): string {
  let shown = '';
  for (const part of parts.toReversed()) {
    const erased = part.lastIndexOf(erasesLine);
    const visible = withoutEscapes(erased === -1 ? part : part.slice(erased + erasesLine.length));
    if (visible.length > shown.length) shown += visible.slice(shown.length);
    if (erased !== -1 || erasesRest.test(part)) break;
  }
  return shown;
}
