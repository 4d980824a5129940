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
}

type TypedAction =
  | { readonly press: KeyPress }
  | { readonly text: string }
  | { readonly by: number; readonly count: number };

function typedReducer({ typed, cursor }: TypedState, action: TypedAction): TypedState {
  if ('by' in action) return { typed, cursor: moveCursor(cursor, action.by, action.count) };
  if ('text' in action) return { typed: editStateOf(action.text), cursor: 0 };
  return { typed: edit(typed, action.press, oneLine) ?? typed, cursor: 0 };
}

/** A list narrowed down by typed text. When the text changes, the cursor returns to the first item. */
export function useTypedList<Item>(itemsFor: (text: string) => readonly Item[]) {
  const [{ typed, cursor }, dispatch] = useReducer(typedReducer, { typed: editStateOf(''), cursor: 0 });
  const items = itemsFor(textOf(typed));
  return {
    typed,
    text: textOf(typed),
    items,
    // Text and a move may arrive before the next render.
    cursor: Math.min(cursor, items.length - 1),
    press: (press: KeyPress): void => dispatch({ press }),
    replace: (text: string): void => dispatch({ text }),
    move: (by: number) => () => dispatch({ by, count: items.length }),
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
