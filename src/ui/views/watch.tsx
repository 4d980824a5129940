/** Everything pinned or running, and what has ended since the program started, one line each. */

import { useMemo } from 'react';
import { statusWords } from '../../contract/status.ts';
import type { Column } from '../../present/column.ts';
import { ageOf, agoOf, timeColumn } from '../../present/times.ts';
import { useWorkbench, type Workbench } from '../../queries/workbench.tsx';
import { useWatched } from '../../resources/use-watched.ts';
import { placeOfLine, rewardName, uploadKind, type WatchedResource, watchList } from '../../resources/watch.ts';
import { count, percent, reward } from '../../text/numbers.ts';
import { useTime } from '../app/clock.tsx';
import { useShell } from '../app/shell-context.tsx';
import { usePane } from '../app/view.tsx';
import { recordCommands } from '../keys/general.ts';
import { sparkline } from '../widgets/bars.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { watchCommands } from './commands.ts';
import { ResourceList } from './shared/resource-list.tsx';

/** How often the pace is recomputed: a silence grows even without new answers. */
const paceMs = 5_000;

/** Pane width from which a curve has room for many points. */
const wideFrom = 80;

const paceTick = (now: number): number => Math.floor(now / paceMs);

function watchReason({ pinned, endedAt }: WatchedResource): string {
  if (pinned) return 'because it is pinned';
  return endedAt === undefined ? 'because it runs' : 'because it ended while you were here';
}

/** When the oldest line was read; epoch milliseconds. */
function oldestRead({ statuses }: Workbench, rows: readonly WatchedResource[]): number | undefined {
  const times = rows.flatMap(row => statuses.lastRead(row)?.at || []);
  return times.length === 0 ? undefined : Math.min(...times);
}

export function WatchView() {
  const workbench = useWorkbench();
  const { focus } = useShell();
  const pane = usePane('main');
  const theme = useTheme();
  const attention = focus === 'sections' ? 'visible' : 'focused';
  const source = useMemo(() => watchList(workbench, attention), [workbench, attention]);
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
        { label: 'progress', value: progressWords(row, String) || undefined },
        {
          label: rewardName(row.kind),
          value: row.mean === undefined ? undefined : reward(row.mean),
        },
        { label: 'pace', value: row.pace },
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

/** An upload has no id of the service. */
const idWords = ({ kind, id }: WatchedResource): string => (kind === uploadKind ? '' : id);

/** How far it is; empty if unknown. */
function progressWords({ kind, done, total }: WatchedResource, number: (value: number) => string): string {
  if (done === undefined) return '';
  if (kind === uploadKind) return percent(done);
  return total === undefined ? number(done) : `${number(done)} of ${number(total)}`;
}

/** The status as last read, in words. */
export function stateWords({ status, gone, error }: WatchedResource): string {
  if (gone) return 'deleted';
  if (status == null) return error === undefined ? '' : 'unreachable';
  return statusWords(status);
}

/** The columns, most important first; `spark` draws a curve in `sparkWidth` cells. */
export function watchColumns(
  spark: (values: WatchedResource['curve'], width: number) => string,
  sparkWidth: number,
): readonly Column<WatchedResource>[] {
  return [
    { id: 'label', title: 'WATCHED', width: { min: 14, max: 50, grow: 3 }, value: row => row.label },
    {
      id: 'status',
      title: 'STATUS',
      width: { min: 11, max: 16, grow: 1 },
      value: stateWords,
      status: true,
    },
    { id: 'kind', title: 'KIND', width: 10, value: row => row.kind },
    {
      id: 'progress',
      title: 'PROGRESS',
      width: 10,
      align: 'right',
      value: row => (row.done === undefined || !row.total ? undefined : row.done / row.total),
      text: row => progressWords(row, count),
    },
    {
      id: 'mean',
      // Of a run it is the mean, of a trajectory its own.
      title: 'REWARD',
      width: 6,
      align: 'right',
      value: row => row.mean,
      text: row => (row.mean === undefined ? '' : reward(row.mean)),
    },
    { id: 'curve', title: 'CURVE', width: sparkWidth, value: row => spark(row.curve, sparkWidth) },
    { id: 'pace', title: 'PACE', width: { min: 10, max: 36, grow: 2 }, wide: true, value: row => row.pace },
    timeColumn('started', 'STARTED', row => row.startedAt),
    { id: 'pinned', title: 'PINNED', width: 6, value: row => (row.pinned ? 'yes' : '') },
    { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: idWords },
  ];
}
