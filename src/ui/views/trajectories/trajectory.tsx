/** The trajectory reader: steps at the left, messages at the right, facts in the inspector. */
import { Box, Text } from 'ink';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { factText } from '../../../present/fact-text.ts';
import type { LineKind } from '../../../present/transcript.ts';
import { type Paint, type TranscriptLine, transcriptText } from '../../../present/transcript-lines.ts';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import { trajectories, trajectoryFacts } from '../../../resources/trajectories.ts';
import { exportFileName } from '../../../text/export.ts';
import { reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { fitCells, truncate } from '../../../text/width.ts';
import { ErrorNote } from '../../app/error-note.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { Separator, usePane, View } from '../../app/view.tsx';
import { Waiting } from '../../app/waiting.tsx';
import { useLive } from '../../data/use-live.ts';
import { useSiblings } from '../../navigation/memory.tsx';
import { factLines } from '../../widgets/facts.ts';
import { Lines } from '../../widgets/lines.tsx';
import { ScrollView, scrollViewLines } from '../../widgets/scroll-view/scroll-view.tsx';
import { jsonLine } from '../../widgets/syntax.ts';
import { lookOf, type Style, type StyleName, type Styles, useTheme } from '../../widgets/theme/theme.tsx';
import type { Document } from '../record/open-external.ts';
import { useActions } from '../record/use-actions.tsx';
import { useRecordBindings } from '../record/use-record-bindings.tsx';
import { type Reader, useReader } from './use-reader.ts';

/** Width of the column of steps, and the pane width from which it is shown. */
const stepsWidth = 18;
const stepsFrom = 70;

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

const paints: Partial<Record<Paint, StyleName>> = { added: 'success', removed: 'danger', hunk: 'accent' };

/** Width of the text for a pager or an editor, which wraps it again if it is narrower. */
const outsideWidth = 100;

export function TrajectoryView({ place }: ViewProps<'record'>) {
  const { id } = place;
  const actions = useActions(trajectories);
  const pane = usePane('main');
  const live = useLive(trajectoryQuery(id), pane.attention);
  const { data } = live;
  const withSteps = pane.width >= stepsFrom;
  const width = withSteps ? pane.width - stepsWidth - 1 : pane.width;
  const reader = useReader(data, { width, height: pane.height - scrollViewLines });
  const record = useRecordBindings({
    record: data && { id, json: data },
    document: data && (() => documentOf(id, data)),
    title: id,
    refresh: live.refresh,
    actions: actions(data ? [data] : []),
    pin: { kind: 'trajectory', id, label: place.label ?? id },
    siblings: 'trajectories',
    siblingId: id,
  });
  const name = [useSiblings().position('trajectories', id), sanitiseLine(data?.task_id ?? place.label ?? '')];
  return (
    <View
      freshness={live.freshness}
      bindings={[...reader.bindings, ...record]}
      main={
        data ? (
          <Box>
            {withSteps ? <StepColumn steps={data.steps ?? []} current={reader.step} height={pane.height} /> : null}
            <ReaderPane
              {...reader}
              width={width}
              words={[...name, stepWords(reader.step, data.steps?.length ?? 0)].filter(Boolean).join('  ')}
            />
          </Box>
        ) : live.error ? (
          <ErrorNote error={live.error} width={pane.width} height={pane.height} />
        ) : (
          <Box flexDirection="column">
            <Lines lines={[` ${name.filter(Boolean).join('  ')}`]} width={pane.width} height={1} />
            <Waiting />
          </Box>
        )
      }
      inspector={<TrajectoryFacts trajectory={data} error={live.error} />}
    />
  );
}

/** The facts and the whole text, for a pager, an editor or a file. */
const documentOf = (id: string, trajectory: Trajectory): Document => ({
  name: exportFileName('trajectory', id, 'text', new Date()),
  text: `${factText(trajectoryFacts(trajectory), undefined)}\n${transcriptText(trajectory, outsideWidth)}`,
});

interface ReaderPaneProps extends Pick<Reader, 'scroll' | 'textAt' | 'lines' | 'hiddenWords'> {
  readonly width: number;
  readonly words: string;
}

function styleOf(line: TranscriptLine | undefined, styles: Styles): Style | undefined {
  const { kind = 'text', paint } = line ?? {};
  return (paint && lookOf(paints, paint, styles)) ?? lookOf(looks, kind, styles);
}

function ReaderPane({ scroll, textAt, lines, width, words, hiddenWords }: ReaderPaneProps) {
  const { focused } = usePane('main');
  const { styles } = useTheme();
  const styleAt = (line: number): Style | undefined => styleOf(lines.at(line), styles);
  const drawnAt = (line: number): string => {
    const { kind = 'text', text = '', paint, drawn } = lines.at(line) ?? {};
    if (drawn !== undefined) return drawn;
    const shown = truncate(text, width);
    if (paint === 'json') return jsonLine(shown, styles, lookOf(looks, kind, styles));
    return styleAt(line)?.(shown) ?? shown;
  };
  return (
    <ScrollView
      scroll={scroll}
      {...{ textAt, styleAt, drawnAt, width, focused }}
      words={[words, hiddenWords].filter(Boolean).join('  ·  ')}
    />
  );
}

interface StepColumnProps {
  readonly steps: NonNullable<Trajectory['steps']>;
  readonly current: number;
  readonly height: number;
}

/** The steps with their rewards and errors, the current one in the middle, and a rule at the right. */
function StepColumn({ steps, current, height }: StepColumnProps) {
  const { styles, glyphs } = useTheme();
  const lines = steps.map((each, index) => {
    const mark = index === current ? styles.selected(glyphs.marker) : ' ';
    const flag = each.has_error ? styles.danger(glyphs.cross) : ' ';
    const words = fitCells(`${each.step_index ?? index}`, 5);
    const score = fitCells(reward(each.reward), stepsWidth - 9, 'right');
    return `${mark} ${index === current ? styles.selected(words) : words}${score} ${flag}`;
  });
  const first = Math.max(0, Math.min(current - Math.floor(height / 2), lines.length - height + 1));
  return (
    <>
      <Box flexDirection="column" width={stepsWidth} height={height} overflow="hidden">
        <Text>{styles.header(fitCells('  STEP    REWARD', stepsWidth))}</Text>
        <Lines lines={lines.slice(first)} width={stepsWidth} height={height - 1} />
      </Box>
      <Separator height={height} />
    </>
  );
}

/** The facts, and the error if they are not current. */
function TrajectoryFacts({ trajectory, error }: { trajectory: Trajectory | undefined; error: Error | undefined }) {
  const { width, height } = usePane('inspector');
  const theme = useTheme();
  const lines = trajectory ? factLines(trajectoryFacts(trajectory), width - 2, theme) : [];
  const note = trajectory && error ? ['', theme.styles.danger(sanitiseLine(error.message))] : [];
  return (
    <Box paddingLeft={1}>
      <Lines lines={[...lines, ...note]} width={width - 2} height={height} />
    </Box>
  );
}

/** `3 of 12 steps`. */
function stepWords(step: number, count: number): string {
  const steps = `${count} step${count === 1 ? '' : 's'}`;
  return step < 0 || count < 2 ? steps : `${step + 1} of ${steps}`;
}
