/** A list's rows in a table. The table's order decides which order to request from the service. */
import { useEffect, useMemo, useState } from 'react';
import { largestOf } from '../../../base/many.ts';
import type { Column, ColumnChoice } from '../../../present/column.ts';
import { type ArrangedRows, type Arrangement, createArrange } from '../../../present/rows.ts';
import type { Sort } from '../../../present/sort.ts';
import type { ListData } from '../../../queries/lists/list-source.ts';
import type { FieldOrder } from '../../../queries/lists/server-sort.ts';
import type { Place } from '../../../resources/place.ts';
import { isAbsent } from '../../../service/errors.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { type PagedList, useOrderedSource, usePagedList } from '../../data/use-list.ts';
import { type Live, useLive } from '../../data/use-live.ts';
import { useSetting, useWorkbench } from '../../data/workbench.tsx';
import { useKeyOf } from '../../keys/router.tsx';
import { type SiblingList, useMemory, useSiblings } from '../../navigation/memory.tsx';
import { initialTableState, type TableState } from '../../widgets/table/table-state.ts';
import { type Table, useTable } from '../../widgets/table/use-table.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { useSearchTexts } from '../search/search-window.tsx';
import { listNotes } from './list-messages.ts';
import type { PlaceOf, ResourceListProps } from './list-props.ts';

export interface ListTable<Row> {
  readonly table: Table<Row>;
  readonly list: PagedList<Row>;
  readonly live: Live<ListData<Row>>;
  readonly rows: readonly Row[];
  /** The number of rows read from the list itself. */
  readonly read: number;
  readonly loaded: boolean;
  readonly error: Error | undefined;
  /** The order, unless it is by a joined column. */
  readonly sort: Sort | undefined;
  readonly room: ListRoom;
  /** Opens the form that searches the trajectories; undefined if the list has none to search. */
  readonly searchTexts: ((initial: string) => void) | undefined;
  /** Opens a row's place, with the other rows as its neighbours. */
  readonly openAs: (row: Row, placeOf: PlaceOf<Row>) => void;
}

/** How the table, the notes and the error share the lines of the main pane. */
interface ListRoom {
  readonly header: number;
  readonly notes: readonly string[];
  readonly table: number;
  /** Lines below the table: for the footer, or for the preview while the inspector is hidden. */
  readonly footer: number;
}

/** Lines for an error below the rows. */
export const errorHeight = 3;
/** The column titles, two rows, and the position. */
export const minTableLines = 4;
/** A folded table: its position and the filter being typed. */
export const foldedTableLines = 1;
/** The column titles, the position, and a gap below a table that something follows. */
const otherLines = 3;
/** The fewest lines that are worth a preview. If there are fewer lines below the rows, they stay empty. */
export const minPreviewLines = 6;
/** The column titles, ten rows, and the position: a list that fills the screen keeps these despite a preview. */
const minLinesAbovePreview = 12;
/** A list that fills the screen makes room for a preview only if it gets at least this many lines. */
const minKeptLines = 4;

/** Maximum lines that the text about a row takes from a preview. */
const maxLinesBelow = 3;

const identity = <Rows>(rows: Rows): Rows => rows;
const noColumns: readonly string[] = [];

export function useListTable<Row extends object>(props: ResourceListProps<Row>): ListTable<Row> {
  const { source, columns, open, groups, joined = noColumns } = props;
  const pane = usePane('main');
  const [initial, remember] = useRememberedTable(props);
  const [sort, setSort] = useState(initial.sort);
  const unjoined = sort && !joined.includes(sort.column) ? sort : undefined;
  const { live, list, rows, ordered, joinedTo, loaded, error } = useListRows(props, unjoined);
  // How many rows the last complete filter left: the room stays the same while the user types.
  const [kept, setKept] = useState<number>();
  const room = useListRoom(props, list, error, groups?.rows ?? rows, kept);
  const opening = useOpening(props, list, (read, { filter, sort: order }) => {
    // Arrange the rows as the table does, but with a new function, so that the table's rows are not kept in memory.
    const arrange = createArrange(columns, source.id);
    return arrange(joinedTo(read), { filter, sort: ordered ? undefined : order });
  });
  const openAs = (row: Row, placeOf: PlaceOf<Row>): void => {
    // The list unmounts before its own state changes.
    if (opening(row, placeOf, table)) remember({ ...table.state, cursorId: source.id(row) });
  };
  const { texts } = props;
  const askForTexts = useSearchTexts(
    () => (typeof texts === 'function' ? table.current && texts(table.current) : texts),
    () => typeof texts === 'object' && table.state.filter !== '',
    filter => table.dispatch({ kind: 'filter', filter }),
  );
  const searchTexts = texts && askForTexts;
  const table = useTable({
    rows,
    columns,
    id: source.id,
    height: room.table,
    width: pane.width,
    initial,
    below: props.below,
    sorted: ordered || list.sortedAs === 'pending',
    // Before the first response, it is unknown whether there are more rows.
    readRest: list.hasMore || !list.loaded ? list.readRest : undefined,
    stop: list.stop,
    onSlash: searchTexts,
    groups,
    opening: row => {
      const opened = open?.(row);
      return typeof opened === 'object' ? () => openAs(row, placesOf(props)) : opened;
    },
  });
  // React renders again at once, with the list in the new order.
  if (table.state.sort !== sort) setSort(table.state.sort);
  const found = table.state.filter === '' ? undefined : table.arranged.rows.length || undefined;
  if (!table.typing && found !== kept) setKept(found);
  useEffect(() => remember(table.state), [remember, table.state]);
  useLostMarks(table);
  const { see } = list;
  const nearEnd = table.nearEnd && !source.costly;
  useEffect(() => see(table.shown, nearEnd), [see, table.shown, nearEnd]);
  const read = props.rows?.length ?? list.rows.length;
  return { table, list, live, rows, read, loaded, error, sort: unjoined, room, openAs, searchTexts };
}

