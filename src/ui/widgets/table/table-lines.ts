/** A static table as lines: the titles, and as many rows as fit. Pure. */
import { type Column, columnGap, fitColumns, fittingText, withNamesCut } from '../../../present/column.ts';
import { counted } from '../../../text/numbers.ts';
import { displayWidth, padEnd, padStart, truncate } from '../../../text/width.ts';
import type { Theme } from '../theme/theme.tsx';

/** At most `height` lines; the last one counts the rows that do not fit. */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, height, theme }: { readonly width: number; readonly height: number; readonly theme: Theme },
): readonly string[] {
  if (height < 2 || rows.length === 0) return [];
  const shown = rows.slice(0, rows.length + 1 <= height ? rows.length : Math.max(0, height - 2));
  const fitted = withNamesCut(fitColumns(columns, width, {}, shown), shown, theme.glyphs.ellipsis);
  const line = (textOf: (column: Column<Row>, cells: number) => string): string =>
    fitted
      .map(({ column, width: cells, cuts }) => {
        const text = textOf(column, cells);
        const fits = cuts?.get(text) ?? (displayWidth(text) <= cells ? text : truncate(text, cells));
        return column.align === 'right' ? padStart(fits, cells) : padEnd(fits, cells);
      })
      .join(' '.repeat(columnGap))
      .trimEnd();
  const left = rows.length - shown.length;
  const without = columns.length - fitted.length;
  const rest = [
    left > 0 ? `${counted(left, 'more row')}` : '',
    without > 0 ? `${counted(without, 'column')} left out for lack of room` : '',
  ].filter(Boolean);
  return [
    theme.styles.header(line(({ title }) => title)),
    ...shown.map(row => line((column, cells) => fittingText(column, row, cells))),
    ...(rest.length === 0 || shown.length + 1 >= height ? [] : [theme.styles.muted(rest.join(', '))]),
  ];
}
