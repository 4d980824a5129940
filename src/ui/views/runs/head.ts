/** The lines above the trajectories of a run: its status, how far it is, and its mean with what it is the mean of. Pure. */
import type { EvalProgress, EvalRun } from '../../../contract/evaluations.ts';
import { hasEnded } from '../../../contract/status.ts';
import { counted, reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { type Bin, histogram } from '../../../text/statistics.ts';
import { truncate } from '../../../text/width.ts';
import { histogramLines, progressBar, sparkline } from '../../widgets/bars.ts';
import { statusStyle, statusText } from '../../widgets/status.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';
import type { RewardSummary } from './reward-summary.ts';

const mostBins = 10;
/** Height of a pane from which the distribution has a line for each bin. */
const tall = 25;

/** What a run has come to so far, or in the end. */
export interface RunOutcome {
  readonly mean: number | undefined;
  /** Rewards that the mean is of; undefined where only the mean is known. */
  readonly graded: number | undefined;
  /** The mean of the rewards that are listed, where the service's own is another. */
  readonly listed: number | undefined;
  readonly ended: boolean;
}

/**
 * The mean of a run. While it runs, it is that of the rewards that are shown; in the end the service says what the mean
 * is. Where there are no rewards, the progress says what it is so far.
 */
export function outcomeOf(
  run: EvalRun,
  progress: EvalProgress | undefined,
  rewards: RewardSummary | undefined,
): RunOutcome {
  const live = progress?.live;
  const ended = hasEnded(run.status);
  const final = ended ? (run.reward_mean ?? live?.final_reward_mean) : undefined;
  if (rewards !== undefined && rewards.values.length > 0) {
    const mean = final ?? rewards.mean;
    const listed = reward(mean) === reward(rewards.mean) ? undefined : rewards.mean;
    return { mean, graded: rewards.values.length, listed, ended };
  }
  const mean = final ?? (ended ? undefined : live?.provisional_reward_mean) ?? undefined;
  return { mean, graded: live?.scored_rollouts ?? undefined, listed: undefined, ended };
}

/** `mean 0.143 of 8 graded`; what is not the end yet says so. */
export function meanWords(outcome: RunOutcome): readonly [label: string, value: string, of: string] {
  const { mean, graded, listed, ended } = outcome;
  const other = listed === undefined ? '' : `, ${reward(listed)} by the rewards listed`;
  const of = graded === undefined || mean === undefined ? '' : `of ${graded} graded${other}`;
  return [ended ? 'mean' : 'mean so far', reward(mean), of];
}

/** Name, status with progress, and the mean with what is missing from it. */
export function summaryLines(
  run: EvalRun,
  progress: EvalProgress | undefined,
  rewards: RewardSummary | undefined,
  width: number,
  theme: Theme,
): string[] {
  const { styles } = theme;
  const status = sanitiseLine(run.status ?? 'unknown');
  const ended = hasEnded(run.status);
  // The rewards may be newer than the progress.
  const unreadable = rewards?.unreadable ?? 0;
  const listed = rewards ? rewards.values.length + rewards.missing + unreadable : 0;
  const done = progress?.terminal_rollouts == null ? undefined : Math.max(progress.terminal_rollouts, listed);
  const total = progress?.total_rollouts ?? undefined;
  const counts =
    done === undefined ? '' : `${done} of ${total === undefined ? '? rollouts' : counted(total, 'rollout')}`;
  const barWidth = Math.max(10, Math.min(40, width - 40));
  const failed = progress?.live?.failed_rollouts ?? 0;
  // While a run is not over, what has no entry is still to come.
  const missing = rewards ? (ended ? rewards.total - rewards.values.length - unreadable : rewards.missing) : 0;
  const without = Math.max(0, missing - failed);
  const [label, mean, of] = meanWords(outcomeOf(run, progress, rewards));
  return [
    styles.title(truncate(sanitiseLine(run.display_name ?? run.eval_run_id), width)),
    [
      statusStyle(status, theme)(statusText(status, theme)),
      done !== undefined && total ? progressBar(done / total, barWidth, theme) : '',
      counts,
    ]
      .filter(Boolean)
      .join('  '),
    [
      `${label} ${styles.strong(mean)}${of === '' ? '' : styles.muted(` ${of}`)}`,
      failed > 0 ? styles.danger(`${failed} failed`) : '',
      without > 0 ? styles.warning(`${without} without a reward`) : '',
      unreadable > 0 ? styles.warning(`${counted(unreadable, 'reward')} could not be read`) : '',
    ]
      .filter(Boolean)
      .join('  '),
  ];
}

/** The distribution of the rewards: as bars where there is room, else as one line. */
export function distributionLines(values: readonly number[], height: number, width: number, theme: Theme): string[] {
  const bins: readonly Bin[] = histogram(values, mostBins);
  const [first] = bins;
  const last = bins.at(-1);
  if (!first || !last) return [];
  if (height >= tall) return histogramLines(bins, Math.min(width, 60), axisNumber, theme);
  const levels = sparkline(
    bins.map(bin => bin.count),
    bins.length,
    theme,
  );
  const [low, high] = [axisNumber(first.low), axisNumber(last.high)];
  return [`${theme.styles.muted('rewards')} ${low} ${theme.styles.accent(levels)} ${high}`];
}

/** A round number as short as it is. */
function axisNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}
