/** Two runs task by task, the largest loss first. */
import { useMemo } from 'react';
import type { Column } from '../../../present/column.ts';
import { type ComparedRuns, type ComparedTask, comparison, summariseComparison } from '../../../queries/compare.ts';
import { useList } from '../../../queries/use-list.ts';
import { recordPlace } from '../../../resources/define.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import { counted, difference, reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import type { ViewProps } from '../../app/registry.ts';
import { usePane } from '../../app/view.tsx';
import type { Theme } from '../../widgets/theme/theme.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { Lines } from '../shared/lines.tsx';
import { ResourceList } from '../shared/resource-list.tsx';

const columns: readonly Column<ComparedTask>[] = [
  { id: 'task', title: 'TASK', width: { min: 12, max: 60, grow: 1 }, value: row => row.task_id },
  { id: 'first', title: 'FIRST', width: 8, align: 'right', value: row => row.first, text: row => reward(row.first) },
  {
    id: 'second',
    title: 'SECOND',
    width: 8,
    align: 'right',
    value: row => row.second,
    text: row => reward(row.second),
  },
  {
    id: 'difference',
    title: 'DIFF',
    width: 9,
    align: 'right',
    value: row => row.difference,
    text: row => difference(row.difference),
  },
];
const worstFirst = { column: 'difference', descending: false } as const;

export function CompareView({ place: { first, second } }: ViewProps<'compare'>) {
  const pane = usePane('main');
  const theme = useTheme();
  const source = useMemo(() => comparison(first.id, second.id), [first.id, second.id]);
  const { rows, loaded } = useList(source, 'visible');
  const names = { first: sanitiseLine(first.name), second: sanitiseLine(second.name) };
  const lines = loaded ? [...comparisonLines(rows, names, pane.width - 2, theme), ''].map(line => ` ${line}`) : [];
  return (
    <ResourceList<ComparedTask>
      name="compared"
      source={source}
      columns={columns}
      sort={worstFirst}
      emptyWords="Neither run has a trajectory that names its task"
      open={row => (row.trajectory_id ? recordPlace(trajectories, row.trajectory_id, row.task_id) : undefined)}
      facts={row => [
        { label: 'task', value: row.task_id },
        { label: 'first', value: reward(row.first) },
        { label: 'second', value: reward(row.second) },
        { label: 'difference', value: difference(row.difference) },
        { label: 'opens', value: row.trajectory_id },
      ]}
      header={{ height: lines.length, node: <Lines lines={lines} width={pane.width} height={lines.length} /> }}
    />
  );
}

export interface ComparedNames {
  readonly first: string;
  readonly second: string;
}

/** The means, the paired difference with its confidence interval, and on how many tasks which run did better. */
export function comparisonLines(
  tasks: readonly ComparedTask[],
  { first, second }: ComparedNames,
  width: number,
  { styles }: Theme,
): string[] {
  const { paired, wins, losses, ties, ...runs } = summariseComparison(tasks);
  const headOf = (label: string, { mean, tasks: count }: ComparedRuns['first'], name: string): string =>
    `${label}  ${reward(mean)} of ${counted(count, 'task')}  ${name}`;
  const heads = [headOf('first ', runs.first, first), headOf('second', runs.second, second)];
  if (!paired) return [...heads, 'No task has a reward in both.'].map(line => truncate(line, width));
  const [low, high] = paired.interval ?? [];
  const between =
    low === undefined || high === undefined
      ? 'from one task only'
      : `95% between ${difference(low)} and ${difference(high)}`;
  const verdict = verdictOf(low, high);
  const tally = `${wins} better, ${losses} worse, ${ties} same`;
  const sums = [`diff    ${difference(paired.mean)}  ${between}`, `${verdict.words}: ${tally} of ${paired.count}`];
  return [
    ...heads.map(line => truncate(line, width)),
    ...sums.map(line => styles[verdict.style](truncate(line, width))),
  ];
}

function verdictOf(low: number | undefined, high: number | undefined) {
  if (low !== undefined && low > 0) return { style: 'success', words: 'clearly better' } as const;
  if (high !== undefined && high < 0) return { style: 'danger', words: 'clearly worse' } as const;
  return { style: 'warning', words: 'no clear difference' } as const;
}
