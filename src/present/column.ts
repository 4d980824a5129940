/** Table columns as data, and their widths. Pure. */

import { statusWords } from '../contract/status.ts';
import { cutApart } from '../text/apart.ts';
import type { ExportColumn } from '../text/export.ts';
import { asReceived } from '../text/numbers.ts';
import { own } from '../text/own.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { displayWidth } from '../text/width.ts';

export type Cell = string | number | undefined;

/** A width in cells, or a range; spare cells are distributed by `grow`. */
export type ColumnWidth = number | { readonly min: number; readonly max: number; readonly grow: number };

export interface Column<Row> {
  /** Stable name, under which the user's choice is saved. */
  readonly id: string;
  readonly title: string;
  readonly width: ColumnWidth;
  readonly align?: 'left' | 'right';
  /** Shown only if all the others have room, or when chosen. */
  readonly wide?: boolean;
  /** Listed for programs though it is wide: they read the value of another column, and not the text that says this too. */
  readonly forPrograms?: boolean;
  /** The contract's field that it shows, by which a service may be asked to sort. */
  readonly field?: string | undefined;
  /** The value to sort by. */
  readonly value: (row: Row) => Cell;
  /** The text to show, if that is not the value itself. Need not be safe for a terminal. */
  readonly text?: (row: Row) => string;
  /** A shorter text, used if the full one does not fit. */
  readonly shortText?: (row: Row) => string;
  /** Never cut: it holds a number. Columns aligned to the right are never cut either. */
  readonly whole?: boolean;
  /** The value for a file, if it differs. */
  readonly exported?: (row: Row) => unknown;
  /** False if filters skip it, e.g. an age, which changes while the user types. */
  readonly filtered?: boolean;
  /** Where a long name is cut, unless rows would look alike then; other text is cut at its end. */
  readonly cutAt?: 'start' | 'middle';
  /** The value is a status, written in words, with its mark and style. */
  readonly status?: boolean;
}

/** The column of a status. A status that the service did not send is missing, like any other value. */
export function statusColumn<Row>(
  statusOf: (row: Row) => string | null | undefined,
  { width = 12, field }: { readonly width?: number; readonly field?: string } = {},
): Column<Row> {
  return { id: 'status', title: 'STATUS', field, width, value: row => statusOf(row) ?? undefined, status: true };
}

/** The user's choices for a column; anything else follows its declaration. */
export interface ColumnPreference {
  readonly shown?: boolean;
  /** Cells more than declared; fewer if negative. */
  readonly wider?: number;
}

/** The choices by column id. */
export type ColumnChoice = Readonly<Record<string, ColumnPreference>>;

const narrowest = 4;

/** The column with the user's width. */
function withPreference<Row>(column: Column<Row>, { wider = 0 }: ColumnPreference): Column<Row> {
  if (wider === 0) return column;
  const { width } = column;
  if (typeof width === 'number') return { ...column, width: Math.max(narrowest, width + wider) };
  const min = Math.max(narrowest, width.min + wider);
  return { ...column, width: { ...width, min, max: Math.max(min, width.max + wider) } };
}

export interface FittedColumn<Row> {
  readonly column: Column<Row>;
  readonly width: number;
  /** What the names in it show. */
  readonly cuts?: ReadonlyMap<string, string>;
}

/** The columns with what the names in these rows show: those that are not the same do not look the same. */
export function withNamesCut<Row>(
  fitted: readonly FittedColumn<Row>[],
  rows: readonly Row[],
  ellipsis = '…',
): readonly FittedColumn<Row>[] {
  return fitted.map(each => {
    const { column, width } = each;
    if (!column.cutAt) return each;
    const names = rows.map(row => sanitiseLine(cellText(column, row)));
    return { ...each, cuts: cutApart(names, width, { ellipsis, position: column.cutAt }) };
  });
}

/** Cells between two columns. */
export const columnGap = 2;

