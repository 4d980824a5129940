/** Table columns as data, and their widths. Pure. */

import { perArguments } from '../base/memo.ts';
import { isRecord, own } from '../base/own-property.ts';
import { formatStatus, type StatusMeaning } from '../contract/status.ts';
import { cutApart } from '../text/apart.ts';
import type { ExportColumn } from '../text/export.ts';
import { asReceived } from '../text/numbers.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { displayWidth, type TruncateOptions } from '../text/width.ts';

export type Cell = string | number | undefined;

/** Shown for an unknown value. A value that does not exist is blank. */
export const unknownCell = '–';

interface WidthRange {
  readonly min: number;
  readonly max: number;
  readonly grow: number;
}

/** A width in cells, or a range; spare cells are distributed according to `grow`. */
export type ColumnWidth = number | WidthRange;

export interface Column<Row> {
  /** A stable name: the user's choices are saved under it. */
  readonly id: string;
  readonly title: string;
  readonly width: ColumnWidth;
  readonly align?: 'left' | 'right';
  /** Shown only if all other columns fit, or if chosen. */
  readonly wide?: boolean;
  /** Shown only if chosen; always available to filters and sorting. */
  readonly hidden?: boolean;
  /** Dropped if text in another column would be truncated. */
  readonly yields?: boolean;
  /**
   * Users decide based on this column, so it gets room before times and long names even though it is `wide`. The lowest
   * number gets room first; among equal numbers, the last column does.
   */
  readonly decides?: number;
  /** Shown only if a row has a value, or if chosen. */
  readonly ifAny?: boolean;
  /** Whether no row has a value, including rows that are not read yet: sorting passes over it. */
  readonly hasNone?: boolean;
  /** Id of the column that it explains. Hidden without that column, because it would seem to explain another one. */
  readonly beside?: string;
  /** Included in output for programs even though it is wide. On screen, another column's text contains the value. */
  readonly forPrograms?: boolean;
  /** The contract's name for the field, for sorting by the service. */
  readonly field?: string | undefined;
  readonly value: (row: Row) => Cell;
  /** Higher is better, so sorting by it starts descending. */
  readonly bestFirst?: boolean;
  /** The value to sort by, if it differs. */
  readonly sortedBy?: (row: Row) => Cell;
  /** How that value differs, in words; shown while it makes a difference. */
  readonly sortNote?: string;
  /** The text to show, if it differs from the value. It need not be safe for a terminal. */
  readonly text?: (row: Row) => string;
  /** A shorter version, used if the full text does not fit. */
  readonly shortText?: (row: Row) => string;
  /** Never truncated, because it contains a number. Right-aligned columns are never truncated either. */
  readonly whole?: boolean;
  /** The value for exported files, if it differs. */
  readonly exported?: (row: Row) => unknown;
  /**
   * The value is an instant in epoch milliseconds, or when a row was last seen: a filter compares its age. Or it is a
   * length of time in milliseconds.
   */
  readonly time?: 'instant' | 'seen' | 'length';
  /** Whether a row's value has not been read yet. The screen then shows `unknownCell`. */
  readonly isUnread?: (row: Row) => boolean;
  /** Describes the command that reads the values, if lists may lack them in all rows. */
  readonly readBy?: string;
  /**
   * Variants of a row that stands for several things; at least one. A filter that names this column accepts a row if
   * one of its variants passes the whole filter, and shows that variant. All columns with variants return the same
   * ones. Untyped so that a column for some rows also fits rows with more fields.
   */
  readonly variants?: (row: Row) => readonly unknown[];
  /** False if filters should skip it, e.g. an age, which changes while the user types. */
  readonly filtered?: boolean;
  /**
   * Where long text is cut: by default in the middle, because names and ids in a list often share a prefix. Texts that
   * would look alike keep the part that differs.
   */
  readonly cutAt?: 'start' | 'end';
  /** The beginning of the text, before the name: it is never cut, and names are cut as if it were not there. */
  readonly mark?: (row: Row) => string;
  /** The end of the text, if it distinguishes rows with the same name: only the name before it is cut. */
  readonly ending?: (row: Row) => string;
  /** The value is a status, shown in words with its mark and style. */
  readonly status?: boolean;
  /** The known statuses. Filtering for a status that is neither known nor in a row shows an error. */
  readonly known?: readonly string[];
  /** The text is a state, shown with this status's mark and style. */
  readonly look?: (row: Row) => StatusLook;
}

