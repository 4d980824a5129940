/** One training run: how far it is, its curves, and its checkpoints. */
import { useCallback, useMemo, useReducer, useState } from 'react';
import type { Checkpoint, TrainingProgress, TrainingRun } from '../../../contract/training.ts';
import { hasEnded } from '../../../queries/evaluations.ts';
import { freshnessAt } from '../../../queries/freshness.ts';
import { paceOf, paceWords } from '../../../queries/pace.ts';
import type { Attention } from '../../../queries/polling.ts';
import {
  checkpointList,
  heldOutRewardsQuery,
  trainerRewardsQuery,
  trainingKeys,
  trainingProgressQuery,
  trainingRunQuery,
} from '../../../queries/training.ts';
import { type Live, useLive } from '../../../queries/use-live.ts';
import { useRefreshOnce } from '../../../queries/use-refresh-once.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { duration, parseTime } from '../../../text/time.ts';
import { truncate } from '../../../text/width.ts';
import { useTime } from '../../app/clock.tsx';
import { usePane } from '../../app/panes.tsx';
import { useShell } from '../../app/shell-context.tsx';
import type { ViewProps } from '../../app/view-definition.ts';
import type { Binding } from '../../keys/router.tsx';
import { progressBar } from '../../widgets/bars.ts';
import { factLines } from '../../widgets/facts.ts';
import { type ChartSeries, chartLines } from '../../widgets/line-chart/chart.ts';
import { chartReducer, initialChartState, smoothings } from '../../widgets/line-chart/chart-state.ts';
import { statusStyle, statusText } from '../../widgets/status.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { ageOf } from '../shared/ages.ts';
import { faultLines } from '../shared/fault-note.tsx';
import { Lines } from '../shared/lines.tsx';
import { ResourceList } from '../shared/resource-list.tsx';
import { checkpointColumns } from './columns.ts';
import { chartCommands, checkpointCommands, trainingCommands } from './commands.ts';
import { completedSteps, curveSeries, heldOutNote, legend, progressSeries, xsOf } from './curves.ts';
import { checkpointFacts, trainingFacts } from './facts.ts';
import { OverlayWindow } from './overlay.tsx';
import { useCheckpointActions, useTrainingActions } from './use-training-actions.tsx';

const newestFirst = { column: 'step', descending: true } as const;
/** Lines of the checkpoints that the chart leaves room for. */
const tableLines = 7;

function statusLine(
  run: TrainingRun,
  done: number | undefined,
  total: number | null | undefined,
  width: number,
  theme: Theme,
): string {
  const status = sanitiseLine(run.status ?? 'unknown');
  const counts = done === undefined ? '' : `step ${done}${total == null ? '' : ` of ${total}`}`;
  const bar =
    done !== undefined && total ? progressBar(done / total, Math.max(8, Math.min(32, width - 48)), theme) : '';
  return [statusStyle(status, theme)(statusText(status, theme)), bar, counts].filter(Boolean).join('  ');
}

/** Pace and elapsed time, kept up to date while the run goes on; what matters most comes first, where nothing cuts it. */
function usePace(
  run: TrainingRun,
  { data: progress, freshness }: Live<TrainingProgress>,
  completed: number | undefined,
  ended: boolean,
): string {
  const { remembered } = useWorkbench();
  const total = progress?.total_steps;
  const { status, training_run_id: runId } = run;
  const started = parseTime(run.created_at ?? undefined);
  // Each answer may have added a point; read then, and not with each tick of the clock.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the points change with the answers
  const pace = useMemo(() => paceOf(remembered.progressOf(runId)), [remembered, runId, progress]);
  return useTime(
    useCallback(
      now => {
        if (ended) return '';
        const seen = freshnessAt(freshness, now);
        const observed = seen.kind === 'fresh' ? now : 'at' in seen ? (seen.at ?? now) : now;
        const elapsed = started === undefined ? '' : `for ${duration(Math.max(0, now - started))}`;
        return [paceWords(pace, { status, completed, total, now: observed }), elapsed].filter(Boolean).join('  ');
      },
      [pace, freshness, status, completed, total, started, ended],
    ),
  );
}

function useCurves(runId: string, ended: boolean, attention: Attention) {
  const trainer = useLive(trainerRewardsQuery(runId, ended), attention);
  const heldOut = useLive(heldOutRewardsQuery(runId, ended), attention);
  return { trainer: trainer.data ?? [], heldOut: heldOut.data ?? [], missing: trainer.fault?.unlisted ?? false };
}

