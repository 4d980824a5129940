/**
 * Rows as a file's text. Values are written unchanged, except that active content (control characters, spreadsheet
 * formulas, Markdown syntax) is dropped or escaped.
 */
import { inBatches } from '../base/many.ts';
import { longestFileName, nameSafe } from '../base/new-file.ts';
import { safeJson, safeJsonParts, withoutEscapes } from './sanitise.ts';

export const exportFormats = ['json', 'jsonl', 'csv', 'markdown'] as const;

export type ExportFormat = (typeof exportFormats)[number];

/** A column in a CSV or Markdown table. */
export interface ExportColumn<Row> {
  readonly name: string;
  /** `undefined` and `null` become an empty cell: a missing reward is not 0. Objects are written as JSON. */
  readonly value: (row: Row) => unknown;
}

/**
 * The rows in `format`, with a final newline. JSON (indented by two) and JSON Lines contain whole rows and ignore the
 * columns; CSV and Markdown have a header with the column names, and one cell per column.
 *
 * @throws TypeError as JSON.stringify does, for cycles and bigint inside objects
 */
export function exportRows<Row>(
  format: ExportFormat,
  rows: readonly Row[],
  columns: readonly ExportColumn<Row>[],
): string {
  return [...exportParts(format, rows, columns)].join('');
}

/** A JSON file, or with an indent of 0 a line of JSON Lines, in parts, so that a large one need not fit in memory. */
export const jsonFileParts = (value: unknown, indent: number = 2): Generator<string, void> =>
  inBatches(jsonLines(value, indent));

function* jsonLines(value: unknown, indent: number): Generator<string, void> {
  yield* safeJsonParts(value, indent);
  yield '\n';
}

/** The same text row by row, so that a large file need not fit in memory. */
export function* exportParts<Row>(
  format: ExportFormat,
  rows: readonly Row[],
  columns: readonly ExportColumn<Row>[],
): Generator<string, void> {
  const names = columns.map(column => column.name);
  const cells = (row: Row): unknown[] => columns.map(column => column.value(row));
  switch (format) {
    case 'json':
      yield* jsonFileParts(rows);
      return;
    case 'jsonl':
      for (const row of rows) yield* jsonFileParts(row, 0);
      return;
    case 'csv':
      yield csvRecord(names);
      for (const row of rows) yield csvRecord(cells(row));
      return;
    case 'markdown':
      yield `${markdownRow(names)}|${' --- |'.repeat(columns.length)}\n`;
      for (const row of rows) yield markdownRow(cells(row));
  }
}

const extensions = { json: 'json', jsonl: 'jsonl', csv: 'csv', markdown: 'md', text: 'txt', html: 'html' } as const;
type FileFormat = keyof typeof extensions;

/**
 * `benchtop-<kind>-<id>-<yyyymmdd-hhmmss>.<extension>`, with the time in UTC. Contains only `A-Z a-z 0-9 . _ -`,
 * regardless of kind and id, and at most 120 characters: a long id is truncated.
 *
 * @throws RangeError for an invalid date
 */
export function exportFileName(kind: string, id: string, format: FileFormat, at: Date): string {
  const digits = at.toISOString().replace(/\D/g, '');
  const tail = `-${digits.slice(0, 8)}-${digits.slice(8, 14)}.${extensions[format]}`;
  const head = ['benchtop', nameSafe(kind), nameSafe(id)].filter(part => part !== '').join('-');
  return head.slice(0, longestFileName - tail.length) + tail;
}

const lineEnds = /\r\n?|[\x85\u2028\u2029]/g;
/** C0 and C1 controls except line feed and tab, and the characters that reorder other text. */
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString();
  const text = typeof value === 'string' ? value : safeJson(value);
  return withoutEscapes(text).replace(lineEnds, '\n').replace(controls, '');
}

/** A record as in RFC 4180. A single empty cell is quoted, for readers that skip blank lines. */
function csvRecord(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',') || '""'}\r\n`;
}

function csvCell(value: unknown): string {
  const text = cellText(value);
  // Spreadsheets run text that begins like this as a formula; the apostrophe makes it plain text.
  const inert = typeof value === 'string' && /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

function markdownRow(cells: readonly unknown[]): string {
  return `|${cells.map(value => ` ${markdownCell(value)} |`).join('')}\n`;
}

/**
 * Escapes anything that would end a cell (GitHub Flavored Markdown, 4.10), hide text or load something: HTML such as
 * `<think>`, code spans, links and images.
 */
function markdownCell(value: unknown): string {
  return cellText(value)
    .replace(/[\\|`<[]/g, '\\$&')
    .replaceAll('\t', ' ')
    .replaceAll('\n', '<br>');
}