/** How a state looks: like a status, or like an alarm. */
export type StatusLook = StatusMeaning | 'alarm';

/** Why rows can be neither filtered nor sorted by a column, if none of them has a value. */
export const describeAbsentColumn = <Row>({ title, readBy }: Column<Row>): string =>
  `${title} is not in this list: ${readBy}`;

/** Like {@link describeAbsentColumn}, but undefined if one of these rows has a value. */
export const describeIfAbsent = <Row>(column: Column<Row>, rows: readonly Row[]): string | undefined =>
  column.readBy !== undefined && rows.length > 0 && rows.every(row => column.value(row) === undefined)
    ? describeAbsentColumn(column)
    : undefined;

/** A column without a special look; null counts as no value. */
export const plainColumn = <Row>(
  id: string,
  title: string,
  width: ColumnWidth,
  value: (row: Row) => Cell | null,
  options: Partial<Column<Row>> = {},
): Column<Row> => ({ id, title, width, value: row => value(row) ?? undefined, ...options });

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

/** A column of ids. @param wide whether it is shown only if there is room */
export const idColumn = <Row>(idOf: (row: Row) => string | undefined, wide = true): Column<Row> => ({
  ...{ id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide },
  value: idOf,
});

/** Looks up a resource's name by its id; undefined if unknown. */
export type NameOf = (id: string) => string | undefined;

/** A column that shows and sorts by a text in place of its value. Programs get the value; filters accept both. */
export const columnShownAs = <Row>(column: Column<Row>, text: (row: Row) => string): Column<Row> => ({
  ...column,
  text,
  sortedBy: row => text(row) || undefined,
});

/** A column of ids that shows names, where known. */
export const namedColumn = <Row>(column: Column<Row>, nameOf: NameOf): Column<Row> =>
  columnShownAs(column, row => {
    const id = String(column.value(row) ?? '');
    return id && (nameOf(id) ?? id);
  });

/** The user's choices for a column; the declaration provides the defaults. */
interface ColumnPreference {
  readonly shown?: boolean;
  /** Cells to add to the declared width; may be negative. */
  readonly wider?: number;
}

/** The choices, by column id. */
export type ColumnChoice = Readonly<Record<string, ColumnPreference>>;

const minColumnWidth = 4;

/** The declared width, changed by the user's choice. */
function rangeOf(width: ColumnWidth, { wider = 0 }: ColumnPreference): WidthRange {
  const range = typeof width === 'number' ? { min: width, max: width, grow: 1 } : width;
  if (wider === 0) return range;
  const min = Math.max(minColumnWidth, range.min + wider);
  return { ...range, min, max: Math.max(min, range.max + wider) };
}

export interface FittedColumn<Row> {
  readonly column: Column<Row>;
  readonly width: number;
  /** Cut forms of names at a given width. */
  readonly cuts?: ReadonlyMap<string, string>;
}

/** Where a column's text is cut. */
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
      const markOf = (row: Row): string => column.mark?.(row) ?? '';
      const nameOf = (row: Row): string => {
        const text = fittingText(column, row, width);
        return text.slice(markOf(row).length, text.length - ending.length);
      };
      const names = group.map(nameOf);
      return [...Map.groupBy(group, markOf)].flatMap(([mark, marked]) => {
        const cut = cutApart(names, width - displayWidth(mark + ending), { ellipsis, position });
        return marked.map(nameOf).map(name => [mark + name + ending, mark + (cut.get(name) ?? name) + ending] as const);
      });
    });
    return { ...each, cuts: new Map(cuts) };
  });
}

/** Minimum cells of a name before its ending. If the ending leaves fewer, it is cut along with the name. */
const minNameWidth = 3;

