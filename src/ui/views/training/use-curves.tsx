/** The chart for one or several training runs, with its keys. */

import { type Dispatch, useEffect, useReducer } from 'react';
import { lastAt } from '../../../base/binary-search.ts';
import { emptyCurve, type TrainerCurve } from '../../../contract/trainer-curve.ts';
import { stepsIn } from '../../../queries/step-rewards.ts';
import { diagnosticsOf } from '../../../resources/diagnostics.ts';
import { truncate } from '../../../text/width.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import type { Binding } from '../../keys/router.tsx';
import { useMemory } from '../../navigation/memory.tsx';
import type { Range } from '../../widgets/line-chart/axis.ts';
import { drawChart } from '../../widgets/line-chart/chart.ts';
import {
  type ChartAction,
  type ChartState,
  chartReducer,
  type DrawnPlot,
  initialChartState,
  smoothings,
} from '../../widgets/line-chart/chart-state.ts';
import { type ChartSeries, extentOf } from '../../widgets/line-chart/series.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { chartCommands, teachingCommands } from '../commands.ts';
import { showNumberWindow } from '../number-window.tsx';
import { type ChartedRun, useStepTimes } from './charted-runs.ts';
import { chartNotes, gridLines, legendLines, runLegend, smallCurve, smallestChart } from './curve-lines.ts';
import { CurveTextWindow } from './curve-text-window.tsx';
import {
  byMinutes,
  type CurveKinds,
  curveKinds,
  curveSeries,
  diagnosticSeries,
  growingRange,
  progressSeries,
  type SeriesOptions,
} from './curves.ts';
import { stripOf, type TeachingSignal } from './teaching-strip.ts';

/** The user's choices, kept for when they come back to the view. */
interface ChartSettings {
  readonly chart: ChartState;
  /** Which curves to draw; if undefined, that depends on the number of runs. */
  readonly kinds: CurveKinds | undefined;
  /** Whether the chart takes over the height of the rows below it. */
  readonly isFull: boolean;
  readonly byTime: boolean;
  /** Whether each run has its own chart. */
  readonly isGrid: boolean;
}

const initialSettings: ChartSettings = {
  chart: initialChartState,
  kinds: undefined,
  isFull: false,
  byTime: false,
  isGrid: false,
};

type SettingsAction =
  | ChartAction
  /** Shows the next available kind. */
  | { readonly kind: 'kinds'; readonly shown: CurveKinds; readonly among: readonly CurveKinds[] }
  | { readonly kind: 'toggle'; readonly what: 'isFull' | 'byTime' | 'isGrid' };

function settingsReducer(settings: ChartSettings, action: SettingsAction): ChartSettings {
  switch (action.kind) {
    case 'kinds': {
      const { among, shown } = action;
      return { ...settings, kinds: among[(among.indexOf(settings.kinds ?? shown) + 1) % among.length] };
    }
    case 'toggle': {
      const toggled = { ...settings, [action.what]: !settings[action.what] };
      // The zoom and the crosshair are in units of the old axis: steps or minutes.
      const { chart } = settings;
      return action.what === 'byTime'
        ? { ...toggled, chart: { ...chart, zoom: undefined, crosshair: undefined } }
        : toggled;
    }
    default: {
      const chart = chartReducer(settings.chart, action);
      return chart === settings.chart ? settings : { ...settings, chart };
    }
  }
}

interface CurvesOptions {
  readonly width: number;
  /** How many lines the chart and its legend get. */
  readonly heightFor: (isFull: boolean) => number;
  /** The last step of the first run's curve, if the curve lags behind. */
  readonly lag?: number | undefined;
  /** Whether the chart has the pane to itself, and so can be a grid with a chart for each run. */
  readonly hasGrid?: boolean;
  /** A single run's teaching signal, shown below its curves. */
  readonly teaching?: TeachingSignal | undefined;
  /** Opens a step of the first run. */
  readonly openStep?: (step: number) => void;
  /** Called when the view is reset. */
  readonly onReset?: () => void;
}

/** All runs' series, the first run's first. */
function useSeries(runs: readonly ChartedRun[], settings: ChartSettings) {
  const { remembered, compare } = useWorkbench();
  const timesOf = useStepTimes(runs, settings.byTime);
  const kinds = settings.kinds ?? (runs.length > 2 && runs.some(run => run.heldOut.length > 0) ? 'held-out' : 'both');
  const optionsOf = (run: ChartedRun): SeriesOptions => ({
    smoothing: settings.chart.smoothing,
    range: compare.rewardRange,
    name: runs.length > 1 ? run.name : undefined,
    kinds,
    align: settings.byTime ? byMinutes(timesOf(run)) : undefined,
  });
  const measured = kinds === 'diagnostics';
  const panels = measured ? diagnosticSeries(runs.map(run => ({ curves: run, options: optionsOf(run) }))) : [];
  const all = measured ? panels.map(({ series }) => series) : runs.map(run => curveSeries(run, optionsOf(run)));
  const [first] = runs;
  const isObserved = first?.missing === true && all[0]?.length === 0;
  if (isObserved) all[0] = progressSeries(remembered.progress.of(first.id));
  const among = curveKinds.filter(
    kind => kind !== 'diagnostics' || runs.some(({ trainer }) => diagnosticsOf(trainer).length > 0),
  );
  return {
    kinds,
    /** The available kinds. */
    among,
    panels,
    all,
    series: all.flat(),
    /** Whether the curve was observed here, because the service has none. */
    isObserved,
  };
}

