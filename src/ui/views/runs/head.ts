/** The lines above a run's trajectories: its status, its progress, and its mean with the number of rewards. Pure. */
import { stripVTControlCharacters } from 'node:util';
import { type Bin, histogram } from '../../../base/statistics.ts';
import type { EvalProgress } from '../../../contract/evaluations.ts';
import { hasEnded } from '../../../contract/status.ts';
import { rolloutsDone } from '../../../queries/evaluations.ts';
import type { LineState } from '../../../resources/line-state.ts';
import type { MeasuredRun } from '../../../resources/measured-run.ts';
import type { RewardSummary } from '../../../resources/run-outcome.ts';
import { describeNoReward, describeOutcome, failedAmong, outcomeOf } from '../../../resources/run-outcome.ts';
import { cautionOf } from '../../../resources/runs.ts';
import { counted, countOf } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { sparkline } from '../../../text/sparkline.ts';
import { clockOrDay } from '../../../text/time.ts';
import { displayWidth, truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { histogramLines, progressBar } from '../../widgets/bars.ts';
import { noStatus, styledStatus } from '../../widgets/status.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';

const maxBins = 10;
/** Minimum pane height at which the distribution has a line for each bin. */
const tall = 25;

/** A note on a run without a status, which may have ended if no new rewards arrive. */
function describeNoStatus(rewards: RewardSummary | undefined, rewardedAt: number | undefined): string {
  const isQuiet = rewardedAt !== undefined && (rewards?.values.length ?? 0) > 0;
  return `${noStatus}${isQuiet ? `; no new reward since ${clockOrDay(rewardedAt)}` : ''}`;
}

/** The parts in as few lines as possible. Cuts none: each may end with a number. */
function inLines(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts.filter(Boolean)) {
    const joined = `${lines.at(-1)}  ${part}`;
    const fits = lines.length > 0 && displayWidth(stripVTControlCharacters(joined)) <= width;
    if (fits) lines.pop();
    lines.push(fits ? joined : part);
  }
  return lines;
}

/** A bar, and how many rollouts are done; empty if that is unknown. */
function progressParts(
  progress: EvalProgress | undefined,
  rewards: RewardSummary | undefined,
  width: number,
  theme: Theme,
): readonly string[] {
  const ran = progress && rolloutsDone(progress);
  if (ran === undefined) return [];
  // The rewards may be newer than the progress.
  const listed = rewards ? rewards.values.length + rewards.missing + (rewards.unreadable ?? 0) : 0;
  const done = Math.max(ran, listed);
  const total = countOf(progress?.total_rollouts);
  const barWidth = Math.max(10, Math.min(40, width - 40));
  const of = total === undefined ? '? rollouts' : counted(total, 'rollout');
  return [total ? progressBar(done / total, barWidth, theme) : '', `${done} of ${of}`];
}

/** The mean, how many rollouts have no reward, and how many answers were cut off. */
function meanParts(
  { status }: MeasuredRun,
  outcome: ReturnType<typeof outcomeOf>,
  progress: EvalProgress | undefined,
  rewards: RewardSummary | undefined,
  { styles }: Theme,
): readonly string[] {
  const ended = hasEnded(status);
  const unreadable = rewards?.unreadable ?? 0;
  const failed = progress?.live?.failed_rollouts ?? rewards?.failed ?? 0;
  // While a run continues, unlisted rollouts are pending.
  const missing = rewards ? (ended ? rewards.total - rewards.values.length - unreadable : rewards.missing) : 0;
  const without = Math.max(0, missing);
  const isAmong = failed <= without;
  const [label, mean, of] = describeOutcome(outcome);
  const hasNone = outcome.mean === undefined && !ended;
  const meanText = `${label} ${styles.strong(mean)}${of === '' ? '' : styles.muted(` ${of}`)}`;
  return [
    hasNone ? styles.muted(describeNoReward(outcome, without, failed)) : meanText,
    without > 0 && !hasNone ? styles.warning(`${without} without a reward${failedAmong(without, failed)}`) : '',
    failed > 0 && !isAmong ? styles.danger(`${failed} failed`) : '',
    unreadable > 0 ? styles.warning(`${counted(unreadable, 'reward')} could not be read`) : '',
    outcome.full ? styles.muted(`full reward ${outcome.full}`) : '',
    rewards?.cutOff ? styles.warning(rewards.cutOff) : '',
  ];
}

interface SummarisedRun {
  readonly run: MeasuredRun;
  readonly progress?: EvalProgress | undefined;
  readonly rewards?: RewardSummary | undefined;
  /** How certain the mean is, in words. */
  readonly certainty?: string;
  /** When the last new reward arrived, in epoch milliseconds. */
  readonly rewardedAt?: number | undefined;
  /** The run's state in Watch, if it is in alarm. */
  readonly alarm?: LineState | undefined;
}

/** Name, status and progress, the mean and how many rewards are missing, and how certain the mean is. */
export function summaryLines(
  { run, progress, rewards, certainty = '', rewardedAt, alarm }: SummarisedRun,
  width: number,
  theme: Theme,
): string[] {
  const { styles } = theme;
  const outcome = outcomeOf(run, progress, rewards);
  const caution = outcome.mean === undefined ? undefined : cautionOf(run);
  const wrapped = (text = '', style: (line: string) => string): string[] =>
    text === '' ? [] : wrap(text, width).map(line => style(line));
  // The time comes last, and must not be cut off.
  const noStatus = wrap(describeNoStatus(rewards, rewardedAt), width);
  const lastUnsaid = noStatus.pop();
  const status = styledStatus(run.status, theme, lastUnsaid, alarm);
  return [
    styles.title(truncate(sanitiseLine(run.display_name ?? run.eval_run_id), width)),
    ...(run.status == null ? noStatus.map(line => styles.muted(line)) : []),
    [status, ...progressParts(progress, rewards, width, theme)].filter(Boolean).join('  '),
    ...inLines(meanParts(run, outcome, progress, rewards, theme), width),
    ...wrapped(certainty, styles.muted),
    ...wrapped(rewards?.contradictions, styles.warning),
    ...wrapped(caution, styles.warning),
  ];
}

/** How the rewards are distributed: as bars if there is room, otherwise as one line. */
export function distributionLines(values: readonly number[], height: number, width: number, theme: Theme): string[] {
  const bins: readonly Bin[] = histogram(values, maxBins);
  const [first] = bins;
  const last = bins.at(-1);
  if (!first || !last) return [];
  if (height >= tall) return histogramLines(bins, Math.min(width, 60), axisNumber, theme);
  const title = theme.styles.muted('rewards');
  // A chart with a single bar is useless.
  if (first.low === last.high) return [`${title} ${first.count > 1 ? 'all ' : ''}${axisNumber(first.low)}`];
  const levels = sparkline(
    bins.map(bin => bin.count),
    bins.length,
    theme.glyphs.levels,
  );
  const [low, high] = [axisNumber(first.low), axisNumber(last.high)];
  return [`${title} ${low} ${theme.styles.accent(levels)} ${high}`];
}

/** The shortest exact form of a round number. */
function axisNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}
