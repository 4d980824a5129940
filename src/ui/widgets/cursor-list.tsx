/** A list with a cursor in a window; shows the lines around the cursor. Its owner handles the keys. */
import { Text } from 'ink';
import { useReducer } from 'react';
import type { KeyPress } from '../keys/key.ts';
import { type EditState, edit, editStateOf, oneLine, textOf } from './text-field/editing.ts';
import { useTheme } from './theme/theme.tsx';

/** The cursor's new position, within the list. */
export const moveCursor = (cursor: number, by: number, count: number): number =>
  Math.max(0, Math.min(count - 1, cursor + by));

/** Typed text that narrows down a list, and the list's cursor. */
interface TypedState {
  readonly typed: EditState;
  readonly cursor: number;
  /** The key of the item that the cursor was moved to. */
  readonly chosen?: string | undefined;
}

type TypedAction =
  | { readonly press: KeyPress }
  | { readonly text: string }
  | { readonly by: number; readonly shownFor: string; readonly keys: readonly string[] };

function typedReducer(state: TypedState, action: TypedAction): TypedState {
  const { typed } = state;
  if ('by' in action) {
    const cursor = moveCursor(cursorIn(action.keys, state), action.by, action.keys.length);
    // Text and a move may arrive before the next render: the keys are then of other items.
    return { typed, cursor, chosen: textOf(typed) === action.shownFor ? action.keys[cursor] : undefined };
  }
  if ('text' in action) return { typed: editStateOf(action.text), cursor: 0 };
  return { typed: edit(typed, action.press, oneLine) ?? typed, cursor: 0 };
}

/** The cursor's position, which follows the chosen item. */
function cursorIn(keys: readonly string[], { cursor, chosen }: TypedState): number {
  const at = chosen === undefined ? -1 : keys.indexOf(chosen);
  return at === -1 ? Math.min(cursor, keys.length - 1) : at;
}

/**
 * A list narrowed down by typed text. When the text changes, the cursor returns to the first item; when only the items
 * change, it stays on the item that it was moved to.
 */
export function useTypedList<Item>(itemsFor: (text: string) => readonly Item[], keyOf: (item: Item) => string) {
  const [state, dispatch] = useReducer(typedReducer, { typed: editStateOf(''), cursor: 0 });
  const text = textOf(state.typed);
  const items = itemsFor(text);
  const keys = items.map(keyOf);
  return {
    typed: state.typed,
    text,
    items,
    keyOf,
    cursor: cursorIn(keys, state),
    press: (press: KeyPress): void => dispatch({ press }),
    replace: (replacement: string): void => dispatch({ text: replacement }),
    move: (by: number) => () => dispatch({ by, shownFor: text, keys }),
  };
}

interface CursorListProps<Item> {
  readonly items: readonly Item[];
  readonly cursor: number;
  readonly height: number;
  readonly keyOf: (item: Item) => string;
  /** Called for the visible items. `emphasise` styles the part that the cursor highlights. */
  readonly lineOf: (item: Item, emphasise: (text: string) => string) => string;
}

export function CursorList<Item>({ items, cursor, height, keyOf, lineOf }: CursorListProps<Item>) {
  const { styles, glyphs } = useTheme();
  const offset = Math.max(0, cursor - height + 1);
  return items.slice(offset, offset + height).map((item, index) => (
    <Text key={keyOf(item)} wrap="truncate">
      {offset + index === cursor
        ? styles.selected(`${glyphs.marker} `) + lineOf(item, styles.selected)
        : `  ${lineOf(item, text => text)}`}
    </Text>
  ));
}
