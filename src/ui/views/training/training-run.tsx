/** A training run: its progress, its curves, and its checkpoints. */

import { useMemo } from 'react';
import { unreadableIn } from '../../../contract/common.ts';
import { hasEnded } from '../../../contract/status.ts';
import type { Checkpoint, TrainingRun } from '../../../contract/training.ts';
import { ageOf } from '../../../present/times.ts';
import { checkpointList, trainingProgressQuery, trainingRunQuery } from '../../../queries/training.ts';
import { useListedRows } from '../../../queries/use-list.ts';
import { useLive } from '../../../queries/use-live.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import {
  type CheckpointSource,
  checkpointActions,
  checkpointColumns,
  checkpointFacts,
  ofTrainingRun,
  training,
  trainingFacts,
} from '../../../resources/training.ts';
import { isNotOffered } from '../../../service/errors.ts';
import { counted } from '../../../text/numbers.ts';
import { clean, sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { factLines } from '../../widgets/facts.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { ResourceList } from '../list/resource-list.tsx';
import { useAskingWords } from '../shared/asking.ts';
import { noteLines, useDeleted, useSettingAdvice } from '../shared/error-note.tsx';
import { Lines } from '../shared/lines.tsx';
import { useActions } from '../shared/use-actions.tsx';
import { completedSteps, heldOutLines, heldOutNote } from './curves.ts';
import { statusLine, usePace, useSetBack, useStepsDone } from './head.ts';
import { useCurvesView, useRunCurves } from './use-curves.tsx';

/** If the run cannot be read, neither can its checkpoints, which show the error. */
const errorLinesBelow = 3;
const newestFirst = { column: 'step', descending: true } as const;
/** Lines left for the checkpoints: few in a low pane, a share of a tall one. */
const tableLines = (height: number): number => (height < 16 ? 5 : Math.max(7, Math.floor(height / 4)));

export function TrainingRunView({ place }: ViewProps<'record'>) {
  const runId = place.id;
  const shell = useShell();
  const pane = usePane('main');
  const inspector = usePane('inspector');
  const theme = useTheme();
  const { compare } = useWorkbench();
  const asking = useAskingWords();
  const advice = useSettingAdvice();
  const run = useLive(trainingRunQuery(runId), pane.attention);
  const progress = useLive(trainingProgressQuery(runId), pane.attention);
  const status = progress.data?.status ?? run.data?.status;
  const isRead = run.data !== undefined || progress.data !== undefined;
  const deleted = useDeleted('training', runId);
  const ended = deleted !== undefined || hasEnded(status);
  const curves = useRunCurves(runId, ended, pane.attention);
  const source = useMemo(() => checkpointList(runId, ended), [runId, ended]);
  const steps = completedSteps(progress.data, curves.trainer, useListedRows(source));
  const completed = useStepsDone(steps, progress, curves, ended);
  const onRemoved = (): void => shell.navigate({ kind: 'up' });
  const ofRun = useActions(training, { actions: ofTrainingRun, onRemoved });
  const ofCheckpoint = useActions<CheckpointSource>(training, { actions: checkpointActions });

  const known: TrainingRun = run.data ?? {
    training_run_id: runId,
    display_name: place.label,
    bench_id: place.parent,
  };
  const failure = progress.data?.failure ?? known.failure;
  const shown: TrainingRun = { ...known, status: status ?? known.status, failure };
  const pace = usePace(shown, progress, completed, ended);

  const curvesView = useCurvesView(shown, curves, completed);

  const room = pane.width - 2;
  const isKept = deleted !== undefined && isRead;
  const error = isKept ? undefined : [progress.error, run.error].find(each => each && !isNotOffered(each));
  const notes = [useSetBack(runId, ended), heldOutNote(curves.heldOut)].filter(words => words !== undefined);
  const unreadable = unreadableIn(curves.trainer) + unreadableIn(curves.heldOut);
  const unread = !isRead && !error && deleted === undefined;
  const head = [
    theme.styles.title(truncate(sanitiseLine(shown.display_name ?? runId), room)),
    unread ? theme.styles.muted(asking) : statusLine(shown, completed, progress.data?.total_steps, room, theme),
    theme.styles.muted(truncate(pace || `started ${ageOf(shown.created_at)}`, room)),
    ...(failure?.message ? [theme.styles.danger(truncate(clean`failed: ${failure.message}`, room))] : []),
    ...(deleted && !error ? [theme.styles.danger(truncate(`${theme.glyphs.cross} ${deleted}`, room))] : []),
    ...(error ? noteLines(error, { width: room, height: isRead ? 6 : 3 }, theme, advice) : []),
    ...notes.map(words => theme.styles.warning(truncate(words, room))),
    ...heldOutLines(curves.heldOut, compare.rewardRange, { width: room, height: pane.height }).map(words =>
      theme.styles.muted(words),
    ),
    ...(unreadable > 0
      ? [theme.styles.warning(`${counted(unreadable, 'point')} of the curves could not be read`)]
      : []),
  ];
  // The legend is shown even without room for a chart.
  const chartHeight = Math.max(1, pane.height - head.length - tableLines(pane.height) - (error ? errorLinesBelow : 0));
  const lines = [...head, ...curvesView.lines(room, chartHeight, theme)].map(line => ` ${line}`);

  return (
    <ResourceList<Checkpoint>
      name="checkpoints"
      source={source}
      parts={[run, progress, ...curves.parts]}
      deleted={deleted !== undefined}
      columns={checkpointColumns}
      sort={newestFirst}
      emptyWords={ended ? 'This run committed no checkpoint' : 'No checkpoint has been committed yet'}
      facts={checkpointFacts}
      open={row => ({ view: 'step', trainingRunId: runId, step: row.step_index ?? 0 })}
      headerError={error}
      header={lines}
      whole={{
        id: runId,
        json: shown,
        pin: { kind: 'training', id: runId, label: shown.display_name ?? runId },
        siblings: 'training',
      }}
      bindings={[...(deleted ? [] : ofRun([shown])), ...curvesView.bindings]}
      actions={(rows, list) => {
        if (deleted) return [];
        // A run that has just ended may have checkpoints that are not listed yet: the newest is requested.
        if (ended && list.rows.length === 0) return ofCheckpoint([shown]);
        return ofCheckpoint(rows.map(checkpoint => ({ ...shown, checkpoint })));
      }}
      details={(_row, box) => {
        const about = [
          '',
          theme.styles.header('TRAINING RUN'),
          ...factLines(trainingFacts(shown), inspector.width - 2, theme),
        ];
        return <Lines lines={about} width={box.width} height={Math.min(about.length, box.height)} />;
      }}
    />
  );
}
