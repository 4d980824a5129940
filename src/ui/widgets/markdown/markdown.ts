/** Renders Markdown as lines for a terminal. Pure. */
import type { MarkedToken, Tokens } from 'marked';
import { maxOf } from '../../../base/many.ts';
import { sanitise, sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, padStart, truncate } from '../../../text/width.ts';
import { differenceStyle, jsonLine } from '../syntax.ts';
import type { Style, StyleName, Theme } from '../theme/theme.tsx';
import { asMarkedTokens, readMarkdown } from './lexer.ts';
import { cutSpans, hardLines, plainLines, plainOf, type Span, spanLines, spansOf } from './spans.ts';

/** Minimum width for the content of a quote, a list or a code block; if there is less, nothing is indented. */
const minimumContent = 8;
/** Minimum width of a table column; if there is less, rows are shown as labelled lines. */
const minimumColumn = 3;
/** Maximum line length; at infinite width, a rule would be endless. */
const maximumWidth = 1_000;

/**
 * Markdown (CommonMark with GitHub's tables, task lists, strike-through and bare links) as styled lines of at most
 * `width` cells; none for a width below one. Accepts any text: sanitises it, treats raw HTML as text, keeps line ends
 * inside a paragraph, and reads an unclosed fence as code to the end. Text that is too long or too deeply nested
 * becomes plain wrapped text. Never throws.
 */
export function markdownLines(text: string, width: number, theme: Theme): string[] {
  const cells = Math.min(Math.floor(width), maximumWidth);
  if (!(cells >= 1)) return [];
  const clean = sanitise(text, { multiline: true });
  const tokens = readMarkdown(clean);
  if (tokens === undefined) return plainLines(clean, cells, theme);
  return blocks(tokens, { width: cells, theme, apart: true });
}

interface Layout {
  readonly width: number;
  readonly theme: Theme;
  /** Whether a blank line separates blocks; not in tight lists. */
  readonly apart: boolean;
}

function blocks(tokens: readonly MarkedToken[], layout: Layout): string[] {
  const lines: string[] = [];
  for (const token of tokens) {
    const own = block(token, layout);
    if (own.length === 0) continue;
    if (lines.length > 0 && layout.apart) lines.push('');
    // No spread: a block may have more lines than a call can take arguments.
    for (const line of own) lines.push(line);
  }
  return lines;
}

function block(token: MarkedToken, layout: Layout): string[] {
  const { width, theme } = layout;
  switch (token.type) {
    case 'heading':
      return inline(token.tokens, layout, token.depth <= 2 ? ['accent', 'title'] : ['title']);
    case 'paragraph':
      return inline(token.tokens, layout);
    case 'code':
      return code(token, layout);
    case 'blockquote':
      return quote(token, layout);
    case 'list':
      return list(token, layout);
    case 'table':
      return table(token, layout);
    case 'hr':
      return [theme.styles.border(theme.glyphs.horizontal.repeat(width))];
    case 'html':
      return plainLines(sanitise(token.text, { multiline: true }).replace(/^\n+/, '').trimEnd(), width, theme);
    // Link definitions show where they are used; a task's mark belongs to its item.
    case 'space':
    case 'def':
    case 'checkbox':
      return [];
    default:
      return spanLines(spansOf([token], theme), width, theme);
  }
}

function inline(tokens: Tokens.Paragraph['tokens'], { width, theme }: Layout, styles: StyleName[] = []): string[] {
  const spans = spansOf(asMarkedTokens(tokens), theme, styles);
  return plainOf(spans) === '' ? [] : spanLines(spans, width, theme);
}

function code(token: Tokens.Code, { width, theme }: Layout): string[] {
  const indent = width - 2 >= minimumContent ? '  ' : '';
  const room = width - indent.length;
  const language =
    sanitiseLine(token.lang ?? '')
      .trim()
      .split(' ', 1)[0] ?? '';
  const lines = sanitise(token.text, { multiline: true })
    .split('\n')
    .flatMap(line => hardLines(line, room, theme).map(part => ({ part, style: codeStyle(language, line, theme) })))
    .map(({ part, style }) => (part === '' ? '' : indent + style(part)));
  if (language === '') return lines;
  return [indent + theme.styles.muted(truncate(language, room, { ellipsis: theme.glyphs.ellipsis })), ...lines];
}

function codeStyle(language: string, line: string, { styles }: Theme): Style {
  if (language === 'json') return part => jsonLine(part, styles, styles.code);
  const isDifference = language === 'diff' || language === 'patch';
  return (isDifference ? differenceStyle(line, styles) : undefined) ?? styles.code;
}

