/** The help window: the keys that work here, then all others. */
import { useMemo, useState } from 'react';
import { globalCommands } from '../keys/general.ts';
import { useRouter } from '../keys/router.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { helpLines, helpSections, sectionLines } from './help-lines.ts';
import { ReadingWindow, useReadingWidth } from './reading-window.tsx';
import type { Registry } from './registry.ts';

export function HelpOverlay({ registry, onClose }: { registry: Registry; onClose: () => void }) {
  const router = useRouter();
  const { styles } = useTheme();
  // The commands available when help was opened, except the help window's own.
  const [here] = useState(() => router.offered().map(({ binding }) => binding.command));
  const width = useReadingWidth();
  const lines = useMemo(() => {
    const looks = { heading: styles.title, command: undefined, text: styles.muted } as const;
    return [
      ...helpLines(helpSections(registry, here, router.allows), command => router.keysOf(command), width),
      ...sectionLines(registry),
    ].map(({ kind, text }) => ({ text, style: looks[kind] }));
  }, [here, registry, router, width, styles]);
  return <ReadingWindow title="Help" lines={lines} isTall opener={globalCommands.help} onClose={onClose} />;
}
