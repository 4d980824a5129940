/** A menu: drawn by ink-select-input, with its keys handled by the router. */

import { Text } from 'ink';
import SelectInput from 'ink-select-input';
import { useReducer } from 'react';
import { menuCommands } from '../keys/general.ts';
import { type Binding, KeyScope } from '../keys/router.tsx';
import { useTheme } from './theme/theme.tsx';

export interface MenuItem {
  readonly key: string;
  /** Safe for a terminal, and short enough for its line. */
  readonly label: string;
}

export interface MenuProps {
  readonly items: readonly MenuItem[];
  /** Lines for the items; by default all of them. */
  readonly limit?: number;
  /** Called with the index of the item. */
  readonly onChoose: (index: number) => void;
  /** Keys that choose an item directly. */
  readonly bindings?: readonly Binding[];
}

type MenuAction = { readonly kind: 'move'; readonly by: number; readonly count: number };

/** Moves the cursor, wrapping at both ends. */
export function menuReducer(cursor: number, { by, count }: MenuAction): number {
  return count === 0 ? 0 : (cursor + by + count) % count;
}

/** In the glyphs and styles of the theme, like the cursor of a list. */
function Indicator({ isSelected = false }: { isSelected?: boolean }) {
  const { glyphs, styles } = useTheme();
  return <Text>{isSelected ? styles.selected(`${glyphs.marker} `) : '  '}</Text>;
}

function Item({ isSelected = false, label }: { isSelected?: boolean; label: string }) {
  const { styles } = useTheme();
  return <Text wrap="truncate">{isSelected ? styles.selected(label) : label}</Text>;
}

export function Menu({ items, limit = items.length, onChoose, bindings = [] }: MenuProps) {
  const [cursor, dispatch] = useReducer(menuReducer, 0);
  const count = items.length;
  const at = Math.min(cursor, Math.max(0, count - 1));
  return (
    <KeyScope
      bindings={[
        { command: menuCommands.up, run: () => dispatch({ kind: 'move', by: -1, count }), enabled: count > 0 },
        { command: menuCommands.down, run: () => dispatch({ kind: 'move', by: 1, count }), enabled: count > 0 },
        { command: menuCommands.choose, run: () => onChoose(at), enabled: count > 0 },
        ...bindings,
      ]}
    >
      {/* SelectInput is uncontrolled: remount it to move its cursor. */}
      <SelectInput
        key={at}
        indicatorComponent={Indicator}
        itemComponent={Item}
        isFocused={false}
        initialIndex={at}
        limit={limit}
        items={items.map(({ key, label }) => ({ key, label, value: key }))}
      />
    </KeyScope>
  );
}
