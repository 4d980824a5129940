/** The curves of a training run and of an overlaid one, with their keys. */

import { type Dispatch, useEffect, useReducer, useState } from 'react';
import { hasEnded } from '../../../contract/status.ts';
import type { TrainingRun } from '../../../contract/training.ts';
import type { Freshness } from '../../../queries/freshness.ts';
import type { Attention } from '../../../queries/polling.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../../../queries/training.ts';
import { isNotOffered } from '../../../service/errors.ts';
import { useShell } from '../../app/shell-context.tsx';
import { type Live, useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { Binding } from '../../keys/router.tsx';
import { useMemory } from '../../navigation/memory.tsx';
import { drawChart } from '../../widgets/line-chart/chart.ts';
import {
  type ChartAction,
  type ChartState,
  chartReducer,
  initialChartState,
  smoothings,
} from '../../widgets/line-chart/chart-state.ts';
import type { ChartSeries } from '../../widgets/line-chart/series.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';
import { chartCommands } from '../commands.ts';
import { curveSeries, lastStepRead, legendLines, progressSeries, type RunCurves, smallCurve, xsOf } from './curves.ts';
import { OverlayWindow } from './overlay.tsx';

/** Below this height, a sparkline replaces the chart. */
const smallestChart = 6;

export interface LiveCurves extends RunCurves {
  readonly missing: boolean;
  /** The freshness of the trainer curve, which has a point for each step. */
  readonly freshness: Freshness;
  /** The curves, to refresh them. */
  readonly parts: readonly Pick<Live<unknown>, 'refresh'>[];
}

/** The curves of a run; `missing` if the service has none. */
export function useRunCurves(runId: string, ended: boolean, attention: Attention, steps?: number | null): LiveCurves {
  const trainer = useLive(trainerRewardsQuery(runId, ended, steps), attention);
  const heldOut = useLive(heldOutRewardsQuery(runId, ended), attention);
  return {
    trainer: trainer.data ?? [],
    heldOut: heldOut.data ?? [],
    missing: isNotOffered(trainer.error) ?? false,
    freshness: trainer.freshness,
    parts: [{ refresh: trainer.refresh }, { refresh: heldOut.refresh }],
  };
}

export interface CurvesView {
  /** The chart and its legend in at most this many lines. */
  readonly lines: (width: number, height: number, theme: Theme) => string[];
  readonly bindings: readonly Binding[];
}

/** Crosshair, zoom and smoothing, restored on the way back to the view. */
interface ChartSettings {
  readonly chart: ChartState;
  readonly overlaid: TrainingRun | undefined;
}

export function useCurvesView(
  run: TrainingRun,
  curves: Pick<LiveCurves, 'trainer' | 'heldOut' | 'missing'>,
  completed?: number,
): CurvesView {
  const runId = run.training_run_id;
  const shell = useShell();
  const { remembered } = useWorkbench();
  const [before, remember] = useMemory<ChartSettings>('curves');
  const [chart, dispatch] = useReducer(chartReducer, before?.chart ?? initialChartState);
  const [overlaid, setOverlaid] = useState(before?.overlaid);
  useEffect(() => remember({ chart, overlaid }), [remember, chart, overlaid]);
  const other = useRunCurves(overlaid?.training_run_id ?? runId, hasEnded(overlaid?.status ?? run.status), 'visible');

  const weight = smoothings[chart.smoothing] ?? 0;
  const own = curveSeries(curves, weight, overlaid ? (run.display_name ?? runId) : '');
  const laidOver = overlaid ? curveSeries(other, weight, overlaid.display_name ?? overlaid.training_run_id) : [];
  const series: readonly ChartSeries[] =
    own.length > 0 || !curves.missing ? [...own, ...laidOver] : progressSeries(remembered.progressOf(runId));
  const readTo = overlaid ? undefined : lastStepRead(curves.trainer, completed);
  const reset = (): void => {
    dispatch({ kind: 'reset' });
    setOverlaid(undefined);
  };
  const choose = (): void =>
    shell.showOverlay('overlay', close => <OverlayWindow run={run} onChoose={setOverlaid} onClose={close} />);
  return {
    lines: (width, height, theme) => chartLines({ series, own, chart, readTo }, width, height, theme),
    bindings: [
      ...chartBindings(chart, dispatch, xsOf(series)),
      { command: chartCommands.smooth, run: () => dispatch({ kind: 'smooth' }), enabled: own.length > 0 },
      { command: chartCommands.reset, run: reset },
      { command: chartCommands.overlay, run: choose, enabled: run.bench_id != null },
    ],
  };
}

interface DrawnCurves {
  readonly series: readonly ChartSeries[];
  /** The series of the run itself. */
  readonly own: readonly ChartSeries[];
  readonly chart: ChartState;
  /** The last step of the trainer's curve, if it lags behind. */
  readonly readTo: number | undefined;
}

/** The chart with its notes and its legend; a sparkline if there is no room. */
function chartLines(
  { series, own, chart, readTo }: DrawnCurves,
  width: number,
  height: number,
  theme: Theme,
): string[] {
  const legend = legendLines(series, chart.crosshair, width, theme);
  const chartHeight = height - legend.length - 1;
  if (chartHeight < smallestChart) {
    const small = height > legend.length ? smallCurve(own.length > 0 ? own : series, width, theme) : [];
    return [...small, ...legend].slice(0, height);
  }
  const { lines, binWidth } = drawChart(series, {
    ...{ width, height: chartHeight, theme },
    xRange: chart.zoom,
    crosshair: chart.crosshair,
  });
  const weight = smoothings[chart.smoothing] ?? 0;
  const notes = [
    ...(readTo === undefined ? [] : [`trainer curve read up to step ${readTo}`]),
    ...(binWidth !== undefined && binWidth > 1 ? [`${Math.round(binWidth)} steps per point (mean)`] : []),
    ...(weight > 0 ? [`smoothed ${weight}`] : []),
  ];
  return [theme.styles.muted(notes.join(', ')), ...lines, ...legend];
}

/** The keys of the crosshair and of the zoom. */
function chartBindings(
  { zoom }: ChartState,
  dispatch: Dispatch<ChartAction>,
  xs: readonly number[],
): readonly Binding[] {
  const enabled = xs.length > 0;
  const move = (by: number) => () => dispatch({ kind: 'move', by, xs });
  const zoomBy = (factor: number) => () => dispatch({ kind: 'zoom', factor, xs });
  return [
    { command: chartCommands.left, run: move(-1), enabled },
    { command: chartCommands.right, run: move(1), enabled },
    { command: chartCommands.zoomIn, run: zoomBy(0.5), enabled },
    { command: chartCommands.zoomOut, run: zoomBy(2), enabled: zoom !== undefined },
  ];
}
