/** A menu, drawn by ink-select-input; the router handles its keys. */

import { Box, Text } from 'ink';
import SelectInput from 'ink-select-input';
import { useReducer } from 'react';
import type { Command } from '../../present/command.ts';
import { menuCommands } from '../keys/general.ts';
import { type Binding, KeyScope } from '../keys/router.tsx';
import { useTheme } from './theme/theme.tsx';

export interface MenuItem {
  readonly key: string;
  /** Safe for a terminal, and short enough for its line. */
  readonly label: string;
}

interface MenuProps {
  readonly items: readonly MenuItem[];
  /** How many lines the items may take; by default, as many as there are. */
  readonly limit?: number;
  readonly onChoose: (index: number) => void;
  /** Bindings that choose an item directly. */
  readonly bindings?: readonly Binding[];
}

/**
 * The item under the cursor: the first one until the cursor moves; then it is found by key, because items come and go.
 */
export interface MenuCursor {
  readonly key?: string | undefined;
  readonly index: number;
}

export interface MenuAction {
  /** Number of items to move by; a single step wraps at both ends. */
  readonly by: number;
  readonly keys: readonly string[];
}

/** Index of the item under the cursor; if that is gone, its neighbour's; 0 if there are no items. */
export function menuIndex({ key, index }: MenuCursor, keys: readonly string[]): number {
  const at = key === undefined ? 0 : keys.indexOf(key);
  return at >= 0 ? at : Math.max(0, Math.min(index, keys.length - 1));
}

export function menuReducer(cursor: MenuCursor, { by, keys }: MenuAction): MenuCursor {
  if (keys.length === 0) return cursor;
  const to = menuIndex(cursor, keys) + by;
  const wraps = Math.abs(by) === 1;
  const index = wraps ? (to + keys.length) % keys.length : Math.max(0, Math.min(to, keys.length - 1));
  return { index, key: keys[index] };
}

/**
 * A menu's keys.
 *
 * @param page number of visible items
 * @param steps the commands that move by one item
 */
export function menuBindings(
  keys: readonly string[],
  page: number,
  dispatch: (action: MenuAction) => void,
  onChoose: () => void,
  steps: Readonly<Record<'up' | 'down', Command>> = menuCommands,
): readonly Binding[] {
  const enabled = keys.length > 0;
  const moving = (command: Command, by: number): Binding => ({ command, run: () => dispatch({ by, keys }), enabled });
  return [
    moving(steps.up, -1),
    moving(steps.down, 1),
    moving(menuCommands.pageUp, -page),
    moving(menuCommands.pageDown, page),
    moving(menuCommands.first, Number.NEGATIVE_INFINITY),
    moving(menuCommands.last, Number.POSITIVE_INFINITY),
    { command: menuCommands.choose, run: onChoose, enabled },
  ];
}

/** Draws the marker in the theme's glyphs and styles, like a list's cursor. */
function Indicator({ isSelected = false }: { isSelected?: boolean }) {
  const { glyphs, styles } = useTheme();
  // A label that is too long must leave room for the marker.
  return (
    <Box flexShrink={0}>
      <Text>{isSelected ? styles.selected(`${glyphs.marker} `) : '  '}</Text>
    </Box>
  );
}

function Item({ isSelected = false, label }: { isSelected?: boolean; label: string }) {
  const { styles } = useTheme();
  return <Text wrap="truncate">{isSelected ? styles.selected(label) : label}</Text>;
}

/**
 * The items around the cursor. SelectInput is uncontrolled and starts over when its items change, so it is remounted to
 * move its cursor.
 */
export function MenuItems({ items, at, height }: { items: readonly MenuItem[]; at: number; height: number }) {
  return (
    <SelectInput
      key={[at, ...items.map(({ key }) => key)].join('\n')}
      indicatorComponent={Indicator}
      itemComponent={Item}
      isFocused={false}
      initialIndex={at}
      limit={height}
      items={items.map(({ key, label }) => ({ key, label, value: key }))}
    />
  );
}

export function Menu({ items, limit: lines = items.length, onChoose, bindings = [] }: MenuProps) {
  const { styles } = useTheme();
  const isLong = items.length > lines;
  // If there are more items than lines, the last line is the position.
  const limit = isLong ? Math.max(1, lines - 1) : lines;
  const [cursor, dispatch] = useReducer(menuReducer, { index: 0 });
  const keys = items.map(({ key }) => key);
  const at = menuIndex(cursor, keys);
  return (
    <KeyScope bindings={[...menuBindings(keys, limit, dispatch, () => onChoose(at)), ...bindings]}>
      <MenuItems items={items} at={at} height={limit} />
      {isLong && lines > 1 ? <Text>{styles.muted(`  ${at + 1}/${items.length}`)}</Text> : null}
    </KeyScope>
  );
}
