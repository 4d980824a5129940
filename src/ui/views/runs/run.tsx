/** An evaluation run: its progress, its score, and its trajectories, worst first. */

import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { EvalRun } from '../../../contract/evaluations.ts';
import { hasEnded } from '../../../contract/status.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { describeNote, noteFacts } from '../../../present/notes.ts';
import { evalProgressQuery, evalRunQuery, rolloutsDone } from '../../../queries/evaluations.ts';
import { heldOutMeans } from '../../../queries/held-out.ts';
import { failedOf } from '../../../queries/own-rows.ts';
import type { Attention } from '../../../queries/polling.ts';
import { extentOfRecord } from '../../../queries/run-extent.ts';
import { meanAsRecorded, runMeanOf } from '../../../queries/run-mean.ts';
import { runResultsQuery } from '../../../queries/run-results.ts';
import { unknownResource } from '../../../queries/statuses/known-resource.ts';
import { heldOutRewardsQuery } from '../../../queries/training-curves.ts';
import { rewardsSoFar, trajectoriesOfRun, withRewards } from '../../../queries/trajectories.ts';
import { cutOffMessage } from '../../../resources/answer-ends.ts';
import { describeNoneSeen } from '../../../resources/define.ts';
import { statedFacts } from '../../../resources/line-state.ts';
import type { MeasuredRun } from '../../../resources/measured-run.ts';
import type { Place } from '../../../resources/place.ts';
import { describeCertainty } from '../../../resources/run-mean.ts';
import { outcomeOf, summariseRewards } from '../../../resources/run-outcome.ts';
import { baselineCommand, runActions, runFacts, runs } from '../../../resources/runs.ts';
import { trajectories, trajectoryFacts } from '../../../resources/trajectories.ts';
import { isNotOffered } from '../../../service/errors.ts';
import { isWhole } from '../../../store/lists.ts';
import type { Note } from '../../../store/notes.ts';
import { atStatus, rememberedAt } from '../../../store/seen.ts';
import { counted, countOf } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { useDeleted } from '../../app/error-note.tsx';
import type { Size } from '../../app/layout.ts';
import { useLoadingText } from '../../app/loading.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useListed, useListedRows } from '../../data/use-list.ts';
import { useLastAnswer, useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { RunAlarms } from '../alarms-window.tsx';
import { alarmCommands } from '../commands.ts';
import { useListProps } from '../list/list-view.tsx';
import { ResourceList } from '../list/resource-list.tsx';
import { useRecordWithParts } from '../record/record-with-parts.ts';
import { ownerReport } from '../record/rollout-files.ts';
import { useActions } from '../record/use-actions.tsx';
import type { FactsPart } from '../record/use-references.ts';
import { markTwo, onRollouts, pairBinding, rolloutBindings, rolloutMenu } from '../tasks/rollout-bindings.ts';
import { useRolloutList } from '../tasks/use-rollout-list.ts';
import { TrajectoryPreview } from '../trajectories/preview.tsx';
import { useNotes } from '../triage/use-triage.tsx';
import { distributionLines, summaryLines } from './head.ts';
import { knobStatistics, statisticsLines } from './statistics.ts';
import { useRegradeBinding } from './use-regrade-binding.tsx';
import { useBaselineBinding } from './use-run-list.ts';

const { compare: runCompare } = runActions;
const noRows: readonly Trajectory[] = [];
const rewardColumnIds: readonly string[] = ['reward'];
/** Other commands in the menu of actions. */
const inMenu = [...rolloutMenu, baselineCommand, alarmCommands.past];
const worstFirst = { column: 'reward', descending: false } as const;

/** A run: its record, its progress and its rewards. */
function useRun({ id, label, parent }: Place<'record'>, attention: Attention) {
  const { compare, statuses } = useWorkbench();
  const last = useLastAnswer()(runResultsQuery(id, false));
  const read = useMemo(() => last && meanAsRecorded(last.rewards), [last]);
  const record = useLive(evalRunQuery(id, read), attention);
  const progress = useLive(evalProgressQuery(id, read), attention);
  const known: EvalRun = record.data ?? { eval_run_id: id, display_name: label, bench_id: parent };
  // The record may be older than the progress, so either can show that the run has ended.
  const status = progress.data?.status ?? known.status;
  const training = known.parent_checkpoint_id && known.split ? known.training_run_id : undefined;
  const heldOut = useLive(heldOutRewardsQuery(training ?? '', true), training ? attention : 'hidden');
  const shown = atStatus(known, status);
  const measured: MeasuredRun = { ...shown, held_out_split: heldOutMeans(heldOut.data ?? [])?.best.split };
  const deleted = useDeleted('run', id) !== undefined;
  const ended = deleted || hasEnded(shown.status);
  const total = countOf(progress.data?.total_rollouts) ?? countOf(known.total_rollouts);
  const isKnown = record.data !== undefined && (progress.data !== undefined || isNotOffered(progress.error));
  // If the service has no record, the mean comes from the rewards as first read.
  const isRecord = known.status != null && rememberedAt(known) === undefined;
  const reward_mean = (isRecord ? known.reward_mean : undefined) ?? progress.data?.live?.final_reward_mean;
  const { samplesPerTask, recorded, endedAt } = extentOfRecord({ ...known, reward_mean });
  const extent = isKnown ? { status, total, samplesPerTask, recorded, endedAt } : undefined;
  const scored = progress.data?.live?.scored_rollouts;
  const source = useMemo(() => trajectoriesOfRun(id, ended), [id, ended]);
  // The rows may be newer than the rewards, and a lower count would look like an error.
  const list = useListed(source);
  const rows = list?.rows ?? noRows;
  const results = useLive(runResultsQuery(id, ended, { scored, rows, extent }), attention);
  const state = useRecordWithParts({ kind: 'run', id }, [record, progress], [results]);
  const { rewards, listed } = results.data ?? {};
  const graded = ended ? rewards : rewardsSoFar(rewards, rows);
  const failed = failedOf(rows).length;
  const isListed = isWhole(list);
  const cutOff = useMemo(() => cutOffMessage(rows, isListed), [rows, isListed]);
  const summary = graded && {
    ...summariseRewards(graded, total, results.data?.unreadable, compare.rewardRange),
    failed,
    cutOff,
  };
  const outcome = outcomeOf(shown, progress.data, summary);
  const { mean } = outcome;
  return {
    ...{ shown, measured, ended, state, source, rewards, summary, outcome },
    ...{ results: results.data, progress: progress.data },
    certainty: useMemo(
      () =>
        graded
          ? describeCertainty(
              runMeanOf(graded, { status, total, samplesPerTask, listed, failed, range: compare.rewardRange }),
              mean,
            )
          : '',
      [graded, status, total, samplesPerTask, listed, failed, mean, compare],
    ),
    rewardedAt: useSyncExternalStore(statuses.subscribe, () => statuses.get({ kind: 'run', id })?.gradedAt),
    parts: [record, progress, results],
  };
}

type Run = ReturnType<typeof useRun>;

export function RunView({ place }: ViewProps<'record'>) {
  const shell = useShell();
  const pane = usePane('main');
  const theme = useTheme();
  const run = useRun(place, pane.attention);
  const { shown, state, rewards } = run;
  const join = useCallback((rows: readonly Trajectory[]) => withRewards(rows, rewards), [rewards]);
  const actionsOf = useActions(runs, { onRemoved: () => shell.navigate({ kind: 'up' }) });
  const baseline = useBaselineBinding();
  const regrade = useRegradeBinding();
  const notes = useNotes().get(place.id);
  const listed = useListedRows(run.source);
  const list = useRolloutList(
    trajectories.columns,
    trajectoryFacts,
    useMemo(() => join(listed), [join, listed]),
  );
  const pin = { kind: 'run', id: place.id, label: shown.display_name ?? place.id };
  const { statuses } = useWorkbench();
  const showAlarms = (): void => {
    const known = statuses.get(pin) ?? unknownResource(pin, pin.label);
    const { mean = known.mean, graded = known.graded } = run.outcome;
    const seen = { ...known, mean, graded, parent: known.parent ?? shown.bench_id ?? undefined };
    shell.showOverlay('alarms', close => <RunAlarms run={seen} onClose={close} />);
  };
  return (
    <ResourceList<Trajectory>
      {...useListProps(trajectories)}
      {...list}
      whole={{ pin, json: shown, state }}
      source={run.source}
      parts={run.parts}
      emptyText={isUnlisted => (isUnlisted ? describeNoneSeen(trajectories) : describeEmpty(run))}
      initial={{ sort: worstFirst }}
      join={join}
      preview={TrajectoryPreview}
      keepsPreview
      files={rows => [...ownerReport('runs', place.id, shown), ...list.files(rows)]}
      joined={rewardColumnIds}
      header={useHead(run, pane)}
      texts={{ scope: { run: place.id }, label: pin.label }}
      actions={rows => {
        // Compares two marked rollouts, not the run.
        const isPair = rows.length === 2;
        const ofRun = state.isDeleted ? [] : actionsOf([shown]);
        const others = ofRun.filter(({ command }) => !isPair || command.id !== runCompare.id);
        const own = isPair ? [pairBinding(rows, markTwo, shell.open), ...others] : others;
        return [...own, ...onRollouts(rows, list.flags(rows))];
      }}
      menu={{ title: `run ${pin.label}`, commands: inMenu }}
      bindings={({ filter }) => [
        ...(state.isDeleted ? [] : [baseline([shown]), regrade(runs, [shown])]),
        { command: alarmCommands.past, run: showAlarms },
        ...rolloutBindings({ scope: { run: place.id }, label: pin.label, filter }, shell.open),
      ]}
      about={width => aboutRun(run, notes, width, theme)}
    />
  );
}

function describeEmpty({ state, ended, progress, rewards }: Run): string {
  if (!state.isRead) return 'It could not be read';
  if (rewards === undefined) return 'No rollouts to show';
  if (ended) return 'This run recorded no trajectories';
  return progress && rolloutsDone(progress) === 0 ? 'No rollout has ended yet' : 'No rollout has a reward yet';
}

/** The lines above the trajectories. */
function useHead(
  { shown, measured, state, progress, summary, certainty, rewardedAt }: Run,
  pane: Size,
): readonly string[] {
  const theme = useTheme();
  const asking = useLoadingText();
  const width = pane.width - 2;
  const notes = describeNote(useNotes().get(shown.eval_run_id));
  const title = truncate(sanitiseLine(shown.display_name ?? shown.eval_run_id), width);
  return [
    ...(state.isRead
      ? summaryLines(
          { run: measured, progress, rewards: summary, certainty, rewardedAt, alarm: state.alarm },
          width,
          theme,
        )
      : [theme.styles.title(title), ...(state.isUnread ? [theme.styles.muted(asking)] : [])]),
    ...state.problems(shown.failure?.message, width),
    ...(notes.length > 0 ? [theme.styles.warning(truncate(notes.join('  ·  '), width))] : []),
    ...distributionLines(summary?.values ?? [], pane.height, width, theme),
    '',
  ];
}

/** Statistics for the rollouts, and facts about the run. */
function aboutRun(
  { measured, state, outcome, certainty, results }: Run,
  notes: readonly Note[] | undefined,
  width: number,
  theme: Theme,
): FactsPart {
  const { snapshots = [], unreadSnapshots = 0, statisticsError } = results ?? {};
  const lines = [
    '',
    ...(unreadSnapshots > 0 ? [theme.styles.warning(`${counted(unreadSnapshots, 'snapshot')} could not be read`)] : []),
    ...(results ? statisticsLines(knobStatistics(snapshots), width, theme, statisticsError) : []),
    '',
    theme.styles.header('RUN'),
  ];
  const facts = state.isRead ? statedFacts(runFacts(measured, outcome, certainty), state.alarm) : [];
  return { lines, facts: [...noteFacts(notes), ...facts] };
}
