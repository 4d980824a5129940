/** A row of a table as one line for the terminal. Pure. */

import { type Column, cellText, columnGap, type FittedColumn } from '../../../present/column.ts';
import type { Sort } from '../../../present/sort.ts';
import type { Filter } from '../../../text/filter.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, fitCells, truncate } from '../../../text/width.ts';
import { statusStyle, statusText } from '../status.ts';
import type { Theme } from '../theme/theme.tsx';

/** Cells before the first column: the cursor's marker and the mark. */
export const gutter = 2;

const gap = ' '.repeat(columnGap);

export interface RowLook {
  readonly underCursor: boolean;
  readonly marked: boolean;
}

/** The header line, with an arrow at the column that the rows are sorted by. */
export function headerText<Row>(columns: readonly FittedColumn<Row>[], sort: Sort | undefined, theme: Theme): string {
  const { glyphs, styles } = theme;
  const titles = columns.map(({ column, width }) => {
    const arrow = sort?.column === column.id ? (sort.descending ? glyphs.arrowDown : glyphs.arrowUp) : '';
    const title = truncate(column.title, width - displayWidth(arrow), { ellipsis: glyphs.ellipsis });
    return fitCells(title + arrow, width, column.align);
  });
  return styles.header(`${' '.repeat(gutter)}${titles.join(gap)}`);
}

/**
 * One row. Only the marker and the first cell differ for the row under the cursor, so that a move of the cursor
 * changes few cells of the screen.
 */
export function rowText<Row>(
  columns: readonly FittedColumn<Row>[],
  row: Row,
  look: RowLook,
  filter: Filter | undefined,
  theme: Theme,
): string {
  const { glyphs, styles } = theme;
  const cells = columns.map(({ column, width }, index) => {
    const text = shownText(column, row, theme);
    const cut = fitCells(text, width, column.align, { ellipsis: glyphs.ellipsis });
    if (index === 0 && look.underCursor) return styles.selected(cut);
    if (column.status) return statusStyle(cellText(column, row), theme)(cut);
    return highlight(cut, filter, theme);
  });
  const marker = look.underCursor ? styles.selected(glyphs.marker) : ' ';
  const mark = look.marked ? styles.accent(glyphs.mark) : ' ';
  return `${marker}${mark}${cells.join(gap)}`;
}

function shownText<Row>(column: Column<Row>, row: Row, theme: Theme): string {
  const text = sanitiseLine(cellText(column, row));
  return column.status && text !== '' ? statusText(text, theme) : text;
}

/** Marks what the filter found. */
function highlight(text: string, filter: Filter | undefined, { styles }: Theme): string {
  if (!filter || filter.kind === 'all' || filter.kind === 'inverse') return text;
  const ranges = filter.matches(text);
  if (!ranges || ranges.length === 0) return text;
  let shown = '';
  let from = 0;
  for (const [start, end] of ranges) {
    shown += text.slice(from, start) + styles.match(text.slice(start, end));
    from = end;
  }
  return shown + text.slice(from);
}
