/** The trajectory reader: steps on the left, messages on the right, facts in the inspector. */
import { Box, Text } from 'ink';
import { memo } from 'react';
import { perObject } from '../../../base/memo.ts';
import type { Trajectory, TrajectoryStep } from '../../../contract/trajectories.ts';
import type { Fact } from '../../../present/fact.ts';
import { factText } from '../../../present/fact-text.ts';
import { describeNote, messageNotes, noteFacts } from '../../../present/notes.ts';
import { tokensOf } from '../../../present/task-groups.ts';
import { hasStepRewards } from '../../../present/transcript.ts';
import { transcriptTextParts } from '../../../present/transcript-lines.ts';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import type { Place } from '../../../resources/place.ts';
import { trajectories, trajectoryFacts } from '../../../resources/trajectories.ts';
import type { Note } from '../../../store/notes.ts';
import { exportFileName } from '../../../text/export.ts';
import { count, counted, reward } from '../../../text/numbers.ts';
import { clean, sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, fitCells, truncate } from '../../../text/width.ts';
import { ErrorNote } from '../../app/error-note.tsx';
import { Loading } from '../../app/loading.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { Separator, usePane, View } from '../../app/view.tsx';
import { type Live, useLive } from '../../data/use-live.ts';
import { useSetting } from '../../data/workbench.tsx';
import { type Binding, KeyScope } from '../../keys/router.tsx';
import { useSiblings } from '../../navigation/memory.tsx';
import { Lines } from '../../widgets/lines.tsx';
import { ScrollView, scrollViewLines } from '../../widgets/scroll-view/scroll-view.tsx';
import { type Style, useTheme } from '../../widgets/theme/theme.tsx';
import { usePromptBinding } from '../chat/use-prompt-binding.ts';
import { readerCommands, sideCommands } from '../commands.ts';
import type { Document } from '../record/open-external.ts';
import { useActions } from '../record/use-actions.tsx';
import { useRecordBindings } from '../record/use-record-bindings.tsx';
import { linesAround, useReferences } from '../record/use-references.ts';
import { pairOfTwins, twinPlace } from '../tasks/rollout-bindings.ts';
import { useShownFacts } from '../tasks/use-rollout-list.ts';
import { trajectoryNoted } from '../triage/noted.ts';
import { useNotes, useTriage } from '../triage/use-triage.tsx';
import { drawnLine, styleOf } from './line-style.ts';
import { useNeighbours } from './use-neighbours.ts';
import { type Reader, useReader } from './use-reader.ts';

/** Minimum pane widths at which the step column is shown, and at which it shows tokens. */
const stepsFrom = 70;
const tokensFrom = 110;
/** Cells for a step's first words, which are shown if more than `outsideWidth` cells remain for the text. */
const firstWordsWidth = 32;

/** Width of the text for a pager or an editor, which wraps it again if it is narrower. */
const outsideWidth = 100;

export function TrajectoryView({ place }: ViewProps<'record'>) {
  const { id } = place;
  const pane = usePane('main');
  const live = useLive(trajectoryQuery(id), pane.attention);
  const { data } = live;
  const { column, toggle } = useStepColumn(data, pane.width);
  const width = column ? pane.width - column.width - 1 : pane.width;
  const { graded } = place;
  // Minus the lines for the head, and for the grade from a regrading.
  const height = pane.height - (graded === undefined ? 1 : 2);
  const notes = useNotes().get(id);
  const reader = useReader(data, { width, height: height - scrollViewLines }, place.found, notes);
  const siblings = useSiblings();
  const listedId = siblings.listed('trajectories', place.listed, id, place.twin?.id) ?? id;
  useNeighbours(id, reader.textLength, { listedId, twin: place.twin?.id });
  const twin = useTwinBinding(place);
  const promptBinding = usePromptBinding();
  const triage = useTriage();
  const record = useRecordKeys(place, live, listedId, notes);
  const task = data?.task_id ?? place.label ?? data?.trajectory_id ?? '';
  const name = [task, ...describeTwin(place)].map(each => sanitiseLine(each)).join(' ');
  const head = { name, position: siblings.position('trajectories', listedId), width: pane.width, graded };
  return (
    <View
      freshness={live.freshness}
      bindings={[
        ...twin,
        ...triage(data ? [trajectoryNoted(data)] : [], reader.messages),
        ...reader.bindings,
        toggle,
        promptBinding(data),
        ...record,
      ]}
      main={
        data ? (
          <>
            <HeadLine {...head} trajectory={data} />
            <Transcript steps={data.steps ?? []} {...{ column, reader, notes, width, height }} />
          </>
        ) : live.error ? (
          <ErrorNote error={live.error} width={pane.width} height={pane.height} />
        ) : (
          <KeyScope active={pane.focused} {...reader.scroll.handlers}>
            <Box flexDirection="column">
              <HeadLine {...head} trajectory={undefined} />
              <Loading />
            </Box>
          </KeyScope>
        )
      }
      inspector={<TrajectoryFacts trajectory={data} error={live.error} notes={notes} />}
    />
  );
}

