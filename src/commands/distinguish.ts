/** Distinguishes rows with the same name by the columns in which they differ. */
import { shellWord } from '../base/shell-word.ts';
import { type Column, cellText } from '../present/column.ts';
import { idOf, type Resource } from '../resources/define.ts';
import { sanitiseLine } from '../text/sanitise.ts';

/** The most details to show per row. */
const maxDetails = 4;

const unique = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

/** A column's text in each row: formatted if that distinguishes all rows, otherwise raw. */
function textsOf(column: Column<object>, rows: readonly object[]): readonly string[] {
  const shown = rows.map(row => cellText(column, row));
  const { exported } = column;
  return unique(shown) || !exported ? shown : rows.map(row => String(exported(row) ?? ''));
}

/**
 * Each row's id with its differences: `evr_1 (completed, mean 0.410, started 2m ago)`.
 *
 * @param shared words to put before the differences of each row
 */
export function distinguishRows(
  resource: Resource,
  rows: readonly object[],
  shared: readonly string[] = [],
): readonly string[] {
  const [name] = resource.columns;
  const isDetail = (column: Column<object>): boolean => column !== name && column.id !== 'id';
  const details = resource.columns
    .filter(isDetail)
    .toSorted((one, other) => Number(one.wide ?? false) - Number(other.wide ?? false))
    .map(column => ({ column, texts: textsOf(column, rows) }))
    .filter(({ texts }) => new Set(texts).size > 1)
    .slice(0, maxDetails);
  return rows.map((row, index) => {
    const differences = details.flatMap(({ column, texts }) => {
      const text = texts[index] ?? '';
      if (text === '') return [];
      return [column.status ? text : `${column.title.toLowerCase()} ${text}`];
    });
    const words = [...shared, ...differences];
    const id = shellWord(sanitiseLine(idOf(resource, row)));
    return words.length === 0 ? id : `${id} (${sanitiseLine(words.join(', '))})`;
  });
}
