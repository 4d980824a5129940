/** Everything pinned, running, or ended since the program started, one line each. */

import { useMemo } from 'react';
import { isUnknown, statusWords } from '../../contract/status.ts';
import type { Column } from '../../present/column.ts';
import { ageOf, agoOf, timeColumn } from '../../present/times.ts';
import type { HeldOutMean } from '../../queries/held-out.ts';
import { meanCell } from '../../resources/measured-run.ts';
import { watchList } from '../../resources/rotation.ts';
import { placeOfLine, rewardName, uploadKind, type WatchedResource } from '../../resources/watch.ts';
import { counted, percent, reward } from '../../text/numbers.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { useTime } from '../app/clock.tsx';
import { usePane } from '../app/view.tsx';
import { useWatched } from '../data/use-watched.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { recordCommands } from '../keys/general.ts';
import { sparkline } from '../widgets/bars.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { watchCommands } from './commands.ts';
import { ResourceList } from './list/resource-list.tsx';

/** How often the pace is recomputed: a silence grows even without new answers. */
const paceMs = 5_000;

/** Pane width from which a curve has room for many points. */
const wideFrom = 80;

const paceTick = (now: number): number => Math.floor(now / paceMs);

function watchReason({ pinned, endedAt, status }: WatchedResource): string {
  if (pinned) return 'pinned';
  if (endedAt !== undefined) return 'ended this session';
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
  const rows = useWatched(useTime(paceTick));
  const sparkWidth = pane.width < wideFrom ? 8 : 16;
  const columns = useMemo(
    () => watchColumns((values, width) => sparkline(values, width, theme), sparkWidth),
    [theme, sparkWidth],
  );
  return (
    <ResourceList<WatchedResource>
      name="watch"
      source={source}
      rows={rows}
      rowsAt={oldestRead(workbench, rows)}
      columns={columns}
      emptyWords="Nothing is running or pinned"
      emptyAdvice={{ command: recordCommands.pin, words: 'pins a row' }}
      open={row => placeOfLine(workbench, row)}
      facts={row => [
        { label: 'name', value: row.label },
        { label: 'kind', value: row.kind },
        { label: 'id', value: idWords(row) || undefined },
        { label: 'status', value: stateWords(row) },
        { label: 'last read', value: row.gone ? agoOf(workbench.statuses.lastRead(row)?.at) : undefined },
        { label: 'progress', value: progressWords(row) || undefined },
        { label: 'held-out', value: meanWords(row.measured?.last) },
        { label: 'best', value: meanWords(row.measured?.best) },
        { label: rewardName(row.kind), value: rewardWords(row) },
        { label: 'pace', value: row.pace },
        { label: 'last reward', value: row.status === undefined ? newestReward(row) : undefined },
        { label: 'started', value: ageOf(row.startedAt) },
        { label: 'watched', value: watchReason(row) },
        { label: 'unreachable', value: row.error },
      ]}
      serviceId={({ id }) => id}
      label={({ label }) => label}
      pin={({ kind, id, label }) => (kind === uploadKind ? undefined : { kind, id, label })}
      actions={targets => {
        const ended = targets.filter(row => row.endedAt !== undefined);
        return [
          {
            command: watchCommands.dismiss,
            enabled: ended.length > 0,
            run: () => {
              for (const row of ended) {
                if (row.kind === uploadKind) workbench.jobs.remove(row.id);
                else workbench.statuses.dismiss(row);
              }
            },
          },
        ];
      }}
    />
  );
}

/** When the last reward arrived: without a status, nothing else tells whether the run has ended. */
function newestReward({ graded, gradedAt }: WatchedResource): string | undefined {
  return graded === undefined || graded === 0 ? undefined : agoOf(gradedAt);
}

/** Uploads have no id on the service. */
const idWords = ({ kind, id }: WatchedResource): string => (kind === uploadKind ? '' : id);

/** The progress; empty if unknown. */
function progressWords(row: WatchedResource): string {
  const { done, total } = counts(row);
  return done === '' || total === undefined ? done : `${done} of ${total}`;
}

