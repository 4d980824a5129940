import { expandTabs, printableAscii, walk } from './width.ts';

const space = 0x20;

/**
 * `text` as lines of at most `width` cells. Breaks at spaces (which are dropped) and around wide characters. A longer
 * word gets a line of its own and is split, but never inside a grapheme, so in a column one cell wide, a wide grapheme
 * stands alone. Line ends and indentation are kept. Linear in the length of the text.
 */
export function wrap(text: string, width: number): string[] {
  const limit = Math.max(1, Math.floor(width));
  const lines: string[] = [];
  for (const paragraph of expandTabs(text, 4).split('\n')) {
    if (!printableAscii.test(paragraph)) wrapGraphemes(paragraph, limit, lines);
    else if (paragraph.length <= limit) lines.push(paragraph);
    else wrapAscii(paragraph, limit, lines);
  }
  return lines;
}

/** The first lines; if there are more than `room`, the last line counts the rest. */
export function firstLines(lines: readonly string[], room: number): readonly string[] {
  return lines.length <= room ? lines : [...lines.slice(0, room - 1), `… and ${lines.length - room + 1} more lines`];
}

/** The last lines; if there are more than `room`, the first line is an ellipsis. */
export const lastLines = (lines: readonly string[], room: number): readonly string[] =>
  lines.length <= room ? lines : ['…', ...lines.slice(lines.length - room + 1)];

/** Like `wrapGraphemes`, for text in which every unit is one cell wide; about ten times faster. */
function wrapAscii(text: string, limit: number, lines: string[]): void {
  let start = 0;
  while (text.length - start > limit) {
    // Search back only within this line: searching the whole text would be quadratic.
    const reach = text.slice(start, start + limit + 1);
    const lastSpace = reach.lastIndexOf(' ');
    const end = reach.slice(0, Math.max(0, lastSpace)).trimEnd().length;
    if (end === 0) {
      lines.push(reach.slice(0, limit));
      start += limit;
      continue;
    }
    lines.push(reach.slice(0, end));
    start += lastSpace + 1;
    while (text.charCodeAt(start) === space) start++;
    if (start >= text.length) return;
  }
  lines.push(text.slice(start));
}

function wrapGraphemes(text: string, limit: number, lines: string[]): void {
  // The current line runs from lineStart to lineEnd (the end of its last whole word); the word being read begins at
  // wordStart, which is `cells` from the line's start (spaces included), and is `wordCells` wide.
  let lineStart = 0;
  let lineEnd = 0;
  let wordStart = 0;
  let cells = 0;
  let wordCells = 0;
  let afterWide = false;

  const startLine = (at: number): void => {
    lineStart = at;
    lineEnd = at;
    cells = 0;
  };
  const endWord = (at: number): void => {
    lineEnd = at;
    wordStart = at;
    cells += wordCells;
    wordCells = 0;
  };

  walk(text, (from, to, width) => {
    const isSpace = text.charCodeAt(from) === space && to === from + 1;
    if (from > wordStart && (isSpace || width === 2 || afterWide)) endWord(from);
    afterWide = width === 2;
    if (isSpace) {
      if (lineEnd === lineStart && cells + 1 > limit) {
        lines.push(text.slice(lineStart, from));
        startLine(from);
      }
      cells += 1;
      wordStart = to;
      return true;
    }
    if (cells + wordCells + width > limit && lineEnd > lineStart) {
      lines.push(text.slice(lineStart, lineEnd));
      startLine(wordStart);
    }
    if (cells + wordCells + width > limit && from > lineStart) {
      lines.push(text.slice(lineStart, from));
      startLine(from);
      wordStart = from;
      wordCells = 0;
    }
    wordCells += width;
    return true;
  });
  if (cells + wordCells <= limit || lineEnd === lineStart) lines.push(text.slice(lineStart));
  else lines.push(text.slice(lineStart, lineEnd));
}
