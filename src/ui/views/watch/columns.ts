/** How a watched thing reads as a row: status, progress, how it does, how long it has been at it. */

import type { Column } from '../../../present/column.ts';
import { timeColumn } from '../../../present/times.ts';
import type { WatchedThing } from '../../../queries/watch/watch.ts';
import { count, reward } from '../../../text/numbers.ts';

/** The status as it was last read. */
export function statusWords({ status, gone, fault }: WatchedThing): string {
  if (gone) return 'gone';
  return status ?? (fault === undefined ? '' : 'unreachable');
}

/** The columns, what matters most first; `spark` draws a curve in `sparkWidth` cells. */
export function watchColumns(
  spark: (values: readonly number[], width: number) => string,
  sparkWidth: number,
): readonly Column<WatchedThing>[] {
  return [
    { id: 'label', title: 'WATCHED', width: { min: 14, max: 50, grow: 3 }, value: row => row.label },
    {
      id: 'status',
      title: 'STATUS',
      width: { min: 11, max: 16, grow: 1 },
      value: statusWords,
      status: true,
    },
    {
      id: 'progress',
      title: 'PROGRESS',
      width: 10,
      align: 'right',
      value: row => (row.done === undefined || !row.total ? undefined : row.done / row.total),
      text: row =>
        row.done === undefined ? '' : `${count(row.done)}${row.total === undefined ? '' : ` of ${count(row.total)}`}`,
    },
    {
      id: 'mean',
      title: 'MEAN',
      width: 6,
      align: 'right',
      value: row => row.mean,
      text: row => (row.mean === undefined ? '' : reward(row.mean)),
    },
    { id: 'curve', title: 'CURVE', width: sparkWidth, value: row => spark(row.curve, sparkWidth) },
    { id: 'kind', title: 'KIND', width: 10, value: row => row.kind },
    { id: 'pace', title: 'PACE', width: { min: 10, max: 36, grow: 2 }, wide: true, value: row => row.pace },
    timeColumn('started', 'STARTED', row => row.startedAt),
    { id: 'pinned', title: 'PINNED', width: 6, value: row => (row.pinned ? 'yes' : '') },
    { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.id },
  ];
}
