/** The top border: what this is, where it is connected to, and how fresh what is shown is. */
import { Text } from 'ink';
import { useCallback } from 'react';
import type { Freshness } from '../../queries/freshness.ts';
import { useWorkbench } from '../../queries/workbench.tsx';
import { sanitiseLine } from '../../text/sanitise.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { useTime } from './clock.tsx';
import { freshnessMark, freshnessWords, titleLine } from './frame-lines.ts';

export interface FrameTitleProps {
  readonly columns: number;
  readonly freshness: Freshness | undefined;
  /** Watched things that run. */
  readonly running: number;
}

export function FrameTitle({ columns, freshness, running }: FrameTitleProps) {
  const { profile, readOnly } = useWorkbench();
  const theme = useTheme();
  const fresh = useTime(useCallback(now => (freshness ? freshnessWords(freshness, now) : ''), [freshness]));
  const words = [fresh, running > 0 ? `${running} running` : ''].filter(Boolean).join(` ${theme.glyphs.bullet} `);
  const mark = useTime(useCallback(now => (freshness ? freshnessMark(freshness, now, theme) : ''), [freshness, theme]));
  const title = `benchtop ${theme.glyphs.horizontal}${theme.glyphs.horizontal} ${sanitiseLine(profile)}`;
  return (
    <Text wrap="truncate">{titleLine(columns, readOnly ? `${title} (read-only)` : title, words, mark, theme)}</Text>
  );
}
