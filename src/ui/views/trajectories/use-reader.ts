/** A trajectory's text in the reader: folded, wrapped, scrolled and searched. */
import { type RefObject, useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'react';
import { lastAt } from '../../../base/binary-search.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { messageNotes } from '../../../present/notes.ts';
import { headings } from '../../../present/searched-text.ts';
import {
  blockIndexAt,
  describeHidden,
  type FoldKind,
  type Transcript,
  transcriptOf,
} from '../../../present/transcript.ts';
import { firstWords, layOut, searchedLines, type TranscriptLines } from '../../../present/transcript-lines.ts';
import type { Place } from '../../../resources/place.ts';
import type { Note } from '../../../store/notes.ts';
import type { Size } from '../../app/layout.ts';
import { useShell } from '../../app/shell-context.tsx';
import { type Binding, useKeyOf } from '../../keys/router.tsx';
import { useMemory, useSharedMemory } from '../../navigation/memory.tsx';
import { markdownLines } from '../../widgets/markdown/markdown.ts';
import { lineAt, type ScrollAction, type ScrollState } from '../../widgets/scroll-view/scroll-state.ts';
import { type Scroll, type ScrollOptions, useScroll } from '../../widgets/scroll-view/use-scroll.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { readerCommands } from '../commands.ts';
import { showNumberWindow } from '../number-window.tsx';
import { useReaderBindings } from './reader-bindings.ts';
import { displayReducer, type Folds, initialDisplay, type ReaderDisplay } from './reader-display.ts';

const empty: Transcript = {
  blocks: [],
  steps: [],
  messages: [],
  rewards: [],
  images: [],
  errors: [],
  hidden: { sequences: 0, characters: 0, overwritten: 0 },
};

export interface ShownMessage {
  /** Counts from 1 over the whole trajectory. */
  readonly number: number;
  readonly role: string;
  /** Its words to quote in a note: the line of the search match, or the first one on screen. */
  readonly quote: () => string;
}

export interface Reader {
  readonly lines: TranscriptLines;
  readonly textAt: (line: number) => string;
  /** How many characters the whole text has; undefined until it has been read. */
  readonly textLength: number | undefined;
  readonly scroll: Scroll;
  /** The messages on screen. */
  readonly messages: readonly ShownMessage[];
  /** Index of the step at the top; -1 above the first. */
  readonly step: number;
  /** A step's first words. */
  readonly firstWordsOf: (step: number) => string;
  /** How many hidden characters the text has, in words; empty if there are none. */
  readonly hiddenNote: string;
  readonly bindings: readonly Binding[];
}

/**
 * @param size the room for the text
 * @param found the search hit to show first
 * @param notes shown at the messages that they are about
 */
export function useReader(
  trajectory: Trajectory | undefined,
  size: Size,
  found?: Place<'record'>['found'],
  notes?: readonly Note[],
): Reader {
  const [shown, show] = useShown();
  const transcript = useMemo(
    () => (trajectory ? transcriptOf(trajectory, { showHidden: shown.hidden, details: true }) : empty),
    [trajectory, shown.hidden],
  );
  const dropped = describeHidden(transcript.hidden);
  const newest = useRef(transcript);
  newest.current = transcript;
  const lines = useLines(transcript, size.width, shown, notes);
  const textAt = (line: number): string => lines.at(line)?.text ?? '';
  const shell = useShell();
  const goTo = (step: number): ScrollAction => ({ kind: 'show', before: 0, place: placeOfStep(newest, step) });
  const scroll = useTextScroll(transcript, lines, textAt, {
    found,
    height: size.height,
    ready: trajectory !== undefined,
    goTo,
  });
  const goToStep = (): void =>
    showNumberWindow(shell, 'step', step => scroll.act(() => goTo(step)), trajectory && transcript.steps.length);
  const { match } = scroll.state;
  const isTyping = scroll.typing !== undefined;
  const { foldAt } = lines;
  useLayoutEffect(() => {
    // While the user types, the first match stays folded; otherwise each letter would open another fold.
    const fold = match === undefined || isTyping ? undefined : foldAt(match);
    if (fold !== undefined) show({ kind: 'open', place: fold });
  }, [match, isTyping, foldAt, show]);
  const step = lines.at(lineAt(scroll.state.place, scroll.surroundings))?.step ?? -1;
  const keyOf = useKeyOf();
  return {
    ...{ lines, textAt, scroll, step },
    messages: messagesOnScreen(transcript, lines, scroll, size.height),
    textLength: trajectory && (transcript.blocks.at(-1)?.place ?? 0),
    firstWordsOf: useFirstWords(transcript),
    hiddenNote: dropped === '' || shown.hidden ? '' : `${dropped} (${keyOf(readerCommands.hidden)} shows)`,
    bindings: [
      ...useReaderBindings({ transcript, newest, isLoading: trajectory === undefined, scroll, shown, show }),
      // Bound even for a single step, because otherwise the digits that follow would flag the trajectory.
      { command: readerCommands.goToStep, run: goToStep },
    ],
  };
}

function messagesOnScreen(
  transcript: Transcript,
  lines: TranscriptLines,
  { state: { match }, offset, surroundings }: Scroll,
  height: number,
): ShownMessage[] {
  const { messages, blocks } = transcript;
  const below = Math.min(offset + height, lines.length);
  const quoteBetween = (from: number, to: number): string => {
    const isOf = (line: number): boolean => {
      const { kind, text = '', place = -1 } = lines.at(line) ?? {};
      return kind !== undefined && !headings.has(kind) && place >= from && place < to && text.trim() !== '';
    };
    const onScreen = Array.from({ length: below - offset }, (_, index) => offset + index);
    const candidates = match === undefined ? onScreen : [lineAt(match, surroundings), ...onScreen];
    return lines.at(candidates.find(isOf) ?? -1)?.text.trim() ?? '';
  };
  const indexAt = (line: number): number =>
    lastAt(messages.length, index => messages[index] ?? 0, lines.at(line)?.place ?? 0);
  const from = Math.max(0, indexAt(offset));
  return messages.slice(from, indexAt(below - 1) + 1).map((place, index) => ({
    number: from + index + 1,
    // A message's head begins with its role.
    role: blocks[blockIndexAt(transcript, place)]?.text.split('  ·  ')[0] ?? '',
    quote: () => quoteBetween(place, messages[from + index + 1] ?? Number.POSITIVE_INFINITY),
  }));
}

/** Where the step with this number starts, or the last step before it. */
function placeOfStep({ current }: RefObject<Transcript>, number: number): number {
  const { steps, blocks } = current;
  const index = steps.findLastIndex(place => (blocks[blockIndexAt(current, place)]?.number ?? 0) <= number);
  return steps[Math.max(0, index)] ?? 0;
}

/** Returns a function that finds a step's first words when they are shown. */
function useFirstWords(transcript: Transcript): (step: number) => string {
  return useMemo(() => {
    const known = new Map<number, string>();
    return step => {
      const place = transcript.steps[step] ?? 0;
      const words = known.get(step) ?? firstWords(transcript, blockIndexAt(transcript, place));
      known.set(step, words);
      return words;
    };
  }, [transcript]);
}

/**
 * How the text is shown. The kinds of folds and the settings carry over to the next trajectory; individual folds are
 * restored when the user comes back.
 */
function useShown() {
  const [last, remember] = useSharedMemory<ReaderDisplay>('reader');
  const [folds, rememberFolds] = useMemory<Folds>('folds');
  const [shown, show] = useReducer(displayReducer, undefined, (): ReaderDisplay => initialDisplay(last, folds));
  useEffect(() => {
    remember(shown);
    rememberFolds(shown.open);
  }, [remember, rememberFolds, shown]);
  return [shown, show] as const;
}

function useLines(
  transcript: Transcript,
  width: number,
  { open, markdown }: ReaderDisplay,
  notes: readonly Note[] | undefined,
): TranscriptLines {
  const theme = useTheme();
  const keyOf = useKeyOf();
  const layout = useMemo(() => {
    const opens = (fold: FoldKind): string => `${keyOf(readerCommands[fold])} opens`;
    const drawn = (text: string, cells: number): string[] => markdownLines(text, cells, theme);
    return layOut(transcript, width - 1, {
      bar: theme.glyphs.vertical,
      closed: theme.glyphs.folded,
      opens,
      notes: messageNotes(notes),
      ...(markdown && { markdown: drawn }),
    });
  }, [transcript, width, theme, keyOf, markdown, notes]);
  return useMemo(() => layout(open), [layout, open]);
}

/** Lines above a search hit. */
const linesAbove = 4;

interface TextScrollOptions extends Required<Pick<ScrollOptions, 'goTo'>> {
  readonly found: Place<'record'>['found'];
  readonly height: number;
  readonly ready: boolean;
}

/** The position in the text, restored when the user comes back. */
function useTextScroll(
  transcript: Transcript,
  lines: TranscriptLines,
  textAt: (line: number) => string,
  { found, ...options }: TextScrollOptions,
): Scroll {
  const places = useMemo(
    () => ({
      placeAt: (line: number) => lines.at(line)?.place ?? 0,
      isFolded: (place: number) => lines.foldAt(place) !== undefined,
      searched: () => searchedLines(transcript),
    }),
    [lines, transcript],
  );
  const [initial, remember] = useMemory<ScrollState>('scroll');
  // The reader does not show a match in hidden text; the line below says how to.
  const { query = '', place = 0 } = found ?? {};
  const first = found && { place, row: linesAbove, query, match: query === '' ? undefined : place };
  const scroll = useScroll({ lineCount: lines.length, textAt, initial: initial ?? first, places, ...options });
  useEffect(() => remember(scroll.state), [remember, scroll.state]);
  return scroll;
}