/** The column of steps, unless it is hidden or does not fit, and the key that hides it. */
function useStepColumn(data: Trajectory | undefined, paneWidth: number) {
  const [isHidden, hide] = useSetting('hidden list of steps', false);
  // A single step needs no list.
  const isOne = data !== undefined && (data.steps?.length ?? 0) < 2;
  const enabled = !isOne && paneWidth >= stepsFrom;
  const column = enabled && !isHidden ? columnOf(data?.steps ?? [], paneWidth) : undefined;
  return { column, toggle: { command: readerCommands.steps, enabled, run: () => hide(!isHidden) } };
}

/** The keys that all records share. @param siblingId its id in the list that it was opened from */
function useRecordKeys(
  { id, label = id }: Place<'record'>,
  { data, refresh }: Live<Trajectory>,
  siblingId: string,
  notes: readonly Note[] | undefined,
) {
  const shown = useShownFacts();
  const actions = useActions(trajectories);
  return useRecordBindings({
    record: data && { id, json: data },
    document: data && (() => documentOf(id, data, [...shown(trajectoryFacts(data)), ...noteFacts(notes)], notes)),
    subjects: [id],
    refresh,
    actions: actions(data ? [data] : []),
    pin: { kind: 'trajectory', id, label },
    siblings: 'trajectories',
    siblingId,
  });
}

interface TranscriptProps {
  readonly steps: NonNullable<Trajectory['steps']>;
  readonly reader: Reader;
  readonly notes: Parameters<typeof describeNote>[0];
  /** Undefined if the step column is hidden. */
  readonly column: StepColumns | undefined;
  readonly width: number;
  readonly height: number;
}

function Transcript({ steps, reader, notes, column, width, height }: TranscriptProps) {
  const words = [describeStep(reader.step, steps), ...describeNote(notes)].join('  ·  ');
  return (
    <Box>
      {column ? (
        <StepColumn {...{ steps, height, ...column }} current={reader.step} firstWordsOf={reader.firstWordsOf} />
      ) : null}
      <ReaderPane {...reader} {...{ width, words }} />
    </Box>
  );
}

/** Names the trajectory's run, and notes a missing twin. Only one run, because the middle of a long line is cut. */
function describeTwin({ twin }: Place<'record'>): readonly string[] {
  if (!twin) return [];
  return [`in ${twin.of} (${twin.isBase ? 'new' : 'base'})${twin.id === undefined ? ', unpaired' : ''}`];
}

/** The key that goes to the same task in the other run, and back. */
function useTwinBinding(place: Place<'record'>): readonly Binding[] {
  const { navigate, open } = useShell();
  const { twin } = place;
  if (!twin) return [];
  const why = twin.id === undefined ? clean`${twin.name} has no rollout of this task to open` : undefined;
  const pair = pairOfTwins(place);
  const other = twinPlace(place);
  return [
    {
      command: readerCommands.twin,
      rank: 'main',
      why,
      run: () => other && navigate({ kind: 'replace', place: other }),
    },
    { command: sideCommands.pair, rank: 'second', why, run: () => pair && open(pair) },
  ];
}

/** The facts and the whole text, for a pager, an editor or a file. */
const documentOf = (
  id: string,
  trajectory: Trajectory,
  facts: readonly Fact[],
  notes: readonly Note[] | undefined,
): Document => ({
  name: exportFileName('trajectory', id, 'text', new Date()),
  parts: textParts(trajectory, facts, notes),
});

