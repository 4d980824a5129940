/** A column of times. */
import type { Column } from '../../widgets/table/column.ts';
import { ageOf, instant } from './ages.ts';

/** Shows how long ago it was, sorts by the instant, and goes into a file as the service wrote it. */
export function timeColumn<Row>(
  id: string,
  title: string,
  time: (row: Row) => string | null | undefined,
  {
    width = 8,
    wide = false,
    field,
  }: { readonly width?: number; readonly wide?: boolean; readonly field?: string } = {},
): Column<Row> {
  return {
    id,
    title,
    width,
    align: 'right',
    wide,
    field,
    value: row => instant(time(row)),
    text: row => ageOf(time(row)),
    exported: time,
  };
}
