/** The top border: what this is, where it is connected to, and how fresh what is shown is. */
import { Text } from 'ink';
import { useCallback } from 'react';
import type { Freshness } from '../../queries/freshness.ts';
import { useWorkbench } from '../../queries/workbench.tsx';
import { sanitiseLine } from '../../text/sanitise.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { useTime } from './clock.tsx';
import { freshnessMark, freshnessWords, shortFreshnessWords, titleLine } from './frame-lines.ts';
import { useRunningCount } from './notices.tsx';

export interface FrameTitleProps {
  readonly columns: number;
  readonly freshness: Freshness | undefined;
}

export function FrameTitle({ columns, freshness }: FrameTitleProps) {
  const { profile, readOnly } = useWorkbench();
  const theme = useTheme();
  const running = useRunningCount();
  const long = useFreshness(freshness, freshnessWords);
  const short = useFreshness(freshness, shortFreshnessWords);
  const mark = useFreshness(
    freshness,
    useCallback((current, now) => freshnessMark(current, now, theme), [theme]),
  );
  const counted = running > 0 ? `${running} running` : '';
  const words = [long, short].map(fresh => [fresh, counted].filter(Boolean).join(` ${theme.glyphs.bullet} `));
  const title = `benchtop ${theme.glyphs.horizontal}${theme.glyphs.horizontal} ${sanitiseLine(profile)}`;
  return (
    <Text wrap="truncate">{titleLine(columns, readOnly ? `${title} (read-only)` : title, words, mark, theme)}</Text>
  );
}

/** What `words` makes of the freshness; drawn again only when that changes. */
function useFreshness(freshness: Freshness | undefined, words: (freshness: Freshness, now: number) => string): string {
  return useTime(useCallback(now => (freshness ? words(freshness, now) : ''), [freshness, words]));
}
