/**
 * A table's state: the cursor's row and line, the filter, the order and the marks. Pure. The state stores the cursor by
 * row id and screen line, so new rows move neither the cursor nor the row under it.
 */
import type { Column, ColumnChoice } from '../../../present/column.ts';
import { type ArrangedRows, type Arrangement, indexOfId } from '../../../present/rows.ts';
import { isSameSort, type Sort, sortBy } from '../../../present/sort.ts';

export interface TableState extends Arrangement {
  /**
   * Id of the row under the cursor. Undefined until the user moves the cursor, which is on the first row until then.
   */
  readonly cursorId: string | undefined;
  /** The cursor's index after its last move, in case its row disappears. */
  readonly index: number;
  /** Whether the cursor stays on the last row while more rows are read. */
  readonly following: boolean;
  /** The cursor's line within the window. */
  readonly line: number;
  readonly marks: ReadonlySet<string>;
  readonly choice: ColumnChoice;
}

export const initialTableState: TableState = {
  cursorId: undefined,
  index: 0,
  following: false,
  line: 0,
  filter: '',
  sort: undefined,
  marks: new Set(),
  choice: {},
};

type SortColumn = Pick<Column<never>, 'id' | 'bestFirst'>;

export type TableAction =
  | { readonly kind: 'move'; readonly by: number }
  | { readonly kind: 'page'; readonly pages: number }
  | { readonly kind: 'top' }
  | { readonly kind: 'to'; readonly index: number }
  | { readonly kind: 'bottom'; readonly follow?: boolean }
  | { readonly kind: 'rest' }
  | { readonly kind: 'select'; readonly id: string }
  | { readonly kind: 'filter'; readonly filter: string }
  /** `partial` if unread rows may come first. */
  | { readonly kind: 'sort-next'; readonly columns: readonly SortColumn[]; readonly partial?: boolean }
  | { readonly kind: 'reverse'; readonly columns: readonly SortColumn[]; readonly partial?: boolean }
  | { readonly kind: 'toggle-mark' }
  | { readonly kind: 'clear-marks' }
  | { readonly kind: 'unmark'; readonly which: (id: string) => boolean }
  /** Clears the filter or, if there is none, the marks. */
  | { readonly kind: 'escape' }
  | {
      readonly kind: 'choose-columns';
      readonly choice: ColumnChoice;
      readonly sort: Sort | undefined;
      readonly partial?: boolean;
    };

/** The inputs of an action: the arranged rows, and the window's height. */
interface TableSurroundings {
  readonly arranged: (arrangement: Arrangement) => ArrangedRows<unknown>;
  /** Lines for rows. */
  readonly height: number;
  /**
   * Whether new rows may come first: a window that shows the first row then keeps showing it, if the cursor's row fits.
   */
  readonly keepsTop?: boolean | undefined;
}

interface TableWindow {
  /** Index of the row under the cursor, -1 if there is none. */
  readonly cursor: number;
  /** Index of the first visible row. */
  readonly offset: number;
}

/** The visible part of the rows. */
export function windowOf(
  state: TableState,
  arranged: ArrangedRows<unknown>,
  { height, keepsTop = false }: Omit<TableSurroundings, 'arranged'>,
): TableWindow {
  const count = arranged.ids.length;
  if (count === 0) return { cursor: -1, offset: 0 };
  if (state.following) return { cursor: count - 1, offset: Math.max(0, count - height) };
  const known = state.cursorId === undefined ? arranged.first : indexOfId(arranged, state.cursorId, state.index);
  const cursor = known === -1 ? Math.min(state.index, count - 1) : known;
  const wished = keepsTop && state.line === state.index ? cursor : state.line;
  const line = Math.max(0, Math.min(wished, height - 1, cursor));
  return { cursor, offset: Math.max(0, Math.min(cursor - line, count - height)) };
}

