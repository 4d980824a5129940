/** Table columns as data, and their widths. Pure. */

import { own } from '../base/own-property.ts';
import { type StatusMeaning, statusWords } from '../contract/status.ts';
import { cutApart } from '../text/apart.ts';
import type { ExportColumn } from '../text/export.ts';
import { asReceived } from '../text/numbers.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { displayWidth, type TruncateOptions } from '../text/width.ts';

export type Cell = string | number | undefined;

/** The text for a value that is unknown, unlike none. */
export const unknownCell = '–';

/** A width in cells, or a range; spare cells are distributed by `grow`. */
export type ColumnWidth = number | { readonly min: number; readonly max: number; readonly grow: number };

export interface Column<Row> {
  /** Stable name: the user's choices are saved under it. */
  readonly id: string;
  readonly title: string;
  readonly width: ColumnWidth;
  readonly align?: 'left' | 'right';
  /** Shown only if all other columns fit, or if chosen. */
  readonly wide?: boolean;
  /** Shown only if chosen; always available to filters and sorting. */
  readonly hidden?: boolean;
  /** Dropped while a text would be cut. */
  readonly yields?: boolean;
  /**
   * Although `wide`, it comes before times and whole names, because one decides by it. Of several, that with the lowest
   * number comes first, and of equal ones the last.
   */
  readonly decides?: number;
  /** Shown only if a row has a value, or if chosen. */
  readonly ifAny?: boolean;
  /** Id of the column that it explains: without that, it would be read as that of another one. */
  readonly beside?: string;
  /** In output for programs although it is wide. On the screen, the text of another column includes the value. */
  readonly forPrograms?: boolean;
  /** The contract's name of the field, for sorting by the service. */
  readonly field?: string | undefined;
  readonly value: (row: Row) => Cell;
  /** Higher is better, so the first sort by it is descending. */
  readonly bestFirst?: boolean;
  /** What to sort by if it differs from the value. */
  readonly sortedBy?: (row: Row) => Cell;
  /** The text to show if it differs from the value. Need not be safe for a terminal. */
  readonly text?: (row: Row) => string;
  /** A shorter text, used if the full one does not fit. */
  readonly shortText?: (row: Row) => string;
  /** Never cut, because it contains a number. Columns aligned to the right are never cut either. */
  readonly whole?: boolean;
  /** The value in exported files, if it differs. */
  readonly exported?: (row: Row) => unknown;
  /** The value is an instant in epoch milliseconds: a filter compares its age. */
  readonly isTime?: boolean;
  /** Whether the value of a row was not read yet, which the screen shows unlike none. */
  readonly isUnread?: (row: Row) => boolean;
  /** False if filters skip it, e.g. an age, which changes while the user types. */
  readonly filtered?: boolean;
  /**
   * Where a long text is cut: by default in the middle, because names and ids in a list often share a prefix. Rows
   * that would look alike show where they differ instead.
   */
  readonly cutAt?: 'start' | 'end';
  /** The end of the text that tells the row from others with its name: only the name before it is cut. */
  readonly ending?: (row: Row) => string;
  /** The value is a status, shown in words with its mark and style. */
  readonly status?: boolean;
  /** The known statuses. A filter for a status that is neither here nor in a row shows an error. */
  readonly known?: readonly string[];
  /** The text is a state, shown with the mark and style of this status. */
  readonly look?: (row: Row) => StatusLook;
}

/** The look of a state: that of a status, or of something that needs the user. */
export type StatusLook = StatusMeaning | 'alarm';

/** A status column. If the service sent no status, the value is missing, as in any other column. */
export function statusColumn<Row>(
  statusOf: (row: Row) => string | null | undefined,
  {
    width = 12,
    field,
    known = [],
  }: { readonly width?: number; readonly field?: string; readonly known?: readonly string[] } = {},
): Column<Row> {
  const value = (row: Row): Cell => statusOf(row) ?? undefined;
  return { id: 'status', title: 'STATUS', field, width, value, status: true, known };
}

