/** The list of a resource with its inspector. */
import { Box } from 'ink';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { type Column, type ColumnChoice, exportColumns } from '../../../present/column.ts';
import type { Command } from '../../../present/command.ts';
import type { Fact } from '../../../present/fact.ts';
import type { ArrangedRows } from '../../../present/rows.ts';
import type { Sort } from '../../../present/sort.ts';
import { freshnessOfParts } from '../../../queries/freshness.ts';
import type { ListSource } from '../../../queries/lists/list.ts';
import type { Background } from '../../../queries/lists/rest.ts';
import type { ResourceRef } from '../../../queries/remembered/store.ts';
import { type PagedList, useOrderedSource, usePagedList } from '../../../queries/use-list.ts';
import { type Live, useLive } from '../../../queries/use-live.ts';
import { useSetting } from '../../../queries/use-workbench.ts';
import type { Advice } from '../../../resources/define.ts';
import type { Place } from '../../../resources/place.ts';
import { isGone, isNotOffered } from '../../../service/errors.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { wrap } from '../../../text/wrap.ts';
import { useTime } from '../../app/clock.tsx';
import { useShell } from '../../app/shell-context.tsx';
import { type Pane, usePane, View } from '../../app/view.tsx';
import { listCommands } from '../../keys/general.ts';
import { type Binding, useKeyOf } from '../../keys/router.tsx';
import { type SiblingList, useMemory, useSiblings } from '../../navigation/memory.tsx';
import { factLines } from '../../widgets/facts.ts';
import { initialTableState, type TableState } from '../../widgets/table/table-state.ts';
import { TableView } from '../../widgets/table/table-view.tsx';
import { useTable } from '../../widgets/table/use-table.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { useAdvise } from './advice.ts';
import { useAskingWords } from './asking.ts';
import { ColumnsWindow } from './columns-window.tsx';
import { ErrorNote, useErrorBindings } from './error-note.tsx';
import { Lines } from './lines.tsx';
import { ageWords, emptyListWords, listFacts, listNotes, rowCount, shownFreshness, withAge } from './list-words.ts';
import type { ExportTitle } from './open-external.ts';
import { useRecordBindings } from './use-record-bindings.tsx';

type PlaceOf<Row> = (row: Row) => Place | undefined;

export interface ResourceListProps<Row> {
  /** Stable name under which the choice of columns is saved. */
  readonly name: string;
  readonly source: ListSource<Row>;
  /** The other parts that the view shows besides the list, for its freshness; asking again asks for all of them. */
  readonly parts?: readonly (Pick<Live<unknown>, 'refresh'> & Partial<Pick<Live<unknown>, 'freshness'>>)[];
  /** What the list is part of is gone from the service, which the header says. */
  readonly deleted?: boolean;
  /** Rows known without a request, instead of those of the answer. */
  readonly rows?: readonly Row[];
  /** When the oldest of these was read, in epoch milliseconds: their age before the first answer. */
  readonly rowsAt?: number | undefined;
  readonly columns: readonly Column<Row>[];
  /** Shown if there are no rows. */
  readonly emptyWords: string;
  /** Advice for that case. */
  readonly emptyAdvice?: Advice;
  /** Where a row opens; rows without a place do not. */
  readonly open?: PlaceOf<Row>;
  /** Other places that a row opens, each by a command. */
  readonly opens?: readonly { readonly command: Command; readonly place: PlaceOf<Row> }[];
  /** Facts in the inspector about the row under the cursor. */
  readonly facts: (row: Row) => readonly Fact[];
  /**
   * More lines in the inspector, below the facts. The row is undefined if there is none, and while the cursor moves.
   */
  readonly details?: (row: Row | undefined, pane: Pane) => ReactNode;
  /** Actions on the marked rows, or on the one under the cursor. */
  readonly actions?: (rows: readonly Row[], list: PagedList<Row>) => readonly Binding[];
  readonly sort?: Sort;
  /** Adds rows known from elsewhere; the same function while nothing changes. */
  readonly join?: (rows: readonly Row[]) => readonly Row[];
  /** Ids of columns that the joined rows make complete, even if the list has unread rows. */
  readonly joined?: readonly string[];
  /** Notes below the rows, in addition to those about the list itself. */
  readonly notes?: readonly string[];
  /** Lines above the table, for a list that is part of a larger view. */
  readonly header?: { readonly height: number; readonly node: ReactNode };
  /** The error shown by the header, so that its request id can be copied. */
  readonly headerError?: Error | undefined;
  readonly bindings?: readonly Binding[];
  /** The name of a row; its id is shown if it is missing. */
  readonly label?: (row: Row) => string;
  /** The id of a row at the service, if `id` is something else. */
  readonly serviceId?: (row: Row) => string;
  /** The reference for pinning a row to Watch. */
  readonly pin?: (row: Row) => ResourceRef | undefined;
  /** The parent of the list, e.g. a run: copied and pinned if there is no row. */
  readonly whole?: {
    readonly id: string;
    readonly json: unknown;
    readonly pin?: ResourceRef;
    /** The parent's resource, to step to neighbours in the list it was opened from. */
    readonly siblings?: string;
  };
}

