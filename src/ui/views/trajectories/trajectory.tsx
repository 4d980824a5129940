/** The trajectory reader: steps at the left, messages at the right, facts in the inspector. */
import { Box, Text } from 'ink';
import { useEffect, useLayoutEffect, useMemo, useReducer } from 'react';
import { factText } from '../../../present/fact-text.ts';
import { type FoldKind, type LineKind, type Transcript, transcriptOf } from '../../../present/transcript.ts';
import { layOut, type OpenFolds, searchedLines, transcriptText } from '../../../present/transcript-lines.ts';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import { useLive } from '../../../queries/use-live.ts';
import { trajectories, trajectoryFacts } from '../../../resources/trajectories.ts';
import { exportFileName } from '../../../text/export.ts';
import { reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { fitCells } from '../../../text/width.ts';
import type { ViewProps } from '../../app/registry.ts';
import { Separator, usePane, View } from '../../app/view.tsx';
import { type Binding, useKeyOf } from '../../keys/router.tsx';
import { useMemory, useSiblings } from '../../navigation/memory.tsx';
import { factLines } from '../../widgets/facts.ts';
import { lineAt, type ScrollState } from '../../widgets/scroll-view/scroll-state.ts';
import { ScrollView, scrollViewLines } from '../../widgets/scroll-view/scroll-view.tsx';
import { useScroll } from '../../widgets/scroll-view/use-scroll.ts';
import { lookOf, type Style, type StyleName, useTheme } from '../../widgets/theme/theme.tsx';
import { readerCommands } from '../commands.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { Lines, Waiting } from '../shared/lines.tsx';
import { useActions } from '../shared/use-actions.tsx';
import { useRecordBindings } from '../shared/use-record-bindings.tsx';

/** Width of the column of steps, and the pane width from which it is shown. */
const stepsWidth = 18;
const stepsFrom = 70;

/** Display settings, restored on the way back. */
interface Shown {
  readonly open: OpenFolds;
  readonly hidden: boolean;
}

type ShownAction =
  | { readonly kind: 'toggle'; readonly fold: FoldKind }
  | { readonly kind: 'open'; readonly place: number }
  | { readonly kind: 'hidden' };

const initiallyShown: Shown = { open: { kinds: new Set(), places: new Set() }, hidden: false };

function shownReducer(shown: Shown, action: ShownAction): Shown {
  const { kinds, places } = shown.open;
  switch (action.kind) {
    case 'toggle': {
      const toggled = kinds.has(action.fold)
        ? [...kinds].filter(kind => kind !== action.fold)
        : [...kinds, action.fold];
      // Folds opened for a match are closed again with the others.
      return { ...shown, open: { kinds: new Set(toggled), places: new Set() } };
    }
    case 'open':
      return { ...shown, open: { kinds, places: new Set([...places, action.place]) } };
    case 'hidden':
      return { ...shown, hidden: !shown.hidden };
  }
}

const looks: Partial<Record<LineKind, StyleName>> = {
  step: 'title',
  system: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  role: 'strong',
  reasoning: 'muted',
  refusal: 'warning',
  call: 'code',
  meta: 'muted',
  fold: 'muted',
  error: 'danger',
};

const empty: Transcript = { blocks: [], steps: [], errors: [] };
/** Lines shown before an error: the title of its step, and what led to it. */
const beforeError = 3;
/** Width of the text for a pager or an editor, which wrap it again if narrower. */
const outsideWidth = 100;

export function TrajectoryView({ place }: ViewProps<'record'>) {
  const { id } = place;
  const actions = useActions(trajectories);
  const pane = usePane('main');
  const inspector = usePane('inspector');
  const theme = useTheme();
  const { styles, glyphs } = theme;
  const live = useLive(trajectoryQuery(id), pane.attention);
  const { data } = live;
  const [shownBefore, rememberShown] = useMemory<Shown>('shown');
  const [shown, show] = useReducer(shownReducer, shownBefore ?? initiallyShown);
  useEffect(() => rememberShown(shown), [rememberShown, shown]);
  const withSteps = pane.width >= stepsFrom;
  const width = withSteps ? pane.width - stepsWidth - 1 : pane.width;
  const transcript = useMemo(
    () => (data ? transcriptOf(data, { showHidden: shown.hidden, details: true }) : empty),
    [data, shown.hidden],
  );
  const canFold = useMemo(() => {
    const has = (kind: FoldKind): boolean => transcript.blocks.some(({ fold }) => fold === kind);
    return { reasoning: has('reasoning'), tools: has('tools') };
  }, [transcript]);
  const keyOf = useKeyOf();
  const layout = useMemo(() => {
    const opens = (fold: FoldKind): string => `${keyOf(readerCommands[fold])} opens`;
    return layOut(transcript, width - 1, { bar: glyphs.vertical, opens });
  }, [transcript, width, glyphs, keyOf]);
  const lines = useMemo(() => layout(shown.open), [layout, shown.open]);
  const { foldAt } = lines;
  const places = useMemo(
    () => ({
      placeAt: (line: number) => lines.at(line)?.place ?? 0,
      isFolded: (place: number) => foldAt(place) !== undefined,
      searched: () => searchedLines(transcript),
    }),
    [lines, foldAt, transcript],
  );
  const [remembered, remember] = useMemory<ScrollState>('scroll');
  const textAt = (line: number): string => lines.at(line)?.text ?? '';
  const scroll = useScroll({
    lineCount: lines.length,
    textAt,
    height: pane.height - scrollViewLines,
    initial: remembered,
    places,
  });
  useEffect(() => remember(scroll.state), [remember, scroll.state]);
  const { match } = scroll.state;
  const isTyping = scroll.typing !== undefined;
  useLayoutEffect(() => {
    // While the user types, the first match is not unfolded: each letter would open another fold.
    const fold = match === undefined || isTyping ? undefined : foldAt(match);
    if (fold !== undefined) show({ kind: 'open', place: fold });
  }, [match, isTyping, foldAt]);

  const step = lines.at(lineAt(scroll.state.place, scroll.surroundings))?.step ?? -1;
  const { steps: stepPlaces, errors } = transcript;
  const goToStep = (by: number) => () => scroll.dispatch({ kind: 'jump', places: stepPlaces, by, before: 0 });
  const bindings: Binding[] = [
    { command: readerCommands.nextStep, enabled: stepPlaces.length > 1, run: goToStep(1) },
    { command: readerCommands.previousStep, enabled: stepPlaces.length > 1, run: goToStep(-1) },
    {
      command: readerCommands.nextError,
      enabled: errors.length > 0,
      run: () => scroll.dispatch({ kind: 'jump', places: errors, by: 1, before: beforeError, wraps: true }),
    },
    {
      command: readerCommands.reasoning,
      enabled: canFold.reasoning,
      run: () => show({ kind: 'toggle', fold: 'reasoning' }),
    },
    { command: readerCommands.tools, enabled: canFold.tools, run: () => show({ kind: 'toggle', fold: 'tools' }) },
    { command: readerCommands.hidden, run: () => show({ kind: 'hidden' }) },
    ...useRecordBindings({
      record: data && { id, json: data },
      document:
        data &&
        (() => ({
          name: exportFileName('trajectory', id, 'text', new Date()),
          text: `${factText(trajectoryFacts(data), undefined)}\n${transcriptText(data, outsideWidth)}`,
        })),
      title: id,
      refresh: live.refresh,
      actions: actions(data ? [data] : []),
      pin: { kind: 'trajectory', id, label: place.label ?? id },
      siblings: 'trajectories',
      siblingId: id,
    }),
  ];

  const steps = (data?.steps ?? []).map((each, index) => {
    const mark = index === step ? styles.selected(glyphs.marker) : ' ';
    const flag = each.has_error ? styles.danger(glyphs.cross) : ' ';
    const words = fitCells(`${each.step_index ?? index}`, 5);
    const score = fitCells(reward(each.reward), stepsWidth - 9, 'right');
    return `${mark} ${index === step ? styles.selected(words) : words}${score} ${flag}`;
  });
  const firstStep = Math.max(0, Math.min(step - Math.floor(pane.height / 2), steps.length - pane.height + 1));
  const position = useSiblings().position('trajectories', id);
  const words = [
    position,
    sanitiseLine(data?.task_id ?? place.label ?? ''),
    step < 0 || steps.length < 2 ? stepCount(steps.length) : `${step + 1} of ${stepCount(steps.length)}`,
  ];

  return (
    <View
      freshness={live.freshness}
      bindings={bindings}
      main={
        data ? (
          <Box>
            {withSteps ? (
              <>
                <Box flexDirection="column" width={stepsWidth} height={pane.height} overflow="hidden">
                  <Text>{styles.header(fitCells('  STEP    REWARD', stepsWidth))}</Text>
                  <Lines lines={steps.slice(firstStep)} width={stepsWidth} height={pane.height - 1} />
                </Box>
                <Separator height={pane.height} />
              </>
            ) : null}
            <ScrollView
              scroll={scroll}
              textAt={textAt}
              styleAt={line => lookOf(looks, lines.at(line)?.kind ?? 'text', styles)}
              width={width}
              focused={pane.focused}
              words={words.filter(Boolean).join('  ')}
            />
          </Box>
        ) : live.error ? (
          <ErrorNote error={live.error} width={pane.width} height={pane.height} />
        ) : (
          <Box flexDirection="column">
            <Lines lines={[` ${words.slice(0, 2).filter(Boolean).join('  ')}`]} width={pane.width} height={1} />
            <Waiting />
          </Box>
        )
      }
      inspector={
        <Box paddingLeft={1}>
          <Lines
            lines={[
              ...factLines(data ? trajectoryFacts(data) : [], inspector.width - 2, theme),
              ...(data && live.error ? ['', ...errorNoteLines(live.error.message, styles.danger)] : []),
            ]}
            width={inspector.width - 2}
            height={inspector.height}
          />
        </Box>
      }
    />
  );
}

function stepCount(count: number): string {
  return `${count} step${count === 1 ? '' : 's'}`;
}

function errorNoteLines(message: string, style: Style): string[] {
  return [style(sanitiseLine(message))];
}