export function TrainingRunView({ location }: ViewProps) {
  const runId = location.params['training_run_id'] ?? '';
  const shell = useShell();
  const pane = usePane('main');
  const inspector = usePane('inspector');
  const theme = useTheme();
  const { remembered } = useWorkbench();
  const run = useLive(trainingRunQuery(runId), pane.attention);
  const progress = useLive(trainingProgressQuery(runId), pane.attention);
  const status = progress.data?.status ?? run.data?.status;
  const ended = hasEnded(status);
  const curves = useCurves(runId, ended, pane.attention);
  const completed = completedSteps(progress.data, curves.trainer);
  const [overlaid, setOverlaid] = useState<TrainingRun>();
  const other = useCurves(overlaid?.training_run_id ?? runId, hasEnded(overlaid?.status ?? status), 'visible');
  useRefreshOnce(ended, [
    trainingKeys.one(runId),
    trainingKeys.trainerRewards(runId),
    trainingKeys.heldOutRewards(runId),
  ]);
  useRefreshOnce(ended, [trainingKeys.checkpoints(runId), trainingKeys.everyRun]);
  const source = useMemo(() => checkpointList(runId, ended), [runId, ended]);
  const [chart, dispatch] = useReducer(chartReducer, initialChartState);
  const actions = useTrainingActions({ onDeleted: () => shell.navigate({ kind: 'up' }) });
  const checkpointActions = useCheckpointActions();

  const known: TrainingRun = run.data ?? {
    training_run_id: runId,
    display_name: location.params['name'],
    bench_id: location.params['bench_id'],
  };
  const failure = progress.data?.failure ?? known.failure;
  const shown: TrainingRun = { ...known, status: status ?? known.status, failure };
  const pace = usePace(shown, progress, completed, ended);

  const weight = smoothings[chart.smoothing] ?? 0;
  const own = curveSeries(curves, weight, overlaid ? (shown.display_name ?? runId) : '');
  const laidOver = overlaid ? curveSeries(other, weight, overlaid.display_name ?? overlaid.training_run_id) : [];
  const series: readonly ChartSeries[] =
    own.length > 0 || !curves.missing ? [...own, ...laidOver] : progressSeries(remembered.progressOf(runId));
  const xs = xsOf(series);

  const room = pane.width - 2;
  const fault = [progress.fault, run.fault].find(each => each && !each.unlisted);
  const note = heldOutNote(curves.heldOut);
  const smoothed = weight > 0 ? theme.styles.muted(`smoothed ${weight}`) : '';
  const head = [
    theme.styles.title(truncate(sanitiseLine(shown.display_name ?? runId), room)),
    statusLine(shown, completed, progress.data?.total_steps, room, theme),
    theme.styles.muted(truncate(pace || `started ${ageOf(shown.created_at)}`, room)),
    ...(failure?.message ? [theme.styles.danger(truncate(sanitiseLine(`failed: ${failure.message}`), room))] : []),
    ...(fault ? faultLines(fault, room, theme).slice(0, 2) : []),
    ...(note ? [theme.styles.warning(truncate(note, room))] : []),
  ];
  const chartHeight = Math.min(24, pane.height - head.length - tableLines - 2);
  const drawn =
    chartHeight < 5
      ? []
      : chartLines(series, {
          width: room,
          height: chartHeight,
          theme,
          xRange: chart.zoom,
          crosshair: chart.crosshair,
          formatY: value => String(Math.round(value * 1000) / 1000),
        });
  const lines = [
    ...head,
    ...(drawn.length === 0 ? [] : ['', ...drawn]),
    [legend(series, chart.crosshair, theme), smoothed].filter(Boolean).join('  '),
  ].map(line => ` ${line}`);

  const chartBindings: readonly Binding[] = [
    { command: chartCommands.left, run: () => dispatch({ kind: 'move', by: -1, xs }), enabled: xs.length > 0 },
    { command: chartCommands.right, run: () => dispatch({ kind: 'move', by: 1, xs }), enabled: xs.length > 0 },
    { command: chartCommands.zoomIn, run: () => dispatch({ kind: 'zoom', factor: 0.5, xs }), enabled: xs.length > 0 },
    {
      command: chartCommands.zoomOut,
      run: () => dispatch({ kind: 'zoom', factor: 2, xs }),
      enabled: chart.zoom !== undefined,
    },
    { command: chartCommands.smooth, run: () => dispatch({ kind: 'smooth' }), enabled: own.length > 0 },
    {
      command: chartCommands.reset,
      run: () => {
        dispatch({ kind: 'reset' });
        setOverlaid(undefined);
      },
    },
    {
      command: chartCommands.overlay,
      enabled: shown.bench_id != null,
      run: () =>
        shell.showOverlay({
          id: 'overlay',
          render: close => <OverlayWindow run={shown} onChoose={setOverlaid} onClose={close} />,
        }),
    },
  ];
  const ofRun = actions([shown]).filter(
    ({ command }) =>
      ![trainingCommands.evaluate, trainingCommands.deploy, trainingCommands.continue].some(
        each => each.id === command.id,
      ),
  );

  return (
    <ResourceList<Checkpoint>
      source={source}
      columns={checkpointColumns}
      sort={newestFirst}
      emptyWords={ended ? 'This run committed no checkpoint' : 'No checkpoint has been committed yet'}
      facts={checkpointFacts}
      open={row => ({
        view: 'training-step',
        params: { training_run_id: runId, step: String(row.step_index ?? 0), name: shown.display_name ?? runId },
      })}
      header={{ height: lines.length, node: <Lines lines={lines} width={pane.width} height={lines.length} /> }}
      thing={{
        id: runId,
        json: shown,
        pin: { kind: 'training', id: runId, label: shown.display_name ?? runId },
        sibling: { view: 'training-run', param: 'training_run_id' },
      }}
      bindings={[...ofRun, ...chartBindings]}
      actions={rows => {
        const [row] = rows;
        const of = row && rows.length === 1 ? { run: shown, checkpointId: row.checkpoint_id } : undefined;
        return checkpointActions(of, checkpointCommands);
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
