/** A table's state, its arranged rows, and its keys. */
import { useCallback, useEffect, useMemo, useRef } from 'react';
import type { Column } from '../../../present/column.ts';
import { completeFilter, type FilterCompletion } from '../../../present/filter-completion.ts';
import {
  type AncestorsOf,
  type Arrange,
  type ArrangedRows,
  type Arrangement,
  createArrange,
  preparedAtOnce,
} from '../../../present/rows.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { listCommands, typingCommands } from '../../keys/general.ts';
import type { Binding, ScopeHandlers } from '../../keys/router.tsx';
import { type EditState, textBefore, textOf } from '../text-field/editing.ts';
import { type TypedLine, useTypedLine } from '../text-field/use-typed-line.ts';
import { initialTableState, type TableAction, type TableState, tableReducer, windowOf } from './table-state.ts';

/** The rows in groups or branches. */
export interface TableGroups<Row> {
  /** With a row for each group: shown while the table is neither filtered nor sorted. */
  readonly rows: readonly Row[] | undefined;
  /** The members of a group, given its row: actions on that row apply to them. */
  readonly membersOf?: (row: Row) => readonly Row[] | undefined;
  /** For a tree, see `createArrange`; must be a module-level constant. */
  readonly ancestorsOf?: AncestorsOf<Row>;
  /**
   * Whether new rows may come first: the cursor then stays on its row, even before the user moves it, and the first row
   * stays in view.
   */
  readonly keepsTop?: boolean;
}

export interface TableOptions<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly id: (row: Row) => string;
  /** Lines for the whole table, including its header and the filter line. */
  readonly height: number;
  /** The width of a line, in cells. */
  readonly width: number;
  readonly groups?: TableGroups<Row> | undefined;
  /** Whether the rows are already in the requested order. */
  readonly sorted?: boolean;
  /** Text about the row under the cursor. */
  readonly below?: ((row: Row) => string | undefined) | undefined;
  /** Reads the unread rows, if there are any; settles when done, even if it fails. */
  readonly readRest?: (() => Promise<unknown>) | undefined;
  /** Stops reading the rest. */
  readonly stop?: (() => void) | undefined;
  readonly initial?: TableState | undefined;
  /** Returns a function that opens a row; undefined if it cannot be opened. */
  readonly opening?: (row: Row) => (() => void) | undefined;
  /** Called with the text after `//`, instead of filtering. */
  readonly onSlash?: ((text: string) => void) | undefined;
}

export interface Table<Row> {
  readonly state: TableState;
  readonly arranged: ArrangedRows<Row>;
  /** The filter, if it is a valid one. */
  readonly filter: string | undefined;
  readonly isGrouped: boolean;
  /** The cursor's position among the rows in groups, not counting the groups' own rows; 0 on a group's own row. */
  readonly groupPlace: number | undefined;
  /** Index of the row under the cursor, -1 if there is none. */
  readonly cursor: number;
  readonly offset: number;
  /** Whether the cursor is close to the last known row. */
  readonly nearEnd: boolean;
  readonly rowLines: number;
  /** Why the filter is invalid, shown below the rows; sanitised. */
  readonly noticeLines: readonly string[];
  /** The text about the row under the cursor; sanitised. */
  readonly below: string;
  /** That text on lines of its own, if it does not fit beside the count. */
  readonly belowLines: readonly string[];
  readonly shown: readonly Row[];
  readonly current: Row | undefined;
  /**
   * The marked rows that still exist, in the order they were marked, or the row under the cursor if none is marked.
   * Groups are replaced by their members.
   */
  readonly targets: readonly Row[];
  /** Marks on rows that are gone or unread. */
  readonly lostMarks: readonly string[];
  /** Filters and sorts rows as the table does. @throws Error if the filter takes too long */
  readonly arrange: (rows: readonly Row[]) => readonly Row[];
  /** The filter while it is being typed. */
  readonly typing: EditState | undefined;
  /** Completions of the word being typed, best first. */
  readonly completions: readonly string[];
  readonly dispatch: (action: TableAction) => void;
  /** Opens a row, if it can be opened. */
  readonly open: (row: Row) => void;
  readonly handlers: ScopeHandlers;
}

/** The header, and the line below the rows. */
const otherLines = 2;

