/** The reader's keys: jumps and folds. */
import { type RefObject, useMemo, useRef } from 'react';
import { lastAt } from '../../../base/binary-search.ts';
import { type Block, blockIndexAt, type FoldKind, type Transcript } from '../../../present/transcript.ts';
import { isClosed } from '../../../present/transcript-lines.ts';
import type { Binding } from '../../keys/router.tsx';
import type { Scroll } from '../../widgets/scroll-view/use-scroll.ts';
import { readerCommands } from '../commands.ts';
import { type FoundImage, useOpenImage } from './open-image.tsx';
import type { DisplayAction, ReaderDisplay } from './reader-display.ts';

/** Maximum characters to lay out as Markdown at once; more would take seconds. */
const maxMarkdownLength = 3_000_000;
/** Lines shown before an error: its step's title, and some context. */
const beforeError = 3;

interface ReaderState {
  readonly transcript: Transcript;
  /** The text, once it has been read. */
  readonly newest: RefObject<Transcript>;
  readonly isLoading: boolean;
  readonly scroll: Scroll;
  readonly shown: ReaderDisplay;
  readonly show: (action: DisplayAction) => void;
}

type Stops = 'steps' | 'messages' | 'errors' | 'rewards';

export function useReaderBindings(reader: ReaderState): readonly Binding[] {
  const { transcript, scroll, shown, show } = reader;
  const { blocks } = transcript;
  const openImage = useOpenImage();
  const kinds = useMemo(() => new Set(blocks.map(({ fold }) => fold)), [blocks]);
  const markdownLength = useMemo(
    () => blocks.reduce((sum, { markdown, text }) => (markdown ? sum + text.length : sum), 0),
    [blocks],
  );
  const { place } = scroll.state;
  const opened = useRef({ place, index: -1 });
  return [
    ...jumps(reader),
    ...folds(reader, kinds),
    {
      command: readerCommands.image,
      enabled: transcript.images.length > 0,
      run: () => {
        const { current: last } = opened;
        const next = last.index >= 0 && last.place === place ? last.index + 1 : indexAt(transcript, place);
        const index = next % transcript.images.length;
        opened.current = { place, index };
        const found = imageOf(transcript, index);
        return found && openImage(found);
      },
    },
    {
      command: readerCommands.markdown,
      why: shown.markdown || markdownLength <= maxMarkdownLength ? undefined : 'It is too long to lay out at once',
      run: () => show({ kind: 'markdown' }),
    },
    { command: readerCommands.hidden, run: () => show({ kind: 'hidden' }) },
  ];
}

/** The keys that jump to steps, messages, errors and rewards. They wait until the trajectory has been read. */
function jumps({ transcript, newest, isLoading, scroll }: ReaderState): readonly Binding[] {
  const jump = (
    command: Binding['command'],
    stops: Stops,
    { by = 1, before = 0, wraps = false, least = 1 } = {},
  ): Binding => ({
    command,
    enabled: isLoading || transcript[stops].length >= least,
    run: () => scroll.act(() => ({ kind: 'jump', places: newest.current[stops], by, before, wraps })),
  });
  return [
    jump(readerCommands.nextStep, 'steps', { least: 2 }),
    jump(readerCommands.previousStep, 'steps', { by: -1, least: 2 }),
    jump(readerCommands.nextMessage, 'messages'),
    jump(readerCommands.previousMessage, 'messages', { by: -1 }),
    jump(readerCommands.nextError, 'errors', { before: beforeError, wraps: true }),
    jump(readerCommands.nextReward, 'rewards', { wraps: true }),
    {
      command: readerCommands.lastReward,
      enabled: isLoading || transcript.rewards.length > 0,
      run: () => scroll.act(() => ({ kind: 'show', place: newest.current.rewards.at(-1) ?? 0, before: 0 })),
    },
  ];
}

/** The keys that fold and unfold. @param kinds the kinds of folds in the text */
function folds(
  { transcript, isLoading, scroll, shown, show }: ReaderState,
  kinds: ReadonlySet<Block['fold']>,
): readonly Binding[] {
  const { steps, messages } = transcript;
  const toggle = (command: Binding['command'], fold: FoldKind): Binding => ({
    command,
    enabled: isLoading || kinds.has(fold),
    run: () => show({ kind: 'toggle', fold }),
  });
  const fold = (command: Binding['command'], heads: readonly number[]): Binding => {
    const head = headAt(transcript, heads, scroll.state.place);
    return {
      command,
      enabled: head !== undefined,
      run: () => {
        if (!head) return;
        const { place, kind } = head;
        const wasClosed = isClosed(shown.open, head);
        if (kind === 'system' && wasClosed === shown.open.system) show({ kind: 'system', place });
        else show({ kind: wasClosed ? 'open' : 'close', place });
      },
    };
  };
  return [
    toggle(readerCommands.reasoning, 'reasoning'),
    toggle(readerCommands.tools, 'tools'),
    fold(readerCommands.foldMessage, messages),
    fold(readerCommands.foldStep, steps),
    { command: readerCommands.outline, enabled: isLoading || steps.length > 1, run: () => show({ kind: 'outline' }) },
  ];
}

/** The image at a position, otherwise the next one, otherwise the last. */
function indexAt({ images }: Transcript, place: number): number {
  const index = images.findIndex(each => each.place >= place);
  return index === -1 ? images.length - 1 : index;
}

function imageOf({ images, messages }: Transcript, index: number): FoundImage | undefined {
  const { [index]: image } = images;
  if (!image) return undefined;
  const message = 1 + lastAt(messages.length, each => messages[each] ?? 0, image.place);
  return { content: image.content, message, number: index + 1, of: images.length };
}

/** The heading of the message or step at a position; at a step's title, the heading of its first message. */
function headAt(transcript: Transcript, heads: readonly number[], place: number): Block | undefined {
  const blockOf = (position: number): Block | undefined => transcript.blocks[blockIndexAt(transcript, position)];
  const current = blockOf(place);
  const index = lastAt(heads.length, each => heads[each] ?? 0, place);
  const before = heads[index];
  const head = before === undefined ? undefined : blockOf(before);
  if (head && head.step === current?.step) return head;
  const next = heads[index + 1];
  return next === undefined ? head : blockOf(next);
}
