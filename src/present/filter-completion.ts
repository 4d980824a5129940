/** Completes the last word of a list filter with columns and their values. Pure. */
import { asReceived } from '../text/numbers.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import type { Column } from './column.ts';
import { columnNamed, initials, isWholeText, namesOf, plainName, termParts, tokensOf } from './row-filter.ts';

export interface FilterCompletion {
  /** Where the completed word begins in the filter. */
  readonly from: number;
  /** Whole words, best first. A column name ends with an operator, so that the user can type the value next. */
  readonly words: readonly string[];
}

/** Maximum number of rows to search for values. */
const maxRows = 5_000;

/** Completes the last word of a filter. @param typed the filter up to the cursor */
export function completeFilter<Row>(
  typed: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): FilterCompletion {
  const none = { from: typed.length, words: [] };
  if (isWholeText(typed)) return none;
  const last = tokensOf(typed).at(-1);
  const token = last && last.at[1] === typed.length ? last : undefined;
  if (!token) return { ...none, words: columnCompletions('', columns, rows) };
  if (token.isQuoted) return none;
  const from = token.at[0] + (token.isInverse ? 1 : 0);
  const term = termParts(token);
  if (!term) return { from, words: columnCompletions(token.text, columns, rows) };
  const column = columnNamed(columns, term.name);
  const isOpen = (token.text.match(/"/g) ?? []).length !== 2;
  if (!column || !isOpen || term.operator === '~') return none;
  const before = token.text.slice(0, term.name.length + term.operator.length);
  const isNumeric = /[<>]/.test(term.operator);
  const values = valuesOf(column, rows, term.value.replace(/^"/, ''), isNumeric);
  return { from, words: values.map(value => `${before}${/\s/.test(value) ? `"${value}"` : value}`) };
}

/** The columns whose name, title or initials start with this prefix, each with its usual operator. */
function columnCompletions<Row>(
  prefix: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): readonly string[] {
  const wanted = plainName(prefix);
  const isMatch = (name: string): boolean =>
    plainName(name).startsWith(wanted) || (wanted.length > 1 && initials(name).startsWith(wanted));
  return columns
    .toSorted((one, other) => Number(one.hidden ?? false) - Number(other.hidden ?? false))
    .flatMap(column => {
      const names = namesOf(column).map(name => name.toLowerCase());
      // A title may have several words, or be another column's name.
      const name = names.find(
        each => isMatch(each) && /^[a-z][\w.-]*$/.test(each) && columnNamed(columns, each) === column,
      );
      return name === undefined ? [] : [`${name}${operatorOf(column, rows)}`];
    });
}

function operatorOf<Row>({ time, status, value, align }: Column<Row>, rows: readonly Row[]): string {
  if (time && time !== 'length') return '<';
  if (status) return ':';
  const found = rows.slice(0, maxRows).find(row => value(row) !== undefined);
  const isNumber = found === undefined ? align === 'right' : typeof value(found) === 'number';
  return isNumber ? '>' : ':';
}

/** A column's values that begin with or contain the typed text: strings by frequency, numbers in order. */
function valuesOf<Row>(
  { value, text, time, known = [] }: Column<Row>,
  rows: readonly Row[],
  typed: string,
  isNumeric: boolean,
): readonly string[] {
  // Leave out ages, which change while the user types, and rounded numbers, which are useless in a comparison.
  if (time) return [];
  const counts = new Map<string | number, number>();
  for (const row of rows.slice(0, maxRows)) {
    const cell = value(row);
    const isShown = typeof cell === 'number' ? text === undefined : cell !== undefined && cell !== '' && !isNumeric;
    if (isShown && cell !== undefined) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  const found = [...counts].sort(([one, count], [other, otherCount]) =>
    typeof one === 'number' && typeof other === 'number' ? one - other : otherCount - count,
  );
  const wanted = typed.toLowerCase();
  const words = [...new Set([...found.map(([each]) => asReceived(each)), ...(isNumeric ? [] : known)])];
  // Leave out values that cannot be typed in a filter.
  const typable = words.filter(word => word !== typed && word === sanitiseLine(word) && !word.includes('"'));
  const starting = typable.filter(word => word.toLowerCase().startsWith(wanted));
  const containing = typable.filter(word => !starting.includes(word) && word.toLowerCase().includes(wanted));
  return [...starting, ...containing];
}