/** A column of ids, shown if there is room or, if not `wide`, always. */
export const idColumn = <Row>(idOf: (row: Row) => string | undefined, wide = true): Column<Row> => ({
  ...{ id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide },
  value: idOf,
});

/** The name of something by its id; undefined if it is not known. */
export type NameOf = (id: string) => string | undefined;

/**
 * The column with its ids shown and sorted as names, where known. The values remain the ids; a filter accepts either.
 */
export function namedColumn<Row>(column: Column<Row>, nameOf: NameOf): Column<Row> {
  const text = (row: Row): string => {
    const id = String(column.value(row) ?? '');
    return id && (nameOf(id) ?? id);
  };
  return { ...column, text, sortedBy: row => text(row) || undefined };
}

/** The user's choices for a column; anything else follows its declaration. */
interface ColumnPreference {
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
  /** Cuts a name to a width. */
  readonly cuts?: ReadonlyMap<string, string>;
}

/** Where the texts of a column are cut. */
export const cutOf = <Row>(column: Column<Row>): NonNullable<TruncateOptions['position']> => {
  const { cutAt, align, whole, status, look } = column;
  return cutAt ?? (align === 'right' || whole || status || look ? 'end' : 'middle');
};

/** Cuts the names in these rows so that different names stay distinguishable. */
export function withNamesCut<Row>(
  fitted: readonly FittedColumn<Row>[],
  rows: readonly Row[],
  ellipsis = '…',
): readonly FittedColumn<Row>[] {
  return fitted.map(each => {
    const { column, width } = each;
    const position = cutOf(column);
    if (position === 'end') return each;
    const endings = Map.groupBy(rows, row => endingIn(column, row, width));
    const cuts = [...endings].flatMap(([ending, group]) => {
      const names = group.map(row => {
        const text = sanitiseLine(cellText(column, row));
        return text.slice(0, text.length - ending.length);
      });
      return [...cutApart(names, width - displayWidth(ending), { ellipsis, position })].map(
        ([name, cut]) => [name + ending, cut + ending] as const,
      );
    });
    return { ...each, cuts: new Map(cuts) };
  });
}

/** Cells of a name before its ending; an ending that leaves fewer is cut with the name. */
const leastName = 3;

function endingIn<Row>(column: Column<Row>, row: Row, width: number): string {
  const ending = sanitiseLine(column.ending?.(row) ?? '');
  const fits = displayWidth(ending) + leastName <= width;
  return fits && sanitiseLine(cellText(column, row)).endsWith(ending) ? ending : '';
}

/** Cells between two columns. */
export const columnGap = 2;

function smallest(width: ColumnWidth): number {
  return typeof width === 'number' ? width : width.min;
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + columnGap * Math.max(0, widths.length - 1);
}

/** The width of the widest text by column id. */
export type WidestTexts = Map<string, number>;

/** Cells of a name that it gets before other texts grow, if it needs them. */
const shortName = 16;

/** Cells of the mark before a status. */
export const markWidth = 2;

/** Lists with more rows are not searched for columns with equal values. */
const mostCompared = 2_000;

/** The columns, besides the first, that have the same text in all of these rows. */
export function equalColumns<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): readonly Column<Row>[] {
  const [first, ...others] = rows;
  if (first === undefined || others.length === 0 || rows.length > mostCompared) return [];
  return columns.slice(1).filter(column => {
    const text = cellText(column, first);
    return text !== '' && others.every(row => cellText(column, row) === text);
  });
}

/** The value of a column that all rows share: `MODEL tutor-base`. */
export const equalWords = <Row>(column: Column<Row>, row: Row): string =>
  `${column.title} ${sanitiseLine(cellText(column, row))}`;

