/** A table on screen: its header and its visible rows. */
import { Box, Text } from 'ink';
import { useMemo } from 'react';
import { own } from '../../../base/own-property.ts';
import {
  type Column,
  cellText,
  columnGap,
  cutOf,
  describeSharedValue,
  equalColumns,
  type FittedColumn,
  fitColumns,
  fittingText,
  markWidth,
  unknownCell,
  type WidestTexts,
  withNamesCut,
} from '../../../present/column.ts';
import { searchedText } from '../../../present/rows.ts';
import { isSameSort, type Sort, sortNoteOf } from '../../../present/sort.ts';
import type { Filter } from '../../../text/filter.ts';
import type { Range } from '../../../text/fuzzy.ts';
import { counted } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, fitCells, graphemes, truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { useMouseRegion } from '../../keys/mouse-regions.tsx';
import { KeyScope } from '../../keys/router.tsx';
import { highlight, matchesIn } from '../highlight.ts';
import { Line } from '../lines.tsx';
import { lookStyle, markedText, statusStyle, statusText } from '../status.ts';
import { type EditState, textOf } from '../text-field/editing.ts';
import { lineView, type StyledPart, withCaret } from '../text-field/field-view.ts';
import { type Style, type Theme, useTheme } from '../theme/theme.tsx';
import type { Table } from './use-table.ts';

interface TableViewProps<Row> {
  readonly table: Table<Row>;
  readonly columns: readonly Column<Row>[];
  readonly id: (row: Row) => string;
  readonly width: number;
  readonly focused: boolean;
  /** Number of known rows, before filtering. */
  readonly total: number;
  /** Whether the service has more rows. */
  readonly hasMore?: boolean;
  /** Number of rows read so far, while the rest is being read; the rows appear once reading ends. */
  readonly reading?: number | undefined;
  /** Ids of rows to mark as read. */
  readonly read?: ReadonlySet<string>;
  /** Shown if there are no rows. */
  readonly emptyText: string;
  /** Shown first below the rows: the unread values or rows that filtering and sorting leave out. */
  readonly unsearched?: string | undefined;
  /** The default order, which the line below the rows does not mention. */
  readonly defaultSort?: Sort | undefined;
  /** Facts for the line below the rows, most important first. */
  readonly facts?: readonly string[];
}

/** Cells below the rows reserved for the words about marks. */
const marksRoom = 34;

/** Cells below the rows reserved for the longest count: `12/12+`, and ` of 12+` if there is a filter. */
const countRoom = (rows: number, isFiltered: boolean): number =>
  (isFiltered ? 3 : 2) * `${rows}`.length + (isFiltered ? 10 : 5);

/** `in every row: MODEL tutor-base; STATUS completed`. */
const inAllRows = (words: readonly string[]): string => `in every row: ${words.join('; ')}`;

/** Whether the value of a column that gave its room away is named below the rows. */
const isNamed = <Row,>({ wide, decides }: Column<Row>): boolean => !wide || decides !== undefined;

/** The columns that fit, and words for columns that have the same value in all rows. */
function useFittedColumns<Row>({ table, columns, width, unsearched = '', defaultSort }: TableViewProps<Row>) {
  const { shown, arranged } = table;
  const { ellipsis } = useTheme().glyphs;
  const widest = useMemo((): WidestTexts => new Map(columns.map(({ id }) => [id, 0])), [columns]);
  const { choice } = table.state;
  const equal = useEqualColumns(table, columns, width - displayWidth(unsearched));
  const fitted = useMemo(
    () =>
      withNamesCut(fitColumns(columns, width - gutter, choice, shown, widest, new Set(equal.keys())), shown, ellipsis),
    [columns, width, choice, shown, widest, ellipsis, equal],
  );
  const isShown = (id: string): boolean => fitted.some(({ column }) => column.id === id);
  const replaced = columns.filter(column => isNamed(column) && equal.has(column.id) && !isShown(column.id));
  const words = replaced.filter(({ id }) => own(choice, id)?.shown !== false).map(({ id }) => equal.get(id) ?? '');
  const { sort } = table.state;
  const by = isSameSort(sort, defaultSort) ? undefined : columns.find(({ id }) => id === sort?.column);
  const sortNote = useMemo(() => (by ? sortNoteOf(by, arranged.rows) : ''), [by, arranged.rows]);
  const order = by && !isShown(by.id) ? `by ${by.title}` : '';
  const ordered = [order, sortNote && `with ${sortNote}`].filter(Boolean).join(', ');
  return {
    fitted,
    words: [ordered && `sorted ${ordered}`, unsearched, words.length === 0 ? '' : inAllRows(words)],
  };
}

