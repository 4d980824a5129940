/**
 * Everything that is pinned, running, or ended and not dismissed, one line each. The program opens here if something is
 * running.
 */

import { useMemo } from 'react';
import { enumerated } from '../../base/enumerated.ts';
import { largestOf, minOf } from '../../base/many.ts';
import type { Deployment } from '../../contract/deployments.ts';
import { hasEnded, isUnknown } from '../../contract/status.ts';
import type { Command, HintRank } from '../../present/command.ts';
import { describeMean } from '../../present/mean.ts';
import { ageOf, agoOf, describeRunTime } from '../../present/times.ts';
import type { ListData } from '../../queries/lists/list-source.ts';
import { countsBeside } from '../../queries/run-mean.ts';
import { pluralName } from '../../resources/define.ts';
import { shortFacts } from '../../resources/deployments.ts';
import { describeBest, describeHeldOut } from '../../resources/describe-held-out.ts';
import { summaryOf } from '../../resources/inbox.ts';
import { alarmFacts, describeWaiting, isWaiting, stateOf } from '../../resources/line-state.ts';
import { meanOf } from '../../resources/measured-run.ts';
import { watchList } from '../../resources/rotation.ts';
import { formatIntervalBeside } from '../../resources/run-mean.ts';
import { countedLists } from '../../resources/section-counts.ts';
import {
  placeOfLine,
  recordOfLine,
  referencesOf,
  rewardName,
  uploadKind,
  type WatchedResource,
} from '../../resources/watch.ts';
import {
  groupedLines,
  groupingOf,
  groupNameOf,
  keyOfGroup,
  nextGrouping,
  toggled,
  ungrouped,
} from '../../resources/watch-groups.ts';
import { isWhole } from '../../store/lists.ts';
import { levelRange, sparkline } from '../../text/sparkline.ts';
import { isBad } from '../../workbench/inbox.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { usePaceTime } from '../app/clock.tsx';
import { useShell } from '../app/shell-context.tsx';
import { usePane } from '../app/view.tsx';
import { useInbox, useWatched } from '../data/use-watched.ts';
import { useSetting, useWorkbench } from '../data/workbench.tsx';
import { globalCommands, recordCommands } from '../keys/general.ts';
import { type Binding, useKeyOf } from '../keys/router.tsx';
import { factLines } from '../widgets/facts.ts';
import { Lines } from '../widgets/lines.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { LineAlarms } from './alarms-window.tsx';
import { alarmCommands, watchCommands } from './commands.ts';
import { useAdvise } from './list/advice.ts';
import type { PreviewProps } from './list/list-props.ts';
import { ResourceList } from './list/resource-list.tsx';
import { useActionsByKind } from './record/use-actions-by-kind.ts';
import { RunPreview } from './runs/preview.tsx';
import { TrainingPreview } from './training/preview.tsx';
import {
  curveOf,
  describeNote,
  describeReason,
  formatId,
  formatProgress,
  rewardTitle,
  shortProgress,
  watchColumns,
  wide,
} from './watch-columns.ts';

function watchReason({ pinned, endedAt, status }: WatchedResource): string {
  if (pinned) return 'pinned';
  if (endedAt !== undefined) return 'ended, not dismissed';
  return status === undefined || isUnknown(status) ? 'may be running' : 'running';
}

/** When the oldest line that has not ended was read; epoch milliseconds. */
function oldestRead(rows: readonly WatchedResource[]): number | undefined {
  const times = rows.flatMap(({ status, gone, readAt = [] }) => (gone || hasEnded(status) ? [] : readAt));
  return times.length === 0 ? undefined : minOf(times);
}

/** The columns for these lines, with all curves on the same scale, so that lines can be compared. */
function useColumns(rows: readonly WatchedResource[], room: number) {
  const { rewardRange } = useWorkbench().compare;
  const theme = useTheme();
  const [low, high] = levelRange(rows.flatMap(curveOf));
  const tellsApart = rows.some(({ apart }) => apart !== undefined);
  const widestProgress = largestOf(rows, row => shortProgress(row).length);
  const title = rewardTitle(rows);
  return useMemo(
    () =>
      watchColumns({
        room,
        range: rewardRange,
        tellsApart,
        widestProgress,
        rewardTitle: title,
        spark: (values, width) => sparkline(values, width, theme.glyphs.levels, [low, high]),
        glyphs: theme.glyphs,
      }),
    [room, rewardRange, tellsApart, widestProgress, title, theme, low, high],
  );
}

