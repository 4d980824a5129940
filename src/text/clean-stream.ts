/** Makes streamed text safe for a terminal. */
import { closedLength, sanitise, settledLength } from './sanitise.ts';
import { displayWidth } from './width.ts';

/**
 * At most this many characters of a line are sanitised again with the next chunk. Escape sequences and graphemes are
 * shorter.
 */
const longestTail = 1_024;
const tabWidth = 4;

/**
 * Returns a function that takes a chunk and returns the text that can be written so far. The results joined equal
 * `sanitise` applied to the whole text, line by line: an escape sequence or a run of marks split over chunks does not
 * get through. The work is linear in the length of the text, even without line breaks: settled text is not processed
 * again, and an overlong open tail is closed.
 */
export function cleanStream(): (piece: string) => string {
  /** The end of the line, which the next chunk may still change. */
  let tail = '';
  /** The part of the tail that has been written. */
  let written = '';
  /** The column in which the tail begins; its tabs depend on it. */
  let column = 0;

  const cleaned = (text: string): string => {
    // Pad with at least one tab stop, so that leading marks have a base character.
    const before = ' '.repeat(tabWidth + (column % tabWidth));
    return sanitise(before + text, { multiline: true, tabs: tabWidth }).slice(before.length);
  };
  /** The unwritten part of the tail's first `length` characters. Written text may have become unsafe meanwhile. */
  const rest = (length: number): string => {
    const now = cleaned(tail.slice(0, length));
    let common = 0;
    while (common < written.length && now[common] === written[common]) common += 1;
    written = now;
    return now.slice(common);
  };
  const settle = (length: number): void => {
    const settled = cleaned(tail.slice(0, length));
    tail = tail.slice(length);
    written = written.slice(settled.length);
    column += displayWidth(settled);
  };
  const endLine = (): string => {
    const more = rest(tail.length);
    tail = '';
    written = '';
    column = 0;
    return more;
  };

  const take = (part: string): string => {
    tail += part;
    const out = rest(closedLength(tail));
    const length = tail.length > longestTail ? tail.length : settledLength(tail);
    if (length > 0) settle(length);
    if (tail === '') written = '';
    return out;
  };

  return piece => {
    const [first = '', ...lines] = piece.split('\n');
    let out = take(first);
    for (const line of lines) out += `${endLine()}\n${take(line)}`;
    return out;
  };
}
