/** One evaluation run: how far it is, what it scored, and its trajectories, the worst first. */
import { Box } from 'ink';
import { useMemo } from 'react';
import type { EvalProgress, EvalRun } from '../../../contract/evaluations.ts';
import { hasEnded } from '../../../contract/status.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import {
  evalProgressQuery,
  evalRunQuery,
  evaluationKeys,
  rolloutStatisticsQuery,
  trajectoryRewardsQuery,
} from '../../../queries/evaluations.ts';
import { trajectoriesOfRun, trajectoryKeys } from '../../../queries/trajectories.ts';
import { useLive } from '../../../queries/use-live.ts';
import { useRefreshOnce } from '../../../queries/use-refresh-once.ts';
import { reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { type Bin, histogram } from '../../../text/statistics.ts';
import { truncate } from '../../../text/width.ts';
import { usePane } from '../../app/panes.tsx';
import { useShell } from '../../app/shell-context.tsx';
import type { ViewProps } from '../../app/view-definition.ts';
import { histogramLines, progressBar, sparkline } from '../../widgets/bars.ts';
import { factLines } from '../../widgets/facts.ts';
import { statusStyle, statusText } from '../../widgets/status.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { faultLines } from '../shared/fault-note.tsx';
import { Lines } from '../shared/lines.tsx';
import { ResourceList } from '../shared/resource-list.tsx';
import { trajectoryColumns } from '../trajectories/columns.ts';
import { trajectoryFacts, trajectoryPlace } from '../trajectories/facts.ts';
import { runFacts } from './facts.ts';
import { type RewardSummary, summariseRewards } from './reward-summary.ts';
import { knobStatistics, statisticsLines } from './statistics.ts';
import { useRunActions } from './use-run-actions.tsx';

const worstFirst = { column: 'reward', descending: false } as const;
const histogramBins = 10;

/** The lines above the trajectories: status, progress, the mean of how many of how many. */
function summaryLines(
  run: EvalRun,
  progress: EvalProgress | undefined,
  rewards: RewardSummary | undefined,
  width: number,
  theme: Theme,
): string[] {
  const { styles } = theme;
  const status = sanitiseLine(progress?.status ?? run.status ?? 'unknown');
  const done = progress?.terminal_rollouts ?? undefined;
  const total = progress?.total_rollouts ?? undefined;
  const share = done !== undefined && total ? done / total : undefined;
  const counts = done === undefined ? '' : `${done} of ${total ?? '?'} rollouts`;
  const live = progress?.live;
  const mean = hasEnded(status)
    ? (run.reward_mean ?? live?.final_reward_mean ?? rewards?.mean)
    : (live?.provisional_reward_mean ?? rewards?.mean);
  const scored = rewards ? `${rewards.values.length} of ${Math.max(rewards.total, total ?? 0)} scored` : '';
  const failed = live?.failed_rollouts ? styles.danger(`${live.failed_rollouts} failed`) : '';
  const barWidth = Math.max(10, Math.min(40, width - 40));
  return [
    styles.title(truncate(sanitiseLine(run.display_name ?? run.eval_run_id), width)),
    [
      statusStyle(status, theme)(statusText(status, theme)),
      share === undefined ? '' : progressBar(share, barWidth, theme),
      counts,
    ]
      .filter(Boolean)
      .join('  '),
    [`${hasEnded(status) ? 'mean' : 'mean so far'} ${styles.strong(reward(mean))}`, styles.muted(scored), failed]
      .filter(Boolean)
      .join('  '),
  ];
}

/** The distribution of the rewards: as bars where there is room, else as one line. */
function rewardLines(bins: readonly Bin[], height: number, width: number, theme: Theme): string[] {
  const [first] = bins;
  const last = bins.at(-1);
  if (!first || !last) return [];
  if (height > 24) return histogramLines(bins, Math.min(width, 60), reward, theme);
  const levels = sparkline(
    bins.map(bin => bin.count),
    bins.length,
    theme,
  );
  return [`${theme.styles.muted('rewards')} ${reward(first.low)} ${theme.styles.accent(levels)} ${reward(last.high)}`];
}

function endOfRunKeys(runId: string): readonly (readonly unknown[])[] {
  return [
    evaluationKeys.one(runId),
    evaluationKeys.rewards(runId),
    evaluationKeys.statistics(runId),
    trajectoryKeys.list({ eval_run_id: runId }),
  ];
}

export function RunView({ location }: ViewProps) {
  const runId = location.params['eval_run_id'] ?? '';
  const shell = useShell();
  const pane = usePane('main');
  const inspector = usePane('inspector');
  const theme = useTheme();
  const run = useLive(evalRunQuery(runId), pane.attention);
  const progress = useLive(evalProgressQuery(runId), pane.attention);
  const ended = hasEnded(progress.data?.status ?? run.data?.status);
  const rewards = useLive(trajectoryRewardsQuery(runId, ended), pane.attention);
  const statistics = useLive(rolloutStatisticsQuery(runId, ended), 'visible');
  const source = useMemo(() => trajectoriesOfRun(runId, ended), [runId, ended]);
  // What was read while the run went on is not its end yet.
  useRefreshOnce(ended, endOfRunKeys(runId));
  const runActions = useRunActions({ onDeleted: () => shell.navigate({ kind: 'up' }) });

  const known: EvalRun = run.data ?? {
    eval_run_id: runId,
    display_name: location.params['name'],
    bench_id: location.params['bench_id'],
  };
  // The record may be older than the progress: what has ended there has ended.
  const shown: EvalRun = { ...known, status: progress.data?.status ?? known.status };
  const summary = rewards.data && summariseRewards(rewards.data, progress.data?.total_rollouts);
  const bins = summary && summary.values.length > 0 ? histogram(summary.values, histogramBins) : [];
  const room = pane.width - 2;
  const faults = [run.fault, progress.fault].filter(fault => fault && !fault.unlisted).slice(0, 1);
  const lines = [
    ...summaryLines(shown, progress.data, summary, room, theme),
    ...(shown.failure?.message
      ? [theme.styles.danger(truncate(sanitiseLine(`failed: ${shown.failure.message}`), room))]
      : []),
    ...faults.flatMap(fault => (fault ? faultLines(fault, room, theme).slice(0, 2) : [])),
    ...rewardLines(bins, pane.height, room, theme),
    '',
  ].map(line => ` ${line}`);

  return (
    <ResourceList<Trajectory>
      source={source}
      columns={trajectoryColumns}
      emptyWords={ended ? 'This run recorded no trajectories' : 'No rollout has ended yet'}
      sort={worstFirst}
      open={row => trajectoryPlace(row)}
      facts={trajectoryFacts}
      header={{ height: lines.length, node: <Lines lines={lines} width={pane.width} height={lines.length} /> }}
      bindings={runActions([shown])}
      thing={{
        id: runId,
        json: shown,
        pin: { kind: 'run', id: runId, label: shown.display_name ?? runId },
        sibling: { view: 'run', param: 'eval_run_id' },
      }}
      details={(_row, box) => {
        const about = [
          '',
          ...statisticsLines(knobStatistics(statistics.data?.snapshots ?? []), box.width, theme),
          '',
          theme.styles.header('RUN'),
          ...factLines(runFacts(shown), inspector.width - 2, theme),
        ];
        return (
          <Box>
            <Lines lines={about} width={box.width} height={Math.min(about.length, box.height)} />
          </Box>
        );
      }}
    />
  );
}
