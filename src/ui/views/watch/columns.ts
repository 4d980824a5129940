/** How a watched thing reads as a row: status, progress, how it does, how long it has been at it. */
import type { WatchedThing } from '../../../queries/watch.ts';
import { count, reward } from '../../../text/numbers.ts';
import type { Column } from '../../widgets/table/column.ts';
import { timeColumn } from '../shared/time-column.ts';

/** Cells of the spark line. */
export const sparkWidth = 16;

/** The columns; `spark` draws a curve in so many cells. */
export function watchColumns(
  spark: (values: readonly number[], width: number) => string,
): readonly Column<WatchedThing>[] {
  return [
    { id: 'label', title: 'WATCHED', width: { min: 16, max: 50, grow: 3 }, value: row => row.label },
    { id: 'kind', title: 'KIND', width: 10, value: row => row.kind },
    {
      id: 'status',
      title: 'STATUS',
      width: { min: 11, max: 16, grow: 1 },
      value: row => row.status ?? (row.fault === undefined ? '' : 'unreachable'),
      status: true,
    },
    {
      id: 'progress',
      title: 'PROGRESS',
      width: 11,
      align: 'right',
      value: row => (row.done === undefined || !row.total ? undefined : row.done / row.total),
      text: row =>
        row.done === undefined ? '' : `${count(row.done)}${row.total === undefined ? '' : ` of ${count(row.total)}`}`,
    },
    {
      id: 'mean',
      title: 'MEAN',
      width: 7,
      align: 'right',
      value: row => row.mean,
      text: row => (row.mean === undefined ? '' : reward(row.mean)),
    },
    { id: 'pace', title: 'PACE', width: { min: 10, max: 36, grow: 2 }, wide: true, value: row => row.pace },
    { id: 'curve', title: 'CURVE', width: sparkWidth, value: row => spark(row.curve, sparkWidth) },
    timeColumn('started', 'STARTED', row => row.startedAt),
    { id: 'pinned', title: 'PINNED', width: 6, value: row => (row.pinned ? 'yes' : '') },
    { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.id },
  ];
}
