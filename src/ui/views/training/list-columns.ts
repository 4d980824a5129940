/** The columns of the list of training runs that its view adds: what was measured, and the options that differ. */
import { isRecord, own } from '../../../base/own-property.ts';
import type { Cell, Column } from '../../../present/column.ts';
import type { Range } from '../../../present/statistics/tasks.ts';
import type { HeldOutMeans } from '../../../queries/held-out.ts';
import type { ProgressedRun } from '../../../queries/training.ts';
import { intervalOfHeldOut, trainingColumns } from '../../../resources/training.ts';
import { reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth } from '../../../text/width.ts';

/** A run with its rewards, as far as they were read. */
export type MeasuredTraining = ProgressedRun & {
  readonly measured?: HeldOutMeans | undefined;
  /** The newest trainer reward. */
  readonly trainer_reward?: number | undefined;
};

function numbers(
  id: string,
  title: string,
  value: (row: MeasuredTraining) => number | undefined,
  { wide = false, text = reward as (value: number) => string } = {},
): Column<MeasuredTraining> {
  const textOf = (row: MeasuredTraining): string => {
    const number = value(row);
    return number === undefined ? '' : text(number);
  };
  return { id, title, width: title.length, align: 'right', wide, value, text: textOf };
}

/** More columns than this would leave no room for names. */
const mostOptions = 8;

/** A column for each option in which the runs differ. The number of steps has a column already. */
export function optionColumns(rows: readonly ProgressedRun[]): readonly Column<MeasuredTraining>[] {
  const options = rows.map(row => (isRecord(row.options) ? row.options : {}));
  const names = [...new Set(options.flatMap(each => Object.keys(each)))].filter(name => name !== 'num_steps');
  const cell = (value: unknown): Cell =>
    value == null ? undefined : typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value);
  const differing = names.filter(name => new Set(options.map(each => cell(own(each, name)))).size > 1);
  return differing.slice(0, mostOptions).map(name => {
    const value = (row: MeasuredTraining): Cell => (isRecord(row.options) ? cell(own(row.options, name)) : undefined);
    const isNumber = rows.every(row => typeof (value(row) ?? 0) === 'number');
    const title = sanitiseLine(name).toUpperCase();
    return {
      ...{ id: `option.${name}`, title, value },
      width: { min: Math.min(16, displayWidth(title)), max: 30, grow: 1 },
      ...(isNumber && { align: 'right' }),
    };
  });
}

/** The declared columns, with what decides between runs after the status. */
export function listColumns(rows: readonly ProgressedRun[], range: Range): readonly Column<MeasuredTraining>[] {
  const [name, status, done, steps, ...others] = trainingColumns;
  const intervalOf = ({ measured }: MeasuredTraining) => measured && intervalOfHeldOut(measured.last, range);
  const held = numbers('held-out', 'HELD-OUT', row => row.measured?.last.reward);
  const measures: readonly Column<MeasuredTraining>[] = [
    numbers('best', 'BEST', row => row.measured?.best.reward),
    numbers('best-step', 'AT STEP', row => row.measured?.best.step, { wide: true, text: String }),
    {
      id: 'interval',
      title: '95% CI',
      width: 12,
      align: 'right',
      wide: true,
      value: row => intervalOf(row)?.low,
      text: row => {
        const interval = intervalOf(row);
        return interval ? `${reward(interval.low)}..${reward(interval.high)}` : '';
      },
    },
    numbers('trainer', 'TRAINER', row => row.trainer_reward, { wide: true }),
  ];
  const columns = [name, status, held, done, steps, ...measures, ...optionColumns(rows), ...others];
  return columns.filter(column => column !== undefined);
}
