/** The reader of a trajectory: steps at the left, what was said at the right, its facts in the inspector. */
import { Box, Text } from 'ink';
import { useEffect, useMemo, useReducer } from 'react';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import { useLive } from '../../../queries/use-live.ts';
import { reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { fitCells } from '../../../text/width.ts';
import { Panes, Separator, usePane } from '../../app/panes.tsx';
import { useFreshnessReport } from '../../app/shell-context.tsx';
import type { ViewProps } from '../../app/view-definition.ts';
import type { Binding } from '../../keys/router.tsx';
import { useMemory } from '../../navigation/memory.tsx';
import { siblingPosition } from '../../navigation/siblings.ts';
import { factLines } from '../../widgets/facts.ts';
import type { ScrollState } from '../../widgets/scroll-view/scroll-state.ts';
import { ScrollView, scrollViewLines } from '../../widgets/scroll-view/scroll-view.tsx';
import { useScroll } from '../../widgets/scroll-view/use-scroll.ts';
import { lookOf, type Style, type StyleName, useTheme } from '../../widgets/theme/theme.tsx';
import { FaultNote } from '../shared/fault-note.tsx';
import { Lines } from '../shared/lines.tsx';
import { useThingBindings } from '../shared/use-thing-bindings.tsx';
import { Waiting } from '../shared/waiting.tsx';
import { readerCommands } from './commands.ts';
import { trajectoryFacts } from './facts.ts';
import { type LineKind, nextError, stepAt, type Transcript, transcriptOf } from './transcript.ts';
import { useTrajectoryActions } from './use-trajectory-actions.tsx';

/** Width of the column of steps, and the width of the pane from which it is shown. */
const stepsWidth = 18;
const stepsFrom = 70;

type Folds = { readonly reasoning: boolean; readonly tools: boolean; readonly hidden: boolean };

const looks: Partial<Record<LineKind, StyleName>> = {
  step: 'title',
  system: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  role: 'strong',
  reasoning: 'muted',
  call: 'code',
  meta: 'muted',
  fold: 'muted',
  error: 'danger',
};

const empty: Transcript = { lines: [], stepStarts: [], errors: [] };

export function TrajectoryView({ location }: ViewProps) {
  const id = location.params['trajectory_id'] ?? '';
  const actions = useTrajectoryActions();
  const pane = usePane('main');
  const inspector = usePane('inspector');
  const theme = useTheme();
  const { styles, glyphs } = theme;
  const live = useLive(trajectoryQuery(id), pane.attention);
  useFreshnessReport(live.freshness);
  const [folds, toggle] = useReducer((old: Folds, name: keyof Folds): Folds => ({ ...old, [name]: !old[name] }), {
    reasoning: false,
    tools: false,
    hidden: false,
  });
  const withSteps = pane.width >= stepsFrom;
  const width = withSteps ? pane.width - stepsWidth - 1 : pane.width;
  const transcript = useMemo(
    () =>
      live.data
        ? transcriptOf(live.data, {
            width: width - 1,
            showReasoning: folds.reasoning,
            showTools: folds.tools,
            showHidden: folds.hidden,
          })
        : empty,
    [live.data, width, folds],
  );
  const [remembered, remember] = useMemory<ScrollState>('scroll');
  const textAt = (line: number): string => transcript.lines[line]?.text ?? '';
  const scroll = useScroll({
    lineCount: transcript.lines.length,
    textAt,
    height: pane.height - scrollViewLines,
    initial: remembered,
  });
  useEffect(() => remember(scroll.state), [remember, scroll.state]);

  const step = stepAt(transcript, scroll.offset);
  const goToStep = (by: number) => () => {
    const target = transcript.stepStarts[Math.max(0, step + by)];
    if (target !== undefined) scroll.dispatch({ kind: 'to', line: target });
  };
  const bindings: Binding[] = [
    { command: readerCommands.nextStep, run: goToStep(1) },
    { command: readerCommands.previousStep, run: goToStep(-1) },
    {
      command: readerCommands.nextError,
      enabled: transcript.errors.length > 0,
      run: () => scroll.dispatch({ kind: 'to', line: nextError(transcript, scroll.offset) ?? 0 }),
    },
    { command: readerCommands.reasoning, run: () => toggle('reasoning') },
    { command: readerCommands.tools, run: () => toggle('tools') },
    { command: readerCommands.hidden, run: () => toggle('hidden') },
    ...useThingBindings({
      thing: live.data && { id, json: live.data },
      title: id,
      refresh: live.refresh,
      actions: actions(live.data ? [live.data] : []),
      pin: { kind: 'trajectory', id, label: location.params['task'] ?? id },
      sibling: { view: 'trajectory', param: 'trajectory_id' },
    }),
  ];

  const steps = (live.data?.steps ?? []).map((each, index) => {
    const mark = index === step ? styles.selected(glyphs.marker) : ' ';
    const flag = each.has_error ? styles.danger(glyphs.cross) : ' ';
    const words = fitCells(`${each.step_index ?? index}`, 5);
    const score = fitCells(reward(each.reward), stepsWidth - 9, 'right');
    return `${mark} ${index === step ? styles.selected(words) : words}${score} ${flag}`;
  });
  const firstStep = Math.max(0, Math.min(step - Math.floor(pane.height / 2), steps.length - pane.height + 1));
  const position = siblingPosition('trajectory', id);
  const words = [
    position,
    sanitiseLine(live.data?.task_id ?? location.params['task'] ?? ''),
    `${steps.length} step${steps.length === 1 ? '' : 's'}`,
  ];

  return (
    <Panes
      bindings={bindings}
      main={
        live.data ? (
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
              styleAt={line => lookOf(looks, transcript.lines[line]?.kind ?? 'text', styles)}
              width={width}
              focused={pane.focused}
              words={words.filter(Boolean).join('  ')}
            />
          </Box>
        ) : live.fault ? (
          <FaultNote fault={live.fault} width={pane.width} height={pane.height} />
        ) : (
          <Waiting words="Reading the trajectory" />
        )
      }
      inspector={
        <Box paddingLeft={1}>
          <Lines
            lines={[
              ...factLines(live.data ? trajectoryFacts(live.data) : [], inspector.width - 2, theme),
              ...(live.data && live.fault ? ['', ...faultNoteLines(live.fault.message, styles.danger)] : []),
            ]}
            width={inspector.width - 2}
            height={inspector.height}
          />
        </Box>
      }
    />
  );
}

function faultNoteLines(message: string, style: Style): string[] {
  return [style(sanitiseLine(message))];
}
