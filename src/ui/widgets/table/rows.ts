/** Which rows a table shows and in which order. Pure, and remembers its last answer, so that a cursor move costs nothing. */
import { type Filter, filterRows, parseFilter } from '../../../text/filter.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import type { Column } from './column.ts';
import { isSameSort, type Sort, sortRows } from './sort.ts';

export interface ArrangedRows<Row> {
  readonly rows: readonly Row[];
  readonly ids: readonly string[];
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
  /**
   * Reads what a filter will search of the rows from `from` on, some thousands at a time, so that its first character need
   * not wait for that. Gives where to go on; undefined at the end.
   */
  readonly prepare: (rows: readonly Row[], from: number) => number | undefined;
}

/** Rows prepared at a time: a few milliseconds. */
const preparedAtOnce = 2_000;

/** Where the row of an id is, -1 where it is not; `hint` is where it was. */
export function indexOfId({ ids }: Pick<ArrangedRows<unknown>, 'ids'>, id: string, hint = 0): number {
  return ids[hint] === id ? hint : ids.indexOf(id);
}

/** Makes the function that filters and sorts the rows of one table. */
export function createArrange<Row>(columns: readonly Column<Row>[], id: (row: Row) => string): Arrange<Row> {
  const haystacks = new WeakMap<object, string>();
  const haystackOf = (row: Row): string => {
    const known = haystacks.get(row as object);
    if (known !== undefined) return known;
    let joined = '';
    for (const column of columns) joined += `${searchedText(column, row)} `;
    const text = sanitiseLine(joined);
    haystacks.set(row as object, text);
    return text;
  };

  let lastRows: readonly Row[] | undefined;
  let last: { arrangement: Arrangement; answer: ArrangedRows<Row> } | undefined;
  let sorted: { sort: Sort | undefined; rows: readonly Row[] } | undefined;

  const sort = (rows: readonly Row[], by: Sort | undefined): readonly Row[] => {
    if (sorted && isSameSort(sorted.sort, by)) return sorted.rows;
    const column = by && columns.find(candidate => candidate.id === by.column);
    const ordered = column ? sortRows(rows, column.value, by.descending) : rows;
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
      rows: known?.rows ?? found.rows,
      ids: known?.ids ?? found.rows.map(id),
      filter: parsed.ok ? parsed : undefined,
      notice: parsed.ok ? found.notice : parsed.error,
    };
    lastRows = rows;
    last = { arrangement, answer };
    return answer;
  };
  const prepare = (rows: readonly Row[], from: number): number | undefined => {
    const to = Math.min(rows.length, from + preparedAtOnce);
    for (const row of rows.slice(from, to)) haystackOf(row);
    return to < rows.length ? to : undefined;
  };
  return Object.assign(arrange, { prepare });
}

/** What a filter searches of a cell: its text, but not a number in words (an age changes while one types). */
function searchedText<Row>(column: Column<Row>, row: Row): string {
  const value = column.value(row);
  return typeof value === 'number' && column.text ? '' : String(value ?? '');
}

function sameArrangement(left: Arrangement, right: Arrangement): boolean {
  return left.filter === right.filter && isSameSort(left.sort, right.sort);
}

function narrows(from: Arrangement, to: Arrangement): boolean {
  const plain = (filter: string): boolean => filter !== '' && !/^[/!~]/.test(filter);
  // A capital makes a filter mind the case, but it still only narrows.
  return plain(from.filter) && plain(to.filter) && to.filter.startsWith(from.filter) && isSameSort(from.sort, to.sort);
}
