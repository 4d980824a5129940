/** A column of times. */
import type { Column } from '../../widgets/table/column.ts';
import { ageOf, instant } from './ages.ts';

/** Shows how long ago it was, sorts by the instant, and goes into a file as the service wrote it. */
export function timeColumn<Row>(
  id: string,
  title: string,
  time: (row: Row) => string | null | undefined,
  { width = 8, wide = false }: { readonly width?: number; readonly wide?: boolean } = {},
): Column<Row> {
  return {
    id,
    title,
    width,
    align: 'right',
    wide,
    value: row => instant(time(row)),
    text: row => ageOf(time(row)),
    exported: time,
  };
}
