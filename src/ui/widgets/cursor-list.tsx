/** A list with a cursor in a window; shows the lines around the cursor. Its owner handles the keys. */
import { Text } from 'ink';
import { useTheme } from './theme/theme.tsx';

/** The cursor's new position, within the list. */
export const moveCursor = (cursor: number, by: number, count: number): number =>
  Math.max(0, Math.min(count - 1, cursor + by));

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