/** The list in this order, its rows joined with data from other lists, and the error to show. */
function useListRows<Row extends object>(props: ResourceListProps<Row>, sort: Sort | undefined) {
  const { source, columns, join = identity } = props;
  const { focus } = useShell();
  const ordering = useOrderedSource(source, fieldOrder(sort, columns));
  const live = useLive(ordering.query, focus === 'sections' ? 'visible' : 'focused');
  const list = usePagedList(ordering, live.data);
  // The service's order does not cover joined rows.
  const ordered = list.sortedAs === 'service';
  const joinedTo = ordered ? identity : join;
  const joinedRows = useMemo(() => joinedTo(list.rows), [joinedTo, list.rows]);
  const rows = props.rows ?? joinedRows;
  const failed = live.error ?? list.pageError;
  const { isDeleted = false, isRead = false, error: headerError } = props.whole?.state ?? {};
  const isAbove = isRead && failed !== undefined && failed.message === headerError?.message;
  const loaded = list.loaded || rows.length > 0 || isAbove;
  // The service may refuse a deleted parent's parts.
  const isExpected = isDeleted && loaded && isAbsent(failed);
  return { live, list, rows, ordered, joinedTo, loaded, error: isExpected || isAbove ? undefined : failed };
}

/** Once the user has deleted marked rows, drops all marks without a row: the others were gone before. */
function useLostMarks({ lostMarks, dispatch }: Pick<Table<never>, 'lostMarks' | 'dispatch'>): void {
  const { isRemoved } = useWorkbench().lists;
  useEffect(() => {
    if (lostMarks.some(isRemoved)) dispatch({ kind: 'unmark', which: id => lostMarks.includes(id) });
  }, [lostMarks, dispatch, isRemoved]);
}

/** The table as the user left it; the first time, with the chosen columns. */
function useRememberedTable<Row>({ name, initial: first }: Pick<ResourceListProps<Row>, 'name' | 'initial'>) {
  const [remembered, remember] = useMemory<TableState>('table');
  // Choices are saved by column id: a new column appears as it does by default, and an unknown id is ignored.
  const [choice] = useSetting<ColumnChoice>(columnSetting(name), {});
  const siblings = useSiblings();
  const [initial] = useState<TableState>(() => {
    const { sort, filter = '', at } = first ?? {};
    const { cursorId, ...table } = remembered ?? { ...initialTableState, sort, filter, choice, cursorId: at };
    // The user may have stepped from a record of this list to others.
    return { ...table, cursorId: cursorId === undefined ? undefined : siblings.lastShown(cursorId), following: false };
  });
  return [initial, remember] as const;
}

/** The setting that holds a list's chosen columns. */
export const columnSetting = (name: string): `columns.${string}` => `columns.${name}`;

/** The order to request from the service. */
function fieldOrder<Row>(sort: Sort | undefined, columns: readonly Column<Row>[]): FieldOrder | undefined {
  const field = sort && columns.find(({ id }) => id === sort.column)?.field;
  return field === undefined ? undefined : { field, descending: sort?.descending ?? false };
}

