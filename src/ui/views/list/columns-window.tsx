/** The window that shows, hides and widens a list's columns. */

import { Box } from 'ink';
import { useReducer } from 'react';
import { own } from '../../../base/own-property.ts';
import type { Column, ColumnChoice } from '../../../present/column.ts';
import { padEnd } from '../../../text/width.ts';
import { useWindowRoom } from '../../app/shell-context.tsx';
import { columnCommands, overlayCommands } from '../../keys/general.ts';
import { CursorList, moveCursor } from '../../widgets/cursor-list.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../../widgets/window.tsx';

interface ColumnsWindowProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly choice: ColumnChoice;
  readonly onChoose: (choice: ColumnChoice) => void;
  readonly onClose: () => void;
}

interface ChooserState {
  readonly cursor: number;
  readonly choice: ColumnChoice;
}

type ChooserAction =
  | { readonly kind: 'move'; readonly by: number }
  | { readonly kind: 'toggle' }
  | { readonly kind: 'widen'; readonly by: number }
  | { readonly kind: 'reset' };

/** Cells added per step. */
const widenBy = 4;

function chooserReducer<Row>(
  columns: readonly Column<Row>[],
): (state: ChooserState, action: ChooserAction) => ChooserState {
  return (state, action) => {
    const column = columns[state.cursor];
    if (!column) return state;
    const preference = own(state.choice, column.id) ?? {};
    switch (action.kind) {
      case 'move':
        return { ...state, cursor: moveCursor(state.cursor, action.by, columns.length) };
      case 'toggle': {
        const shown = !(preference.shown ?? isShownByItself(column));
        return { ...state, choice: { ...state.choice, [column.id]: { ...preference, shown } } };
      }
      case 'widen':
        return {
          ...state,
          choice: { ...state.choice, [column.id]: { ...preference, wider: (preference.wider ?? 0) + action.by } },
        };
      case 'reset':
        return { ...state, choice: {} };
    }
  };
}

/** Maximum width of the window. */
const widest = 52;

const isShownByItself = ({ wide, hidden }: Column<never>): boolean => !wide && !hidden;

export function ColumnsWindow<Row>({ columns, choice, onChoose, onClose }: ColumnsWindowProps<Row>) {
  const { width, ...room } = useWindowRoom(widest);
  const { styles, glyphs } = useTheme();
  const [state, dispatch] = useReducer(chooserReducer(columns), { cursor: 0, choice });
  const act = (action: ChooserAction) => () => {
    dispatch(action);
    onChoose(chooserReducer(columns)(state, action).choice);
  };
  const lineOf = (column: Column<Row>, emphasise: (text: string) => string): string => {
    const { shown = isShownByItself(column), wider = 0 } = own(state.choice, column.id) ?? {};
    const auto = column.wide && own(state.choice, column.id)?.shown === undefined ? 'if there is room' : '';
    const extra = wider === 0 ? auto : `${wider > 0 ? '+' : ''}${wider}`;
    return `${shown ? glyphs.check : ' '} ${emphasise(padEnd(column.title, 20))} ${styles.muted(extra)}`;
  };
  const height = Math.min(columns.length + windowMargin.lines, room.height);
  return (
    <Window
      title="Columns"
      width={width}
      height={height}
      bindings={[
        { command: columnCommands.up, run: () => dispatch({ kind: 'move', by: -1 }) },
        { command: columnCommands.down, run: () => dispatch({ kind: 'move', by: 1 }) },
        { command: columnCommands.toggle, run: act({ kind: 'toggle' }) },
        { command: columnCommands.wider, run: act({ kind: 'widen', by: widenBy }) },
        { command: columnCommands.narrower, run: act({ kind: 'widen', by: -widenBy }) },
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
