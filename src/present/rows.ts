/** Filters and sorts a table's rows. Caches the last result, so that moving the cursor costs nothing. */
import { type Filter, filterTexts, pick } from '../text/filter.ts';
import type { Range } from '../text/fuzzy.ts';
import { sanitise, sanitiseLine } from '../text/sanitise.ts';
import { type Column, cellText } from './column.ts';
import { isPlainWords, parseRowFilter, type RowFilter } from './row-filter.ts';
import { isSameSort, type Sort, sortOrder } from './sort.ts';

export interface ArrangedRows<Row> {
  readonly rows: readonly Row[];
  readonly ids: readonly string[];
  /** How many of them match the filter: in a tree, the others are ancestors of matching rows. */
  readonly matches: number;
  /** The index of the first row that matches the filter: in a tree, its ancestors come before it. */
  readonly first: number;
  /** The active filter; undefined if the typed text is invalid. */
  readonly filter: Filter | undefined;
  /** The error in the filter, or why not all rows were searched. */
  readonly notice: string | undefined;
  /** Why the filter matches no row, if it names a status that does not exist. */
  readonly doubt: string | undefined;
  /** The part of the filter that the notice or the doubt is about. */
  readonly mistake: Range | undefined;
}

export interface Arrangement {
  readonly filter: string;
  readonly sort: Sort | undefined;
}

export interface Arrange<Row> {
  (rows: readonly Row[], arrangement: Arrangement): ArrangedRows<Row>;
  /**
   * Prepares the search text of a few thousand rows starting at `from`, so that a filter's first character need not
   * wait for it. Returns the index to continue at; undefined at the end.
   */
  readonly prepare: (rows: readonly Row[], from: number) => number | undefined;
}

/** How many rows to prepare at a time, which is a few milliseconds of work. */
export const preparedAtOnce = 2_000;

/** The index of the row with this id, or -1. @param hint its previous index */
export function indexOfId({ ids }: Pick<ArrangedRows<unknown>, 'ids'>, id: string, hint = 0): number {
  return ids[hint] === id ? hint : ids.indexOf(id);
}

/** Rows in order, with their search text. */
interface Searchable<Row> {
  readonly rows: readonly Row[];
  /** The search text of the row at an index. */
  readonly textAt: (place: number) => string;
}

/** The maximum distance to search for a row from its previous index; a bit more than a page. */
const shift = 250;

/** The search text of one table's rows. If a row stays, its text is prepared only once. */
class SearchedTexts<Row> {
  readonly #read: (row: Row) => string;
  #rows: readonly Row[] = [];
  #texts: (string | undefined)[] = [];

  constructor(read: (row: Row) => string) {
    this.#read = read;
  }

  at(place: number): string {
    const known = this.#texts[place];
    if (known !== undefined) return known;
    const text = this.#read(this.#rows[place] as Row);
    this.#texts[place] = text;
    return text;
  }

  /** Takes a new list, in which most rows are near their previous index. */
  use(rows: readonly Row[]): void {
    if (rows === this.#rows) return;
    const [oldRows, oldTexts] = [this.#rows, this.#texts];
    let from = 0;
    this.#texts = rows.map(row => {
      let at = from;
      while (at < from + shift && at < oldRows.length && oldRows[at] !== row) at += 1;
      if (oldRows[at] !== row) return undefined;
      from = at + 1;
      return oldTexts[at];
    });
    this.#rows = rows;
  }
}

/** The ids of the rows above a row of a tree, the root first. */
export type AncestorsOf<Row> = (row: Row) => readonly string[];

/** Creates the function that filters and sorts one table's rows. In a tree, a filter also keeps the ancestors. */
export function createArrange<Row>(
  columns: readonly Column<Row>[],
  id: (row: Row) => string,
  ancestorsOf?: AncestorsOf<Row>,
): Arrange<Row> {
  const textOf = textOfRows(columns);
  const texts = new SearchedTexts(textOf);

  let lastRows: readonly Row[] | undefined;
  let last: { arrangement: Arrangement; answer: ArrangedRows<Row>; found: Searchable<Row> } | undefined;
  let sorted: ({ sort: Sort | undefined } & Searchable<Row>) | undefined;

  const withAncestors = (found: readonly Row[], all: readonly Row[]): readonly Row[] => {
    const shown = new Set(found.flatMap(row => [id(row), ...(ancestorsOf?.(row) ?? [])]));
    return all.filter(row => shown.has(id(row)));
  };

  const sort = (rows: readonly Row[], by: Sort | undefined): Searchable<Row> => {
    if (sorted && isSameSort(sorted.sort, by)) return sorted;
    const column = by && columns.find(candidate => candidate.id === by.column);
    if (column) {
      const order = sortOrder(rows, column.sortedBy ?? column.value, by.descending);
      sorted = { sort: by, rows: pick(rows, order), textAt: place => texts.at(order[place] ?? 0) };
    } else sorted = { sort: by, rows, textAt: place => texts.at(place) };
    return sorted;
  };

  const arrange = (rows: readonly Row[], arrangement: Arrangement): ArrangedRows<Row> => {
    if (rows === lastRows && last && sameArrangement(last.arrangement, arrangement)) return last.answer;
    if (rows !== lastRows) sorted = undefined;
    texts.use(rows);
    const ordered = sort(rows, arrangement.sort);
    // A longer plain text can only match rows that the shorter one matched.
    const narrowed = rows === lastRows && last && narrows(last.arrangement, arrangement) ? last.found : ordered;
    const { found, ...words } = filtered(narrowed, parseRowFilter(arrangement.filter, columns), rows, textOf);
    const keepsAncestors = ancestorsOf && found !== narrowed && !arrangement.sort;
    const inTree = keepsAncestors ? withAncestors(found.rows, rows) : found.rows;
    // Reuse the last ids if the new character excluded no row, e.g. in a common prefix.
    const ids = last?.answer.rows === inTree ? last.answer.ids : inTree.map(id);
    const first = Math.max(0, inTree.indexOf(found.rows[0] as Row));
    const answer = { rows: inTree, ids, matches: found.rows.length, first, ...words };
    lastRows = rows;
    last = { arrangement, answer, found };
    return answer;
  };
  const prepare = (rows: readonly Row[], from: number): number | undefined => {
    texts.use(rows);
    const to = Math.min(rows.length, from + preparedAtOnce);
    for (let place = from; place < to; place += 1) texts.at(place);
    return to < rows.length ? to : undefined;
  };
  return Object.assign(arrange, { prepare });
}