function endingIn<Row>(column: Column<Row>, row: Row, width: number): string {
  const ending = sanitiseLine(column.ending?.(row) ?? '');
  const fits = displayWidth(ending) + minNameWidth <= width;
  return fits && fittingText(column, row, width).endsWith(ending) ? ending : '';
}

/** Cells between two columns. */
export const columnGap = 2;

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + columnGap * Math.max(0, widths.length - 1);
}

/** The width of the widest text, by column id. */
export type WidestTexts = Map<string, number>;

/** Cells that a name may take up before other text grows. */
const shortName = 16;

/** Width of the mark before a status, in cells. */
export const markWidth = 2;

/** Lists with more rows are not searched for columns whose values are all equal. */
const maxCompared = 2_000;

/** The columns that show the same text in all of these rows, except the first column and columns that rate rows. */
export function equalColumns<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): readonly Column<Row>[] {
  const [first, ...others] = rows;
  if (first === undefined || others.length === 0 || rows.length > maxCompared) return [];
  return columns.slice(1).filter(column => {
    const text = cellText(column, first);
    return !column.bestFirst && text !== '' && others.every(row => cellText(column, row) === text);
  });
}

/** A column's value that all rows share: `MODEL tutor-base`. */
export const describeSharedValue = <Row>(column: Column<Row>, row: Row): string =>
  `${column.title} ${sanitiseLine(cellText(column, row)).trim()}`;

/** Returns the width of the widest text so far, using the short form if there is one. */
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
 * The range that suits the column's text. Text that must not be cut, such as a number, gets the room it needs. Words
 * need no more room than the widest of them, unless the user chose the width; numbers keep room for more digits.
 */
function suitedRange<Row>(column: Column<Row>, widest: number, preference: ColumnPreference): WidthRange {
  const { align, whole, title } = column;
  const { min, max, grow } = rangeOf(column.width, preference);
  const isChosen = Boolean(preference.wider);
  const isNumber = align === 'right';
  const least = isNumber || whole ? Math.max(min, widest) : min;
  // One more cell for the arrow of a sorted column.
  const enough = isNumber || isChosen || widest === 0 ? least : Math.max(widest, displayWidth(title) + 1);
  return { min: Math.min(least, enough), max: Math.max(max, least), grow };
}

/** The properties that decide whether a column is shown, and how wide. @param isFirst whether it holds the name */
function sizeOf<Row>(
  column: Column<Row>,
  rows: readonly Row[],
  widest: WidestTexts,
  preference: ColumnPreference,
  isFirst: boolean,
) {
  const range = suitedRange(column, measure(column, rows, widest), preference);
  const longest = widest.get(column.id) ?? 0;
  const text = neededWidth(range, longest);
  return {
    ...range,
    column,
    /** Whether the user chose to show or to hide it. */
    chosen: preference.shown,
    /** The width of the widest text, and of its short form, within the range. */
    text,
    short: neededWidth(range, widest.get(`${column.id} short`) ?? longest),
    /** The minimum, but a short name in the first column is not cut. */
    named: isFirst ? Math.max(range.min, Math.min(shortName, text)) : range.min,
    /** The minimum width that an optional column must leave for this one. */
    comfortable: Math.max(text, Math.min(range.max, Math.ceil(range.min * 1.5))),
    /** The width of the widest text, even beyond a range, unless the user chose the width. */
    whole: preference.wider || typeof column.width === 'number' ? range.max : Math.max(range.max, longest),
    isBlank: longest === 0,
    isEmpty: longest === 0 && rows.length > 0,
    hasEnding: rows.some(row => column.ending?.(row)),
  };
}

type SizedColumn<Row> = ReturnType<typeof sizeOf<Row>> & { readonly isEqual: boolean };
type SizedColumns<Row> = readonly SizedColumn<Row>[];
type Need = 'min' | 'text' | 'short' | 'named' | 'comfortable';

const isTooWide = <Row>(columns: SizedColumns<Row>, need: Need, room: number): boolean =>
  totalWidth(columns.map(each => each[need])) > room;

