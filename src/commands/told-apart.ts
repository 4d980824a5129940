/** Tells rows that share a name apart, by what their columns say differently. */
import { type Column, cellText } from '../present/column.ts';
import { idOf, type Resource } from '../resources/define.ts';
import { sanitiseLine } from '../text/sanitise.ts';

/** What a list of ids has room for, of each row. */
const mostDetails = 4;

const unique = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

/** What a column says of each row: as people read it, or as the service wrote it where only this differs. */
function textsOf(column: Column<object>, rows: readonly object[]): readonly string[] {
  const shown = rows.map(row => cellText(column, row));
  const { exported } = column;
  return unique(shown) || !exported ? shown : rows.map(row => String(exported(row) ?? ''));
}

/**
 * The id of each row, with what tells it from the others: `evr_1 (completed, mean 0.410, started 2m ago)`. Columns that are
 * the same for all say nothing.
 */
export function toldApart(resource: Resource, rows: readonly object[]): readonly string[] {
  const [name] = resource.columns;
  const isDetail = (column: Column<object>): boolean => column !== name && column.id !== 'id';
  const details = resource.columns
    .filter(isDetail)
    .toSorted((one, other) => Number(one.wide ?? false) - Number(other.wide ?? false))
    .map(column => ({ column, texts: textsOf(column, rows) }))
    .filter(({ texts }) => new Set(texts).size > 1)
    .slice(0, mostDetails);
  return rows.map((row, index) => {
    const words = details.flatMap(({ column, texts }) => {
      const text = texts[index] ?? '';
      if (text === '') return [];
      return [column.status ? text : `${column.title.toLowerCase()} ${text}`];
    });
    return sanitiseLine(`${idOf(resource, row)}${words.length === 0 ? '' : ` (${words.join(', ')})`}`);
  });
}
