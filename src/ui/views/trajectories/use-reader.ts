/** The text of a trajectory in the reader: folded, wrapped, scrolled and searched. */
import { useEffect, useLayoutEffect, useMemo, useReducer } from 'react';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { type FoldKind, type HiddenText, type Transcript, transcriptOf } from '../../../present/transcript.ts';
import { layOut, type OpenFolds, searchedLines, type TranscriptLines } from '../../../present/transcript-lines.ts';
import { counted } from '../../../text/numbers.ts';
import type { Size } from '../../app/layout.ts';
import { type Binding, useKeyOf } from '../../keys/router.tsx';
import { useMemory } from '../../navigation/memory.tsx';
import { markdownLines } from '../../widgets/markdown/markdown.ts';
import { lineAt, type ScrollState } from '../../widgets/scroll-view/scroll-state.ts';
import { type Scroll, useScroll } from '../../widgets/scroll-view/use-scroll.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { readerCommands } from '../commands.ts';

/** Display settings, restored on the way back. */
interface Shown {
  readonly open: OpenFolds;
  readonly hidden: boolean;
  readonly markdown: boolean;
}

type ShownAction =
  | { readonly kind: 'toggle'; readonly fold: FoldKind }
  | { readonly kind: 'open'; readonly place: number }
  | { readonly kind: 'hidden' | 'markdown' };

const initiallyShown: Shown = { open: { kinds: new Set(), places: new Set() }, hidden: false, markdown: false };

function shownReducer(shown: Shown, action: ShownAction): Shown {
  const { kinds, places } = shown.open;
  switch (action.kind) {
    case 'toggle': {
      const toggled = kinds.has(action.fold)
        ? [...kinds].filter(kind => kind !== action.fold)
        : [...kinds, action.fold];
      // Folds that were opened for a match are closed again with the others.
      return { ...shown, open: { kinds: new Set(toggled), places: new Set() } };
    }
    case 'open':
      return { ...shown, open: { kinds, places: new Set([...places, action.place]) } };
    case 'hidden':
    case 'markdown':
      return { ...shown, [action.kind]: !shown[action.kind] };
  }
}

const empty: Transcript = {
  blocks: [],
  steps: [],
  errors: [],
  hidden: { sequences: 0, characters: 0, overwritten: 0 },
};
/** Characters of the texts that are laid out as Markdown at once; more would take seconds. */
const mostMarkdown = 3_000_000;
/** Lines shown before an error: the title of its step, and some context. */
const beforeError = 3;

export interface Reader {
  readonly lines: TranscriptLines;
  readonly textAt: (line: number) => string;
  readonly scroll: Scroll;
  /** Index of the step at the top; -1 above the first. */
  readonly step: number;
  /** What is not shown of the texts, and the key that shows it. */
  readonly hiddenWords: string;
  readonly bindings: readonly Binding[];
}

/** @param size the room for the text */
export function useReader(trajectory: Trajectory | undefined, size: Size): Reader {
  const [shownBefore, rememberShown] = useMemory<Shown>('shown');
  const [shown, show] = useReducer(shownReducer, shownBefore ?? initiallyShown);
  useEffect(() => rememberShown(shown), [rememberShown, shown]);
  const transcript = useMemo(
    () => (trajectory ? transcriptOf(trajectory, { showHidden: shown.hidden, details: true }) : empty),
    [trajectory, shown.hidden],
  );
  const lines = useLines(transcript, size.width, shown);
  const textAt = (line: number): string => lines.at(line)?.text ?? '';
  const scroll = useTextScroll(transcript, lines, textAt, size.height);
  const { match } = scroll.state;
  const isTyping = scroll.typing !== undefined;
  const { foldAt } = lines;
  useLayoutEffect(() => {
    // While the user types, the first match is not unfolded: each letter would open another fold.
    const fold = match === undefined || isTyping ? undefined : foldAt(match);
    if (fold !== undefined) show({ kind: 'open', place: fold });
  }, [match, isTyping, foldAt]);
  const step = lines.at(lineAt(scroll.state.place, scroll.surroundings))?.step ?? -1;
  const keyOf = useKeyOf();
  const hiddenWords = shown.hidden ? '' : wordsOfHidden(transcript.hidden, keyOf(readerCommands.hidden));
  return { lines, textAt, scroll, step, hiddenWords, bindings: useReaderBindings(transcript, scroll, shown, show) };
}

/** `3 hidden characters, 12 lines written over (v shows)`. Colours of a tool's output alone are not worth a word. */
function wordsOfHidden({ characters, overwritten }: HiddenText, key: string): string {
  const parts = [
    characters === 0 ? '' : counted(characters, 'hidden character'),
    overwritten === 0 ? '' : `${counted(overwritten, 'line')} written over`,
  ].filter(Boolean);
  return parts.length === 0 ? '' : `${parts.join(', ')} (${key} shows)`;
}

function useLines(transcript: Transcript, width: number, { open, markdown }: Shown): TranscriptLines {
  const theme = useTheme();
  const keyOf = useKeyOf();
  const layout = useMemo(() => {
    const opens = (fold: FoldKind): string => `${keyOf(readerCommands[fold])} opens`;
    const drawn = (text: string, cells: number): string[] => markdownLines(text, cells, theme);
    return layOut(transcript, width - 1, {
      bar: theme.glyphs.vertical,
      opens,
      ...(markdown && { markdown: drawn }),
    });
  }, [transcript, width, theme, keyOf, markdown]);
  return useMemo(() => layout(open), [layout, open]);
}

/** The position in the text, restored on the way back. */
function useTextScroll(
  transcript: Transcript,
  lines: TranscriptLines,
  textAt: (line: number) => string,
  height: number,
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
  const scroll = useScroll({ lineCount: lines.length, textAt, height, initial, places });
  useEffect(() => remember(scroll.state), [remember, scroll.state]);
  return scroll;
}

function useReaderBindings(
  transcript: Transcript,
  { dispatch }: Scroll,
  shown: Shown,
  show: (action: ShownAction) => void,
): readonly Binding[] {
  const { steps, errors, blocks } = transcript;
  const folds = useMemo(() => new Set(blocks.map(({ fold }) => fold)), [blocks]);
  const markdownLength = useMemo(
    () => blocks.reduce((sum, { markdown, text }) => (markdown ? sum + text.length : sum), 0),
    [blocks],
  );
  const goToStep = (by: number) => () => dispatch({ kind: 'jump', places: steps, by, before: 0 });
  const toggle = (command: Binding['command'], fold: FoldKind): Binding => ({
    command,
    enabled: folds.has(fold),
    run: () => show({ kind: 'toggle', fold }),
  });
  return [
    { command: readerCommands.nextStep, enabled: steps.length > 1, run: goToStep(1) },
    { command: readerCommands.previousStep, enabled: steps.length > 1, run: goToStep(-1) },
    {
      command: readerCommands.nextError,
      enabled: errors.length > 0,
      run: () => dispatch({ kind: 'jump', places: errors, by: 1, before: beforeError, wraps: true }),
    },
    toggle(readerCommands.reasoning, 'reasoning'),
    toggle(readerCommands.tools, 'tools'),
    {
      command: readerCommands.markdown,
      why: shown.markdown || markdownLength <= mostMarkdown ? undefined : 'It is too long to be laid out at once',
      run: () => show({ kind: 'markdown' }),
    },
    { command: readerCommands.hidden, run: () => show({ kind: 'hidden' }) },
  ];
}
