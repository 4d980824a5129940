/** Sorts rows by a column's values. Pure. */
import type { Cell, Column } from './column.ts';

export interface Sort {
  /** Id of a column. */
  readonly column: string;
  readonly descending: boolean;
}

/** Sorting by a column, with the rows that matter most first. */
export const sortBy = ({ id, bestFirst }: Pick<Column<never>, 'id' | 'bestFirst'>): Sort => ({
  column: id,
  descending: bestFirst === true,
});

export function isSameSort(left: Sort | undefined, right: Sort | undefined): boolean {
  return left?.column === right?.column && left?.descending === right?.descending;
}

type Comparison = (left: Cell, right: Cell) => number;

/** Created on first use, because creating it takes milliseconds. */
let collator: Intl.Collator | undefined;

function byText(): Comparison {
  collator ??= new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
  return collator.compare as Comparison;
}

const bySize: Comparison = (left, right) => Number(left) - Number(right);

/**
 * The indexes of the rows in sorted order: numbers by size, strings in natural order (`run 9` before `run 10`), missing
 * values last in both directions. The sort is stable. Only distinct values are compared, so that 100,000 rows with a
 * few statuses take no longer than counting them.
 */
export function sortOrder<Row>(
  rows: readonly Row[],
  value: (row: Row) => Cell,
  descending: boolean,
): readonly number[] {
  const values = rows.map(row => {
    const cell = value(row);
    return Number.isNaN(cell) ? undefined : cell;
  });
  const distinct = [...new Set(values)].filter(cell => cell !== undefined);
  const compare = distinct.every(cell => typeof cell === 'number') ? bySize : byText();
  // The sort compares all neighbours, so if it finds no tie, the loop below need not look for one.
  let isTied = false;
  distinct.sort((left, right) => {
    const order = compare(left, right);
    if (order === 0) isTied = true;
    return order;
  });
  const places = new Map<Cell, number>();
  let place = -1;
  let before: Cell;
  for (const cell of distinct) {
    if (before === undefined || !isTied || compare(before, cell) !== 0) place += 1;
    places.set(cell, place);
    before = cell;
  }
  const last = place + 1;
  // Counting sort: a value's rows begin where the previous value's rows end.
  const starts = new Uint32Array(last + 2);
  const placeOf = Uint32Array.from(values, cell => {
    const found = cell === undefined ? undefined : places.get(cell);
    // Missing values come last in both directions.
    if (found === undefined) return last;
    return descending ? place - found : found;
  });
  for (const each of placeOf) starts[each + 1] = (starts[each + 1] ?? 0) + 1;
  for (let at = 1; at < starts.length; at += 1) starts[at] = (starts[at] ?? 0) + (starts[at - 1] ?? 0);
  const order = new Array<number>(rows.length);
  for (const [index, at] of placeOf.entries()) {
    const target = starts[at] ?? 0;
    order[target] = index;
    starts[at] = target + 1;
  }
  return order;
}

export function sortRows<Row>(rows: readonly Row[], value: (row: Row) => Cell, descending: boolean): Row[] {
  return sortOrder(rows, value, descending).map(index => rows[index] as Row);
}

/** The difference between the sort values and the displayed values, in words; empty if they are equal. */
export function sortNoteOf<Row>(column: Column<Row>, rows: readonly Row[]): string {
  const { value, exported = value, sortedBy, sortNote = '' } = column;
  return sortNote !== '' && rows.some(row => sortedBy?.(row) !== exported(row)) ? sortNote : '';
}
