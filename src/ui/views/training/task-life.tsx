/** A task over the course of training: its reward, its length and its best answer at each step that has been read. */
import { useMemo, useState } from 'react';
import { hasEnded } from '../../../contract/status.ts';
import { emptyCurve } from '../../../contract/trainer-curve.ts';
import { type Column, plainColumn } from '../../../present/column.ts';
import { answerOf, bestRollout, type StepTask, taskOf } from '../../../present/task-groups.ts';
import { byTask, widenedRange } from '../../../present/teaching.ts';
import { rowsMadeElsewhere } from '../../../queries/lists/list-source.ts';
import { trainingKeys, trainingRunQuery } from '../../../queries/training.ts';
import { trainerRewardsQuery } from '../../../queries/training-curves.ts';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import { groupFacts } from '../../../resources/task-groups.ts';
import { counted, reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { withoutThoughts } from '../../../text/thoughts.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { Size } from '../../app/layout.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useLive } from '../../data/use-live.ts';
import { useSettled } from '../../data/use-settled.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { usePromptBinding } from '../chat/use-prompt-binding.ts';
import { teachingCommands } from '../commands.ts';
import { ResourceList } from '../list/resource-list.tsx';
import { drawnColumns } from '../tasks/group-columns.ts';
import { rewardChart } from '../tasks/reward-chart.tsx';
import { pairBinding } from '../tasks/rollout-bindings.ts';
import { useStepsRead } from './use-teaching.ts';

const stepColumn: Column<StepTask> = plainColumn('step', 'STEP', { min: 6, max: 10, grow: 1 }, row => row.step, {
  align: 'right',
});
const bestOf = ({ step, rollouts }: StepTask) => ({ ...bestRollout(rollouts), name: `step ${step}` });
const inOrder = { column: 'step', descending: false } as const;
const moves = [
  { command: teachingCommands.earlier, by: -1 },
  { command: teachingCommands.later, by: 1 },
];

export function TaskLifeView({ place: { trainingRunId: runId, task, step, words } }: ViewProps<'task-life'>) {
  const pane = usePane('main');
  const shell = useShell();
  const promptBinding = usePromptBinding();
  const theme = useTheme();
  const run = useLive(trainingRunQuery(runId), 'visible');
  const trainer = useLive(trainerRewardsQuery(runId, hasEnded(run.data?.status)), pane.attention);
  const { read, known, range, live, isReading } = useStepsRead(runId, trainer.data ?? emptyCurve, pane.attention);
  const rows = useMemo((): readonly StepTask[] => {
    const widened = widenedRange(range, read);
    return read.flatMap(each => {
      const rollouts = byTask(each).tasks.get(task);
      return rollouts ? [taskOf(each.step, task, rollouts, { range, widened })] : [];
    });
  }, [read, range, task]);
  const [current, setCurrent] = useState<StepTask>();
  const source = useMemo(
    () => rowsMadeElsewhere<StepTask>([...trainingKeys.stepsRead(runId), 'task', task], row => String(row.step)),
    [runId, task],
  );
  const columns = useMemo(() => [stepColumn, ...drawnColumns(theme)], [theme]);
  const room = { width: pane.width - 2, height: pane.height };
  const where = `in ${rows.length} of the ${counted(read.length, 'step')} read (${known} in all)`;
  const emptyText = live.error
    ? 'The rewards for the steps could not be read'
    : isReading
      ? "Reading the run's steps"
      : 'No step read so far has this task';
  const header = [
    theme.styles.title(truncate(sanitiseLine(task), room.width)),
    ...(words === undefined ? [] : wrap(words, room.width).map(theme.styles.warning)),
    theme.styles.muted(truncate(where, room.width)),
    ...rewardChart(rows, { ...room, height: Math.floor(room.height / 3) }, theme, current?.step),
    ...useAnswerLines(current, room, theme),
  ];
  return (
    <ResourceList<StepTask>
      name="task life"
      source={source}
      rows={rows}
      parts={[trainer, live]}
      columns={columns}
      initial={{ sort: inOrder, at: step?.toString() }}
      bindings={({ current: row, dispatch }) =>
        moves.map(({ command, by }) => ({
          command,
          enabled: row !== undefined,
          run: () => dispatch({ kind: 'move', by }),
        }))
      }
      onShown={table => setCurrent(table.current)}
      emptyText={emptyText}
      open={row => ({ view: 'step-rollouts', trainingRunId: runId, step: row.step, task })}
      actions={some => [
        pairBinding(some.map(bestOf), 'Mark two steps to see their best rollouts side by side', shell.open),
        promptBinding(some[0] && bestRollout(some[0].rollouts)?.trajectory_id),
      ]}
      facts={row => [...groupFacts(row), { label: 'step', value: row.step }]}
      header={header}
    />
  );
}

/** The best rollout's answer at the step under the cursor, once the cursor rests. */
function useAnswerLines(row: StepTask | undefined, { width, height }: Size, theme: Theme): string[] {
  const best = row && bestRollout(row.rollouts);
  const id = best?.trajectory_id ?? undefined;
  const isResting = useSettled(id) === id;
  const { data, error } = useLive(trajectoryQuery(id ?? ''), id !== undefined && isResting ? 'visible' : 'hidden');
  const lines = Math.max(1, Math.min(10, Math.floor(height / 5)) - 1);
  if (height < 12 || !row) return [];
  const count = counted(row.rollouts.length, 'rollout');
  const head = `step ${row.step}, best of ${count}, reward ${reward(best?.reward)}:`;
  const isKnown = isResting && data?.trajectory_id === id;
  const answer = isKnown && data ? withoutThoughts(answerOf(data) ?? '') || undefined : undefined;
  const words =
    best === undefined
      ? 'no rollout can be opened'
      : (answer ?? (error ? 'it cannot be read' : isKnown ? 'it has no text' : ''));
  const wrapped = wrap(sanitiseLine(words), width - 2);
  const shown = wrapped.slice(0, lines);
  if (wrapped.length > lines) {
    const last = shown.length - 1;
    shown[last] = truncate(`${shown[last]} ${theme.glyphs.ellipsis}`.padEnd(width), width - 2);
  }
  // A constant number of lines, so that the rows below do not move with the cursor.
  return [
    theme.styles.strong(truncate(head, width)),
    ...Array.from({ length: lines }, (_, index) => `  ${shown[index] ?? ''}`),
  ];
}