/** Drops columns from the right while the others need more room. */
function dropColumns<Row>(
  columns: SizedColumns<Row>,
  need: Need,
  room: number,
  isDispensable: (each: SizedColumn<Row>) => boolean | undefined,
): SizedColumns<Row> {
  let left = columns;
  while (left.length > 1 && isTooWide(left, need, room)) {
    const last = left.findLastIndex((each, index) => index > 0 && each.chosen === undefined && isDispensable(each));
    if (last < 0) break;
    left = left.toSpliced(last, 1);
  }
  return left;
}

/** The columns to show even if there is no room to spare. */
function requiredColumns<Row>(columns: SizedColumns<Row>, room: number): SizedColumns<Row> {
  const wanted = columns.filter(
    ({ column, chosen, isBlank, isEmpty }) =>
      chosen ?? !(column.wide || column.hidden || isEmpty || (column.ifAny && isBlank)),
  );
  let shown: SizedColumns<Row> = wanted.length > 0 ? wanted : columns.slice(0, 1);
  // While others would be cut, drop columns with the same text in all rows, then columns that yield. Text with a
  // shorter form needs only the room for that form.
  shown = dropColumns(shown, 'text', room, ({ isEqual }) => isEqual);
  shown = dropColumns(shown, 'short', room, ({ column }) => column.yields);
  // Columns that do not fit are dropped from the right; the rest share the room.
  while (shown.length > 1 && isTooWide(shown, 'min', room)) shown = shown.slice(0, -1);
  return shown;
}

/**
 * Adds the optional columns that fit. A short name is not cut to make room for one, or for a time if other columns
 * decide. Columns with the same text in all rows give their room to names, and come last.
 */
function withOptional<Row>(columns: SizedColumns<Row>, required: SizedColumns<Row>, room: number): SizedColumns<Row> {
  let shown = required;
  const isOffered = (each: SizedColumn<Row>): boolean => {
    const { wide, beside } = each.column;
    const isFree = wide === true && each.chosen === undefined && !each.isEmpty && !shown.includes(each);
    return isFree && (beside === undefined || shown.some(({ column }) => column.id === beside));
  };
  const shownWith = (one: SizedColumn<Row>): SizedColumns<Row> =>
    columns.filter(each => each === one || shown.includes(each));
  const deciding = columns.filter(({ column }) => column.decides !== undefined).reverse();
  if (deciding.length > 0) shown = dropColumns(shown, 'named', room, ({ column }) => column.time === 'instant');
  for (const one of deciding.toSorted((left, right) => (left.column.decides ?? 0) - (right.column.decides ?? 0))) {
    if (!isOffered(one) || one.isBlank) continue;
    const isDispensable = (each: SizedColumn<Row>) => each !== one && (each.isEqual || each.column.time === 'instant');
    const more = dropColumns(shownWith(one), 'named', room, isDispensable);
    if (!isTooWide(more, 'named', room)) shown = more;
  }
  // Numbers may soon differ again, and their columns would reappear.
  shown = dropColumns(shown, 'text', room, ({ isEqual, column }) => isEqual && column.align !== 'right');
  for (const one of columns.toSorted((left, right) => Number(left.isEqual) - Number(right.isEqual))) {
    if (isOffered(one) && !isTooWide(shownWith(one), 'comfortable', room)) shown = shownWith(one);
  }
  return shown;
}

type GivenColumn<Row> = SizedColumn<Row> & { width: number };

/** Shares the room among the columns. */
function withWidths<Row>(shown: SizedColumns<Row>, room: number): readonly GivenColumn<Row>[] {
  const least = isTooWide(shown, 'named', room) ? 'min' : 'named';
  const given = shown.map(each => ({ ...each, width: each[least] }));
  // Names that would look alike when cut get their room before other text gets its long form.
  if (given.some(({ hasEnding }) => hasEnding))
    shareSpareCells(given, room, ({ column, min, short }) => (column.cutAt === 'end' ? min : short));
  shareSpareCells(given, room, ({ text }) => text);
  // A column whose long texts still do not fit keeps the room of their short form, and others get the rest.
  const short = new Set(given.filter(({ column, text, width }) => column.shortText !== undefined && width < text));
  for (const each of short) each.width = Math.min(each.width, each.short);
  shareSpareCells(given, room, each => (short.has(each) ? each.short : each.text));
  shareSpareCells(given, room, ({ text, max, whole }) => (text === max ? whole : text));
  shareSpareCells(given, room, ({ max }) => max);
  return given;
}