/** Where the mouse scrolls the rows, chooses one and opens it. */
function useRowRegion<Row>({ dispatch, shown, open }: Table<Row>, id: TableViewProps<Row>['id']) {
  return useMouseRegion({
    onWheel: by => dispatch({ kind: 'move', by }),
    onClick: (line, times) => {
      const row = shown[line];
      if (row === undefined) return;
      dispatch({ kind: 'select', id: id(row) });
      if (times === 2) open(row);
    },
  });
}

export function TableView<Row>(props: TableViewProps<Row>) {
  const { table, id, width, focused, total, hasMore = false, read, emptyText, facts = [] } = props;
  const known = Math.max(total, props.reading ?? 0);
  const theme = useTheme();
  const { arranged, cursor, offset, rowLines, noticeLines, below, belowLines, shown } = table;
  const { fitted, words } = useFittedColumns(props);
  const { marker } = theme.glyphs;
  const current = arranged.rows[cursor];
  const match = current === undefined ? '' : unseenMatch(props, fitted, words, current, theme);
  const lookOf = (row: Row, index: number): RowLook => ({
    underCursor: focused && offset + index === cursor,
    marked: table.state.marks.has(id(row)),
    read: read?.has(id(row)),
  });
  const region = useRowRegion(table, id);
  return (
    <KeyScope active={focused} {...table.handlers}>
      <Box flexDirection="column" width={width} flexShrink={0}>
        <Text wrap="truncate">{headerText(fitted, table.state.sort, theme)}</Text>
        <Box ref={region} flexDirection="column" height={rowLines} width={width} overflow="hidden">
          {shown.length > 0 ? null : (
            <Text>
              {wrap(emptyText, width - 2)
                .map(line => theme.styles.muted(` ${line}`))
                .join('\n')}
            </Text>
          )}
          {shown.map((row, index) => (
            <Line key={index} text={rowText(fitted, row, lookOf(row, index), arranged.filter, theme)} />
          ))}
        </Box>
        {/* The marker shows that these are about the row under the cursor. */}
        {belowLines.map((line, index) => (
          <Text key={line} wrap="truncate">{` ${theme.styles.info(`${index === 0 ? marker : ' '} ${line}`)}`}</Text>
        ))}
        {noticeLines.map(line => (
          <Text key={line} wrap="truncate">{` ${theme.styles.warning(line)}`}</Text>
        ))}
        <CountLine
          table={table}
          width={width}
          total={known}
          hasMore={hasMore}
          facts={[
            match && `${marker} ${match}`,
            below === '' || belowLines.length > 0 ? '' : `${marker} ${below}`,
            ...words,
            ...facts,
          ]}
        />
      </Box>
    </KeyScope>
  );
}

/**
 * Words for columns that have the same value in all rows, by id, as many as fit below the rows; the rest stay columns.
 * Optional columns need no words.
 */
function useEqualColumns<Row>({ arranged, state }: Table<Row>, columns: readonly Column<Row>[], width: number) {
  const { sort, filter, marks } = state;
  const otherWidth = (filter === '' ? 0 : displayWidth(filter) + 3) + (marks.size === 0 ? 0 : marksRoom);
  return useMemo(() => {
    const [first] = arranged.rows;
    const all = equalColumns(columns, arranged.rows).filter(({ id, hidden }) => !hidden && id !== sort?.column);
    const entries: (readonly [string, string])[] = [];
    let room = width - countRoom(arranged.rows.length, filter !== '') - otherWidth - displayWidth(inAllRows([]));
    for (const column of first === undefined ? [] : all) {
      const words = isNamed(column) ? describeSharedValue(column, first as Row) : '';
      if (words !== '') room -= displayWidth(words) + 2;
      if (room >= 0 || words === '') entries.push([column.id, words]);
    }
    return new Map(entries);
  }, [columns, arranged.rows, sort?.column, width, filter, otherWidth]);
}