/** The next page is read when the cursor is this close to the end, in rows. */
const rowsNearEnd = 60;

/** How long a row must be first before an unmoved cursor stays on it: while a list fills, the first row changes. */
const heldAfterMs = 15_000;

const noRows: readonly never[] = [];
const noLines: readonly never[] = [];

/** How the table filters and sorts its rows. */
function useArranging<Row>({ rows, columns, id, groups, sorted = false }: TableOptions<Row>) {
  const ancestorsOf = groups?.ancestorsOf;
  const arrange = useMemo(() => createArrange(columns, id, ancestorsOf), [columns, id, ancestorsOf]);
  const inOrder = useMemo(
    () =>
      sorted
        ? (given: readonly Row[], { filter }: Arrangement) => arrange(given, { filter, sort: undefined })
        : arrange,
    [arrange, sorted],
  );
  const inGroups = ({ filter, sort }: Arrangement): readonly Row[] | undefined =>
    filter === '' && sort === undefined ? groups?.rows : undefined;
  const arranging = (arrangement: Arrangement): ArrangedRows<Row> =>
    inOrder(inGroups(arrangement) ?? rows, arrangement);
  return { arrange, inGroups, arranging };
}

export function useTable<Row>(options: TableOptions<Row>): Table<Row> {
  const { rows, columns, height, width, initial, opening, groups: { keepsTop, ...groups } = {} } = options;
  const { arrange, inGroups, arranging } = useArranging(options);
  const mostRows = Math.max(1, height - otherLines);
  const surroundings = { arranged: arranging, height: mostRows, keepsTop };
  const line = useTypedLine<TableState, TableAction>(
    (state, action) => tableReducer(state, action, surroundings),
    initial ?? initialTableState,
    filter => ({ kind: 'filter', filter }),
  );
  const { state, typing, dispatch } = line;
  const begun = useRef('');
  const begin = (filter: string): void => {
    begun.current = filter;
    line.begin(filter);
  };
  usePrepared(arrange, rows, typing !== undefined);
  const arranged = arranging(state);
  const notice = arranged.notice ?? arranged.doubt;
  const noticeLines = useMemo(() => noticeOf(notice, width, mostRows - 1), [notice, width, mostRows]);
  const most = mostRows - noticeLines.length;
  const { cursor } = windowOf(state, arranged, { height: most, keepsTop });
  const current = arranged.rows[cursor];
  const { below, belowLines } = useBelow(options, state, typing ? undefined : current, most - arranged.ids.length);
  const rowLines = most - belowLines.length;
  const { offset } = windowOf(state, arranged, { height: rowLines, keepsTop });
  const typed = typing && textBefore(typing);
  const completion = useMemo(
    () => (typed === undefined ? undefined : completeFilter(typed, columns, rows)),
    [typed, columns, rows],
  );
  useRest(state.following, options.readRest, dispatch);
  useHeldFirst(keepsTop && state.cursorId === undefined ? arranged.ids[cursor] : undefined, dispatch);
  return {
    ...{ state, arranged, cursor, offset, rowLines, noticeLines, below, belowLines, current, typing, dispatch },
    filter: (arranged.filter && state.filter) || undefined,
    completions: completion?.words ?? noLines,
    isGrouped: inGroups(state) !== undefined,
    groupPlace: inGroups(state) && groupPlace(arranged.rows.slice(0, cursor + 1), groups),
    // With a filter that matches nothing, this would read the whole list.
    nearEnd: state.filter === '' && cursor >= arranged.ids.length - rowsNearEnd,
    shown: useMemo(() => arranged.rows.slice(offset, offset + rowLines), [arranged.rows, offset, rowLines]),
    ...useTargets(options, state.marks, current),
    arrange: useCallback(
      given => {
        const { rows: found, filter: used, notice } = arrange(given, state);
        if (used && notice !== undefined) throw new Error(notice);
        return found;
      },
      [arrange, state],
    ),
    open: row => opening?.(row)?.(),
    handlers: typing
      ? typingHandlers(line, completion, begun.current, options.onSlash)
      : { bindings: tableBindings(options, { ...line, begin }, current) },
  };
}

/** How many lines of a full list the text about a row may take. */
const maxTakenLines = 2;

