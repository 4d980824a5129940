/** Results as text: tables for people, JSON and its like for programs. */

import { type Column, cellText, columnGap, exportColumns, type FittedColumn, fitColumns } from '../present/column.ts';
import { type Fact, given } from '../present/fact.ts';
import { type ExportFormat, exportRows } from '../text/export.ts';
import { own } from '../text/own.ts';
import { safeJson, sanitise, sanitiseLine } from '../text/sanitise.ts';
import { displayWidth, fitCells, padEnd, padStart } from '../text/width.ts';
import { wrap } from '../text/wrap.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';

export type ListFormat = 'table' | ExportFormat;

/** Every column as wide as its longest cell. */
function naturalColumns<Row>(columns: readonly Column<Row>[], cells: readonly string[][]): FittedColumn<Row>[] {
  return columns.map((column, index) => ({
    column,
    width: cells.reduce((most, row) => Math.max(most, displayWidth(row[index] ?? '')), displayWidth(column.title)),
  }));
}

/**
 * Rows as a table with a header. On a terminal of `width` cells every line fits: what has no room is cut, and columns that
 * find none are left out. Elsewhere (`undefined`) nothing is cut.
 */
export function tableText<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width: number | undefined,
): string {
  const cells = (shown: readonly Column<Row>[]): string[][] =>
    rows.map(row => shown.map(column => sanitiseLine(cellText(column, row))));
  const fitted = width === undefined ? naturalColumns(columns, cells(columns)) : fitColumns(columns, width);
  const shown = fitted.map(({ column }) => column);
  const line = (texts: readonly string[]): string =>
    fitted
      .map(({ column, width: room }, index) => {
        const text = texts[index] ?? '';
        const fits = displayWidth(text) <= room ? text : fitCells(text, room);
        return column.align === 'right' ? padStart(fits, room) : padEnd(fits, room);
      })
      .join(' '.repeat(columnGap))
      .trimEnd();
  return [shown.map(({ title }) => title), ...cells(shown)].map(texts => `${line(texts)}\n`).join('');
}

/** Rows in any format. A file gets the values as they came; a terminal nothing that would act on it. */
export function rowsText<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  format: ListFormat,
  width: number | undefined,
): string {
  if (format === 'table') return tableText(rows, columns, width);
  const text = exportRows(format, rows, exportColumns(columns));
  return width === undefined ? text : sanitise(text, { multiline: true });
}

/** Names and values, a line each; long values go on below themselves. */
export function factText(facts: readonly Fact[], width: number | undefined): string {
  const shown = given(facts);
  const column = Math.max(0, ...shown.map(({ label }) => label.length)) + columnGap;
  return shown
    .flatMap(({ label, value }) => {
      const text = sanitise(String(value), { multiline: true });
      const lines = width === undefined ? text.split('\n') : wrap(text, Math.max(20, width - column));
      return lines.map((line, index) => `${padEnd(index === 0 ? label : '', column)}${line}\n`);
    })
    .join('');
}

/** How a record is printed. */
export interface RecordFlags {
  readonly json?: boolean | undefined;
  readonly field?: string | undefined;
  readonly jq?: string | undefined;
}

/**
 * Prints a record: as JSON, one field of it, what a jq filter makes of it, or else `text`.
 *
 * @param id what `--field id` stands for where the record calls it otherwise
 * @param text its id where it is missing
 * @throws CommandError where the record has no such field, or the filter fails
 */
export async function printRecord(
  record: object,
  id: string,
  { json, field, jq }: RecordFlags,
  io: CommandIo,
  text?: () => string,
): Promise<void> {
  if (jq !== undefined) await io.print(await filtered(record, jq, io));
  else if (field !== undefined)
    await io.print(recordText(Object.hasOwn(record, 'id') ? record : { ...record, id }, field));
  else if (json) await io.print(recordText(record));
  else await io.print(text?.() ?? `${sanitiseLine(id)}\n`);
}

/** What a filter of jq's makes of a value. @throws CommandError where jq is missing, or refuses */
export async function filtered(value: unknown, filter: string, io: CommandIo): Promise<string> {
  const { runJq } = await import('./jq.ts');
  const text = await runJq(safeJson(value), filter, io);
  return io.columns === undefined ? text : sanitise(text, { multiline: true });
}

/**
 * A record as JSON, or one field of it: a text as it is, so that a shell can take it. `reward.mean` is a field of a field.
 *
 * @throws CommandError where the record has no such field
 */
export function recordText(record: unknown, field?: string): string {
  if (field === undefined) return `${safeJson(record, 2)}\n`;
  let value: unknown = record;
  for (const name of field.split('.')) {
    const fields = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
    if (!Object.hasOwn(fields, name)) throw new CommandError(`There is no field ${field} in it.`, exitCodes.failed);
    value = own(fields, name);
  }
  return `${typeof value === 'string' ? sanitise(value, { multiline: true }) : safeJson(value, 2)}\n`;
}
