/** A training run: its progress, its curves, and its checkpoints. */

import { useCallback, useMemo } from 'react';
import { unreadableIn } from '../../../contract/lists.ts';
import { hasEnded } from '../../../contract/status.ts';
import type { Checkpoint, TrainingRun } from '../../../contract/training.ts';
import { ageOf } from '../../../present/times.ts';
import { checkpointList } from '../../../queries/checkpoints.ts';
import { deploymentList } from '../../../queries/deployments.ts';
import { heldOutMeans } from '../../../queries/held-out.ts';
import type { Attention } from '../../../queries/polling.ts';
import { trainingProgressQuery, trainingRunQuery, withBegin } from '../../../queries/training.ts';
import { auditOfCurves } from '../../../resources/audit.ts';
import { newestUncertain, poolKey, withMeasured } from '../../../resources/checkpoint-columns.ts';
import { deployedAs } from '../../../resources/deployments.ts';
import { statedFacts } from '../../../resources/line-state.ts';
import type { Place } from '../../../resources/place.ts';
import { pooledRewardsQuery } from '../../../resources/run-certainty.ts';
import {
  type CheckpointSource,
  checkpointActions,
  checkpointFacts,
  type DeployedCheckpoint,
  deployedColumns,
  ofTrainingRun,
  training,
  trainingFacts,
} from '../../../resources/training.ts';
import { isNotOffered } from '../../../service/errors.ts';
import { atStatus } from '../../../store/seen.ts';
import { counted } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { Size } from '../../app/layout.ts';
import { useLoadingText } from '../../app/loading.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useList, useListedRows } from '../../data/use-list.ts';
import { useLive, useLives } from '../../data/use-live.ts';
import { useOrigins } from '../../data/use-origins.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { Binding } from '../../keys/router.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { TrainingAlarms } from '../alarms-window.tsx';
import { alarmCommands, teachingCommands } from '../commands.ts';
import { foldedTableLines, minTableLines } from '../list/list-table.ts';
import { ResourceList } from '../list/resource-list.tsx';
import { useRecordWithParts } from '../record/record-with-parts.ts';
import { ownerReport } from '../record/rollout-files.ts';
import { useActions } from '../record/use-actions.tsx';
import { useRunsOf } from '../runs/use-means.ts';
import { stepsWanted, useRunCurves } from './charted-runs.ts';
import { heldOutLines, heldOutNote } from './curve-lines.ts';
import { completedSteps, lastStepRead } from './curves.ts';
import { statusLine, useLastStatus, usePace, useRestart, useStepsDone } from './head.ts';
import { useOverlaid } from './overlay.tsx';
import { useCurvesView } from './use-curves.tsx';
import { useTeaching } from './use-teaching.ts';

// In an open run, the user picks runs to overlay from a list instead of marking them.
const { overlay: _, ...ofOpenRun } = ofTrainingRun;

/** Lines for an error in the list of checkpoints: if the run cannot be read, neither can they. */
const errorLinesBelow = 3;
/** Minimum pane height for the teaching signal; in a shorter pane, it is not read. */
const withTeaching = 18;
const newestFirst = { column: 'step', descending: true } as const;
/**
 * Lines for the checkpoints: only their count below a chart of full height, few in a short pane, otherwise a share of
 * it.
 */
function tableLines(height: number, isFull: boolean): number {
  if (isFull) return foldedTableLines;
  return height < 16 ? minTableLines : Math.max(7, Math.floor(height / 4));
}

/** A training run: its record, its progress, its curves and its checkpoints. */
function useTrainingRun({ id, label, parent }: Place<'record'>, attention: Attention) {
  const record = useLive(trainingRunQuery(id), attention);
  const progress = useLive(trainingProgressQuery(id), attention);
  const state = useRecordWithParts({ kind: 'training', id }, [progress, record]);
  const read: TrainingRun = record.data ?? { training_run_id: id, display_name: label, bench_id: parent };
  const { status, failure } = progress.data ?? {};
  const known = atStatus(read, status);
  const shown: TrainingRun = { ...known, failure: failure ?? known.failure };
  const ended = state.isDeleted || hasEnded(shown.status);
  const curves = useRunCurves(id, ended, attention, stepsWanted(progress));
  const source = useMemo(() => checkpointList(id, ended), [id, ended]);
  const checkpoints = useListedRows(source);
  const counted = completedSteps(progress.data, curves.trainer, checkpoints);
  const completed = useStepsDone(counted, progress, curves, ended);
  return {
    ...{ shown, ended, state, source, checkpoints, curves, completed },
    total: progress.data?.total_steps,
    pace: usePace(shown, progress, completed, ended),
    lastStatus: useLastStatus(id, state),
    restart: useRestart(id, ended),
    parts: [record, progress, ...curves.parts],
  };
}

