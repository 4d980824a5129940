/** The state of a table, its arranged rows, and its keys. */
import { useCallback, useEffect, useMemo } from 'react';
import type { Column } from '../../../present/column.ts';
import { type ArrangedRows, type Arrangement, createArrange } from '../../../present/rows.ts';
import { listCommands, typingCommands } from '../../keys/general.ts';
import type { Binding, ScopeHandlers } from '../../keys/router.tsx';
import type { EditState } from '../text-field/editing.ts';
import { useTypedLine } from '../text-field/use-typed-line.ts';
import { initialTableState, type TableAction, type TableState, tableReducer, windowOf } from './table-state.ts';

export interface TableOptions<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly id: (row: Row) => string;
  /** Lines of the whole table, with its header and the filter line. */
  readonly height: number;
  /** The rows are already in the requested order. */
  readonly sorted?: boolean;
  /** Reads the unread rows, if there are any; settles when that has ended, in whatever way. */
  readonly readRest?: (() => Promise<unknown>) | undefined;
  /** Stops reading the rest. */
  readonly stop?: (() => void) | undefined;
  /** The remembered state. */
  readonly initial?: TableState | undefined;
  readonly onOpen?: ((row: Row) => void) | undefined;
  /** Whether this row can be opened; by default all can. */
  readonly canOpen?: (row: Row) => boolean;
}

export interface Table<Row> {
  readonly state: TableState;
  readonly arranged: ArrangedRows<Row>;
  /** Index of the row under the cursor, -1 if there is none. */
  readonly cursor: number;
  readonly offset: number;
  /** Whether the cursor is close to the last known row. */
  readonly nearEnd: boolean;
  /** Lines for rows. */
  readonly rowLines: number;
  /** The visible rows. */
  readonly shown: readonly Row[];
  readonly current: Row | undefined;
  /** The marked rows that still exist, or the one under the cursor if none is marked. */
  readonly targets: readonly Row[];
  /** Number of marks on rows that are gone or not read yet. */
  readonly lostMarks: number;
  /** Filters and sorts rows as the table does. @throws Error if the filter takes too long */
  readonly arrange: (rows: readonly Row[]) => readonly Row[];
  /** The filter while it is being typed. */
  readonly typing: EditState | undefined;
  readonly dispatch: (action: TableAction) => void;
  /** Opens a row, if it can be opened. */
  readonly open: (row: Row) => void;
  readonly handlers: ScopeHandlers;
}

/** The header, and the line below the rows. */
const otherLines = 2;

/** How many rows before the end the next page is read. */
const rowsNearEnd = 60;

const noRows: readonly never[] = [];

export function useTable<Row>(options: TableOptions<Row>): Table<Row> {
  const { rows, columns, id, height, initial, onOpen, canOpen, readRest, stop, sorted = false } = options;
  const arrangeAs = useMemo(() => createArrange(columns, id), [columns, id]);
  const arrange = useMemo(
    () =>
      sorted
        ? (given: readonly Row[], { filter }: Arrangement) => arrangeAs(given, { filter, sort: undefined })
        : arrangeAs,
    [arrangeAs, sorted],
  );
  const rowLines = Math.max(1, height - otherLines);
  const surroundings = { arranged: (arrangement: Arrangement) => arrange(rows, arrangement), height: rowLines };
  const line = useTypedLine<TableState, TableAction>(
    (state, action) => tableReducer(state, action, surroundings),
    initial ?? initialTableState,
    filter => ({ kind: 'filter', filter }),
  );
  const { state: table, typing, dispatch } = line;

  const filtering = typing !== undefined;
  useEffect(() => {
    if (!filtering) return undefined;
    let soon: NodeJS.Immediate | undefined;
    const prepare = (from: number): void => {
      const next = arrangeAs.prepare(rows, from);
      soon = next === undefined ? undefined : setImmediate(prepare, next);
    };
    soon = setImmediate(prepare, 0);
    return () => clearImmediate(soon);
  }, [filtering, arrangeAs, rows]);

  const arranged = arrange(rows, table);
  const { cursor, offset } = windowOf(table, arranged, rowLines);
  const current = arranged.rows[cursor];
  const shown = useMemo(() => arranged.rows.slice(offset, offset + rowLines), [arranged.rows, offset, rowLines]);
  const { marks } = table;
  const marked = useMemo(() => (marks.size > 0 ? rows.filter(row => marks.has(id(row))) : noRows), [marks, rows, id]);
  const columnIds = columns.map(column => column.id);

  const does = (command: Binding['command'], action: TableAction): Binding => ({
    command,
    run: () => dispatch(action),
  });
  const partial = readRest !== undefined;
  const toEnd = (): void => {
    dispatch({ kind: 'bottom', follow: partial });
    void readRest?.().then(() => dispatch({ kind: 'rest' }));
  };
  const bindings: Binding[] = [
    does(listCommands.up, { kind: 'move', by: -1 }),
    does(listCommands.down, { kind: 'move', by: 1 }),
    does(listCommands.pageUp, { kind: 'page', pages: -1 }),
    does(listCommands.pageDown, { kind: 'page', pages: 1 }),
    does(listCommands.halfUp, { kind: 'page', pages: -0.5 }),
    does(listCommands.halfDown, { kind: 'page', pages: 0.5 }),
    does(listCommands.top, { kind: 'top' }),
    { command: listCommands.bottom, run: toEnd },
    { command: listCommands.filter, run: () => line.begin(table.filter) },
    does(listCommands.sort, { kind: 'sort-next', columns: columnIds, partial }),
    does(listCommands.reverse, { kind: 'reverse', columns: columnIds, partial }),
    does(listCommands.mark, { kind: 'toggle-mark' }),
    { ...does(listCommands.unmark, { kind: 'clear-marks' }), enabled: table.marks.size > 0 },
    { ...does(listCommands.clearFilter, { kind: 'filter', filter: '' }), enabled: table.filter !== '' },
  ];
  if (stop) bindings.unshift({ command: listCommands.stop, run: stop });
  if (onOpen && current !== undefined && (canOpen?.(current) ?? true)) {
    bindings.unshift({ command: listCommands.open, run: () => onOpen(current) });
  }

  const handlers = typing
    ? line.handlers([
        does(typingCommands.up, { kind: 'move', by: -1 }),
        does(typingCommands.down, { kind: 'move', by: 1 }),
      ])
    : { bindings };

  return {
    state: table,
    arranged,
    cursor,
    offset,
    // A filter may match nothing, and would have the whole list read unasked.
    nearEnd: table.filter === '' && cursor >= arranged.ids.length - rowsNearEnd,
    rowLines,
    shown,
    current,
    targets: marks.size > 0 ? marked : current === undefined ? noRows : [current],
    lostMarks: marks.size - marked.length,
    arrange: useCallback(
      given => {
        const { rows: found, filter, notice } = arrangeAs(given, table);
        if (filter && notice !== undefined) throw new Error(notice);
        return found;
      },
      [arrangeAs, table],
    ),
    typing,
    dispatch,
    open: row => onOpen?.(row),
    handlers,
  };
}