/** Cells for the count of the rows, and for the marker of a text beside it. */
const countCells = (rows: number): number => 2 * `${rows}`.length + 8;

/** The text about a row, on lines of its own if it does not fit beside the count. @param free how many lines are empty */
function useBelow<Row>(
  { rows, width, height, below: textOf }: TableOptions<Row>,
  { filter, marks, sort }: TableState,
  row: Row | undefined,
  free: number,
): Pick<Table<Row>, 'below' | 'belowLines'> {
  const below = sanitiseLine((row && textOf?.(row)) ?? '');
  // The line of the count also names the filter, the marks and the order.
  const beside = filter === '' && marks.size === 0 && sort === undefined ? width - countCells(rows.length) : 0;
  const most = Math.max(free, Math.min(maxTakenLines, Math.floor(height / 5)));
  const isBeside = displayWidth(below) <= beside;
  return {
    below,
    belowLines: useMemo(() => (isBeside ? noLines : noticeOf(below, width - 2, most)), [isBeside, below, width, most]),
  };
}

/** Reads the rest while the cursor follows it. If the rows then come from another list, reads the rest of that list. */
function useRest(
  isFollowing: boolean,
  readRest: TableOptions<never>['readRest'],
  dispatch: Table<never>['dispatch'],
): void {
  useEffect(() => {
    if (!isFollowing) return undefined;
    let isCurrent = true;
    void Promise.resolve(readRest?.()).then(() => isCurrent && dispatch({ kind: 'rest' }));
    return () => {
      isCurrent = false;
    };
  }, [isFollowing, readRest, dispatch]);
}

/** Keeps the cursor on the first row once that row has been first for a while. */
function useHeldFirst(firstId: string | undefined, dispatch: Table<never>['dispatch']): void {
  useEffect(() => {
    if (firstId === undefined) return undefined;
    const timer = setTimeout(() => dispatch({ kind: 'select', id: firstId }), heldAfterMs);
    return () => clearTimeout(timer);
  }, [firstId, dispatch]);
}

/** A message in at most `most` lines. */
function noticeOf(notice: string | undefined, width: number, most: number): readonly string[] {
  if (!notice || most < 1) return noLines;
  const lines = wrap(sanitiseLine(notice), Math.max(1, width - 2));
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), truncate(lines.slice(most - 1).join(' '), width - 2)];
}

/** The last row's position, see {@link Table.groupPlace}. Rows in folded groups count too. */
function groupPlace<Row>(rows: readonly Row[], { membersOf }: Pick<TableGroups<Row>, 'membersOf'>): number | undefined {
  const groups = rows.map(row => membersOf?.(row)?.length);
  const last = groups.findLastIndex(members => members !== undefined);
  if (last < 0) return undefined;
  const own = rows.length - 1 - last;
  return own === 0 ? 0 : groups.slice(0, last).reduce<number>((sum, members = 0) => sum + members, own);
}

/** The rows that actions apply to. */
function useTargets<Row>(
  { rows, groups, id }: TableOptions<Row>,
  marks: TableState['marks'],
  current: Row | undefined,
): Pick<Table<Row>, 'targets' | 'lostMarks'> {
  const { rows: grouped, membersOf } = groups ?? {};
  const marked = useMemo(() => {
    const all = grouped ? [...new Set([...rows, ...grouped])] : rows;
    return marks.size > 0 ? markedOf(all, marks, id) : noRows;
  }, [marks, rows, grouped, id]);
  const targets = marks.size > 0 ? marked : current === undefined ? noRows : [current];
  return {
    targets: membersOf ? [...new Set(targets.flatMap(row => membersOf(row) ?? [row]))] : targets,
    lostMarks: marks.size === marked.length ? noRows : [...marks].filter(mark => !marked.some(row => id(row) === mark)),
  };
}

/** The marked rows, in the order they were marked. */
function markedOf<Row>(rows: readonly Row[], marks: ReadonlySet<string>, id: (row: Row) => string): readonly Row[] {
  const found = new Map(rows.filter(row => marks.has(id(row))).map(row => [id(row), row]));
  return [...marks].flatMap(mark => found.get(mark) ?? []);
}

/** Rows that have not changed for this long are complete for now: each new page of a list is a change. */
const settledMs = 200;