/** Returns the width of the widest text so far, in the short form if there is one. */
function measure<Row>(column: Column<Row>, rows: readonly Row[], widest: WidestTexts): number {
  const mark = column.status || column.look ? markWidth : 0;
  const most = (id: string, textOf: (row: Row) => string): number => {
    const widthOf = (row: Row): number => displayWidth(sanitiseLine(textOf(row))) + mark;
    const wide = rows.reduce((widest, row) => Math.max(widest, widthOf(row)), widest.get(id) ?? 0);
    if (rows.length > 0) widest.set(id, wide === mark ? 0 : wide);
    return wide;
  };
  const whole = most(column.id, row => cellText(column, row));
  const { shortText } = column;
  return shortText ? most(`${column.id} short`, shortText) : whole;
}

/**
 * The column with a width that suits its texts. One that must not be cut is wide enough for them, because a cut number
 * would be a different one. Words need no more room than the widest, unless the user chose it; a number keeps the room
 * for more digits.
 */
function suited<Row>(column: Column<Row>, widest: number, isChosen: boolean): Column<Row> {
  const { width, align, whole, title } = column;
  const { min, max, grow } = typeof width === 'number' ? { min: width, max: width, grow: 1 } : width;
  const isNumber = align === 'right';
  const least = isNumber || whole ? Math.max(min, widest) : min;
  // One cell more for the arrow of a sorted column.
  const enough = isNumber || isChosen || widest === 0 ? least : Math.max(widest, displayWidth(title) + 1);
  return { ...column, width: { min: Math.min(least, enough), max: Math.max(max, least), grow } };
}

/**
 * The columns that fit into `room` cells, in order, with their widths. The first one is always included, and is cut
 * before any number is. An empty column makes room for those that would be cut. An optional column takes only spare
 * room, and none if it is empty.
 *
 * @param widest also covers rows that were shown before, so that widths do not change back while rows scroll
 * @param equal ids of columns that make room for others because all their values are equal
 */