function smallest(width: ColumnWidth): number {
  return typeof width === 'number' ? width : width.min;
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + columnGap * Math.max(0, widths.length - 1);
}

/** The column as wide as its numbers: a cut number would be a different number. */
function holding<Row>(column: Column<Row>, rows: readonly Row[]): Column<Row> {
  if (column.align !== 'right' && !column.whole) return column;
  const needed = rows.reduce((most, row) => Math.max(most, displayWidth(sanitiseLine(cellText(column, row)))), 0);
  const { width } = column;
  if (typeof width === 'number') return { ...column, width: Math.max(width, needed) };
  return { ...column, width: { ...width, min: Math.max(width.min, needed), max: Math.max(width.max, needed) } };
}

/**
 * The columns that fit into `room` cells, in order, with their widths. The first one is always included, and is cut
 * before a number of these rows is.
 */
export function fitColumns<Row>(
  declared: readonly Column<Row>[],
  room: number,
  choice: ColumnChoice = {},
  rows: readonly Row[] = [],
): readonly FittedColumn<Row>[] {
  const columns = declared.map(column => holding(withPreference(column, own(choice, column.id) ?? {}), rows));
  const wanted = columns.filter(column => own(choice, column.id)?.shown ?? !column.wide);
  let shown = wanted.length > 0 ? wanted : columns.slice(0, 1);
  // Columns that do not fit are dropped from the right; the rest share the room.
  while (shown.length > 1 && totalWidth(shown.map(column => smallest(column.width))) > room) shown = shown.slice(0, -1);
  for (const column of columns) {
    const more = columns.filter(other => other === column || shown.includes(other));
    const offered = column.wide && own(choice, column.id)?.shown === undefined && !shown.includes(column);
    if (offered && totalWidth(more.map(other => comfortable(other.width))) <= room) shown = more;
  }
  return shareOut(shown, room);
}

/** An optional column must leave the others more than their minimum. */
function comfortable(width: ColumnWidth): number {
  return typeof width === 'number' ? width : Math.min(width.max, Math.ceil(width.min * 1.5));
}

function shareOut<Row>(columns: readonly Column<Row>[], room: number): readonly FittedColumn<Row>[] {
  const widths = columns.map(({ width }) => smallest(width));
  let spare = room - totalWidth(widths);
  while (spare > 0) {
    const growing = columns.flatMap(({ width }, index) =>
      typeof width !== 'number' && (widths[index] ?? 0) < width.max
        ? [{ index, grow: width.grow, max: width.max }]
        : [],
    );
    const shares = growing.reduce((sum, { grow }) => sum + grow, 0);
    if (shares === 0) break;
    const before = spare;
    for (const { index, grow, max } of growing) {
      const old = widths[index] ?? 0;
      const more = Math.min(max - old, Math.floor((before * grow) / shares), spare);
      widths[index] = old + more;
      spare -= more;
    }
    // The remainder is less than one cell each; the first columns take it.
    if (spare === before) {
      const first = growing[0];
      if (first) widths[first.index] = (widths[first.index] ?? 0) + 1;
      spare -= 1;
    }
  }
  const over = Math.max(0, totalWidth(widths) - room);
  return columns.map((column, index) => ({
    column,
    width: Math.max(1, (widths[index] ?? 1) - (index === 0 ? over : 0)),
  }));
}

/** The columns for a file. */
export function exportColumns<Row>(columns: readonly Column<Row>[]): ExportColumn<Row>[] {
  return columns.map(({ title, value, exported = value }) => ({ name: title.toLowerCase(), value: exported }));
}

/** The text of a cell, before it is made safe and cut. */
export function cellText<Row>(column: Column<Row>, row: Row): string {
  if (column.text) return column.text(row);
  const value = column.value(row);
  const text = value === undefined ? '' : asReceived(value);
  return column.status ? statusWords(text) : text;
}