/** Prepares many rows' text for filtering, in parts: soon, or at once while the user types a filter. */
function usePrepared<Row>(arrange: Arrange<Row>, rows: readonly Row[], isTyping: boolean): void {
  useEffect(() => {
    if (rows.length <= preparedAtOnce) return undefined;
    let soon: NodeJS.Immediate | undefined;
    const prepare = (from: number): void => {
      const next = arrange.prepare(rows, from);
      soon = next === undefined ? undefined : setImmediate(prepare, next);
    };
    const settled = setTimeout(prepare, isTyping ? 0 : settledMs, 0);
    return () => {
      clearTimeout(settled);
      clearImmediate(soon);
    };
  }, [isTyping, arrange, rows]);
}

type TableLine = TypedLine<TableState, TableAction>;

/**
 * @param begun the filter when typing began: a first `/` does not edit it
 * @param onSlash called with the text after a first `/`
 */
function typingHandlers(
  line: TableLine,
  completion: FilterCompletion | undefined,
  begun: string,
  onSlash: TableOptions<never>['onSlash'],
): ScopeHandlers {
  const handlers = line.handlers(typingBindings(line, completion));
  const { field } = handlers;
  if (!onSlash || !field || !line.typing || textOf(line.typing) !== begun) return handlers;
  const type: typeof field.type = press => {
    if (!press.text.startsWith('/')) field.type(press);
    else {
      line.end();
      onSlash(press.text.slice(1));
    }
  };
  return { ...handlers, field: { ...field, type } };
}

const typingBindings = (
  { typing, replace, dispatch }: TableLine,
  completion: FilterCompletion | undefined,
): readonly Binding[] => [
  {
    command: typingCommands.complete,
    run: () => {
      const [word] = completion?.words ?? noLines;
      if (word !== undefined && typing) replace(`${textBefore(typing).slice(0, completion?.from)}${word}`);
    },
  },
  { command: typingCommands.up, run: () => dispatch({ kind: 'move', by: -1 }) },
  { command: typingCommands.down, run: () => dispatch({ kind: 'move', by: 1 }) },
];

function tableBindings<Row>(
  { rows, columns, opening, readRest, stop }: TableOptions<Row>,
  { state, begin, dispatch }: TableLine,
  current: Row | undefined,
): readonly Binding[] {
  const bound = (command: Binding['command'], action: TableAction): Binding => ({
    command,
    run: () => dispatch(action),
  });
  const partial = readRest !== undefined;
  // Rows that are not read yet may have a value.
  const sortable = () =>
    columns.filter(
      ({ id, value, sortedBy = value, isUnread, hasNone }) =>
        (partial && !hasNone) ||
        id === state.sort?.column ||
        rows.some(row => isUnread?.(row) || sortedBy(row) !== undefined),
    );
  const open = current === undefined ? undefined : opening?.(current);
  return [
    ...(open ? [{ command: listCommands.open, run: open }] : []),
    ...(stop ? [{ command: listCommands.stop, run: stop }] : []),
    bound(listCommands.up, { kind: 'move', by: -1 }),
    bound(listCommands.down, { kind: 'move', by: 1 }),
    bound(listCommands.pageUp, { kind: 'page', pages: -1 }),
    bound(listCommands.pageDown, { kind: 'page', pages: 1 }),
    bound(listCommands.halfUp, { kind: 'page', pages: -0.5 }),
    bound(listCommands.halfDown, { kind: 'page', pages: 0.5 }),
    bound(listCommands.top, { kind: 'top' }),
    {
      command: listCommands.bottom,
      run: ({ number }) => dispatch(number ? { kind: 'to', index: number() - 1 } : { kind: 'bottom', follow: partial }),
    },
    { command: listCommands.filter, run: () => begin(state.filter) },
    { command: listCommands.sort, run: () => dispatch({ kind: 'sort-next', columns: sortable(), partial }) },
    { command: listCommands.reverse, run: () => dispatch({ kind: 'reverse', columns: sortable(), partial }) },
    bound(listCommands.mark, { kind: 'toggle-mark' }),
    { ...bound(listCommands.unmark, { kind: 'clear-marks' }), enabled: state.marks.size > 0 },
    { ...bound(listCommands.clearFilter, { kind: 'escape' }), enabled: state.filter !== '' || state.marks.size > 0 },
  ];
}
