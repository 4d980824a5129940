/** The window that shows, hides and widens a list's columns, and sorts by one. */

import { Box } from 'ink';
import { useRef, useState } from 'react';
import { own } from '../../../base/own-property.ts';
import type { Column, ColumnChoice } from '../../../present/column.ts';
import { isSameSort, type Sort, sortBy } from '../../../present/sort.ts';
import { padEnd } from '../../../text/width.ts';
import { useWindowRoom } from '../../app/shell-context.tsx';
import { columnCommands, overlayCommands } from '../../keys/general.ts';
import { CursorList, moveCursor } from '../../widgets/cursor-list.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../../widgets/window.tsx';

/** The user's choice of columns, and the order of the rows. */
interface Chosen {
  readonly choice: ColumnChoice;
  readonly sort: Sort | undefined;
}

interface ColumnsWindowProps<Row> {
  readonly columns: readonly Column<Row>[];
  /** When the window opens. */
  readonly chosen: Chosen;
  readonly onChoose: (chosen: Chosen) => void;
  readonly onClose: () => void;
}

interface ChooserState {
  readonly cursor: number;
  readonly chosen: Chosen;
}

type ChooserAction =
  | { readonly kind: 'move'; readonly by: number }
  | { readonly kind: 'toggle' }
  | { readonly kind: 'widen'; readonly by: number }
  | { readonly kind: 'sort' }
  | { readonly kind: 'reset' };

/** Cells added per step. */
const widenBy = 4;

function choose<Row>(columns: readonly Column<Row>[], state: ChooserState, action: ChooserAction): ChooserState {
  const column = columns[state.cursor];
  if (!column) return state;
  const { choice, sort } = state.chosen;
  const preference = own(choice, column.id) ?? {};
  const chosen = (change: Partial<Chosen>): ChooserState => ({ ...state, chosen: { ...state.chosen, ...change } });
  const prefer = (change: typeof preference): ChooserState =>
    chosen({ choice: { ...choice, [column.id]: { ...preference, ...change } } });
  switch (action.kind) {
    case 'move':
      return { ...state, cursor: moveCursor(state.cursor, action.by, columns.length) };
    case 'toggle':
      return prefer({ shown: !(preference.shown ?? isShownByItself(column)) });
    case 'widen':
      return prefer({ wider: (preference.wider ?? 0) + action.by });
    case 'sort': {
      const first = sortBy(column);
      if (sort?.column !== column.id) return chosen({ sort: first });
      return chosen({ sort: isSameSort(sort, first) ? { ...first, descending: !first.descending } : undefined });
    }
    case 'reset':
      return chosen({ choice: {} });
  }
}

/** Maximum width of the window. */
const maxWidth = 52;

/** Whether it is shown regardless of the rows and the room. */
const isShownByItself = ({ wide, hidden, ifAny }: Column<never>): boolean => !wide && !hidden && !ifAny;

export function ColumnsWindow<Row>({ columns, chosen, onChoose, onClose }: ColumnsWindowProps<Row>) {
  const { width, ...room } = useWindowRoom(maxWidth);
  const { styles, glyphs } = useTheme();
  const [state, setState] = useState<ChooserState>({ cursor: 0, chosen });
  // Several keys may arrive before the next render.
  const latest = useRef(state);
  const { choice, sort } = state.chosen;
  const act = (action: ChooserAction) => () => {
    const before = latest.current;
    latest.current = choose(columns, before, action);
    setState(latest.current);
    if (latest.current.chosen !== before.chosen) onChoose(latest.current.chosen);
  };
  const lineOf = (column: Column<Row>, emphasise: (text: string) => string): string => {
    const { shown, wider = 0 } = own(choice, column.id) ?? {};
    const auto = column.wide ? 'if there is room' : column.ifAny ? 'if a row has one' : '';
    const extra = wider === 0 ? (shown === undefined ? auto : '') : `${wider > 0 ? '+' : ''}${wider}`;
    const arrow = sort?.column === column.id ? ` ${sort.descending ? glyphs.arrowDown : glyphs.arrowUp}` : '';
    return `${(shown ?? isShownByItself(column)) ? glyphs.check : ' '} ${emphasise(padEnd(`${column.title}${arrow}`, 20))} ${styles.muted(extra)}`;
  };
  const height = Math.min(columns.length + windowMargin.lines, room.height);
  return (
    <Window
      title="Columns"
      width={width}
      height={height}
      bindings={[
        { command: columnCommands.up, run: act({ kind: 'move', by: -1 }) },
        { command: columnCommands.down, run: act({ kind: 'move', by: 1 }) },
        { command: columnCommands.toggle, run: act({ kind: 'toggle' }) },
        { command: columnCommands.wider, run: act({ kind: 'widen', by: widenBy }) },
        { command: columnCommands.narrower, run: act({ kind: 'widen', by: -widenBy }) },
        { command: columnCommands.sort, run: act({ kind: 'sort' }) },
        { command: columnCommands.reset, run: act({ kind: 'reset' }) },
        { command: overlayCommands.close, run: onClose },
        { command: overlayCommands.quit, run: onClose },
      ]}
    >
      <Box flexDirection="column">
        <CursorList
          items={columns}
          cursor={state.cursor}
          height={height - windowMargin.lines}
          keyOf={({ id }) => id}
          lineOf={lineOf}
        />
      </Box>
    </Window>
  );
}
