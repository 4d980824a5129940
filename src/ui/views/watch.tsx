/** Everything that is pinned, running, or ended and not dismissed, one line each: the home of the program. */

import { useMemo } from 'react';
import { isUnknown } from '../../contract/status.ts';
import type { Cell, Column } from '../../present/column.ts';
import type { Interval } from '../../present/statistics/interval.ts';
import { intervalOfMean } from '../../present/statistics/mean-and-count.ts';
import type { Range } from '../../present/statistics/tasks.ts';
import { ageOf, agoOf, timeColumn, tookWords } from '../../present/times.ts';
import { rateWords } from '../../queries/pace.ts';
import { summaryOf } from '../../resources/inbox.ts';
import { meanCell } from '../../resources/measured-run.ts';
import { watchList } from '../../resources/rotation.ts';
import { heldOutWords } from '../../resources/training.ts';
import { intervalOfHeldOut, measuredColumns } from '../../resources/training-columns.ts';
import {
  placeOfLine,
  recordOfLine,
  referencesOf,
  rewardName,
  stateOf,
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
import { counted, percent, reward } from '../../text/numbers.ts';
import { isBad } from '../../workbench/inbox.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { useTime } from '../app/clock.tsx';
import { usePane } from '../app/view.tsx';
import { useInbox, useWatched } from '../data/use-watched.ts';
import { useSetting, useWorkbench } from '../data/workbench.tsx';
import { globalCommands, recordCommands } from '../keys/general.ts';
import { type Binding, useKeyOf } from '../keys/router.tsx';
import { levelRange, sparkline } from '../widgets/bars.ts';
import { type Glyphs, unicodeGlyphs } from '../widgets/theme/glyphs.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { watchCommands } from './commands.ts';
import { ResourceList } from './list/resource-list.tsx';
import { useActionsByKind } from './record/use-actions-by-kind.ts';

/** The interval between updates of states and paces: a silence grows even without new answers. */
const paceMs = 5_000;

const paceTick = (now: number): number => Math.floor(now / paceMs);

function watchReason({ pinned, endedAt, status }: WatchedResource): string {
  if (pinned) return 'pinned';
  if (endedAt !== undefined) return 'ended, not dismissed';
  return status === undefined || isUnknown(status) ? 'may be running' : 'running';
}

/** When the oldest line was read; epoch milliseconds. */
function oldestRead({ statuses }: Workbench, rows: readonly WatchedResource[]): number | undefined {
  const times = rows.flatMap(row => statuses.lastRead(row)?.at || []);
  return times.length === 0 ? undefined : Math.min(...times);
}

export function WatchView() {
  const workbench = useWorkbench();
  const pane = usePane('main');
  const theme = useTheme();
  const source = useMemo(() => watchList(workbench), [workbench]);
  const actionsOf = useLineActions();
  const [saved, keep] = useSetting<unknown>('watch.groups', ungrouped);
  const grouping = useMemo(() => groupingOf(saved), [saved]);
  const now = useTime(paceTick) * paceMs;
  const rows = useWatched(now);
  const { rewardRange } = workbench.compare;
  // Draw all curves on one scale, so that lines can be compared.
  const range = levelRange(rows.flatMap(curveOf));
  const [low, high] = range;
  const grouped = useMemo(() => groupedLines(rows, grouping, now), [rows, grouping, now]);
  const columns = useMemo(
    () =>
      watchColumns({
        room: pane.width,
        range: rewardRange,
        spark: (values, width) => sparkline(values, width, theme, [low, high]),
        glyphs: theme.glyphs,
      }),
    [pane.width, rewardRange, theme, low, high],
  );
  return (
    <ResourceList<WatchedResource>
      name="watch"
      source={source}
      rows={rows}
      grouped={grouped}
      membersOf={({ group }) => group?.members}
      toggles={({ id, group }) => group && (() => keep(toggled(grouping, id)))}
      rowsAt={oldestRead(workbench, rows)}
      header={useInboxLines()}
      columns={columns}
      emptyWords="Nothing is running or pinned"
      emptyAdvice={{ command: recordCommands.pin, words: 'pins a row' }}
      open={row => placeOfLine(workbench, row)}
      facts={row => [
        ...(row.group ? [{ label: 'lines', value: stateOf(row, Date.now()).text }] : []),
        { label: 'name', value: row.label },
        { label: 'kind', value: row.kind },
        { label: 'id', value: idWords(row) || undefined },
        { label: 'status', value: stateOf(row, Date.now()).text },
        ...row.alarms.map(({ words }) => ({ label: 'alarm', value: words })),
        { label: 'failed', value: row.reason },
        { label: 'last read', value: agoOf(row.readAt) },
        { label: 'progress', value: progressWords(row) || undefined },
        { label: 'held-out', value: row.measured && heldOutWords(row.measured.last, rewardRange) },
        { label: 'best', value: row.measured && heldOutWords(row.measured.best, rewardRange) },
        { label: rewardName(row.kind), value: rewardWords(row) },
        { label: 'pace', value: row.pace },
        { label: 'last reward', value: row.status === undefined ? newestReward(row) : undefined },
        { label: 'started', value: ageOf(row.startedAt) },
        { label: 'took', value: row.kind === uploadKind ? '' : tookOf(row) },
        { label: 'watched', value: watchReason(row) },
        { label: 'unreachable', value: row.error },
        ...referencesOf(workbench, row),
      ]}
      serviceId={({ id }) => id}
      label={({ label }) => label}
      pin={({ kind, id, label, group }) => (kind === uploadKind || group ? undefined : { kind, id, label })}
      actions={(targets, _list, { current, dispatch, isGrouped }) => {
        const ended = targets.filter(row => row.endedAt !== undefined);
        return [
          // Watch follows running work: what its results are good for comes later.
          ...actionsOf(targets).map(binding =>
            binding.command.rank === 'stop' ? binding : { ...binding, rank: 'usual' as const },
          ),
          { command: watchCommands.group, run: () => keep(nextGrouping(grouping)) },
          {
            command: watchCommands.fold,
            enabled: isGrouped && current !== undefined,
            run: () => {
              if (!current) return;
              const name = groupNameOf(current, grouping.by, now);
              dispatch({ kind: 'select', id: keyOfGroup(name) });
              keep(toggled(grouping, name));
            },
          },
          {
            command: watchCommands.dismiss,
            enabled: ended.length > 0,
            run: () => {
              for (const row of ended) {
                if (row.kind === uploadKind) workbench.jobs.remove(row.id);
                else workbench.dismiss(row);
              }
            },
          },
        ];
      }}
    />
  );
}

/** The actions on lines: those of their resource, the same as in its list. */
function useLineActions(): (lines: readonly WatchedResource[]) => readonly Binding[] {
  const workbench = useWorkbench();
  const actionsOf = useActionsByKind();
  return lines => actionsOf(lines.map(line => ({ kind: line.kind, record: recordOfLine(workbench, line) })));
}

/** One line about the inbox; none if it is empty. */
function useInboxLines(): readonly string[] {
  const events = useInbox();
  const keyOf = useKeyOf();
  const { styles } = useTheme();
  const { inbox } = useWorkbench();
  const words = summaryOf(events, inbox.since);
  if (words === '') return [];
  return [
    ` ${(events.some(isBad) ? styles.warning : styles.info)(words)}  ${styles.key(`<${keyOf(globalCommands.inbox)}>`)} ${styles.muted('inbox')}`,
  ];
}

/** When the last reward arrived: without a status, only this tells whether the run has ended. */
function newestReward({ graded, gradedAt }: WatchedResource): string | undefined {
  return graded === undefined || graded === 0 ? undefined : agoOf(gradedAt);
}

const tookOf = ({ startedAt, beganAt, endTime }: WatchedResource): string =>
  tookWords({
    created_at: startedAt,
    began_at: beganAt == null ? beganAt : new Date(beganAt).toISOString(),
    completed_at: endTime,
  });

/** Uploads have no id on the service. */
const idWords = ({ kind, id, group }: WatchedResource): string => (kind === uploadKind || group ? '' : id);

/** The progress; empty if unknown. */
function progressWords(row: WatchedResource): string {
  const { done, total } = counts(row);
  return done === '' || total === undefined ? done : `${done} of ${total}`;
}

/** The completed and total counts as text; for an upload, only the share is known. */
function counts({ kind, done, total }: WatchedResource): { readonly done: string; readonly total: number | undefined } {
  if (kind === uploadKind) return { done: done === undefined ? '' : percent(done), total: undefined };
  return { done: done === undefined ? '' : String(done), total };
}

/** The share that is done, rounded down so that 100% means all; the count if the total is unknown. */
function shareWords(row: WatchedResource): string {
  const { done, total } = row;
  return done === undefined || !total ? counts(row).done : `${Math.floor((100 * done) / total)}%`;
}

/** The mean of a run with the number of its rewards; otherwise the only number. */
function rewardWords({ mean, graded }: WatchedResource): string | undefined {
  if (mean === undefined) return undefined;
  return graded === undefined ? reward(mean) : `${reward(mean)} of ${counted(graded, 'reward')}`;
}

/** Whether its number comes from the trainer, which does not decide between runs. */
const isTrainers = ({ kind }: WatchedResource): boolean => rewardName(kind) === 'trainer';

/** The mean of an evaluation with the number of rewards in it: `0.410 n=40/128`. */
function meanWords(row: WatchedResource): string {
  const { mean, graded, total, status } = row;
  if (isTrainers(row) || mean === undefined) return '';
  if (graded === undefined || total === undefined) return meanCell(row, status);
  return graded === total ? reward(mean) : `${reward(mean)} n=${graded}/${total}`;
}

/** The interval of the number in the line: the last held-out reward, or the mean of an evaluation. */
function intervalOfLine(row: WatchedResource, range: Range): Interval | undefined {
  const { measured, mean, graded, total } = row;
  if (measured) return intervalOfHeldOut(measured.last, range);
  if (isTrainers(row) || mean === undefined || graded === undefined || total === undefined) return undefined;
  return intervalOfMean(mean, graded, Math.max(0, total - graded), range);
}

/** The decisive curve: held-out, if there is one. */
const curveOf = ({ measured, curve }: WatchedResource): readonly (number | undefined)[] => measured?.curve ?? curve;

/** Its alarms; without any, why it failed, or its rate. */
function noteWords(row: WatchedResource): string {
  const { alarms, standing, rate, reason } = row;
  if (alarms.length > 0) return alarms.map(({ words }) => words).join('; ');
  return reason ?? (standing.kind === 'queued' ? '' : rate);
}

/** A shorter version of these. */
function shortNote(row: WatchedResource): string {
  const { alarms, standing, reason, pace } = row;
  if (alarms.length > 0) return noteWords(row);
  if (reason !== undefined) return reason;
  if (standing.kind === 'stalled') return '';
  return standing.kind === 'moving' ? rateWords(standing.stepMs) : pace;
}

/** A column that is shown if there is room for all others. */
const textColumn = (
  id: string,
  title: string,
  width: Column<WatchedResource>['width'],
  value: (row: WatchedResource) => Cell,
): Column<WatchedResource> => ({ id, title, width, wide: true, value });

/** Below this pane width, there is neither an interval nor a curve. */
const narrow = 72;
/** From this pane width on, progress is two counts, and a curve has many points. */
const roomy = 130;

export interface WatchColumnsOptions {
  /** Width of the pane in cells. */
  readonly room: number;
  /** The range of rewards in the settings. */
  readonly range: Range;
  /** Draws a curve in at most `width` cells. */
  readonly spark: (values: WatchedResource['curve'], width: number) => string;
  /** The marks before the names of pinned lines and groups. */
  readonly glyphs?: Pick<Glyphs, 'pinned' | 'closed' | 'opened'>;
}

/** The columns, most important first. */
export function watchColumns({
  room,
  range,
  spark,
  glyphs = unicodeGlyphs,
}: WatchColumnsOptions): readonly Column<WatchedResource>[] {
  const sparkWidth = room < roomy ? 10 : 20;
  const wide = room < roomy;
  const state = (row: WatchedResource) => stateOf(row, Date.now());
  const { heldOut, interval, best, bestStep, trainer } = measuredColumns<WatchedResource>({
    heldOut: row => row.measured,
    interval: row => intervalOfLine(row, range),
    trainer: row => (isTrainers(row) ? row.mean : undefined),
  });
  const curve = (id: string, title: string, values: (row: WatchedResource) => WatchedResource['curve']) => ({
    id,
    title,
    width: sparkWidth,
    cutAt: 'end' as const,
    value: (row: WatchedResource) => spark(values(row), sparkWidth),
  });
  const heldOutCurve = curve('curve', wide ? 'CURVE' : 'HELD-OUT CURVE', row => row.measured?.curve ?? []);
  const progress: readonly Column<WatchedResource>[] = wide
    ? [
        {
          id: 'share',
          title: 'DONE',
          width: 4,
          align: 'right',
          value: ({ done, total }) => (done === undefined || !total ? undefined : done / total),
          text: shareWords,
        },
      ]
    : [
        {
          id: 'done',
          title: 'DONE',
          width: 5,
          align: 'right',
          value: row => row.done,
          text: row => counts(row).done,
        },
        { id: 'total', title: 'TOTAL', width: 5, align: 'right', value: row => counts(row).total },
      ];
  return [
    {
      id: 'label',
      title: 'WATCHED',
      width: { min: room < narrow ? 12 : 16, max: 100, grow: 3 },
      value: row => row.label,
      text: ({ pinned, label, group }) => {
        const mark = group ? (group.isFolded ? glyphs.closed : glyphs.opened) : pinned ? glyphs.pinned : '';
        return mark === '' ? label : `${mark} ${label}`;
      },
    },
    heldOut,
    {
      id: 'mean',
      title: 'MEAN',
      width: { min: 5, max: 20, grow: 1 },
      align: 'right',
      value: row => (isTrainers(row) ? undefined : row.mean),
      text: meanWords,
      shortText: row => (isTrainers(row) || row.mean === undefined ? '' : meanCell(row, row.status)),
    },
    { ...interval, wide: room < narrow },
    { ...best, wide },
    { ...bestStep, wide },
    ...progress,
    {
      id: 'state',
      title: 'STATE',
      width: { min: 11, max: 40, grow: 2 },
      whole: true,
      value: row => state(row).word,
      text: row => state(row).text,
      shortText: row => state(row).short,
      look: row => state(row).look,
    },
    ...(wide ? [] : [heldOutCurve]),
    {
      id: 'note',
      title: room < narrow ? 'PACE' : 'PACE, REASON',
      width: { min: 12, max: 80, grow: 2 },
      cutAt: 'end',
      wide: room < narrow,
      value: noteWords,
      shortText: shortNote,
    },
    // In little room, the interval and the reason go before the curve.
    ...(wide && room >= narrow ? [heldOutCurve] : []),
    { ...textColumn('kind', 'KIND', 10, row => row.kind) },
    textColumn('benchmark', 'BENCHMARK', { min: 10, max: 30, grow: 1 }, row => row.benchmark),
    trainer,
    { ...curve('trainer-curve', 'TRAINER CURVE', row => row.curve), wide: true },
    timeColumn('started', 'STARTED', row => row.startedAt, { wide: true }),
    { ...textColumn('pinned', 'PINNED', 6, row => (row.pinned ? 'yes' : '')) },
    textColumn('id', 'ID', { min: 12, max: 40, grow: 1 }, idWords),
  ];
}
