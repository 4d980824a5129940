/** Columns for numbers that rows may lack. */
import { reward } from '../text/numbers.ts';
import { type Column, plainColumn } from './column.ts';
import { type Interval, intervalDefaults } from './statistics/interval.ts';

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

/** An interval's limits: `0.501..0.693`; empty without one. */
export const formatLimits = (
  interval: Pick<Interval, 'low' | 'high'> | undefined,
  words: (limit: number) => string | number = reward,
): string => (interval ? `${words(interval.low)}..${words(interval.high)}` : '');

/** An interval's confidence: `95%`. */
export const formatConfidence = ({ confidence = intervalDefaults.confidence }: Partial<Interval>): string =>
  `${Number((confidence * 100).toPrecision(15))}%`;

/** An interval in a sentence: `95% CI 0.460 to 0.880`. */
export const formatInterval = (
  interval: Pick<Interval, 'low' | 'high'> & Partial<Interval>,
  text: (limit: number) => string = reward,
): string => `${formatConfidence(interval)} CI ${text(interval.low)} to ${text(interval.high)}`;

/** A mean in the notes of a picker: `step 6  0.183  0.0915..0.312`. */
export const meanNote = (step: number | null | undefined, mean: string, interval: Interval | undefined): string =>
  [step == null ? '' : `step ${step}`, mean, formatLimits(interval)].filter(Boolean).join('  ');

/** A 95% confidence interval: `0.501..0.693`. Sorted by its lower limit. */
export function intervalColumn<Row>(
  intervalOf: (row: Row) => Interval | undefined,
  { id = 'interval', title = '95% CI', text = reward } = {},
): Column<Row> {
  return plainColumn(id, title, 12, row => intervalOf(row)?.low, {
    align: 'right',
    filtered: false,
    bestFirst: true,
    text: row => formatLimits(intervalOf(row), text),
    exported: row => formatLimits(intervalOf(row), limit => limit) || undefined,
  });
}