function quote(token: Tokens.Blockquote, layout: Layout): string[] {
  const { width, theme } = layout;
  const bar = width - 2 >= minimumContent ? `${theme.styles.border(theme.glyphs.quote)} ` : '';
  const inside = { ...layout, width: bar === '' ? width : width - 2, apart: true };
  return blocks(asMarkedTokens(token.tokens), inside).map(line => bar + line);
}

function list(token: Tokens.List, layout: Layout): string[] {
  const { theme } = layout;
  const first = typeof token.start === 'number' ? token.start : 1;
  const numberCells = String(first + token.items.length - 1).length;
  const lines: string[] = [];
  for (const [index, item] of token.items.entries()) {
    const number = token.ordered ? `${padStart(String(first + index), numberCells)}.` : '';
    const box = item.task ? (item.checked === true ? '[x]' : '[ ]') : '';
    const marker = [number, box].filter(part => part !== '').join(' ') || theme.glyphs.bullet;
    if (lines.length > 0 && token.loose) lines.push('');
    for (const line of listItem(item, marker, { ...layout, apart: token.loose })) lines.push(line);
  }
  return lines;
}

function listItem(item: Tokens.ListItem, marker: string, layout: Layout): string[] {
  const { width, theme } = layout;
  const indent = displayWidth(marker) + 1;
  if (width - indent < minimumContent) {
    // The marker gets its own line if the text does not fit beside it.
    const cut = truncate(marker, width, { ellipsis: theme.glyphs.ellipsis });
    return [theme.styles.accent(cut), ...blocks(asMarkedTokens(item.tokens), layout)];
  }
  const [start = '', ...rest] = blocks(asMarkedTokens(item.tokens), { ...layout, width: width - indent });
  const hanging = ' '.repeat(indent);
  return [`${theme.styles.accent(marker)} ${start}`, ...rest.map(line => (line === '' ? '' : hanging + line))];
}

function table(token: Tokens.Table, { width, theme }: Layout): string[] {
  const cellSpans = (cell: Tokens.TableCell): Span[] =>
    spansOf(asMarkedTokens(cell.tokens), theme, cell.header ? ['header'] : []);
  const header = token.header.map(cellSpans);
  const rows = token.rows.map(row => row.map(cellSpans));
  const room = width - 3 * (header.length - 1);
  if (room < minimumColumn * header.length) return records(header, rows, width, theme);

  const natural = header.map((cell, column) =>
    maxOf(
      [cell, ...rows.map(row => row[column] ?? [])].map(spans => displayWidth(plainOf(spans))),
      1,
    ),
  );
  const widths = fitColumns(natural, room);
  const line = (cells: readonly Span[][]): string =>
    widths
      .map((own, column) => alignSpans(cells[column] ?? [], own, token.align[column] ?? 'left', theme))
      .join(` ${theme.styles.border(theme.glyphs.vertical)} `)
      .trimEnd();
  const { horizontal, cross4 } = theme.glyphs;
  const rule = widths.map(cells => horizontal.repeat(cells)).join(horizontal + cross4 + horizontal);
  return [line(header), theme.styles.border(rule), ...rows.map(line)];
}

/** Shows a table that has too many columns for the width: each row becomes lines with a name and a value. */
function records(header: readonly Span[][], rows: readonly Span[][][], width: number, theme: Theme): string[] {
  const colon: Span = { text: ': ', styles: [] };
  if (rows.length === 0) return header.flatMap(name => spanLines(name, width, theme));
  return rows.flatMap((row, index) => {
    const lines = header.flatMap((name, column) => spanLines([...name, colon, ...(row[column] ?? [])], width, theme));
    return index === 0 ? lines : ['', ...lines];
  });
}

/** Narrows the widest columns to a common width, so that the table takes at most `room` cells. */
function fitColumns(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  let left = room;
  let waiting = widths.map((_, column) => column);
  while (waiting.length > 0) {
    const share = Math.floor(left / waiting.length);
    const narrow = waiting.filter(column => (natural[column] ?? 0) <= share);
    if (narrow.length === 0) {
      // The first columns get the remaining cells.
      const extra = left - share * waiting.length;
      for (const [index, column] of waiting.entries()) widths[column] = share + (index < extra ? 1 : 0);
      break;
    }
    for (const column of narrow) left -= natural[column] ?? 0;
    waiting = waiting.filter(column => !narrow.includes(column));
  }
  return widths;
}

function alignSpans(spans: readonly Span[], width: number, align: 'center' | 'left' | 'right', theme: Theme): string {
  const cut = cutSpans(spans, width, theme);
  const gap = width - cut.width;
  const before = align === 'right' ? gap : align === 'center' ? Math.floor(gap / 2) : 0;
  return ' '.repeat(before) + cut.text + ' '.repeat(gap - before);
}
