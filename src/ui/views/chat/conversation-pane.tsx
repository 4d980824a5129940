/** The conversation with one model. It scrolls along with the answer. */
import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Conversation } from '../../../chat/conversation.ts';
import { age } from '../../../text/time.ts';
import { useTime } from '../../app/clock.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import { ScrollView, scrollViewLines } from '../../widgets/scroll-view/scroll-view.tsx';
import { useScroll } from '../../widgets/scroll-view/use-scroll.ts';
import { lookOf, type Style, type StyleName, useTheme } from '../../widgets/theme/theme.tsx';
import { type ConversationLine, type ConversationLineKind, createConversationLayout } from './conversation-lines.ts';

export interface ConversationPaneProps {
  readonly conversation: Conversation;
  readonly width: number;
  /** Lines, including the one with the model's name. */
  readonly height: number;
  readonly focused: boolean;
  /** Follows the streaming answer unless the reader has scrolled up. */
  readonly follows: boolean;
  readonly words: string;
  /** Shown before the first message. */
  readonly opening: (width: number) => ConversationLine[];
}

const looks: Partial<Record<ConversationLineKind, StyleName>> = {
  user: 'user',
  assistant: 'assistant',
  reasoning: 'muted',
  note: 'muted',
  error: 'danger',
};

/** Why an answer has not begun if its request is held back. */
function useHeldBack(): string {
  const { gate } = useWorkbench();
  const state = useSyncExternalStore(gate.subscribe, gate.state);
  return useTime(
    useCallback(
      now => {
        if (state.kind !== 'limited') return '';
        const reason = state.reason === 'rate_limit' ? 'rate limited' : 'the service is failing';
        return `${reason}, retry in ${age(Math.max(0, state.until - now))}`;
      },
      [state],
    ),
  );
}

export function ConversationPane({
  conversation,
  width,
  height,
  focused,
  follows,
  words,
  opening,
}: ConversationPaneProps) {
  const { turns, answering } = conversation;
  const theme = useTheme();
  const { styles } = theme;
  const layout = useMemo(() => createConversationLayout(theme), [theme]);
  const isNew = turns.length === 0;
  const heldBack = useHeldBack();
  const hasBegun = turns.at(-1)?.content !== '';
  const doing = heldBack === '' || hasBegun ? 'answering' : heldBack;
  const lines = isNew ? opening(width - 1) : layout(turns, width - 1, answering);
  const textAt = (line: number): string => lines[line]?.text ?? '';
  const styleAt = (line: number): Style | undefined => lookOf(looks, lines[line]?.kind ?? 'text', styles);
  const shownLines = height - scrollViewLines;
  // Leaves room ahead of the streaming answer, so that the screen scrolls now and then instead of with every line.
  const room = answering ? Math.max(1, shownLines - 4) : 1;
  const lineCount = Math.ceil(lines.length / room) * room;
  const scroll = useScroll({ lineCount, textAt, height: shownLines });
  const { dispatch: scrollTo } = scroll;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows new lines
  useEffect(() => {
    if (isNew) scrollTo({ kind: 'to', line: 0 });
    else if (follows) scrollTo({ kind: 'bottom' });
  }, [isNew, follows, lineCount, scrollTo]);
  return (
    <ScrollView
      scroll={scroll}
      textAt={textAt}
      styleAt={styleAt}
      drawnAt={line => lines[line]?.styled ?? styleAt(line)?.(textAt(line)) ?? textAt(line)}
      width={width}
      focused={focused}
      words={answering ? `${doing}: ${words}` : words}
    />
  );
}
