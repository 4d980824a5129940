/** The columns of the list of training runs that its view adds: what was measured, and the options that differ. */
import { perObject } from '../../../base/memo.ts';
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
/** Options of a run beyond these are not compared. */
const mostCompared = 100;

/** Texts longer than this are no option to compare by. */
const longest = 200;

function optionCell(row: MeasuredTraining, name: string): Cell {
  const value = isRecord(row.options) ? own<unknown>(row.options, name) : undefined;
  if (value == null) return undefined;
  return typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value)?.slice(0, longest);
}

/** The names of the options in which the runs differ. The number of steps has a column already. */
function differingOptions(rows: readonly MeasuredTraining[]): readonly string[] {
  const differing = new Set<string>();
  const first = new Map<string, { readonly value: Cell; count: number }>();
  for (const row of rows) {
    if (!isRecord(row.options)) continue;
    for (const name of Object.keys(row.options).slice(0, mostCompared)) {
      if (name === 'num_steps' || differing.has(name)) continue;
      const [value, known] = [optionCell(row, name), first.get(name)];
      if (!known) first.set(name, { value, count: 1 });
      else if (known.value === value) known.count += 1;
      else differing.add(name);
    }
    if (differing.size >= mostOptions) break;
  }
  const isPartial = differing.size < mostOptions;
  const names = [...first].filter(([name, { count }]) => differing.has(name) || (isPartial && count < rows.length));
  return names.map(([name]) => name).slice(0, mostOptions);
}

/** A column for each option in which the runs differ. */
export function optionColumns(rows: readonly ProgressedRun[]): readonly Column<MeasuredTraining>[] {
  return differingOptions(rows).map(name => {
    const value = (row: MeasuredTraining): Cell => optionCell(row, name);
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
  const ofMeans = perObject((measured: HeldOutMeans) => intervalOfHeldOut(measured.last, range));
  const intervalOf = ({ measured }: MeasuredTraining) => measured && ofMeans(measured);
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
      filtered: false,
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
