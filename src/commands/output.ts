/** Results as text: tables for people, JSON and similar formats for programs. */
import type * as z from 'zod/mini';
import { own } from '../base/own-property.ts';
import { mayHaveField } from '../contract/fields.ts';
import { describePartlyRead, unreadableIn } from '../contract/lists.ts';
import { type StatusMeaning, statusMeaning } from '../contract/status.ts';
import {
  type Column,
  cellText,
  columnGap,
  exportColumns,
  fitColumns,
  fittingText,
  withNamesCut,
} from '../present/column.ts';
import type { Fact } from '../present/fact.ts';
import { factText } from '../present/fact-text.ts';
import { type ExportFormat, exportRows, jsonFileParts } from '../text/export.ts';
import { counted } from '../text/numbers.ts';
import { safeJson, sanitise, sanitiseLine } from '../text/sanitise.ts';
import { wantsColour } from '../text/terminal.ts';
import { clockOrDay } from '../text/time.ts';
import { displayWidth, fitCells, padEnd, padStart } from '../text/width.ts';
import { CommandError } from './exit.ts';
import type { CommandIo } from './io.ts';

/** `lines` describes each row in a numbered line. */
export type ListFormat = 'table' | 'lines' | ExportFormat;

const colours: Partial<Record<StatusMeaning, string>> = { success: '32', failure: '31', running: '33', waiting: '33' };

function coloured(text: string, status: string): string {
  const colour = colours[statusMeaning(status)];
  return colour === undefined ? text : `\u001b[${colour}m${text}\u001b[39m`;
}

/** A value on one line: text without its line breaks, nothing for a missing value, JSON for anything else. */
export function lineText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return sanitiseLine(typeof value === 'object' ? safeJson(value) : String(value));
}

/**
 * Rows as a table with a header. On a terminal every line fits: long cells are cut, and columns without room are left
 * out. Elsewhere nothing is cut, cells are separated by tabs, and times are as the service sent them.
 */
export function tableText<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  io: Pick<CommandIo, 'environment' | 'columns'>,
): string {
  // Use colours on a terminal unless they are disabled, elsewhere only if they are forced.
  const hasColours = wantsColour(io.environment) ?? io.columns !== undefined;
  const paint = hasColours ? coloured : (text: string) => text;
  if (io.columns === undefined) {
    const cell = (column: Column<Row>, row: Row): string => {
      const text = lineText((column.exported ?? column.value)(row));
      return column.status ? paint(text, text) : text;
    };
    const lines = [columns.map(({ title }) => title), ...rows.map(row => columns.map(column => cell(column, row)))];
    return lines.map(texts => `${texts.join('\t')}\n`).join('');
  }
  const fitted = withNamesCut(fitColumns(columns, io.columns, {}, rows), rows);
  const line = (cellOf: (column: Column<Row>, width: number) => string, isHead: boolean): string =>
    fitted
      .map(({ column, width, cuts }) => {
        const text = cellOf(column, width);
        const fits =
          (isHead ? undefined : cuts?.get(text)) ?? (displayWidth(text) <= width ? text : fitCells(text, width));
        const padded = column.align === 'right' ? padStart(fits, width) : padEnd(fits, width);
        return column.status && !isHead ? paint(padded, text) : padded;
      })
      .join(' '.repeat(columnGap))
      .trimEnd();
  const body = rows.map(row => line((column, width) => fittingText(column, row, width), false));
  return [line(({ title }) => title, true), ...body].map(text => `${text}\n`).join('');
}

/** A row in words, without its empty columns. */
function rowLine<Row>(columns: readonly Column<Row>[], row: Row): string {
  return columns
    .map(column => [column, sanitiseLine(cellText(column, row))] as const)
    .filter(([, text]) => text !== '')
    .map(([column, text], index) => (index === 0 || column.status ? text : `${column.title.toLowerCase()} ${text}`))
    .join(', ');
}

/** Rows in any format. Files get the values unchanged; a terminal gets them without control characters. */
export function rowsText<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  format: ListFormat,
  io: Pick<CommandIo, 'environment' | 'columns'>,
): string {
  if (format === 'lines') return rows.map((row, index) => `${index + 1}. ${rowLine(columns, row)}\n`).join('');
  if (format === 'table') return tableText(rows, columns, io);
  const text = exportRows(format, rows, exportColumns(columns));
  return io.columns === undefined ? text : sanitise(text, { multiline: true });
}

/** Facts, one per line: aligned on a terminal, elsewhere with a tab between label and value. */
export const factRows = (facts: readonly Fact[], { columns }: Pick<CommandIo, 'columns'>): string =>
  columns === undefined
    ? facts.map(({ label, value }) => `${label}\t${lineText(value)}\n`).join('')
    : factText(facts, undefined);