/**
 * The columns that fit into `room` cells, in order, with their widths. The first column is always included, and is cut
 * before any number is. An empty column is not shown unless it was chosen. An optional column takes only spare room.
 *
 * @param widest also covers rows shown earlier, so that widths do not change back and forth while scrolling
 * @param equal ids of columns to drop if others need room, because all their values are equal
 */
export function fitColumns<Row>(
  declared: readonly Column<Row>[],
  room: number,
  choice: ColumnChoice = {},
  rows: readonly Row[] = [],
  widest: WidestTexts = new Map(),
  equal: ReadonlySet<string> = new Set(),
): readonly FittedColumn<Row>[] {
  const columns = declared.map((column, index) => ({
    ...sizeOf(column, rows, widest, own(choice, column.id) ?? {}, index === 0),
    isEqual: equal.has(column.id),
  }));
  const given = withWidths(withOptional(columns, requiredColumns(columns, room), room), room);
  const over = Math.max(0, totalWidth(given.map(({ width }) => width)) - room);
  return given.map(({ column, width }, index) => ({ column, width: Math.max(1, index === 0 ? width - over : width) }));
}

/** The width that fits the widest text, up to the column's maximum. */
const neededWidth = ({ min, max }: WidthRange, text: number): number => Math.max(min, Math.min(max, text));

/** Distributes the spare cells among the columns, each up to its limit. */
function shareSpareCells<Row>(
  columns: readonly GivenColumn<Row>[],
  room: number,
  limitOf: (column: GivenColumn<Row>) => number,
): void {
  let spare = room - totalWidth(columns.map(({ width }) => width));
  while (spare > 0) {
    const growing = columns.filter(each => each.width < limitOf(each));
    const shares = growing.reduce((sum, { grow }) => sum + grow, 0);
    if (shares === 0) break;
    const before = spare;
    for (const each of growing) {
      const more = Math.min(limitOf(each) - each.width, Math.floor((before * each.grow) / shares), spare);
      each.width += more;
      spare -= more;
    }
    // The remainder is less than one cell each; the first columns get it.
    const [first] = growing;
    if (spare === before && first) {
      first.width += 1;
      spare -= 1;
    }
  }
}

/** The columns without those that appear only with values, and have none in these rows. */
export const withoutEmpty = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): readonly Column<Row>[] =>
  columns.filter(({ ifAny, value }) => !ifAny || rows.some(row => value(row) !== undefined));

/** The columns to write to a file. */
export function exportColumns<Row>(columns: readonly Column<Row>[]): ExportColumn<Row>[] {
  return columns.map(({ title, value, exported = value }) => ({ name: title.toLowerCase(), value: exported }));
}

/** A cell's text, before it is made safe and cut. */
export function cellText<Row>(column: Column<Row>, row: Row): string {
  if (column.text) return column.text(row);
  const value = column.value(row);
  const text = value === undefined ? '' : asReceived(value);
  return column.status ? (isWaiting(row) ? waitingWord : formatStatusOnce(text)) : text;
}

/** Cached, because even 100,000 rows have only a few distinct statuses. */
const formatStatusOnce = perArguments(formatStatus);

/** The status that lists show for a run whose work cannot continue; filters also accept the service's status. */
export const waitingWord = 'waiting';

/** Whether a row is a run whose work cannot continue, which the local service reports in addition to its status. */
const isWaiting = (row: unknown): boolean => isRecord(row) && Boolean(row['waits_because']);

/** A cell's text, or its shorter version if the text does not fit into these cells; safe, but not cut. */
export function fittingText<Row>(column: Column<Row>, row: Row, cells: number): string {
  const whole = sanitiseLine(cellText(column, row));
  return column.shortText && displayWidth(whole) > cells ? sanitiseLine(column.shortText(row)) : whole;
}