/** @throws Error if none of them is left */
function markedRows<Row>(rows: readonly Row[]): readonly Row[] {
  if (rows.length === 0) throw new Error('the marked rows are not in the list');
  return rows;
}

/** All rows, read to the end. @throws Error with the reason if rows are missing */
async function everyRow<Row>(list: PagedList<Row>, background: Background): Promise<readonly Row[]> {
  const outcome = await list.readForFile(background);
  const { rows } = list.latest();
  if (outcome === 'complete') return rows;
  throw new Error(
    outcome === 'stopped'
      ? `the export was stopped after ${rowCount(rows.length)}`
      : `reading the list failed after ${rowCount(rows.length)}`,
  );
}

/** Lines for an error below rows that are still shown. */
const errorHeight = 3;
/** The column titles, two rows, and the position. */
const fewestTableLines = 4;

const itself = <Rows,>(rows: Rows): Rows => rows;
const noColumns: readonly string[] = [];

/** The rows as neighbours. Keeps none of them: there may be 100,000, which the cache drops once nothing shows them. */
function siblingRows<Row extends object>(
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

/** The records that rows open, where these are not the rows themselves: some rows may have none. */
function siblingPlaces<Row>(rows: readonly Row[], placeOf: PlaceOf<Row>): SiblingList {
  const places = rows.map(placeOf).filter(place => place?.view === 'record');
  return { ids: places.map(({ id }) => id), placeAt: index => places[index] };
}

export function ResourceList<Row extends object>(props: ResourceListProps<Row>) {
  const { source, columns, emptyWords, open, facts, details, actions, sort, header, bindings = [], pin, whole } = props;
  const { join = itself, joined = noColumns, opens = [], emptyAdvice, serviceId = source.id } = props;
  const advise = useAdvise();
  const keyOf = useKeyOf();
  const asking = useAskingWords();
  const shell = useShell();
  const siblings = useSiblings();
  const pane = usePane('main');
  const inspector = usePane('inspector');
  const theme = useTheme();
  const [remembered, remember] = useMemory<TableState>('table');
  // By column id: a new column appears as it does by default, and an unknown id is ignored.
  const [chosen, keepChosen] = useSetting<ColumnChoice>(`columns.${props.name}`, {});
  const [initial] = useState<TableState>(() => ({
    ...(remembered ?? { ...initialTableState, sort, choice: chosen }),
    following: false,
  }));

  // The table's sort order decides what is requested; both settle within one more drawing.
  const [sorted, setSorted] = useState(initial.sort);
  const unjoined = sorted && !joined.includes(sorted.column) ? sorted : undefined;
  const field = unjoined && columns.find(({ id }) => id === unjoined.column)?.field;
  const order = field === undefined ? undefined : { field, descending: unjoined?.descending ?? false };
  const ordering = useOrderedSource(source, order);
  const live = useLive(ordering.query, shell.focus === 'sections' ? 'visible' : 'focused');
  const list = usePagedList(ordering, live.data);
  // Joined rows have no place in the service's order.
  const ordered = list.sortedAs === 'service';
  const joinedRows = useMemo(() => (ordered ? list.rows : join(list.rows)), [join, list.rows, ordered]);
  const rows = props.rows ?? joinedRows;
  const loaded = list.loaded || rows.length > 0;
  const failed = live.error ?? list.pageError;
  // What belonged to it may have been refused while it was still there itself.
  const isExpected = props.deleted && loaded && (isGone(failed) || isNotOffered(failed));
  const error = isExpected ? undefined : failed;
  const errorLines = error ? errorHeight : 0;
  const notes = [...(props.notes ?? []), ...listNotes(list, keyOf)].flatMap(note => {
    const [first = '', ...rest] = wrap(sanitiseLine(note), pane.width - 4);
    return [` ${theme.glyphs.bullet} ${first}`, ...rest.map(line => `   ${line}`)];
  });
  const noteLines = notes.length;
  // The lines above give way to the rows and to errors.
  const headerHeight = Math.max(
    0,
    Math.min(header?.height ?? 0, pane.height - errorLines - noteLines - fewestTableLines),
  );
  const tableHeight = Math.max(0, pane.height - errorLines - noteLines - headerHeight);
  const openAs = (row: Row, placeOf: PlaceOf<Row>): void => {
    const target = placeOf(row);
    if (!target) return;
    if (target.view === 'record') {
      const isRow = target.id === source.id(row);
      const neighbours = isRow
        ? siblingRows(target.resource, table.arranged, placeOf)
        : siblingPlaces(table.arranged.rows, placeOf);
      siblings.remember(target.resource, { ...neighbours, partial: list.hasMore });
    }
    // The list unmounts before its own state changes.
    remember({ ...table.state, cursorId: source.id(row) });
    shell.open(target);
  };
  const openRow = (row: Row): void => {
    if (open) openAs(row, open);
  };
  const table = useTable({
    rows,
    columns,
    id: source.id,
    height: tableHeight,
    initial,
    sorted: ordered || list.sortedAs === 'asked',
    readRest: list.hasMore ? list.readRest : undefined,
    stop: list.stop,
    onOpen: open ? openRow : undefined,
    canOpen: each => open?.(each) !== undefined,
  });
  useEffect(() => remember(table.state), [remember, table.state]);
  useEffect(() => setSorted(table.state.sort), [table.state.sort]);
  const { see } = list;
  const nearEnd = table.nearEnd && !source.costly;
  useEffect(() => see(table.shown, nearEnd), [see, table.shown, nearEnd]);

  const { filter, marks } = table.state;
  const old = list.oldest(table.shown);
  const freshness = withAge(live.freshness, props.rowsAt);
  const inOrder = filter === '' && (table.state.sort === undefined || ordered);
  const oldWords = useTime(now => ageWords(old, freshness, inOrder, now));
  const read = props.rows?.length ?? list.rows.length;

  const { current } = table;
  const row = current && { id: source.id(current), json: current };
  // After an action on a row the cursor stays on it, even if newer rows arrive above.
  const before = (): void => {
    if (row) table.dispatch({ kind: 'select', id: row.id });
  };
  const marked = table.targets.length > 1;
  const pinned = current && pin?.(current);
  const exported: ExportTitle = { kind: String(source.key[0] ?? 'rows'), ...(whole ? { id: whole.id } : {}) };
  const does = useRecordBindings({
    record: current ? { id: serviceId(current), json: current } : whole && { id: whole.id, json: whole.json },
    marked: marked ? table.targets.map(serviceId) : [],
    title: marked
      ? `${table.targets.length} marked`
      : ((current && props.label?.(current)) ?? row?.id ?? whole?.id ?? ''),
    refresh: () => {
      for (const part of [live, ...(props.parts ?? [])]) part.refresh();
    },
    actions: (actions?.(table.targets, list) ?? []).map(binding => ({ ...binding, before })),
    pin: whole?.pin ?? pinned,
    siblings: whole?.siblings,
    siblingId: whole?.id,
    exportable: {
      ...exported,
      read: async background => ({
        ...exported,
        rows: (marks.size > 0
          ? markedRows(table.targets)
          : table.arrange(props.rows ?? join(await everyRow(list, background)))) as readonly never[],
        columns: exportColumns(columns),
      }),
    },
  });
  // Requests wait until the cursor rests: one request, not one for each row it passes.
  const settled = useSettled(row?.id);
  const resting = settled === row?.id;
  const factRows = current ? factLines(facts(current), inspector.width - 2, theme) : [];

  return (
    <View
      freshness={freshnessOfParts([
        shownFreshness(freshness, old),
        ...(props.parts ?? []).flatMap(part => part.freshness ?? []),
      ])}
      bindings={[
        ...bindings,
        ...useErrorBindings(props.headerError),
        ...does,
        ...opens.map(({ command, place }) => ({
          command,
          enabled: current !== undefined && place(current) !== undefined,
          run: () => current && openAs(current, place),
        })),
        {
          command: listCommands.columns,
          run: () =>
            shell.showOverlay({
              id: 'columns',
              render: close => (
                <ColumnsWindow
                  columns={columns}
                  choice={table.state.choice}
                  onChoose={choice => {
                    table.dispatch({ kind: 'choose-columns', choice });
                    keepChosen(choice);
                  }}
                  onClose={close}
                />
              ),
            }),
        },
      ]}
      main={
        <Box flexDirection="column">
          {header ? (
            <Box height={headerHeight} flexShrink={0} overflow="hidden">
              {header.node}
            </Box>
          ) : null}
          {/* Also without rows: a filter may be typed ahead of them. */}
          {loaded || !error ? (
            <TableView
              table={table}
              columns={columns}
              id={source.id}
              width={pane.width}
              focused={pane.focused}
              total={rows.length}
              hasMore={list.hasMore}
              reading={list.reading}
              emptyWords={emptyListWords(
                { loaded, asking, hasMore: list.hasMore, filter, notice: table.arranged.notice, read },
                `${emptyWords}${advise(emptyAdvice)}`,
                keyOf,
              )}
              facts={[
                ...listFacts({ ...list, read, filtered: filter !== '', sorted: unjoined !== undefined }, keyOf),
                oldWords,
              ]}
            />
          ) : null}
          <Lines lines={notes.map(note => theme.styles.muted(note))} width={pane.width} height={noteLines} />
          {error ? (
            <ErrorNote
              error={error}
              width={pane.width}
              height={loaded ? errorHeight : pane.height - headerHeight - noteLines}
            />
          ) : null}
        </Box>
      }
      inspector={
        <Box flexDirection="column" paddingLeft={1} width={inspector.width}>
          <Lines lines={factRows} width={inspector.width - 2} height={Math.min(factRows.length, inspector.height)} />
          {details?.(resting ? current : undefined, {
            ...inspector,
            width: inspector.width - 2,
            height: Math.max(0, inspector.height - factRows.length),
          })}
        </Box>
      }
    />
  );
}

/** Longer than the interval of key repeat, shorter than a pause of the user. */
const restMs = 120;

/** A value once it has stopped changing. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (settled === value) return;
    const timer = setTimeout(() => setSettled(value), restMs);
    return () => clearTimeout(timer);
  }, [value, settled]);
  return settled;
}
