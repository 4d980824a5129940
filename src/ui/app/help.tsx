/** The help window: the keys that work here, then all others. */
import { useMemo, useState } from 'react';
import { globalCommands, overlayCommands } from '../keys/general.ts';
import { KeyScope, useRouter } from '../keys/router.tsx';
import { ScrollView, scrollViewLines } from '../widgets/scroll-view/scroll-view.tsx';
import { useScroll } from '../widgets/scroll-view/use-scroll.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { helpLines, helpSections, sectionLines } from './help-lines.ts';
import { windowRoom } from './layout.ts';
import type { Registry } from './registry.ts';
import { useShell } from './shell-context.tsx';

/** A width at which keys, titles and ids are easily read together. */
const widest = 100;

export function HelpOverlay({ registry, onClose }: { registry: Registry; onClose: () => void }) {
  const { layout } = useShell();
  const router = useRouter();
  const { styles } = useTheme();
  // The commands available when help was opened; the help window's own keys are of no interest.
  const [here] = useState(() => router.offered().map(({ binding }) => binding.command));
  const room = windowRoom(layout);
  const width = Math.min(room.width, widest);
  const inner = width - windowMargin.columns;
  const lines = useMemo(
    () => [
      ...helpLines(helpSections(registry, here, router.allows), command => router.keysOf(command), inner),
      ...sectionLines(registry),
    ],
    [here, registry, router, inner],
  );
  const { height } = room;
  const scroll = useScroll({
    lineCount: lines.length,
    textAt: line => lines[line]?.text ?? '',
    height: height - windowMargin.lines - scrollViewLines,
  });
  return (
    <KeyScope
      modal
      bindings={[
        { command: overlayCommands.close, run: onClose },
        { command: globalCommands.help, run: onClose },
        { command: overlayCommands.quit, run: onClose },
      ]}
    >
      <Window title="Help" width={width} height={height}>
        <ScrollView
          scroll={scroll}
          focused
          width={inner}
          textAt={line => lines[line]?.text ?? ''}
          styleAt={line => {
            const kind = lines[line]?.kind;
            if (kind === 'heading') return styles.title;
            return kind === 'text' ? styles.muted : undefined;
          }}
          words="/ searches, esc closes"
        />
      </Window>
    </KeyScope>
  );
}