type Run = ReturnType<typeof useTrainingRun>;

/** Adds to checkpoints the slugs that serve them, their held-out rewards and their evaluations. */
function useMeasuredCheckpoints({ shown, checkpoints: listed, curves: { heldOut } }: Run, attention: Attention) {
  const { rewardRange } = useWorkbench().compare;
  const { rows, loaded, complete, error } = useList(deploymentList, attention);
  const evaluations = useRunsOf(shown.bench_id, 'visible');
  const { uncertain, left } = useMemo(
    () => newestUncertain(evaluations, listed, rewardRange),
    [evaluations, listed, rewardRange],
  );
  const read = useLives(uncertain.map(pooledRewardsQuery), attention);
  const states = read.map(({ data, error }) => (data ? 'read' : error?.message)).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rewards of ended runs are read once
  const pools = useMemo(
    () => new Map([...left, ...uncertain.map((each, index) => [poolKey(each), read[index] ?? {}] as const)]),
    [uncertain, left, states],
  );
  const join = useCallback(
    (checkpoints: readonly Checkpoint[]) => {
      const deployed = checkpoints.map(row => ({ ...row, ...deployedAs(row.checkpoint_id, rows) }));
      return withMeasured<DeployedCheckpoint>(deployed, heldOut, evaluations, rewardRange, pools);
    },
    [rows, heldOut, evaluations, rewardRange, pools],
  );
  const notes = [
    ...(error && !isNotOffered(error) ? ['The deployments could not be read: DEPLOYED may be out of date'] : []),
    ...(loaded && !complete && rows.length > 0
      ? [`DEPLOYED covers only ${counted(rows.length, 'deployment')}: there may be others`]
      : []),
  ];
  return { join, notes };
}

/** The curves, including overlaid runs, in the room that the head and the checkpoints leave. */
function useCurvesPane(id: string, { shown, ended, state, curves, completed }: Run, head: readonly string[]) {
  const { open } = useShell();
  const pane = usePane('main');
  const { overlaid, choose, clear } = useOverlaid(shown);
  const hasStrip = pane.height >= withTeaching && overlaid.length === 0;
  const teaching = useTeaching(id, curves.trainer, pane.attention, hasStrip);
  const view = useCurvesView([{ id, name: shown.display_name ?? id, ended, ...curves }, ...overlaid], {
    width: pane.width - 2,
    // Show the legend even if there is no room for a chart.
    heightFor: isFull =>
      Math.max(1, pane.height - head.length - tableLines(pane.height, isFull) - (state.error ? errorLinesBelow : 0)),
    lag: overlaid.length > 0 ? undefined : lastStepRead(curves.trainer, completed),
    teaching,
    openStep: step => open({ view: 'step', trainingRunId: id, step }),
    onReset: clear,
  });
  return { ...view, bindings: [...view.bindings, choose] };
}

/** The key that opens the audit. Its hint is a main one if the curves are suspicious, and a second one once the run has ended. */
function useAuditKey(id: string, { curves: { trainer, heldOut }, ended }: Pick<Run, 'curves' | 'ended'>): Binding {
  const { open } = useShell();
  const { rewardRange } = useWorkbench().compare;
  const isSuspicious = useMemo(
    () => auditOfCurves(trainer, heldOut, rewardRange).length > 0,
    [trainer, heldOut, rewardRange],
  );
  return {
    command: teachingCommands.audit,
    ...((isSuspicious || ended) && { rank: isSuspicious ? 'main' : 'second' }),
    run: () => open({ view: 'audit', trainingRunId: id }),
  };
}