type Series = ReturnType<typeof useSeries>;

export function useCurvesView(runs: readonly ChartedRun[], options: CurvesOptions) {
  const { width, heightFor, hasGrid = false, lag } = options;
  const theme = useTheme();
  const [before, remember] = useMemory<ChartSettings>('curves');
  const [settings, dispatch] = useReducer(settingsReducer, before ?? initialSettings);
  useEffect(() => remember(settings), [remember, settings]);
  const { chart, isFull, byTime, isGrid } = settings;
  const shown = useSeries(runs, settings);
  const { series, isObserved } = shown;
  const range = rangeOf(series, runs);
  const unit = byTime || isObserved ? ' min' : '';
  const teaching = unit !== '' || runs.length > 1 ? undefined : options.teaching;
  const { lines, plotWidth } = paneLines(
    runs,
    { ...shown, chart, range, unit, byTime, lag, teaching },
    { width, height: heightFor(isFull), isGrid: isGrid && hasGrid },
    theme,
  );
  const plot: DrawnPlot = { curves: series.map(({ curve }) => curve), width: plotWidth, range };
  const windows = useCurveWindows(runs, byTime, teaching, x => dispatch({ kind: 'go', x, plot }));
  const step = stepAt(runs[0]?.trainer ?? emptyCurve, chart.crosshair);
  const bindings: readonly Binding[] = [
    ...chartBindings(chart, dispatch, plot),
    ...curveBindings(shown, dispatch, byTime ? undefined : step, windows, options),
  ];
  return { lines, bindings, isFull };
}

/** The x range for these series. Leaves room for the next points, so that a new point redraws only its own cells. */
function rangeOf(series: readonly ChartSeries[], runs: readonly ChartedRun[]): Range | undefined {
  const extent = extentOf(series.map(({ curve }) => curve));
  return extent && runs.some(({ ended }) => !ended) ? growingRange(extent) : extent;
}

/** The keys for the chart's contents and style. @param step the step under the crosshair; undefined for minutes */
function curveBindings(
  { kinds, among, isObserved, series }: Series,
  dispatch: Dispatch<SettingsAction>,
  step: number | undefined,
  windows: ReturnType<typeof useCurveWindows>,
  { hasGrid, openStep, onReset }: CurvesOptions,
): readonly Binding[] {
  const toggle = (what: 'isFull' | 'byTime' | 'isGrid') => () => dispatch({ kind: 'toggle', what });
  const hasCurves = series.length > 0;
  return [
    { command: chartCommands.go, run: windows.goTo, enabled: hasCurves },
    { command: chartCommands.smooth, run: () => dispatch({ kind: 'smooth' }), enabled: hasCurves && !isObserved },
    { command: chartCommands.scale, run: () => dispatch({ kind: 'scale' }), enabled: hasCurves },
    {
      command: chartCommands.kinds,
      run: () => dispatch({ kind: 'kinds', shown: kinds, among }),
      enabled: !isObserved,
    },
    { command: chartCommands.time, run: toggle('byTime'), enabled: !isObserved },
    { command: chartCommands.words, run: windows.words },
    ...(openStep
      ? [{ command: teachingCommands.tasks, enabled: step !== undefined, run: () => openStep(step ?? 0) }]
      : []),
    hasGrid
      ? { command: chartCommands.grid, run: toggle('isGrid') }
      : { command: chartCommands.full, run: toggle('isFull') },
    {
      command: chartCommands.reset,
      run: () => {
        dispatch({ kind: 'reset' });
        onReset?.();
      },
    },
  ];
}

/** Functions that open the curves' windows: to go to an x, and to read the curves in words. */
function useCurveWindows(
  runs: readonly ChartedRun[],
  byTime: boolean,
  teaching: TeachingSignal | undefined,
  go: (x: number) => void,
) {
  const shell = useShell();
  return {
    goTo: () => showNumberWindow(shell, byTime ? 'minute' : 'step', go),
    words: () =>
      shell.showOverlay('curve words', close => <CurveTextWindow runs={runs} teaching={teaching} onClose={close} />),
  };
}

