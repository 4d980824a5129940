/** Compares two runs task by task, the largest loss first. */
import { useMemo, useSyncExternalStore } from 'react';
import { hasEnded } from '../../../contract/status.ts';
import type { Column } from '../../../present/column.ts';
import {
  type ComparedRuns,
  type ComparedTask,
  comparison,
  summariseComparison,
  verdictOf,
} from '../../../queries/compare.ts';
import { useList } from '../../../queries/use-list.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import { recordPlace } from '../../../resources/define.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import { counted, difference, reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import type { Theme } from '../../widgets/theme/theme.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { compareCommands } from '../commands.ts';
import { Lines } from '../shared/lines.tsx';
import { ResourceList } from '../shared/resource-list.tsx';

const columns: readonly Column<ComparedTask>[] = [
  { id: 'task', title: 'TASK', width: { min: 12, max: 60, grow: 1 }, value: row => row.task_id },
  { id: 'base', title: 'BASE', width: 8, align: 'right', value: row => row.base, text: row => reward(row.base) },
  { id: 'new', title: 'NEW', width: 8, align: 'right', value: row => row.new, text: row => reward(row.new) },
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

export function CompareView({ place }: ViewProps<'compare'>) {
  const { base, new: fresh } = place;
  const { navigate } = useShell();
  const pane = usePane('main');
  const theme = useTheme();
  const { statuses } = useWorkbench();
  const ended = useSyncExternalStore(statuses.subscribe, () =>
    [base, fresh].every(({ id }) => hasEnded(statuses.get({ kind: 'run', id })?.status)),
  );
  const source = useMemo(() => comparison(base.id, fresh.id, ended), [base.id, fresh.id, ended]);
  const { rows, loaded } = useList(source, 'visible');
  const names = { base: sanitiseLine(base.name), new: sanitiseLine(fresh.name) };
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
        { label: 'base', value: reward(row.base) },
        { label: 'new', value: reward(row.new) },
        { label: 'difference', value: difference(row.difference) },
        { label: 'opens', value: row.trajectory_id },
      ]}
      bindings={[
        {
          command: compareCommands.swap,
          run: () => navigate({ kind: 'replace', place: { ...place, base: fresh, new: base } }),
        },
      ]}
      header={{ height: lines.length, node: <Lines lines={lines} width={pane.width} height={lines.length} /> }}
    />
  );
}

export interface ComparedNames {
  readonly base: string;
  readonly new: string;
}

/** As wide as the word before the difference. */
const sumIndent = '      ';
const verdictStyles = { new: 'success', base: 'danger' } as const;

/** The means, the paired difference with its confidence interval, and which run is better on how many tasks. */
export function comparisonLines(
  tasks: readonly ComparedTask[],
  names: ComparedNames,
  width: number,
  { styles }: Theme,
): string[] {
  const compared = summariseComparison(tasks);
  const { paired, wins, losses, ties } = compared;
  const headOf = (label: string, { mean, tasks: count }: ComparedRuns['base'], name: string): string =>
    `${label}  ${reward(mean)} of ${counted(count, 'task')}  ${name}`;
  const heads = [headOf('base', compared.base, names.base), headOf('new ', compared.new, names.new)];
  const cut = heads.map(line => truncate(line, width));
  if (!paired) return [...cut, 'No task has a reward in both.'];
  const [low, high] = paired.interval ?? [];
  const between =
    low === undefined || high === undefined
      ? 'from one task only'
      : `95% between ${difference(low)} and ${difference(high)}`;
  const { better, words } = verdictOf(compared);
  const style = better === undefined ? 'warning' : verdictStyles[better];
  const tally = `new is higher on ${wins}, lower on ${losses}, same on ${ties} of ${paired.count}`;
  const verdict = words.charAt(0).toUpperCase() + words.slice(1);
  const [first = '', ...rest] = [`${difference(paired.mean)}  ${between}`, verdict, tally].flatMap(line =>
    wrap(line, width - sumIndent.length),
  );
  const sums = [`diff  ${first}`, ...rest.map(line => `${sumIndent}${line}`)];
  return [...cut, ...sums.map(line => styles[style](line))];
}