/** The header gives way to the rows, the notes and an error. @param count how many rows are shown, if not all are */
function useListRoom<Row>(
  { notes = [], header = [], isFolded = false, footer, preview, keepsPreview = false, below }: ResourceListProps<Row>,
  list: PagedList<Row>,
  error: Error | undefined,
  rows: readonly Row[],
  count = rows.length,
): ListRoom {
  const pane = usePane('main');
  const inspector = usePane('inspector');
  const keyOf = useKeyOf();
  const { glyphs } = useTheme();
  const noteLines = (isFolded ? [] : [...notes, ...listNotes(list, keyOf)]).flatMap(note => {
    const [first = '', ...rest] = wrap(sanitiseLine(note), pane.width - 4);
    return [` ${glyphs.bullet} ${first}`, ...rest.map(line => `   ${line}`)];
  });
  const others = noteLines.length + (error ? errorHeight : 0);
  const least = isFolded ? foldedTableLines : minTableLines;
  const headerLines = Math.max(0, Math.min(header.length, pane.height - others - least));
  const left = Math.max(0, pane.height - others - headerLines);
  const isPreviewed = preview !== undefined && !inspector.shown && rows.length > 0;
  // The text about the row under the cursor may need lines of its own: as many for every row, so that nothing moves.
  const longest = below && count < left ? largestOf(rows, row => displayWidth(below(row) ?? '')) : 0;
  const belowLines = Math.min(maxLinesBelow, Math.floor(longest / (pane.width - 4)));
  const needed = Math.max(minTableLines, count + otherLines + belowLines);
  const isShared = footer !== undefined || (isPreviewed && left - needed >= minPreviewLines);
  const kept = isPreviewed && keepsPreview ? Math.min(minPreviewLines, left - minLinesAbovePreview) : 0;
  const isKept = !isShared && kept >= minKeptLines;
  const table = isShared ? Math.min(left, needed) : isKept ? left - kept : left;
  return { header: headerLines, notes: noteLines, table, footer: left - table };
}

type ArrangeAgain<Row> = (rows: readonly Row[], arrangement: Arrangement) => ArrangedRows<Row>;

/** The places that rows open, without the functions that some call instead. */
const placesOf =
  <Row>({ open }: ResourceListProps<Row>): PlaceOf<Row> =>
  row => {
    const opened = open?.(row);
    return typeof opened === 'function' ? undefined : opened;
  };

/** Returns a function that opens a row's place; it returns false if there is none. */
function useOpening<Row extends object>(
  props: ResourceListProps<Row>,
  { hasMore, readOn, latest }: PagedList<Row>,
  arrangeAgain: ArrangeAgain<Row>,
) {
  const { source, rows, neighbours } = props;
  const open = placesOf(props);
  const shell = useShell();
  const siblings = useSiblings();
  return (row: Row, placeOf: PlaceOf<Row>, { arranged, state }: Table<Row>): boolean => {
    const target = placeOf(row);
    if (!target) return false;
    // Two rollouts side by side have the neighbours of one of them.
    const one = target.view === 'pair' ? open(row) : target;
    if (one?.view === 'record') {
      const { resource } = one;
      const listOf = (found: ArrangedRows<Row>, partial: boolean): SiblingList => ({
        ...siblingRows(resource, found, placeOf),
        partial,
        readMore: async () => {
          await readOn();
          const read = latest();
          return listOf(arrangeAgain(read.rows, state), !read.complete);
        },
      });
      const isOwn = one.id === source.id(row);
      const isRow = rows === undefined && isOwn;
      // The neighbours of a plain row are found by their ids, which do not name a twin or a new grade.
      const isPlain = isOwn && one.twin === undefined && one.graded === undefined;
      const plain = isPlain ? siblingRows(resource, arranged, placeOf) : undefined;
      const near = neighbours ? arranged.rows.filter(each => each === row || neighbours.has(each)) : arranged.rows;
      const others = {
        ...(plain ?? siblingPlaces(near, target === one ? placeOf : open, source.id)),
        kind: neighbours?.has(row) && near.length < arranged.rows.length ? neighbours.kind : undefined,
        partial: hasMore,
      };
      siblings.remember(resource, isRow ? listOf(arranged, hasMore) : others);
    }
    shell.open(target);
    return true;
  };
}

/** The rows as neighbours. Holds only ids: there may be 100,000 rows, which the cache drops once nothing shows them. */
export function siblingRows<Row extends object>(
  resource: string,
  { ids, rows }: Pick<ArrangedRows<Row>, 'ids' | 'rows'>,
  placeOf: PlaceOf<Row>,
): SiblingList {
  const known = new WeakRef(rows);
  const placeAt = (index: number): Place | undefined => {
    const row = known.deref()?.[index];
    const id = ids[index];
    if (row) return placeOf(row);
    return id === undefined ? undefined : { view: 'record', resource, id };
  };
  return { ids, placeAt };
}

/** The neighbours in a list whose rows open other records, or none. */
function siblingPlaces<Row>(rows: readonly Row[], placeOf: PlaceOf<Row>, idOf: (row: Row) => string): SiblingList {
  const known = rows.flatMap(row => {
    const place = placeOf(row);
    return place?.view === 'record' ? [{ place, row: idOf(row) }] : [];
  });
  return {
    ids: known.map(({ place }) => place.id),
    rows: known.map(({ row }) => row),
    placeAt: index => known[index]?.place,
  };
}