/** Returns a row's search text, with one cell per line, so that an expression can match the start and the end of a cell. */
function textOfRows<Row>(columns: readonly Column<Row>[]): (row: Row) => string {
  const searched = columns.filter(column => column.filtered !== false);
  return row => {
    let joined = '';
    for (const column of searched) joined += `${searchedText(column, row)}\n`;
    return sanitise(joined, { multiline: true }).normalize('NFC');
  };
}

/** The rows that match a filter, and the filter's mistake. @param all the rows before an earlier filter */
function filtered<Row>(
  searchable: Searchable<Row>,
  filter: ReturnType<typeof parseRowFilter<Row>>,
  all: readonly Row[],
  textOf: (row: Row) => string,
): { readonly found: Searchable<Row> } & Pick<ArrangedRows<Row>, 'filter' | 'notice' | 'doubt' | 'mistake'> {
  const nothing = { found: { rows: [], textAt: () => '' }, filter: undefined, doubt: undefined };
  if ('error' in filter) return { ...nothing, notice: filter.error, mistake: filter.at };
  const refusal = filter.refusal(all);
  if (refusal) return { ...nothing, notice: refusal.words, mistake: refusal.at };
  const { found, notice } = filterSearchable(searchable, filter, textOf);
  const doubt = found.rows.length > 0 ? undefined : filter.doubt(all);
  return { found, filter: filter.text, notice, doubt: doubt?.words, mistake: doubt?.at };
}

/** The rows that pass, and why not all of them were searched. */
function filterSearchable<Row>(
  all: Searchable<Row>,
  { text, passing }: RowFilter<Row>,
  textOf: (row: Row) => string,
): { readonly found: Searchable<Row>; readonly notice: string | undefined } {
  let searched = all;
  if (passing) {
    const places: number[] = [];
    const rows: Row[] = [];
    for (const [place, row] of all.rows.entries()) {
      const passed = passing(row, textOf);
      if (passed === undefined) continue;
      places.push(place);
      rows.push(passed);
    }
    const textAt = (index: number): string => {
      const [place = 0, row] = [places[index], rows[index] as Row];
      return row === all.rows[place] ? all.textAt(place) : textOf(row);
    };
    searched = { rows, textAt };
  }
  const { rows, textAt } = searched;
  const { kept, notice } = filterTexts(rows.length, textAt, text);
  return { found: kept ? { rows: pick(rows, kept), textAt: index => textAt(kept[index] ?? 0) } : searched, notice };
}

const onOneLine = (text: string): string => (text.includes('\n') ? sanitiseLine(text) : text);

/**
 * A cell's search text: its text on one line. Empty for numbers shown as words, such as ages, which change while the
 * user types. A status or a name is searchable both as shown and as the service wrote it, one per line.
 */
export function searchedText<Row>(column: Column<Row>, row: Row): string {
  const value = column.value(row);
  if (typeof value === 'number' && column.text) return '';
  const line = onOneLine(String(value ?? ''));
  const shown = column.status || column.text ? onOneLine(cellText(column, row)) : line;
  return shown === line ? line : `${line}\n${shown}`;
}

function sameArrangement(left: Arrangement, right: Arrangement): boolean {
  return left.filter === right.filter && isSameSort(left.sort, right.sort);
}

function narrows(from: Arrangement, to: Arrangement): boolean {
  // A capital letter makes a word case-sensitive, which narrows the search too.
  return (
    isPlainWords(from.filter) &&
    isPlainWords(to.filter) &&
    to.filter.startsWith(from.filter) &&
    isSameSort(from.sort, to.sort)
  );
}