export function tableReducer(state: TableState, action: TableAction, surroundings: TableSurroundings): TableState {
  const arranged = surroundings.arranged(state);
  const { cursor, offset } = windowOf(state, arranged, surroundings);
  switch (action.kind) {
    case 'filter': {
      if (action.filter === state.filter) return state;
      const next = { ...state, filter: action.filter, following: false };
      return refiltered(next, arranged.ids[cursor], cursor - offset, surroundings);
    }
    case 'sort-next':
    case 'reverse':
    case 'choose-columns': {
      const next = action.kind === 'choose-columns' ? { ...state, choice: action.choice } : state;
      const sort = sortAfter(state.sort, action);
      if (isSameSort(state.sort, sort)) return next;
      // A user on the first row, e.g. after opening the list, wants to see the first rows of the new order.
      return resorted(next, action.partial || cursor === 0 ? undefined : arranged.ids[cursor], sort);
    }
    case 'toggle-mark': {
      const marked = arranged.ids[cursor];
      if (marked === undefined) return state;
      return { ...moved(state, { kind: 'move', by: 1 }, surroundings), marks: toggled(state.marks, marked) };
    }
    case 'clear-marks':
      return state.marks.size === 0 ? state : { ...state, marks: new Set() };
    case 'unmark': {
      const marks = new Set([...state.marks].filter(id => !action.which(id)));
      return marks.size === state.marks.size ? state : { ...state, marks };
    }
    case 'escape': {
      const next: TableAction = state.filter === '' ? { kind: 'clear-marks' } : { kind: 'filter', filter: '' };
      return tableReducer(state, next, surroundings);
    }
    default:
      return moved(state, action, surroundings);
  }
}

type ActionOf<Kind extends TableAction['kind']> = Extract<TableAction, { readonly kind: Kind }>;

/** Moves the cursor. The window moves only when the cursor meets its edge. */
function moved(
  state: TableState,
  action: ActionOf<'move' | 'page' | 'top' | 'to' | 'bottom' | 'rest' | 'select'>,
  surroundings: TableSurroundings,
): TableState {
  const { height } = surroundings;
  const arranged = surroundings.arranged(state);
  const { cursor, offset } = windowOf(state, arranged, surroundings);
  const moveTo = (target: number, line?: number): TableState => {
    const index = Math.max(0, Math.min(arranged.ids.length - 1, target));
    const cursorId = arranged.ids[index];
    if (cursorId === undefined) return state;
    const shown = Math.max(0, Math.min(height - 1, line ?? index - offset));
    return { ...state, cursorId, index, following: false, line: shown };
  };
  switch (action.kind) {
    case 'move':
      return moveTo(cursor + action.by);
    case 'page': {
      const by = Math.trunc(action.pages * Math.max(1, height - 1)) || Math.sign(action.pages);
      return moveTo(cursor + by, cursor - offset);
    }
    case 'top':
      return moveTo(0, 0);
    case 'to':
      return moveTo(action.index);
    case 'bottom':
      return { ...moveTo(arranged.ids.length - 1, height - 1), following: action.follow ?? false };
    case 'rest':
      return state.following ? moveTo(cursor, height - 1) : state;
    case 'select': {
      const index = indexOfId(arranged, action.id);
      return index === -1 ? { ...state, cursorId: action.id } : moveTo(index);
    }
  }
}

/** The order after an action. */
function sortAfter(
  sort: Sort | undefined,
  action: ActionOf<'sort-next' | 'reverse' | 'choose-columns'>,
): Sort | undefined {
  if (action.kind === 'choose-columns') return action.sort;
  if (action.kind === 'sort-next') return sortOfNext(sort, action.columns);
  const reversed = sort ?? sortOfNext(undefined, action.columns);
  return reversed && { ...reversed, descending: !reversed.descending };
}

/** The order by the next column; undefined after the last one. */
function sortOfNext(sort: Sort | undefined, columns: readonly SortColumn[]): Sort | undefined {
  const next = columns[sort ? columns.findIndex(({ id }) => id === sort.column) + 1 : 0];
  return next && sortBy(next);
}

function toggled(marks: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(marks);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** The cursor stays on its row and line if the filter keeps the row; otherwise, it moves to the first row. */
function refiltered(
  state: TableState,
  cursorId: string | undefined,
  line: number,
  { arranged }: TableSurroundings,
): TableState {
  const rows = arranged(state);
  // Rows before the first match are only its ancestors.
  const stays = cursorId !== undefined && indexOfId(rows, cursorId) >= rows.first;
  return stays ? { ...state, cursorId, line } : { ...state, cursorId: undefined, index: 0, line: 0 };
}

/** The cursor stays on this row; without an id, it moves to the first row. */
function resorted(state: TableState, cursorId: string | undefined, sort: Sort | undefined): TableState {
  const place = cursorId === undefined ? { index: 0, line: 0 } : {};
  return { ...state, ...place, cursorId, sort, following: false };
}