interface CountLineProps<Row> {
  readonly table: Table<Row>;
  readonly width: number;
  readonly total: number;
  readonly hasMore: boolean;
  readonly facts: readonly string[];
}

/** `12/9431`, with the filter and marks; while the user types, the filter being typed. */
function CountLine<Row>({ table, width, total, hasMore, facts }: CountLineProps<Row>) {
  const theme = useTheme();
  const { styles, glyphs } = theme;
  const count = formatCount(table, total, hasMore);
  const room = width - displayWidth(count) - 3;
  const { typing, arranged, completions } = table;
  if (typing) {
    const offered = formatCompletions(completions, room - displayWidth(textOf(typing)) - 3, theme);
    const field = lineView(typing, Math.max(1, room - 1 - offered.width));
    const line = withCaret(field, 0, styles.caret, mistakeIn(typing, arranged.mistake, styles.match));
    return <Text wrap="truncate">{` ${styles.key('/')}${line}${offered.text} ${styles.muted(count)} `}</Text>;
  }
  const { filter, marks } = table.state;
  const lost = table.lostMarks.length === 0 ? '' : `, ${table.lostMarks.length} of them not in the list`;
  const parts = [
    filter === '' ? '' : `/${filter}`,
    marks.size === 0 ? '' : `${marks.size} marked${lost}`,
    ...facts,
  ].filter(Boolean);
  const words = truncate(parts.join('  '), Math.max(0, room), { ellipsis: glyphs.ellipsis });
  return <Text wrap="truncate">{` ${styles.info(fitCells(words, Math.max(0, room)))} ${styles.muted(count)} `}</Text>;
}

/** The part of a filter that is wrong. */
function mistakeIn(typing: EditState, at: Range | undefined, style: Style): StyledPart | undefined {
  if (!at) return undefined;
  const text = textOf(typing);
  const [from = 0, to = 0] = at.map(place => graphemes(text.slice(0, place)).length - typing.cursor);
  return { from, to, style };
}

/** Minimum cells for a completion; a longer one is truncated. */
const minCompletionWidth = 12;

/** `tab status:  started<  +3 `: as many completions as fit into `room` cells; the first may be truncated. */
function formatCompletions([first, ...others]: readonly string[], room: number, { styles, glyphs }: Theme) {
  const key = 'tab ';
  const most = room - displayWidth(key) - 1;
  if (first === undefined || most < Math.min(minCompletionWidth, displayWidth(first))) return { text: '', width: 0 };
  const taken = truncate(first, most, { ellipsis: glyphs.ellipsis });
  let more = '';
  for (const [index, word] of others.entries()) {
    const left = others.length - index - 1;
    const next = `${more}  ${word}`;
    if (displayWidth(taken + next) + (left === 0 ? 0 : `  +${left}`.length) > most) {
      const rest = `  +${left + 1}`;
      if (displayWidth(taken + more + rest) <= most) more += rest;
      break;
    }
    more = next;
  }
  const width = displayWidth(key + taken + more) + 1;
  return { text: `${styles.key(key)}${taken}${styles.muted(more)} `, width };
}

function formatCount<Row>(table: Table<Row>, total: number, hasMore: boolean): string {
  const { arranged, cursor, state, isGrouped, groupPlace } = table;
  if (total === 0) return '';
  if (groupPlace !== undefined) return groupPlace === 0 ? String(total) : `${groupPlace}/${total}`;
  const count = state.filter === '' && !isGrouped ? total : arranged.ids.length;
  const more = hasMore ? '+' : '';
  // The cursor may be on a row that is only an ancestor of those that match.
  if (arranged.matches < arranged.ids.length)
    return `${counted(arranged.matches, 'match', 'matches')} of ${total}${more}`;
  return `${cursor + 1}/${count}${more}${state.filter === '' ? '' : ` of ${total}${more}`}`;
}