/** Shown if there are no lines. Running work may be in lists that the service does not offer, or in unread rows. */
function describeNone(workbench: Workbench): string {
  const read = countedLists.flatMap(({ resource, runs, source }) => {
    const data = runs ? workbench.cache.getQueryData<ListData<object>>(source.key) : undefined;
    return data ? [{ name: pluralName(resource), data }] : [];
  });
  const unlisted = read.filter(({ data }) => data.remembered_at !== undefined).map(({ name }) => name);
  if (unlisted.length > 0)
    return `Nothing that was seen on this machine is running or pinned; this service does not list ${enumerated(unlisted, 'or')}`;
  const isAllRead = read.every(({ data }) => isWhole(data));
  return `Nothing is running or pinned${isAllRead ? '' : ' in the rows that have been read'}`;
}

export function WatchView() {
  const workbench = useWorkbench();
  const pane = usePane('main');
  const source = useMemo(() => watchList(workbench), [workbench]);
  const [saved, keep] = useSetting<unknown>('watch.groups', ungrouped);
  const grouping = useMemo(() => groupingOf(saved), [saved]);
  const now = usePaceTime();
  const shell = useShell();
  const advise = useAdvise();
  const actionsOf = useLineActions();
  const rows = useWatched(now);
  const grouped = useMemo(() => groupedLines(rows, grouping, now), [rows, grouping, now]);
  const columns = useColumns(rows, pane.width);
  return (
    <ResourceList<WatchedResource>
      name="watch"
      source={source}
      rows={rows}
      groups={{ rows: grouped, membersOf: ({ group }) => group?.members, keepsTop: true }}
      rowsAt={oldestRead(rows)}
      header={useSummaryLines(rows)}
      columns={columns}
      emptyText={describeNone(workbench) + advise({ command: recordCommands.pin, words: 'pins a row' })}
      open={row => (row.group ? () => keep(toggled(grouping, row.id)) : placeOfLine(workbench, row))}
      facts={row => factsOfLine(workbench, row)}
      preview={LinePreview}
      below={pane.width < wide ? describeNote : describeReason}
      refOf={({ kind, id, label, group }) => ({ id, label, kind: kind === uploadKind || group ? undefined : kind })}
      actions={(targets, { current, dispatch, isGrouped }) => {
        const fold = (line: WatchedResource): void => {
          const name = groupNameOf(line, grouping.by, now);
          dispatch({ kind: 'select', id: keyOfGroup(name) });
          keep(toggled(grouping, name));
        };
        return [
          ...actionsOf(targets),
          { command: watchCommands.group, run: () => keep(nextGrouping(grouping)) },
          {
            command: watchCommands.fold,
            enabled: isGrouped && current !== undefined,
            run: () => current && fold(current),
          },
          {
            command: alarmCommands.past,
            ...(current && hasAlarms(current) ? {} : { why: 'Only runs have alarms' }),
            run: () => current && shell.showOverlay('alarms', close => <LineAlarms run={current} onClose={close} />),
          },
          dismissal(workbench, targets),
        ];
      }}
      bindings={[{ command: globalCommands.inbox, rank: 'follow', run: () => shell.open({ view: 'inbox' }) }]}
    />
  );
}

/** A training run's curves, an evaluation's rewards, or a deployment's model. */
function LinePreview({ row, ...rest }: PreviewProps<WatchedResource>) {
  const { kind, id, status } = row;
  if (kind === 'training') return <TrainingPreview row={{ training_run_id: id, status }} {...rest} />;
  if (kind === 'run') return <RunPreview row={{ eval_run_id: id, status }} {...rest} />;
  return kind === 'deployment' ? <DeploymentPreview row={row} {...rest} /> : null;
}

/** The model that a deployment serves, as last read. In the inspector, its references are among the line's facts. */
function DeploymentPreview({ row, box: { width, height } }: PreviewProps<WatchedResource>) {
  const workbench = useWorkbench();
  const theme = useTheme();
  const { shown: areFactsShown } = usePane('inspector');
  const record = recordOfLine(workbench, row) as Deployment | undefined;
  const facts = record ? shortFacts(record).filter(({ refers }) => !(areFactsShown && refers)) : [];
  const lines = factLines(facts, width, theme);
  return <Lines lines={lines.length === 0 ? [] : ['', ...lines]} width={width} height={height} />;
}