function* textParts(
  trajectory: Trajectory,
  facts: readonly Fact[],
  notes: readonly Note[] | undefined,
): Generator<string, void> {
  yield `${factText(facts, undefined)}\n`;
  yield* transcriptTextParts(trajectory, outsideWidth, messageNotes(notes));
}

interface HeadProps {
  readonly name: string;
  readonly position: string;
  readonly width: number;
  readonly trajectory: Trajectory | undefined;
  readonly graded: string | undefined;
}

/** Minimum cells for the task beside its outcome. */
const minNameWidth = 8;

/**
 * `reward 0.600 · completed · MAX_STEPS · 3/64` after the task, which is cut to make room; below it, the result of a
 * regrading.
 */
function HeadLine({ name, position, width, trajectory, graded }: HeadProps) {
  const theme = useTheme();
  const { styles, glyphs } = theme;
  const room = Math.max(0, width - 2);
  const { short = [], long = [] } = trajectory ? outcomeParts(trajectory) : {};
  const words = (parts: readonly string[], gap: string): string =>
    [...parts, position].filter(Boolean).join(`${gap}${glyphs.bullet}${gap}`);
  const fits = (each: string, least: number): boolean =>
    displayWidth(each) + Math.min(displayWidth(name), least) + 2 <= room;
  const whole = words([...short, ...long], '  ');
  // The position and the reward matter most.
  const tight = [short, short.slice(0, 2), short.slice(0, 1), []].flatMap(parts => [
    words(parts, '  '),
    words(parts, ' '),
  ]);
  const end = fits(whole, Math.floor(room / 3)) ? whole : (tight.find(each => fits(each, minNameWidth)) ?? position);
  const task = truncate(name, Math.max(0, room - displayWidth(end) - 2), { position: 'middle' });
  const gap = ' '.repeat(Math.max(0, room - displayWidth(task) - displayWidth(end)));
  const status = trajectory?.error || trajectory?.status === 'failed' ? styles.danger : styles.muted;
  return (
    <>
      <Text wrap="truncate">{` ${styles.title(task)}${gap}${status(end)}`}</Text>
      {graded === undefined ? null : <Text>{` ${styles.warning(truncate(sanitiseLine(graded), room))}`}</Text>}
    </>
  );
}

/**
 * The reward and how it ended, most important first: why it ended matters more than `completed`. Parts that may be long
 * are separate.
 */
function outcomeParts({ reward: value, status, rollout, error }: Trajectory) {
  const own = rollout?.status === status ? undefined : rollout?.status;
  const reason = rollout?.termination_reason;
  const ends = status === 'completed' ? [reason, status] : [status, reason];
  const clean = (all: readonly (string | null | undefined)[]): string[] =>
    all.flatMap(each => (each ? [sanitiseLine(each)] : []));
  return {
    short: [`reward ${reward(value)}`, ...clean(ends)],
    long: clean(status === 'completed' ? [own, error] : [error, own]),
  };
}

interface ReaderPaneProps extends Pick<Reader, 'scroll' | 'textAt' | 'lines' | 'hiddenNote'> {
  readonly width: number;
  readonly words: string;
}

function ReaderPane({ scroll, textAt, lines, width, words, hiddenNote }: ReaderPaneProps) {
  const { focused } = usePane('main');
  const { styles } = useTheme();
  const styleAt = (line: number): Style | undefined => styleOf(lines.at(line), styles);
  const drawnAt = (line: number): string => drawnLine(lines.at(line), width, styles);
  return (
    <ScrollView
      scroll={scroll}
      {...{ textAt, styleAt, drawnAt, width, focused }}
      words={[words, hiddenNote].filter(Boolean).join('  ·  ')}
    />
  );
}

interface StepColumnProps extends StepColumns, Pick<Reader, 'firstWordsOf'> {
  readonly steps: NonNullable<Trajectory['steps']>;
  readonly current: number;
  readonly height: number;
}

/**
 * The steps with their rewards and errors and, if there is room, their answers' tokens and their first words. The
 * current step is in the middle, and a rule is on the right.
 */
