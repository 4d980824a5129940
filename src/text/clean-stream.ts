/** Makes streamed text safe for a terminal. */
import { sanitise } from './sanitise.ts';

/**
 * Returns a function that takes a chunk and returns the text that can be written now. All results together equal
 * `sanitise` of the whole text, line by line: an escape sequence or a run of marks split over chunks does not get
 * through.
 */
export function cleanStream(): (piece: string) => string {
  let line = '';
  let written = '';
  return piece => {
    let out = '';
    const parts = (line + piece).split('\n');
    line = parts.pop() ?? '';
    for (const part of parts) {
      out += rest(part, written);
      out += '\n';
      written = '';
    }
    const more = rest(line, written);
    written += more;
    return out + more;
  };
}

/** The unwritten rest of a line; nothing if its beginning has become part of something unsafe. */
function rest(line: string, written: string): string {
  const clean = sanitise(line, { multiline: true });
  return clean.startsWith(written) ? clean.slice(written.length) : '';
}