export function fitColumns<Row>(
  declared: readonly Column<Row>[],
  room: number,
  choice: ColumnChoice = {},
  rows: readonly Row[] = [],
  widest: WidestTexts = new Map(),
  equal: ReadonlySet<string> = new Set(),
): readonly FittedColumn<Row>[] {
  const columns = declared.map(column => {
    const preference = own(choice, column.id) ?? {};
    return suited(withPreference(column, preference), measure(column, rows, widest), Boolean(preference.wider));
  });
  const isBlank = ({ id }: Column<Row>): boolean => (widest.get(id) ?? 0) === 0;
  const isVain = (column: Column<Row>): boolean => column.ifAny === true && isBlank(column);
  const wanted = columns.filter(
    column => own(choice, column.id)?.shown ?? !(column.wide || column.hidden || isVain(column)),
  );
  let shown: readonly Column<Row>[] = wanted.length > 0 ? wanted : columns.slice(0, 1);
  const isChosen = ({ id }: Column<Row>): boolean => own(choice, id)?.shown !== undefined;
  const textWidth = ({ id, width }: Column<Row>): number => neededWidth(width, widest.get(id));
  const shortWidth = ({ id, width }: Column<Row>): number =>
    neededWidth(width, widest.get(`${id} short`) ?? widest.get(id));
  const least = ({ width }: Column<Row>): number => smallest(width);
  const isEmpty = (column: Column<Row>): boolean => rows.length > 0 && isBlank(column);
  const isEqual = ({ id }: Column<Row>): boolean => equal.has(id);
  const isTooWide = (some: readonly Column<Row>[], needs: (column: Column<Row>) => number): boolean =>
    totalWidth(some.map(needs)) > room;
  /** Drops columns from the right while the others need more room. */
  const dropped = (
    some: readonly Column<Row>[],
    isDispensable: (column: Column<Row>) => boolean | undefined,
    needs: (column: Column<Row>) => number,
  ): readonly Column<Row>[] => {
    let left = some;
    while (left.length > 1 && isTooWide(left, needs)) {
      const last = left.findLastIndex((column, index) => index > 0 && !isChosen(column) && isDispensable(column));
      if (last < 0) break;
      left = left.toSpliced(last, 1);
    }
    return left;
  };
  // While others would be cut, drop empty columns, then those with the same text in all rows, then those that yield; a
  // text with a shorter form needs only the room of that.
  shown = dropped(shown, isEmpty, textWidth);
  shown = dropped(shown, isEqual, textWidth);
  shown = dropped(shown, ({ yields }) => yields, shortWidth);
  // Columns that do not fit are dropped from the right; the rest share the room.
  while (shown.length > 1 && isTooWide(shown, least)) shown = shown.slice(0, -1);
  const isOffered = (column: Column<Row>): boolean =>
    column.wide === true &&
    !isChosen(column) &&
    !shown.includes(column) &&
    !isEmpty(column) &&
    (column.beside === undefined || shown.some(({ id }) => id === column.beside));
  const shownWith = (column: Column<Row>): readonly Column<Row>[] =>
    columns.filter(other => other === column || shown.includes(other));
  // A short name is not cut for an optional column, nor for a time in a list with columns that one decides by.
  const leastNamed = (column: Column<Row>): number =>
    column === columns[0] ? Math.max(least(column), Math.min(shortName, textWidth(column))) : least(column);
  const deciding = columns.filter(({ decides }) => decides !== undefined).reverse();
  if (deciding.length > 0) shown = dropped(shown, ({ isTime }) => isTime, leastNamed);
  for (const column of deciding.toSorted((left, right) => (left.decides ?? 0) - (right.decides ?? 0))) {
    if (!isOffered(column) || isBlank(column)) continue;
    const more = dropped(shownWith(column), other => other !== column && (isEqual(other) || other.isTime), leastNamed);
    if (!isTooWide(more, leastNamed)) shown = more;
  }
  const needed = ({ id, width }: Column<Row>): number =>
    Math.max(comfortable(width), neededWidth(width, widest.get(id)));
  for (const column of columns) {
    if (isOffered(column) && !isTooWide(shownWith(column), needed)) shown = shownWith(column);
  }
  const widths = shown.map(isTooWide(shown, leastNamed) ? least : leastNamed);
  // Names that must be told apart get their room before the long form of other texts.
  if (rows.some(row => shown.some(({ ending }) => ending?.(row))))
    share(shown, widths, room, column => (column.cutAt === 'end' ? smallest(column.width) : shortWidth(column)));
  share(shown, widths, room, textWidth);
  share(shown, widths, room, ({ width }) => (typeof width === 'number' ? width : width.max));
  const over = Math.max(0, totalWidth(widths) - room);
  return shown.map((column, index) => ({
    column,
    width: Math.max(1, (widths[index] ?? 1) - (index === 0 ? over : 0)),
  }));
}

/** An optional column must leave the others more than their minimum. */
function comfortable(width: ColumnWidth): number {
  return typeof width === 'number' ? width : Math.min(width.max, Math.ceil(width.min * 1.5));
}

/** The width that shows the widest text, up to the column's maximum. */
function neededWidth(width: ColumnWidth, text: number = 0): number {
  return typeof width === 'number' ? width : Math.max(width.min, Math.min(width.max, text));
}

/** Distributes the spare cells over the growing columns, each up to its limit. */
function share<Row>(
  columns: readonly Column<Row>[],
  widths: number[],
  room: number,
  limitOf: (column: Column<Row>) => number,
): void {
  let spare = room - totalWidth(widths);
  while (spare > 0) {
    const growing = columns.flatMap((column, index) => {
      const max = limitOf(column);
      const { width } = column;
      return typeof width !== 'number' && (widths[index] ?? 0) < max ? [{ index, grow: width.grow, max }] : [];
    });
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