/** A time: logs are read on other days and in other time zones, so only a terminal gets a short one. */
export const timeText = (ms: number, { columns }: Pick<CommandIo, 'columns'>): string =>
  columns === undefined ? new Date(ms).toISOString() : clockOrDay(ms);

/** Whether rows can be printed page by page, unlike a table fitted to a terminal, or a JSON array. */
export const isLineByLine = (format: ListFormat, { columns }: Pick<CommandIo, 'columns'>): boolean =>
  format !== 'json' && format !== 'lines' && (format !== 'table' || columns === undefined);

export interface RecordFlags {
  readonly json?: boolean | undefined;
  readonly field?: string | undefined;
  readonly jq?: string | undefined;
}

/** Whether the flags ask for a record rather than text for people. */
export const printsRecord = ({ json, field, jq }: RecordFlags): boolean =>
  json === true || field !== undefined || jq !== undefined;

/** Checks --jq before any request. @throws CommandError if jq is missing or cannot compile the filter */
export async function checkJq({ jq }: RecordFlags, io: CommandIo): Promise<void> {
  if (jq !== undefined) await (await import('./jq.ts')).checkFilter(jq, io);
}

/**
 * Checks --field before a write, so that a typo cannot hide the write's result.
 *
 * @param answers the response schemas that make up the record
 * @throws CommandError if none of them has such a field
 */
export function checkField({ field }: RecordFlags, answers: readonly z.ZodMiniType[]): void {
  if (field === undefined || answers.some(answer => mayHaveField(answer, field.split('.')))) return;
  throw new CommandError(`There is no field ${field} in the output. Nothing was sent.`);
}

interface RecordOptions {
  /** Returns the default output; the id if missing. */
  readonly text?: () => string;
  /** Whether such a record may lack the field, which then prints as null. */
  readonly mayLack?: (names: readonly string[]) => boolean;
  /** Whether to print JSON on one line, because the record is one of several. */
  readonly isLine?: boolean;
}

/**
 * Prints a record: as JSON, as one field, through a jq filter, or as `text`.
 *
 * @param id the value for `--field id` if the record has another name for its id
 * @throws CommandError if the record has no such field, or the filter fails
 */
export async function printRecord(
  record: object,
  id: string,
  { json, field, jq }: RecordFlags,
  io: CommandIo,
  { text, mayLack, isLine }: RecordOptions = {},
): Promise<void> {
  if (jq !== undefined) await io.print(await applyJq(record, jq, io));
  else if (field !== undefined)
    await io.print(recordText(Object.hasOwn(record, 'id') ? record : { ...record, id }, field, mayLack));
  else if (json) for (const part of jsonFileParts(record, isLine ? 0 : 2)) await io.print(part);
  else await io.print(text?.() ?? `${sanitiseLine(id)}\n`);
}

/** Applies a jq filter to a value. @throws CommandError if jq is missing or refuses the filter */
export async function applyJq(value: unknown, filter: string, io: CommandIo): Promise<string> {
  const { runJq } = await import('./jq.ts');
  const text = await runJq(safeJson(value), filter, io);
  return io.columns === undefined ? text : sanitise(text, { multiline: true });
}

/**
 * A record as JSON, or one of its fields; text is unquoted, for use in a shell. `reward.mean` is a nested field.
 *
 * @param mayLack as for {@link printRecord}; by default no field
 * @throws CommandError if the record has no such field
 */
export function recordText(record: unknown, field?: string, mayLack?: (names: readonly string[]) => boolean): string {
  if (field === undefined) return `${safeJson(record, 2)}\n`;
  const names = field.split('.');
  let value: unknown = record;
  for (const name of names) {
    const fields = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
    if (!Object.hasOwn(fields, name)) {
      if (!mayLack?.(names)) throw new CommandError(`There is no field ${field} in the output.`);
      value = null;
      break;
    }
    value = own(fields, name);
  }
  return `${typeof value === 'string' ? sanitise(value, { multiline: true }) : safeJson(value, 2)}\n`;
}

/** The record and all objects in it. */
function* objectsIn(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  yield value;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

/** Notes unreadable parts of a printed record: rows in its lists, and fields in a row. @returns whether it has any */
export function noteUnreadable(record: unknown, io: Pick<CommandIo, 'note'>): boolean {
  const objects = [...objectsIn(record)];
  const unreadable = objects.reduce((sum, each) => sum + unreadableIn(each), 0);
  const partly = describePartlyRead(objects);
  if (unreadable > 0) io.note(`${counted(unreadable, 'row')} in the response could not be read.`);
  if (partly !== undefined) io.note(`${partly}.`);
  return unreadable > 0 || partly !== undefined;
}
