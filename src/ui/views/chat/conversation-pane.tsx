/** The conversations with one or two models. They scroll together, turn by turn, and follow streaming answers. */
import { Box } from 'ink';
import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import { largestOf } from '../../../base/many.ts';
import { type Conversation, turnText as wordsIn } from '../../../chat/conversation.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, fitCells, truncate } from '../../../text/width.ts';
import { useTime } from '../../app/clock.tsx';
import { formatRetryTime } from '../../app/frame-lines.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { Lines } from '../../widgets/lines.tsx';
import { ScrollView, scrollViewLines } from '../../widgets/scroll-view/scroll-view.tsx';
import { type ScrollPlaces, useScroll } from '../../widgets/scroll-view/use-scroll.ts';
import { lookOf, type StyleName, type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import {
  type ConversationLine,
  type ConversationLineKind,
  type ConversationRow,
  createConversationLayout,
  type TurnMarks,
} from './conversation-lines.ts';

/** A conversation on screen. */
interface ShownSide {
  readonly conversation: Conversation;
  readonly model: string;
  /** The model's name for its head. */
  readonly title: string;
  /** Whether its answer is the one to copy. */
  readonly isRead: boolean;
  /** Stays the same function unless a mark changes. */
  readonly marks: (index: number) => TurnMarks;
}

interface ConversationPaneProps {
  /** One, or two side by side. */
  readonly sides: readonly ShownSide[];
  readonly width: number;
  readonly height: number;
  readonly focused: boolean;
  /** Whether to follow the streaming answer, unless the reader has scrolled up. */
  readonly follows: boolean;
  /** Shown at the bottom, before the model's name. */
  readonly more: string;
  /** The index of the question to show; undefined for the end. */
  readonly selected: number | undefined;
  /** Shown before the first message. */
  readonly opening: (model: string, width: number) => ConversationLine[];
}

const kindStyles: Partial<Record<ConversationLineKind, StyleName>> = {
  user: 'user',
  assistant: 'assistant',
  answerer: 'warning',
  reasoning: 'muted',
  refusal: 'warning',
  note: 'muted',
  verdict: 'success',
  error: 'danger',
};

/** Why an answer has not begun, if its request is being held back. */
function useHeldBack(): string {
  const { gate } = useWorkbench();
  const state = useSyncExternalStore(gate.subscribe, gate.state);
  return useTime(
    useCallback(
      now => {
        if (state.kind !== 'limited') return '';
        const reason = state.reason === 'rate_limit' ? 'rate limited' : 'the service is failing';
        return `${reason}, ${formatRetryTime(state.until, now)}`;
      },
      [state],
    ),
  );
}

/** The column widths, not counting the lines between columns and the free cell at the end of each. */
function widthsOf(width: number, count: number): readonly number[] {
  if (count === 1) return [width - 1];
  const first = Math.floor((width - 1) / 2);
  return [first - 1, width - 2 - first];
}

const textOf = (cells: ConversationRow['cells'], widths: readonly number[], between: string): string =>
  widths.length === 1
    ? (cells[0]?.text ?? '')
    : widths.map((width, index) => fitCells(cells[index]?.text ?? '', width)).join(between);

function drawnCell(cell: ConversationLine | undefined, width: number, isLast: boolean, styles: Theme['styles']) {
  const { text = '', kind = 'text', styled } = cell ?? {};
  const cut = truncate(text, width);
  const drawn = styled !== undefined && cut === text ? styled : (lookOf(kindStyles, kind, styles)?.(cut) ?? cut);
  return isLast ? drawn : drawn + ' '.repeat(Math.max(0, width - displayWidth(cut)));
}

/** Scrolls the conversations, along with the streaming answer if the pane follows it. */
function useConversationScroll(
  { sides, follows, selected }: ConversationPaneProps,
  rows: readonly ConversationRow[],
  lines: number,
  textAt: (line: number) => string,
  height: number,
) {
  const isNew = rows.length === 0;
  const answering = sides.some(({ conversation }) => conversation.answering);
  // Leaves room ahead of the streaming answer, so that the screen scrolls now and then rather than on every line.
  const room = answering ? Math.max(1, height - 4) : 1;
  const lineCount = Math.ceil(lines / room) * room;
  const places = useMemo(
    (): ScrollPlaces => ({
      placeAt: line => rows[line]?.place ?? Math.floor(rows.at(-1)?.place ?? 0) + 1 + line,
      isFolded: () => false,
      searched: () => rows.map(({ cells, place }) => ({ text: cells.map(cell => cell?.text ?? '').join(' '), place })),
    }),
    [rows],
  );
  const scroll = useScroll({ lineCount, textAt, height, places });
  const { dispatch: scrollTo } = scroll;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows new lines, and stays at the end at any size
  useEffect(() => {
    if (isNew) scrollTo({ kind: 'to', line: 0 });
    else if (follows) scrollTo({ kind: 'bottom' });
  }, [isNew, follows, lineCount, height, scrollTo]);
  useEffect(() => {
    if (selected !== undefined) scrollTo({ kind: 'show', place: selected, before: 0 });
  }, [selected, scrollTo]);
  return scroll;
}

export function ConversationPane(props: ConversationPaneProps) {
  const { sides, width, height, focused, more, opening } = props;
  const theme = useTheme();
  const { styles, glyphs } = theme;
  const layout = useMemo(() => createConversationLayout(theme), [theme]);
  const heldBack = useHeldBack();
  const widths = widthsOf(width, sides.length);
  // A prompt's messages were not sent from here.
  const isNew = sides.every(({ conversation }) => conversation.turns.every(({ stats }) => stats === undefined));
  const conversations = sides.map(({ conversation }) => conversation);
  // Laid out again with every piece of a streaming answer, but not when another part of the screen changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the conversations themselves, not their array
  const rows = useMemo(
    () => layout(sides.map(({ conversation, marks }, index) => ({ conversation, marks, width: widths[index] ?? 0 }))),
    [layout, conversations[0], conversations[1], sides[0]?.marks, sides[1]?.marks, width, sides.length],
  );
  const opened = isNew ? sides.map(({ model }, index) => opening(model, widths[index] ?? 0)) : [];
  const openedRows = largestOf(opened, each => each.length);
  const lines: readonly Pick<ConversationRow, 'cells'>[] = isNew
    ? [...rows, ...Array.from({ length: openedRows }, (_, line) => ({ cells: opened.map(each => each[line]) }))]
    : rows;
  const between = ` ${glyphs.vertical} `;
  const textAt = (line: number): string => textOf(lines[line]?.cells ?? [], widths, between);
  const headLines = sides.length > 1 ? 1 : 0;
  const shownLines = height - scrollViewLines - headLines;
  const scroll = useConversationScroll(props, rows, lines.length, textAt, shownLines);
  const wordsOf = ({ conversation, title }: ShownSide): string => {
    if (!conversation.answering) return sanitiseLine(title);
    const last = conversation.turns.at(-1);
    const hasBegun = last === undefined || wordsIn(last) !== '';
    return `${heldBack === '' || hasBegun ? 'answering' : heldBack}: ${sanitiseLine(title)}`;
  };
  const heads = sides.map((side, index) => {
    const words = `${side.isRead ? glyphs.marker : ' '} ${wordsOf(side)}`;
    return styles.header(fitCells(words, widths[index] ?? 0, 'left', { position: 'middle' }));
  });
  const [first] = sides;
  return (
    <Box flexDirection="column">
      {headLines === 0 ? null : <Lines lines={[heads.join(styles.border(between))]} width={width} height={headLines} />}
      <ScrollView
        scroll={scroll}
        textAt={textAt}
        styleAt={line =>
          widths.length > 1 ? undefined : lookOf(kindStyles, lines[line]?.cells[0]?.kind ?? 'text', styles)
        }
        drawnAt={line =>
          widths
            .map((each, index) => drawnCell(lines[line]?.cells[index], each, index === widths.length - 1, styles))
            .join(styles.border(between))
        }
        width={width}
        focused={focused}
        words={[more, headLines === 0 && first ? wordsOf(first) : ''].filter(Boolean).join('  ')}
      />
    </Box>
  );
}
