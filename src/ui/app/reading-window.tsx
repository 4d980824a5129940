/** A window for text that may not fit, with scrolling and search. */
import type { Command } from '../../present/command.ts';
import { overlayCommands, scrollCommands } from '../keys/general.ts';
import { useKeyOf } from '../keys/router.tsx';
import { ScrollView, scrollViewLines } from '../widgets/scroll-view/scroll-view.tsx';
import { useScroll } from '../widgets/scroll-view/use-scroll.ts';
import type { Style } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { useWindowRoom } from './shell-context.tsx';

/** The greatest width at which keys, titles and ids are easy to read together. */
const maxReadingWidth = 100;

/** The width of a line in the window, in cells. */
export const useReadingWidth = (): number => useWindowRoom(maxReadingWidth).inner;

interface ReadingLine {
  readonly text: string;
  readonly style?: Style | undefined;
}

interface ReadingWindowProps {
  readonly title: string;
  readonly lines: readonly ReadingLine[];
  /** Whether the window takes the full height, even for few lines. */
  readonly isTall?: boolean;
  /** Text below the lines, before the keys. */
  readonly words?: string;
  /** The command that opened the window; its key also closes it. */
  readonly opener: Command;
  readonly onClose: () => void;
}

export function ReadingWindow({ title, lines, isTall = false, words, opener, onClose }: ReadingWindowProps) {
  const room = useWindowRoom(maxReadingWidth);
  const keyOf = useKeyOf();
  const keys = `${keyOf(scrollCommands.search)} searches, ${keyOf(overlayCommands.close)} closes`;
  const around = scrollViewLines + windowMargin.lines;
  const height = isTall ? room.height : Math.min(room.height, Math.max(1, lines.length) + around);
  const textAt = (line: number): string => lines[line]?.text ?? '';
  const scroll = useScroll({ lineCount: lines.length, textAt, height: height - around });
  return (
    <Window
      title={title}
      width={room.width}
      height={height}
      bindings={[
        { command: overlayCommands.close, run: onClose },
        { command: opener, run: onClose },
        { command: overlayCommands.quit, run: onClose },
      ]}
    >
      <ScrollView
        scroll={scroll}
        focused
        width={room.inner}
        textAt={textAt}
        styleAt={line => lines[line]?.style}
        words={words === undefined ? keys : lines.length === 0 ? words : `${words}; ${keys}`}
      />
    </Window>
  );
}