/** The completed and total counts as text. Of an upload, only the share is known. */
function counts({ kind, done, total }: WatchedResource): { readonly done: string; readonly total: number | undefined } {
  if (kind === uploadKind) return { done: done === undefined ? '' : percent(done), total: undefined };
  return { done: done === undefined ? '' : String(done), total };
}

/** `0.325 at step 200, of 128 samples`. */
function meanWords(mean: HeldOutMean | undefined): string | undefined {
  if (!mean) return undefined;
  const of = mean.samples === undefined ? '' : `, of ${counted(mean.samples, 'sample')}`;
  return `${reward(mean.reward)} at step ${mean.step}${of}`;
}

/** The mean of a run with the number of its rewards; otherwise the only number. */
function rewardWords({ mean, graded }: WatchedResource): string | undefined {
  if (mean === undefined) return undefined;
  return graded === undefined ? reward(mean) : `${reward(mean)} of ${counted(graded, 'reward')}`;
}

/** Whether its number comes from the trainer, which decides nothing. */
const isTrainers = ({ kind }: WatchedResource): boolean => rewardName(kind) === 'trainer';

/** The first part of the pace, for a narrow column. */
export function shortPace(pace: string): string {
  const [first = ''] = pace.split('  ');
  return first.replace(/^no new step for (at least )?/, 'silent ');
}

/** The last known status, in words. */
export function stateWords({ status, gone, error, isNew }: WatchedResource): string {
  if (gone) return 'deleted';
  if (status == null) return error !== undefined ? 'unreachable' : isNew ? 'no status' : '';
  return statusWords(status);
}

/** A column of numbers that some rows lack. */
function numberColumn(
  id: string,
  title: string,
  width: number,
  value: (row: WatchedResource) => number | undefined,
  { wide = false, text = reward }: { readonly wide?: boolean; readonly text?: (value: number) => string } = {},
): Column<WatchedResource> {
  const textOf = (row: WatchedResource): string => {
    const number = value(row);
    return number === undefined ? '' : text(number);
  };
  return { id, title, width, align: 'right', wide, value, text: textOf };
}

/** The columns, most important first; `spark` draws a curve in `sparkWidth` cells. */
export function watchColumns(
  spark: (values: WatchedResource['curve'], width: number) => string,
  sparkWidth: number,
): readonly Column<WatchedResource>[] {
  return [
    { id: 'label', title: 'WATCHED', width: { min: 13, max: 50, grow: 3 }, value: row => row.label },
    {
      id: 'status',
      title: 'STATUS',
      width: { min: 11, max: 16, grow: 1 },
      value: stateWords,
      status: true,
    },
    numberColumn('held-out', 'HELD-OUT', 8, row => row.measured?.last.reward),
    // The mean of a run; a trajectory's own reward.
    {
      ...numberColumn('mean', 'MEAN', 5, row => (isTrainers(row) ? undefined : row.mean)),
      text: row => (isTrainers(row) || row.mean === undefined ? '' : meanCell(row, row.status)),
    },
    { id: 'done', title: 'DONE', width: 5, align: 'right', value: row => row.done, text: row => counts(row).done },
    { id: 'total', title: 'TOTAL', width: 5, align: 'right', value: row => counts(row).total },
    { id: 'kind', title: 'KIND', width: 10, value: row => row.kind },
    { id: 'curve', title: 'CURVE', width: sparkWidth, cutAt: 'end', value: row => spark(row.curve, sparkWidth) },
    {
      id: 'pace',
      title: 'PACE',
      width: { min: 14, max: 36, grow: 2 },
      cutAt: 'end',
      wide: true,
      value: row => row.pace,
      shortText: row => shortPace(row.pace),
    },
    numberColumn('best', 'BEST', 5, row => row.measured?.best.reward, { wide: true }),
    numberColumn('best-step', 'AT STEP', 7, row => row.measured?.best.step, { wide: true, text: String }),
    numberColumn('trainer', 'TRAINER', 7, row => (isTrainers(row) ? row.mean : undefined), { wide: true }),
    timeColumn('started', 'STARTED', row => row.startedAt),
    { id: 'pinned', title: 'PINNED', width: 6, value: row => (row.pinned ? 'yes' : '') },
    { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: idWords },
  ];
}