/** Cells before the first column: the cursor and the mark. */
export const gutter = 2;

const gap = ' '.repeat(columnGap);

interface RowLook {
  readonly underCursor: boolean;
  readonly marked: boolean;
  readonly read?: boolean | undefined;
}

/**
 * The header line, with an arrow at the sorted column. A title that fills a right-aligned column moves into the gap
 * before it.
 */
export function headerText<Row>(columns: readonly FittedColumn<Row>[], sort: Sort | undefined, theme: Theme): string {
  const { glyphs, styles } = theme;
  const titles = columns.map(({ column, width }, index) => {
    const arrow = sort?.column === column.id ? (sort.descending ? glyphs.arrowDown : glyphs.arrowUp) : '';
    const before = index === 0 ? gutter : columnGap;
    const spare = column.align === 'right' ? before - 1 : 0;
    const room = width - Math.max(0, displayWidth(arrow) - spare);
    // The beginning of a title is easiest to read, but option titles may begin alike.
    const start = column.title.slice(0, Math.max(0, room - 1));
    const isAlone = columns.every(each => each.column === column || !each.column.title.startsWith(start));
    const position = isAlone ? 'end' : 'middle';
    const title = truncate(column.title, room, { position, ellipsis: glyphs.ellipsis });
    return ' '.repeat(before - spare) + fitCells(title + arrow, width + spare, column.align);
  });
  return styles.header(titles.join(''));
}

/** A row. Moving the cursor changes only the marker and the first cell, so few bytes are sent. */
export function rowText<Row>(
  columns: readonly FittedColumn<Row>[],
  row: Row,
  look: RowLook,
  filter: Filter | undefined,
  theme: Theme,
): string {
  const { glyphs, styles } = theme;
  const cells = columns.map((each, index) => {
    const { column } = each;
    const cut = cellOf(each, row, theme);
    if (index === 0 && look.underCursor) return styles.selected(cut);
    if (column.look) return lookStyle(column.look(row), theme)(cut);
    if (column.status) return statusStyle(cellText(column, row), theme)(cut);
    return highlight(cut, filter, theme);
  });
  const marker = look.underCursor ? styles.selected(glyphs.marker) : ' ';
  const mark = look.marked ? styles.accent(glyphs.mark) : look.read ? styles.muted(glyphs.bullet) : ' ';
  return `${marker}${mark}${cells.join(gap)}`;
}

/** A cell's text, cut to its column. */
function cellOf<Row>({ column, width, cuts }: FittedColumn<Row>, row: Row, theme: Theme): string {
  const text = shownText(column, row, width, theme);
  const { ellipsis } = theme.glyphs;
  return fitCells(cuts?.get(text) ?? text, width, column.align, { ellipsis, position: cutOf(column) });
}

/** Why the filter finds a row, if neither its cells nor the words below show it: `matches BENCHMARK bench_4`. */
function unseenMatch<Row>(
  { columns, table }: Pick<TableViewProps<Row>, 'columns' | 'table'>,
  fitted: readonly FittedColumn<Row>[],
  words: readonly string[],
  row: Row,
  theme: Theme,
): string {
  const { filter } = table.arranged;
  if (filter === undefined || filter.kind === 'all') return '';
  const isIn = (text: string): boolean => matchesIn(text, filter).length > 0;
  if (words.some(isIn) || fitted.some(each => isIn(cellOf(each, row, theme)))) return '';
  for (const column of columns) {
    const found = column.filtered === false ? undefined : searchedText(column, row).split('\n').find(isIn);
    if (found !== undefined) return `matches ${column.title} ${sanitiseLine(found)}`;
  }
  return '';
}

function shownText<Row>(column: Column<Row>, row: Row, width: number, theme: Theme): string {
  const text = fittingText(column, row, column.status || column.look ? width - markWidth : width);
  if (text === '') return column.isUnread?.(row) ? unknownCell : '';
  if (column.look) return markedText(text, column.look(row), theme);
  return column.status ? statusText(text, theme) : text;
}