const StepColumn = memo(({ steps, current, firstWordsOf, height, ...column }: StepColumnProps) => {
  const { styles, glyphs } = useTheme();
  const { hasRewards, hasTokens, hasFirstWords, width } = column;
  const lineOf = (step: TrajectoryStep, index: number): string => {
    const isCurrent = index === current;
    const mark = isCurrent ? styles.selected(glyphs.marker) : ' ';
    const flag = step.has_error ? styles.danger(glyphs.cross) : ' ';
    const number = fitCells(`${step.step_index ?? index}`, 5);
    const score = hasRewards ? fitCells(reward(step.reward), 9, 'right') : '';
    const tokens = hasTokens ? fitCells(count(tokensOf({ steps: [step] })), 8, 'right') : '';
    const words = hasFirstWords ? styles.muted(fitCells(`  ${firstWordsOf(index)}`, firstWordsWidth)) : '';
    return `${mark} ${isCurrent ? styles.selected(number) : number}${score}${tokens} ${flag}${words}`;
  };
  const first = Math.max(0, Math.min(current - Math.floor(height / 2), steps.length - height + 1));
  const lines = steps.slice(first, first + height - 1).map((step, index) => lineOf(step, first + index));
  const titles = `  STEP ${hasRewards ? '   REWARD' : ''}${hasTokens ? ' TOK OUT' : ''}${hasFirstWords ? '    FIRST WORDS' : ''}`;
  return (
    <>
      <Box flexDirection="column" width={width} height={height} overflow="hidden">
        <Text>{styles.header(fitCells(titles, width))}</Text>
        <Lines lines={lines} width={width} height={height - 1} />
      </Box>
      <Separator height={height} />
    </>
  );
});
StepColumn.displayName = 'StepColumn';

/** Whether any step has a reward, or tokens: an empty column would be useless. */
const numbersIn = perObject((steps: readonly TrajectoryStep[]) => ({
  hasRewards: hasStepRewards(steps),
  hasTokens: steps.some(step => tokensOf({ steps: [step] }) !== undefined),
}));

interface StepColumns {
  readonly hasRewards: boolean;
  readonly hasTokens: boolean;
  readonly hasFirstWords: boolean;
  readonly width: number;
}

/** The step column's contents in a pane this wide. */
function columnOf(steps: readonly TrajectoryStep[], paneWidth: number): StepColumns {
  const numbers = numbersIn(steps);
  const hasTokens = numbers.hasTokens && paneWidth >= tokensFrom;
  const width = 9 + (numbers.hasRewards ? 9 : 0) + (hasTokens ? 8 : 0);
  const hasFirstWords = paneWidth - width - firstWordsWidth > outsideWidth;
  return { ...numbers, hasTokens, hasFirstWords, width: width + (hasFirstWords ? firstWordsWidth : 0) };
}

interface TrajectoryFactsProps {
  readonly trajectory: Trajectory | undefined;
  readonly error: Error | undefined;
  readonly notes: readonly Note[] | undefined;
}

/** The facts, and the error if the facts are not current. */
function TrajectoryFacts({ trajectory, error, notes }: TrajectoryFactsProps) {
  const { width, height, focused } = usePane('inspector');
  const shown = useShownFacts();
  const theme = useTheme();
  const parts = [{ facts: trajectory ? [...noteFacts(notes), ...shown(trajectoryFacts(trajectory))] : [] }];
  const references = useReferences(parts, { pane: 'inspector', width: width - 2, height, focused });
  const note = trajectory && error ? ['', theme.styles.danger(sanitiseLine(error.message))] : [];
  return (
    <KeyScope active={focused} bindings={references.bindings}>
      <Box paddingLeft={1}>
        <Lines
          lines={linesAround([...references.lines, ...note], height, references.at, references.from)}
          width={width - 2}
          height={height}
        />
      </Box>
    </KeyScope>
  );
}

/** `step 2, 3 of 12 steps`: a step's number may differ from its position. */
function describeStep(index: number, steps: NonNullable<Trajectory['steps']>): string {
  const all = counted(steps.length, 'step');
  return index < 0 || steps.length < 2 ? all : `step ${steps[index]?.step_index ?? index}, ${index + 1} of ${all}`;
}
