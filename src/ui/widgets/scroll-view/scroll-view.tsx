/** The visible lines of a text, and a line with the position and the search. */
import { Box, Text } from 'ink';
import { parseFilter } from '../../../text/filter.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, fitCells, truncate } from '../../../text/width.ts';
import { useMouseRegion } from '../../keys/mouse-regions.tsx';
import { KeyScope } from '../../keys/router.tsx';
import { highlight } from '../highlight.ts';
import { Line } from '../lines.tsx';
import { lineView, withCaret } from '../text-field/field-view.ts';
import { type Style, type Theme, useTheme } from '../theme/theme.tsx';
import { formatMatch, formatPosition } from './scroll-state.ts';
import type { Scroll } from './use-scroll.ts';

interface ScrollViewProps {
  readonly scroll: Scroll;
  /** A line's plain text, safe for a terminal. */
  readonly textAt: (line: number) => string;
  /** A styled line, no wider than the view; a search shows the plain text instead. */
  readonly drawnAt?: (line: number) => string;
  /** A line's style; plain by default. */
  readonly styleAt?: (line: number) => Style | undefined;
  readonly width: number;
  readonly focused: boolean;
  /** Text to the left of the position. */
  readonly words?: string;
}

/** Lines that the view adds to the text. */
export const scrollViewLines = 1;

export function ScrollView({ scroll, textAt, drawnAt, styleAt, width, focused, words = '' }: ScrollViewProps) {
  const theme = useTheme();
  const { offset, surroundings, state } = scroll;
  const region = useMouseRegion({ onWheel: by => scroll.dispatch({ kind: 'by', lines: by }) });
  const count = Math.max(0, Math.min(surroundings.height, surroundings.lineCount - offset));
  const filter = state.query === '' ? undefined : parseFilter(state.query);
  const lines = Array.from({ length: count }, (_, index) => {
    const line = offset + index;
    if (drawnAt && state.query === '') return drawnAt(line);
    return highlight(fitCells(textAt(line), width), filter?.ok ? filter : undefined, theme, styleAt?.(line));
  });
  return (
    <KeyScope active={focused} {...scroll.handlers}>
      <Box flexDirection="column" width={width} flexShrink={0}>
        <Box ref={region} flexDirection="column" width={width} height={surroundings.height} overflow="hidden">
          {/* Keyed by line: while the text scrolls, lines that stay on screen keep their layout. */}
          {lines.map((line, index) => (
            <Line key={offset + index} text={line} />
          ))}
        </Box>
        <PositionLine scroll={scroll} width={width} words={words} theme={theme} />
      </Box>
    </KeyScope>
  );
}

interface PositionLineProps {
  readonly scroll: Scroll;
  readonly width: number;
  readonly words: string;
  readonly theme: Theme;
}

function PositionLine({ scroll, width, words, theme: { styles } }: PositionLineProps) {
  const { state, typing, surroundings } = scroll;
  const found = state.query === '' ? undefined : surroundings.find(state.query);
  const missing = found?.count === 0;
  const place = missing ? '' : formatPosition(state, surroundings);
  const most = Math.max(8, Math.floor(width / 2));
  const position = [found && truncate(formatMatch(state, found), most), place].filter(Boolean).join('  ');
  const room = Math.max(1, width - displayWidth(position) - 3);
  const end = ` ${missing ? styles.warning(position) : styles.muted(position)} `;
  if (typing) {
    const view = lineView(typing, Math.max(1, room - 1));
    return <Text wrap="truncate">{` ${styles.key('/')}${withCaret(view, 0, styles.caret)}${end}`}</Text>;
  }
  const left = fitCells(sanitiseLine(state.query === '' ? words : `/${state.query}`), room);
  return <Text wrap="truncate">{` ${styles.muted(left)}${end}`}</Text>;
}
