/** Makes streamed text safe for a terminal. */
import { closedLength, sanitise, settledLength } from './sanitise.ts';
import { displayWidth } from './width.ts';

/** Characters of a line that are sanitised again with what follows. An escape sequence or a character is shorter. */
const longestTail = 1_024;
const tabWidth = 4;

/**
 * Returns a function that takes a chunk and returns the text that can be written now. All results together equal
 * `sanitise` of the whole text, line by line: an escape sequence or a run of marks split over chunks does not get
 * through. The work is linear in the length of the text, also of a line without end: what nothing can change any more is
 * not looked at again, and a tail that stays open is closed.
 *
 * @param clean `sanitise`; for tests
 */
export function cleanStream(clean: typeof sanitise = sanitise): (piece: string) => string {
  /** The end of the line, which what follows may change. */
  let tail = '';
  /** What was written of the tail. */
  let written = '';
  /** The column in which the tail begins, for its tabs. */
  let column = 0;

  const cleaned = (text: string): string => {
    // A tab stop and more: marks at the beginning have something to stand on.
    const before = ' '.repeat(tabWidth + (column % tabWidth));
    return clean(before + text, { multiline: true, tabs: tabWidth }).slice(before.length);
  };
  /** The part of a beginning of the tail that was not written yet. What was written may have become unsafe since. */
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
