/** The notices that were given since the start of the program, to be read again. */
import { useMemo } from 'react';
import { clock } from '../../text/time.ts';
import { wrap } from '../../text/wrap.ts';
import { globalCommands, overlayCommands } from '../keys/general.ts';
import { KeyScope } from '../keys/router.tsx';
import { ScrollView, scrollViewLines } from '../widgets/scroll-view/scroll-view.tsx';
import { useScroll } from '../widgets/scroll-view/use-scroll.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { windowRoom } from './layout.ts';
import { toastMarks, useShell } from './shell-context.tsx';
import type { Said } from './toasts.ts';

const widest = 100;
const indent = ' '.repeat(11);

export function ToastsWindow({ said, onClose }: { said: readonly Said[]; onClose: () => void }) {
  const { layout } = useShell();
  const { styles, glyphs } = useTheme();
  const room = windowRoom(layout);
  const width = Math.min(room.width, widest);
  const inner = width - windowMargin.columns;
  const lines = useMemo(
    () =>
      said.flatMap(({ kind, text, tail = '', at }) => {
        const [first = '', ...rest] = wrap(`${text}${tail}`, inner - indent.length);
        const begin = `${clock(at)} ${glyphs[toastMarks[kind]]} ${first}`;
        return [begin, ...rest.map(line => indent + line)].map(line => ({ kind, line }));
      }),
    [said, inner, glyphs],
  );
  const textAt = (line: number): string => lines[line]?.line ?? '';
  const height = Math.min(room.height, Math.max(1, lines.length) + scrollViewLines + windowMargin.lines);
  const scroll = useScroll({ lineCount: lines.length, textAt, height: height - windowMargin.lines - scrollViewLines });
  return (
    <KeyScope
      modal
      bindings={[
        { command: overlayCommands.close, run: onClose },
        { command: globalCommands.notices, run: onClose },
        { command: overlayCommands.quit, run: onClose },
      ]}
    >
      <Window title="Notices" width={width} height={height}>
        <ScrollView
          scroll={scroll}
          focused
          width={inner}
          textAt={textAt}
          styleAt={line => {
            const kind = lines[line]?.kind;
            return kind === 'danger' || kind === 'warning' ? styles[kind] : undefined;
          }}
          words={lines.length === 0 ? 'Nothing was said yet' : 'the newest first; / searches, esc closes'}
        />
      </Window>
    </KeyScope>
  );
}