function factsOfLine(workbench: Workbench, row: WatchedResource) {
  const { rewardRange } = workbench.compare;
  const state = stateOf(row, Date.now());
  return [
    ...(row.group ? [{ label: 'lines', value: state.text }] : []),
    { label: 'name', value: row.label },
    { label: 'kind', value: row.kind },
    { label: 'id', value: formatId(row) || undefined },
    { label: 'status', value: state.text },
    ...alarmFacts(state.reasons),
    { label: 'waits', value: isWaiting(row) ? row.waits : undefined },
    { label: 'failed', value: row.reason },
    { label: 'last read', value: agoOf(row.readAt) },
    { label: 'progress', value: formatProgress(row) || undefined },
    { label: 'held-out', value: row.measured && describeHeldOut(row.measured.last, rewardRange) },
    { label: 'best', value: row.measured && describeBest(row.measured.best, rewardRange, row.measured.last) },
    { label: rewardName(row.kind), value: row.mean === undefined ? undefined : describeMean(meanOf(row)) },
    { label: 'interval', value: formatIntervalBeside({ ...row, ...countsBeside(row) }, rewardRange) || undefined },
    { label: 'pace', value: row.pace },
    { label: 'last reward', value: row.status === undefined ? newestReward(row) : undefined },
    { label: 'started', value: ageOf(row.startedAt) },
    { label: 'took', value: row.kind === uploadKind ? '' : tookOf(row) },
    { label: 'watched', value: watchReason(row) },
    { label: 'unreachable', value: row.error },
    ...referencesOf(workbench, row),
  ];
}

const hintRank = ({ rank }: Command): HintRank => (rank === 'main' ? 'follow' : rank === 'stop' ? 'normal' : 'last');

/** The actions on lines: the same as in their resource's list, except deletion. */
function useLineActions(): (lines: readonly WatchedResource[]) => readonly Binding[] {
  const workbench = useWorkbench();
  const actionsOf = useActionsByKind();
  return lines =>
    actionsOf(lines.map(line => ({ kind: line.kind, record: recordOfLine(workbench, line) })))
      // Users open lines and the inbox more often than they act on a line, and rarely stop one.
      .map(binding => ({ ...binding, rank: hintRank(binding.command) }));
}

const hasAlarms = ({ kind, group }: WatchedResource): boolean => !group && (kind === 'run' || kind === 'training');

/** Dismisses the lines that have ended. */
function dismissal(workbench: Workbench, lines: readonly WatchedResource[]): Binding {
  const ended = lines.filter(({ endedAt }) => endedAt !== undefined);
  return {
    command: watchCommands.dismiss,
    enabled: ended.length > 0,
    run: () => {
      for (const row of ended) {
        if (row.kind === uploadKind) workbench.jobs.remove(row.id);
        else workbench.records.dismiss(row);
      }
    },
  };
}

/** A line about waiting runs, if there are any, and one about the inbox, unless it is empty. */
function useSummaryLines(rows: readonly WatchedResource[]): readonly string[] {
  const events = useInbox();
  const keyOf = useKeyOf();
  const { styles } = useTheme();
  const { inbox } = useWorkbench();
  const words = summaryOf(inbox);
  const waiting = describeWaiting(rows);
  const waitingLines = waiting === '' ? [] : [styles.warning(waiting)];
  if (words === '') return waitingLines;
  return [
    ...waitingLines,
    `${(events.some(event => isBad(event) && inbox.isNew(event)) ? styles.warning : styles.info)(words)}  ${styles.key(`<${keyOf(globalCommands.inbox)}>`)} ${styles.muted('inbox')}`,
  ];
}

/** When the last reward arrived: if a run has no status, only this shows whether it has ended. */
function newestReward({ graded, gradedAt }: WatchedResource): string | undefined {
  return graded === undefined || graded === 0 ? undefined : agoOf(gradedAt);
}

const tookOf = ({ startedAt, beganAt, endTime }: WatchedResource): string =>
  describeRunTime({ created_at: startedAt, began_at: beganAt, completed_at: endTime });
