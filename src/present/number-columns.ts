/** Columns for numbers that rows may lack. */
import { reward } from '../text/numbers.ts';
import type { Column } from './column.ts';
import type { Interval } from './statistics/interval.ts';

/** A column as wide as its title or its widest number. */
export function numberColumn<Row>(
  id: string,
  title: string,
  value: (row: Row) => number | undefined,
  { text = reward }: { readonly text?: (value: number) => string } = {},
): Column<Row> {
  const textOf = (row: Row): string => {
    const number = value(row);
    return number === undefined ? '' : text(number);
  };
  return { id, title, width: title.length, align: 'right', value, text: textOf };
}

/** A rollout's reward. A missing one is `none`, which is not the same as a reward of 0. */
export const rewardColumn = <Row extends { readonly reward?: number | null | undefined }>(): Column<Row> => ({
  ...numberColumn<Row>('reward', 'REWARD', row => row.reward ?? undefined),
  width: 8,
  text: row => reward(row.reward),
});

/** A 95% confidence interval: `0.501..0.693`. Sorted by its lower limit. */
export function intervalColumn<Row>(
  intervalOf: (row: Row) => Interval | undefined,
  { id = 'interval', title = '95% CI', text = reward } = {},
): Column<Row> {
  const limits = (row: Row, words: (limit: number) => string | number): string | undefined => {
    const interval = intervalOf(row);
    return interval && `${words(interval.low)}..${words(interval.high)}`;
  };
  return {
    ...{ id, title, width: 12, align: 'right', filtered: false, bestFirst: true },
    value: row => intervalOf(row)?.low,
    text: row => limits(row, text) ?? '',
    exported: row => limits(row, limit => limit),
  };
}
