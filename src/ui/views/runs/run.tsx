/** An evaluation run: its progress, its score, and its trajectories, worst first. */

import { Box } from 'ink';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { EvalRun } from '../../../contract/evaluations.ts';
import { hasEnded } from '../../../contract/status.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { evalProgressQuery, evalRunQuery, runResultsQuery } from '../../../queries/evaluations.ts';
import { heldOutMeans } from '../../../queries/held-out.ts';
import { heldOutRewardsQuery } from '../../../queries/training.ts';
import { rewardsSoFar, trajectoriesOfRun, withRewards } from '../../../queries/trajectories.ts';
import { useListedRows } from '../../../queries/use-list.ts';
import { useLive } from '../../../queries/use-live.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import { certaintyWords, runMeanOf } from '../../../resources/run-mean.ts';
import { outcomeOf, runFacts, runs, summariseRewards } from '../../../resources/runs.ts';
import { trajectories } from '../../../resources/trajectories.ts';
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
import { listProps } from '../shared/resource-views.tsx';
import { useActions } from '../shared/use-actions.tsx';
import { distributionLines, summaryLines } from './head.ts';
import { knobStatistics, statisticsLines } from './statistics.ts';

const rewarded: readonly string[] = ['reward'];
const worstFirst = { column: 'reward', descending: false } as const;

export function RunView({ place }: ViewProps<'record'>) {
  const runId = place.id;
  const shell = useShell();
  const pane = usePane('main');
  const inspector = usePane('inspector');
  const theme = useTheme();
  const { compare, statuses } = useWorkbench();
  const asking = useAskingWords();
  const advice = useSettingAdvice();
  const run = useLive(evalRunQuery(runId), pane.attention);
  const progress = useLive(evalProgressQuery(runId), pane.attention);
  const isRead = run.data !== undefined || progress.data !== undefined;
  const deleted = useDeleted('run', runId);
  const ended = deleted !== undefined || hasEnded(progress.data?.status ?? run.data?.status);
  const results = useLive(runResultsQuery(runId, ended), pane.attention);
  const rewards = results.data?.rewards;
  const join = useCallback((rows: readonly Trajectory[]) => withRewards(rows, rewards), [rewards]);
  const source = useMemo(() => trajectoriesOfRun(runId, ended), [runId, ended]);
  // The rows may be newer than the rewards, and a count behind them would look like an error.
  const listed = useListedRows(source);
  const graded = ended ? rewards : rewardsSoFar(rewards, listed);
  const rewardedAt = useSyncExternalStore(statuses.subscribe, () => statuses.get({ kind: 'run', id: runId })?.gradedAt);
  const runActions = useActions(runs, { onRemoved: () => shell.navigate({ kind: 'up' }) });

  const known: EvalRun = run.data ?? {
    eval_run_id: runId,
    display_name: place.label,
    bench_id: place.parent,
  };
  // The record may be older than the progress: either can show the end.
  const shown: EvalRun = { ...known, status: progress.data?.status ?? known.status };
  const training = known.parent_checkpoint_id && known.split ? known.training_run_id : undefined;
  const heldOut = useLive(heldOutRewardsQuery(training ?? '', true), training ? inspector.attention : 'hidden');
  const held_out_split = heldOutMeans(heldOut.data ?? [])?.best.split;
  const summary = graded && summariseRewards(graded, progress.data?.total_rollouts, results.data?.unreadable);
  const outcome = outcomeOf(shown, progress.data, summary);
  const { status } = shown;
  const total = progress.data?.total_rollouts;
  const certainty = useMemo(
    () => (graded ? certaintyWords(runMeanOf(graded, { status, total, range: compare.rewardRange })) : ''),
    [graded, status, total, compare],
  );
  const { snapshots = [], unreadSnapshots = 0, statisticsError } = results.data ?? {};
  const room = pane.width - 2;
  const isKept = deleted !== undefined && isRead;
  const error = isKept ? undefined : [run.error, progress.error].find(each => each && !isNotOffered(each));
  const unread = !isRead && !error && deleted === undefined;
  const lines = [
    ...(unread
      ? [theme.styles.title(truncate(sanitiseLine(known.display_name ?? runId), room)), theme.styles.muted(asking)]
      : summaryLines(shown, progress.data, summary, room, theme, certainty, rewardedAt)),
    ...(shown.failure?.message ? [theme.styles.danger(truncate(clean`failed: ${shown.failure.message}`, room))] : []),
    ...(deleted && !error ? [theme.styles.danger(truncate(`${theme.glyphs.cross} ${deleted}`, room))] : []),
    ...(error ? noteLines(error, { width: room, height: isRead ? 6 : 3 }, theme, advice) : []),
    ...distributionLines(summary?.values ?? [], pane.height, room, theme),
    '',
  ].map(line => ` ${line}`);

  return (
    <ResourceList<Trajectory>
      {...listProps(trajectories)}
      source={source}
      parts={[run, progress, results]}
      deleted={deleted !== undefined}
      emptyWords={ended ? 'This run recorded no trajectories' : 'No rollout has ended yet'}
      sort={worstFirst}
      join={join}
      joined={rewarded}
      headerError={error}
      header={lines}
      bindings={deleted ? [] : runActions([shown])}
      whole={{
        id: runId,
        json: shown,
        pin: { kind: 'run', id: runId, label: shown.display_name ?? runId },
        siblings: 'runs',
      }}
      details={(_row, box) => {
        const about = [
          '',
          ...(unreadSnapshots > 0
            ? [theme.styles.warning(`${counted(unreadSnapshots, 'snapshot')} could not be read`)]
            : []),
          ...(results.data ? statisticsLines(knobStatistics(snapshots), box.width, theme, statisticsError) : []),
          '',
          theme.styles.header('RUN'),
          ...(unread
            ? []
            : factLines(runFacts({ ...shown, held_out_split }, outcome, certainty), inspector.width - 2, theme)),
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
