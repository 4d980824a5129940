/** Which rows a table shows and in which order. Pure, and remembers its last answer, so that a cursor move costs nothing. */
import { type Filter, filterRows, parseFilter } from '../../../text/filter.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { type Column, compareCells } from './column.ts';

export interface Sort {
  /** Id of a column. */
  readonly column: string;
  readonly descending: boolean;
}

export interface ArrangedRows<Row> {
  readonly rows: readonly Row[];
  readonly ids: readonly string[];
  readonly indexOf: ReadonlyMap<string, number>;
  /** The filter in force; undefined where what was typed is not one. */
  readonly filter: Filter | undefined;
  /** What is wrong with the filter, or what it could not do. */
  readonly notice: string | undefined;
}

export interface Arrangement {
  readonly filter: string;
  readonly sort: Sort | undefined;
}

export interface Arrange<Row> {
  (rows: readonly Row[], arrangement: Arrangement): ArrangedRows<Row>;
  /** Reads what a filter will search of the rows, so that its first character need not wait for that. */
  readonly prepare: (rows: readonly Row[]) => void;
}

/** Makes the function that filters and sorts the rows of one table. */
export function createArrange<Row>(columns: readonly Column<Row>[], id: (row: Row) => string): Arrange<Row> {
  const haystacks = new WeakMap<object, string>();
  const haystackOf = (row: Row): string => {
    const known = haystacks.get(row as object);
    if (known !== undefined) return known;
    const text = sanitiseLine(columns.map(column => searchedText(column, row)).join(' '));
    haystacks.set(row as object, text);
    return text;
  };

  let lastRows: readonly Row[] | undefined;
  let last: { arrangement: Arrangement; answer: ArrangedRows<Row> } | undefined;
  let sorted: { sort: Sort | undefined; rows: readonly Row[] } | undefined;

  const sort = (rows: readonly Row[], by: Sort | undefined): readonly Row[] => {
    if (sorted && sameSort(sorted.sort, by)) return sorted.rows;
    const column = by && columns.find(candidate => candidate.id === by.column);
    const ordered = column
      ? rows
          .map(row => ({ row, value: column.value(row) }))
          .sort((left, right) => compareCells(left.value, right.value, by.descending))
          .map(({ row }) => row)
      : rows;
    sorted = { sort: by, rows: ordered };
    return ordered;
  };

  const arrange = (rows: readonly Row[], arrangement: Arrangement): ArrangedRows<Row> => {
    if (rows === lastRows && last && sameArrangement(last.arrangement, arrangement)) return last.answer;
    if (rows !== lastRows) sorted = undefined;
    const parsed = parseFilter(arrangement.filter);
    const ordered = sort(rows, arrangement.sort);
    // What a longer plain text matches is among what the shorter one matched.
    const narrowed = rows === lastRows && last && narrows(last.arrangement, arrangement) ? last.answer.rows : ordered;
    const found = parsed.ok ? filterRows(narrowed, haystackOf, parsed) : { rows: ordered };
    // A letter that takes no row away, as in a beginning that all have: what was made of the rows still holds.
    const known = last?.answer.rows === narrowed && found.rows.length === narrowed.length ? last.answer : undefined;
    const answer: ArrangedRows<Row> = {
      ...(known ?? indexed(found.rows, id)),
      filter: parsed.ok ? parsed : undefined,
      notice: parsed.ok ? found.notice : parsed.error,
    };
    lastRows = rows;
    last = { arrangement, answer };
    return answer;
  };
  return Object.assign(arrange, { prepare: (rows: readonly Row[]) => void rows.forEach(haystackOf) });
}

function indexed<Row>(rows: readonly Row[], id: (row: Row) => string): Omit<ArrangedRows<Row>, 'filter' | 'notice'> {
  const ids = rows.map(id);
  return { rows, ids, indexOf: new Map(ids.map((name, index) => [name, index])) };
}

/** What a filter searches of a cell: its text, but not a number in words (an age changes while one types). */
function searchedText<Row>(column: Column<Row>, row: Row): string {
  const value = column.value(row);
  return typeof value === 'number' && column.text ? '' : String(value ?? '');
}

function sameSort(left: Sort | undefined, right: Sort | undefined): boolean {
  return left?.column === right?.column && left?.descending === right?.descending;
}

function sameArrangement(left: Arrangement, right: Arrangement): boolean {
  return left.filter === right.filter && sameSort(left.sort, right.sort);
}

function narrows(from: Arrangement, to: Arrangement): boolean {
  const plain = (filter: string): boolean => filter !== '' && !/^[/!~]/.test(filter);
  // A capital makes a filter mind the case, but it still only narrows.
  return plain(from.filter) && plain(to.filter) && to.filter.startsWith(from.filter) && sameSort(from.sort, to.sort);
}