/** The trainer curve's step at the crosshair: the newest up to it, otherwise the first. */
function stepAt(trainer: TrainerCurve, crosshair = Number.POSITIVE_INFINITY): number | undefined {
  const steps = stepsIn(trainer);
  return steps[
    Math.max(
      0,
      lastAt(steps.length, index => steps[index] ?? 0, crosshair),
    )
  ];
}

interface DrawnCurves extends Pick<Series, 'panels' | 'all' | 'series'> {
  readonly chart: ChartState;
  readonly range: Range | undefined;
  /** The unit for x; empty for steps. */
  readonly unit: string;
  readonly byTime: boolean;
  readonly lag: number | undefined;
  readonly teaching: TeachingSignal | undefined;
}

/** All curves on one chart, or in a grid: a chart for each run, or for each diagnostic. */
function paneLines(
  runs: readonly ChartedRun[],
  drawn: DrawnCurves & Pick<Series, 'isObserved'>,
  { width, height, isGrid }: { readonly width: number; readonly height: number; readonly isGrid: boolean },
  theme: Theme,
): { readonly lines: readonly string[]; readonly plotWidth: number } {
  const { panels, all, range, chart, unit, byTime } = drawn;
  const notes = { unit, byTime, weight: smoothings[chart.smoothing] ?? 0 };
  const grid = { width, height, theme, chart, notes, range };
  if (panels.length > 0) {
    const legend = runs.length > 1 ? [runLegend(runs, width, theme)] : [];
    const rows = gridLines(panels, all, { ...grid, ownAxes: true, height: Math.max(1, height - legend.length) });
    return { lines: [...rows, ...legend].slice(0, height), plotWidth: width };
  }
  if (drawn.isObserved && drawn.series.length === 0)
    return { lines: [theme.styles.muted(' No curve: this service sends no rewards')], plotWidth: width };
  if (!isGrid) return chartLines(drawn, width, height, theme);
  return { lines: gridLines(runs, all, grid), plotWidth: width };
}

/** The chart with its notes, its legend and the teaching signal; a sparkline if there is no room. */
export function chartLines(
  { series, all: [own = []], chart, range, unit, byTime, lag, teaching }: DrawnCurves,
  width: number,
  height: number,
  theme: Theme,
): { readonly lines: readonly string[]; readonly plotWidth: number } {
  const whole = legendLines(series, chart.crosshair, width, theme, unit);
  // The chart matters more than the names of all its curves.
  const legend = whole.slice(0, Math.max(1, height - smallestChart));
  const strip = teaching && series.length > 0 ? stripOf(teaching, height, width) : undefined;
  const room = height - legend.length - (strip?.height ?? 0);
  if (room < smallestChart) {
    const values = legendLines(series, chart.crosshair, width, theme, unit, false).slice(0, Math.max(1, height - 1));
    const small = height > values.length ? smallCurve(own, width, theme) : [];
    return { lines: [...small, ...values].slice(0, height), plotWidth: width };
  }
  const { crosshair, log, zoom } = chart;
  const weight = smoothings[chart.smoothing] ?? 0;
  const isCrowded = series.some(({ curve }) => curve.xs.length > 2 * width);
  const hasNotes =
    room > smallestChart + 1 &&
    (isCrowded || log || byTime || weight > 0 || lag !== undefined || series.some(({ band }) => band));
  const size = { width, height: room - (hasNotes ? 1 : 0), theme };
  const drawn = drawChart(series, { ...size, xRange: zoom ?? range, crosshair, log });
  const { lines, plotWidth, perColumn, columnOf } = drawn;
  const below = [...legend, ...(strip?.lines({ width, plotWidth, columnOf, crosshair }, theme) ?? [])];
  if (!hasNotes) return { lines: [...lines, ...below], plotWidth };
  const notes = truncate(chartNotes(series, { lag, perColumn, unit, byTime, log, weight }), width);
  return { lines: [theme.styles.muted(notes), ...lines, ...below], plotWidth };
}

/** The keys for the crosshair and the zoom. */
function chartBindings(
  { zoom }: ChartState,
  dispatch: (action: ChartAction) => void,
  plot: DrawnPlot,
): readonly Binding[] {
  const enabled = plot.curves.length > 0;
  const move = (by: number) => () => dispatch({ kind: 'move', by, plot });
  const zoomBy = (factor: number) => () => dispatch({ kind: 'zoom', factor, plot });
  return [
    { command: chartCommands.left, run: move(-1), enabled },
    { command: chartCommands.right, run: move(1), enabled },
    { command: chartCommands.farLeft, run: move(-10), enabled },
    { command: chartCommands.farRight, run: move(10), enabled },
    { command: chartCommands.zoomIn, run: zoomBy(0.5), enabled },
    { command: chartCommands.zoomOut, run: zoomBy(2), enabled: zoom !== undefined },
  ];
}
