/** Text that comes in pieces, made safe for a terminal as it comes. */
import { sanitise } from './sanitise.ts';

/**
 * A function that takes a piece and gives what of the text can be written now. All pieces together give what `sanitise`
 * gives of the whole, line by line: an escape sequence or a run of marks that is spread over pieces does not get through.
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

/** What of a line has not been written yet; nothing if the beginning has turned out to be part of something unsafe. */
function rest(line: string, written: string): string {
  const clean = sanitise(line, { multiline: true });
  return clean.startsWith(written) ? clean.slice(written.length) : '';
}
