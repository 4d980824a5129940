/** A window above the screen, with a border and a title. It covers the screen behind it and gets all keys. */
import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import { sanitiseLine } from '../../text/sanitise.ts';
import { displayWidth, truncate } from '../../text/width.ts';
import { KeyScope, type ScopeHandlers } from '../keys/router.tsx';
import { useTheme } from './theme/theme.tsx';

interface WindowProps extends ScopeHandlers {
  readonly title: string;
  /** Total size, including the border. */
  readonly width: number;
  readonly height: number;
  readonly danger?: boolean;
  /** Whether it ignores the other keys in the read that opened it. */
  readonly guarded?: boolean;
  readonly children: ReactNode;
}

/** Columns and lines that the border and its margin take. */
export const windowMargin = { columns: 4, lines: 2 } as const;

/** The cells for a window's title. */
export const titleRoom = (width: number): number => width - 6;

export function Window({ title, width, height, danger = false, guarded = false, children, ...handlers }: WindowProps) {
  const { styles, glyphs } = useTheme();
  const border = danger ? styles.danger : styles.accent;
  const shown = truncate(sanitiseLine(title), titleRoom(width));
  const fill = glyphs.horizontal.repeat(Math.max(0, width - 5 - displayWidth(shown)));
  const top = `${border(`${glyphs.topLeft}${glyphs.horizontal}`)} ${styles.title(shown)} ${border(`${fill}${glyphs.topRight}`)}`;
  const middle = `${border(glyphs.vertical)}${' '.repeat(Math.max(0, width - 2))}${border(glyphs.vertical)}`;
  const bottom = border(`${glyphs.bottomLeft}${glyphs.horizontal.repeat(Math.max(0, width - 2))}${glyphs.bottomRight}`);
  const lines = [top, ...Array.from({ length: Math.max(0, height - 2) }, () => middle), bottom];
  return (
    <KeyScope modal guarded={guarded} {...handlers}>
      <Box width={width} height={height} flexShrink={0}>
        <Box position="absolute">
          <Text>{lines.join('\n')}</Text>
        </Box>
        <Box
          flexDirection="column"
          marginLeft={2}
          marginTop={1}
          width={width - windowMargin.columns}
          height={height - windowMargin.lines}
          overflow="hidden"
        >
          {children}
        </Box>
      </Box>
    </KeyScope>
  );
}
