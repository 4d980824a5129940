/** The rewards of rollouts against their lengths, to see whether a reward is gamed. */
import { useMemo, useState } from 'react';
import { isRunning } from '../../../contract/status.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { type Column, idColumn } from '../../../present/column.ts';
import { numberColumn } from '../../../present/number-columns.ts';
import { type LengthPoint, lengthOf, lengthPoints, lengths, lengthWords } from '../../../present/reward-length.ts';
import { rowsMadeElsewhere } from '../../../queries/lists/list-source.ts';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import { recordPlace } from '../../../resources/define.ts';
import { trajectories, trajectoryFacts } from '../../../resources/trajectories.ts';
import { count, counted } from '../../../text/numbers.ts';
import { wrap } from '../../../text/wrap.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useLives } from '../../data/use-live.ts';
import { drawChart } from '../../widgets/line-chart/chart.ts';
import { curveOf } from '../../widgets/line-chart/series.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { lengthCommands } from '../commands.ts';
import { ResourceList } from '../list/resource-list.tsx';
import { markTwo, pairBinding } from './rollout-doors.ts';
import { emptyRollouts, useRollouts } from './use-rollouts.ts';

/** Maximum number of rollouts to read for their tokens, if the list has none. */
const mostRead = 48;
/** Rollouts of more steps are too large to read for a number. */
const mostSteps = 500;

const columns: readonly Column<LengthPoint>[] = [
  {
    ...{ id: 'task', title: 'TASK', width: { min: 12, max: 60, grow: 2 } },
    value: ({ row }) => row.task_id ?? row.trajectory_id,
  },
  numberColumn('reward', 'REWARD', row => row.reward),
  { ...numberColumn<LengthPoint>('length', 'LENGTH', row => row.length, { text: count }), width: 8 },
  idColumn(({ row }) => row.trajectory_id),
];

const longestFirst = { column: 'length', descending: true } as const;

/** Evenly spaced rollouts, read for the data that the list lacks. */
function useWhole(rows: readonly Trajectory[], isWanted: boolean): readonly Trajectory[] {
  const ids = useMemo(() => {
    const readable = rows.filter(
      row => row.reward != null && !isRunning(row.status) && (row.num_steps ?? 0) <= mostSteps,
    );
    const every = Math.max(1, readable.length / mostRead);
    const chosen = Array.from({ length: Math.min(mostRead, readable.length) }, (_, index) => Math.floor(index * every));
    return chosen.flatMap(index => readable[index]?.trajectory_id ?? []);
  }, [rows]);
  const read = useLives(isWanted ? ids.map(trajectoryQuery) : [], 'visible');
  const known = read.flatMap(({ data }) => data ?? []);
  const key = known.map(({ trajectory_id }) => trajectory_id).join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says which are known
  return useMemo(() => known, [key]);
}

export function LengthsView({ place: { scope } }: ViewProps<'lengths'>) {
  const pane = usePane('main');
  const theme = useTheme();
  const { open } = useShell();
  const rollouts = useRollouts(scope, pane.attention);
  const { rows } = rollouts;
  const [chosen, choose] = useState(0);
  const length = lengths[chosen % lengths.length] ?? 'tokens';
  const isListed = useMemo(() => rows.some(row => lengthOf(row, length) !== undefined), [rows, length]);
  const whole = useWhole(rows, rollouts.loaded && !isListed && length !== 'steps');
  const read = isListed ? rows : whole;
  const points = useMemo(() => lengthPoints(read, length), [read, length]);
  const words = useMemo(() => lengthWords(points, length, rows.length), [points, length, rows.length]);
  const [source] = useState(() =>
    rowsMadeElsewhere<LengthPoint>([...rollouts.key, 'lengths'], ({ row }) => row.trajectory_id),
  );
  const width = pane.width - 2;
  const height = Math.min(20, Math.floor(pane.height / 2) - 2);
  const chart = useMemo(() => {
    if (points.length < 2 || height < 4) return [];
    const curve = curveOf(
      points,
      point => point.length,
      point => point.reward,
    );
    return drawChart([{ name: 'reward', curve }], { width, height, theme, isScatter: true }).lines;
  }, [points, width, height, theme]);
  const sampled =
    isListed || whole.length === 0
      ? []
      : [`${counted(whole.length, 'rollout')} sampled evenly, because the list does not report ${length}`];
  const header = [
    ...words.flatMap(line => wrap(line, width)),
    ...chart,
    ...(chart.length > 0 ? [theme.styles.muted(`reward above ${length}; equal rollouts share a dot`)] : []),
  ];
  return (
    <ResourceList<LengthPoint>
      name="lengths"
      source={source}
      rows={points}
      parts={rollouts.parts}
      columns={columns}
      sort={longestFirst}
      emptyWords={emptyRollouts(rollouts, `No rollout with a reward reports its number of ${length}`)}
      open={({ row }) => recordPlace(trajectories, row.trajectory_id, row.task_id ?? undefined)}
      actions={some => [
        pairBinding(
          some.map(({ row }) => row),
          markTwo,
          open,
        ),
      ]}
      facts={({ row }) => trajectoryFacts(row)}
      notes={[...rollouts.notes, ...sampled]}
      header={header.map(line => ` ${line}`)}
      bindings={[{ command: lengthCommands.next, run: () => choose(chosen + 1) }]}
    />
  );
}
