/** The top border: what this is, where it is connected to, and how fresh what is shown is. */
import { Text } from 'ink';
import { useCallback, useSyncExternalStore } from 'react';
import { useWorkbench } from '../../queries/workbench.tsx';
import { sanitiseLine } from '../../text/sanitise.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { useTime } from './clock.tsx';
import { freshnessMark, freshnessWords, titleLine } from './frame-lines.ts';
import type { FreshnessStore } from './freshness-store.ts';
import { useRunningCount } from './notices.tsx';

export interface FrameTitleProps {
  readonly columns: number;
  readonly freshness: FreshnessStore;
}

export function FrameTitle({ columns, freshness }: FrameTitleProps) {
  const { profile, readOnly } = useWorkbench();
  const theme = useTheme();
  const running = useRunningCount();
  useSyncExternalStore(freshness.subscribe, freshness.told);
  const fresh = useTime(
    useCallback(now => (freshness.current ? freshnessWords(freshness.current, now) : ''), [freshness]),
  );
  const mark = useTime(
    useCallback(now => (freshness.current ? freshnessMark(freshness.current, now, theme) : ''), [freshness, theme]),
  );
  const words = [fresh, running > 0 ? `${running} running` : ''].filter(Boolean).join(` ${theme.glyphs.bullet} `);
  const title = `benchtop ${theme.glyphs.horizontal}${theme.glyphs.horizontal} ${sanitiseLine(profile)}`;
  return (
    <Text wrap="truncate">{titleLine(columns, readOnly ? `${title} (read-only)` : title, words, mark, theme)}</Text>
  );
}