export function TrainingRunView({ place }: ViewProps<'record'>) {
  const { id } = place;
  const shell = useShell();
  const pane = usePane('main');
  const theme = useTheme();
  const run = useTrainingRun(place, pane.attention);
  const { shown, state, ended, curves } = run;
  const { compare, remembered } = useWorkbench();
  const { rewardRange } = compare;
  const columns = useMemo(() => deployedColumns(rewardRange), [rewardRange]);
  useOrigins([{ checkpoint_id: shown.parent_checkpoint_id, created_at: shown.created_at }], pane.attention);
  const begun = withBegin(shown, remembered.seen.find('training', id));
  const read = trainingFacts(begun, heldOutMeans(curves.heldOut), rewardRange);
  const { lastStatus } = run;
  const facts = lastStatus ? read.map(fact => (fact.label === 'status' ? { ...fact, value: lastStatus } : fact)) : read;
  const ofRun = useActions(training, { actions: ofOpenRun, onRemoved: () => shell.navigate({ kind: 'up' }) });
  const ofCheckpoint = useActions<CheckpointSource>(training, { actions: checkpointActions });
  const head = useHead(run, pane);
  const name = shown.display_name ?? id;
  const curvesPane = useCurvesPane(id, run, head);
  const audit = useAuditKey(id, run);
  const pin = { kind: 'training', id, label: name };
  const alarms = {
    command: alarmCommands.past,
    run: () => shell.showOverlay('alarms', close => <TrainingAlarms id={id} ended={ended} onClose={close} />),
  };
  return (
    <ResourceList<DeployedCheckpoint>
      name="checkpoints"
      source={run.source}
      parts={run.parts}
      texts={{ scope: { training: id }, label: name }}
      columns={columns}
      {...useMeasuredCheckpoints(run, pane.attention)}
      emptyText={ended ? 'This run committed no checkpoint' : 'No checkpoint has been committed yet'}
      facts={row => checkpointFacts(row, rewardRange)}
      open={row => ({ view: 'step', trainingRunId: id, step: row.step_index ?? 0 })}
      header={[...head, ...curvesPane.lines]}
      isFolded={curvesPane.isFull}
      bindings={[...(state.isDeleted ? [] : ofRun([shown])), ...curvesPane.bindings, alarms, audit]}
      actions={rows => {
        if (state.isDeleted) return [];
        // A run that has just ended may have checkpoints that are not listed yet, so request the newest.
        if (ended && run.checkpoints.length === 0) return ofCheckpoint([shown]);
        return ofCheckpoint(rows.map(checkpoint => ({ ...shown, checkpoint })));
      }}
      about={() => ({ lines: ['', theme.styles.header('TRAINING RUN')], facts: statedFacts(facts, state.alarm) })}
      files={() => ownerReport('training', id, shown)}
      initial={{ sort: newestFirst, at: place.at }}
      whole={{ pin, json: shown, state }}
    />
  );
}

/** The lines above the curves. */
function useHead(
  { shown, state, lastStatus, curves, completed, total, pace, restart }: Run,
  pane: Size,
): readonly string[] {
  const theme = useTheme();
  const { styles } = theme;
  const asking = useLoadingText();
  const { compare } = useWorkbench();
  const width = pane.width - 2;
  const notes = [restart, heldOutNote(curves.heldOut)].filter(words => words !== undefined);
  const started = ageOf(shown.created_at);
  const when = pace || (started && `started ${started}`);
  const unreadable = unreadableIn(curves.trainer) + unreadableIn(curves.heldOut);
  const unread = state.isUnread ? asking : lastStatus;
  const statusLines =
    unread === undefined
      ? [statusLine(shown, completed, total, width, theme, state.alarm)]
      : wrap(unread, width).map(styles.muted);
  return [
    styles.title(truncate(sanitiseLine(shown.display_name ?? shown.training_run_id), width)),
    ...statusLines,
    ...(when === '' ? [] : [styles.muted(truncate(when, width))]),
    ...state.problems(shown.failure?.message, width),
    ...notes.map(words => styles.warning(truncate(words, width))),
    ...heldOutLines(curves.heldOut, compare.rewardRange, { width, height: pane.height }).map(styles.muted),
    ...(unreadable > 0 ? [styles.warning(`${counted(unreadable, 'point')} on the curves could not be read`)] : []),
  ];
}
