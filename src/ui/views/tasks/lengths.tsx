/** Plots rollouts' rewards against their lengths, which shows whether a reward is gamed. */
import { useMemo, useState } from 'react';
import { curveOf } from '../../../base/curve.ts';
import { largestOf } from '../../../base/many.ts';
import { type Column, idColumn, plainColumn } from '../../../present/column.ts';
import { numberColumn } from '../../../present/number-columns.ts';
import {
  describeCorrelation,
  describeCorrelationShort,
  type Length,
  type LengthPoint,
  lengthPoints,
  lengths,
} from '../../../present/reward-length.ts';
import { rowsMadeElsewhere } from '../../../queries/lists/list-source.ts';
import { recordPlace } from '../../../resources/define.ts';
import { describePolicies } from '../../../resources/task-groups.ts';
import { trajectories, trajectoryFacts } from '../../../resources/trajectories.ts';
import { count } from '../../../text/numbers.ts';
import { wrap } from '../../../text/wrap.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useKeyOf } from '../../keys/router.tsx';
import { drawChart } from '../../widgets/line-chart/chart.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { lengthCommands } from '../commands.ts';
import type { PreviewProps } from '../list/list-props.ts';
import { ResourceList } from '../list/resource-list.tsx';
import { TrajectoryPreview } from '../trajectories/preview.tsx';
import { markTwo, pairBinding, textsIn } from './rollout-bindings.ts';
import { useLengthReader } from './use-length-reader.ts';
import { useShownFacts } from './use-rollout-list.ts';
import { emptyRollouts, useRollouts } from './use-rollouts.ts';
import { useStepsChoice } from './use-steps-choice.tsx';

const columns: readonly Column<LengthPoint>[] = [
  plainColumn('task', 'TASK', { min: 12, max: 60, grow: 2 }, ({ row }) => row.task_id ?? row.trajectory_id),
  numberColumn('reward', 'REWARD', row => row.reward),
  { ...numberColumn<LengthPoint>('length', 'LENGTH', row => row.length, { text: count }), width: 8 },
  idColumn(({ row }) => row.trajectory_id),
];

const longestFirst = { column: 'length', descending: true } as const;

/** The lines above the rollouts: their correlation with length, and the chart. */
function useHeader(
  points: readonly LengthPoint[],
  length: Length,
  { rows: rollouts, isReading, left }: ReturnType<typeof useLengthReader>,
): readonly string[] {
  const pane = usePane('main');
  const theme = useTheme();
  const words = useMemo(
    () => [
      ...describeCorrelation(points, length, rollouts.length, { isReading, unread: left }),
      ...describePolicies(rollouts),
    ],
    [points, length, rollouts, isReading, left],
  );
  const width = pane.width - 2;
  const isLow = pane.height < 16;
  const height = isLow ? 3 : Math.min(20, Math.floor(pane.height / 2) - 2);
  const chart = useMemo(() => {
    if (points.length < 2) return [];
    const curve = curveOf(
      points,
      point => point.length,
      point => point.reward,
    );
    return drawChart([{ name: 'reward', curve }], { width, height, theme, isScatter: true }).lines;
  }, [points, width, height, theme]);
  const short = useMemo(() => (isLow ? describeCorrelationShort(points) : undefined), [isLow, points]);
  const wrapped = (lines: readonly string[]): readonly string[] => lines.flatMap(line => wrap(line, width));
  if (isLow) {
    // Put the most important line above the chart and the others below, because only four lines may fit.
    const [known = '', _, ...policies] = words;
    return [...wrapped([short ?? known]), ...chart, ...wrapped(short === undefined ? [] : [known, ...policies])];
  }
  const most = largestOf(points, ({ equal }) => equal);
  const dots = most > 1 ? `; up to ${most} per dot, few where faint` : '';
  return [
    ...wrapped(words),
    ...chart,
    ...(chart.length > 0 ? [theme.styles.muted(`reward above ${length}${dots}`)] : []),
  ];
}

export function LengthsView({ place }: ViewProps<'lengths'>) {
  const { scope, steps, filter } = place;
  const pane = usePane('main');
  const keyOf = useKeyOf();
  const { open } = useShell();
  const shown = useShownFacts();
  const rollouts = useRollouts(scope, pane.attention, { steps, filter, needsRewardsOnly: true });
  const [chosen, choose] = useState(0);
  const length = lengths[chosen % lengths.length] ?? 'tokens';
  const reader = useLengthReader(rollouts, length);
  const { rows: read, isReading } = reader;
  const points = useMemo(() => lengthPoints(read, length), [read, length]);
  const stepsChoice = useStepsChoice(place, read);
  const noneText = `No rollout with a reward reports its number of ${length}: ${keyOf(lengthCommands.next)} switches to another unit`;
  const [source] = useState(() =>
    rowsMadeElsewhere<LengthPoint>([...rollouts.key, 'lengths'], ({ row }) => row.trajectory_id),
  );
  return (
    <ResourceList<LengthPoint>
      name="lengths"
      source={source}
      texts={textsIn(place)}
      rows={points}
      parts={rollouts.parts}
      columns={columns}
      initial={{ sort: longestFirst }}
      emptyText={emptyRollouts(rollouts, isReading ? 'Reading the rollouts' : noneText)}
      open={({ row }) => recordPlace(trajectories, row.trajectory_id, row.task_id ?? undefined)}
      actions={some => [
        pairBinding(
          some.map(({ row }) => row),
          markTwo,
          open,
        ),
      ]}
      facts={({ row, equal }) => [
        { label: 'same point', value: equal > 1 ? `${equal - 1} more with this reward and length` : undefined },
        ...shown(trajectoryFacts(row)),
      ]}
      preview={LengthPreview}
      notes={[...rollouts.notes, ...reader.notes]}
      header={useHeader(points, length, reader)}
      bindings={[{ command: lengthCommands.next, run: () => choose(chosen + 1) }, stepsChoice, ...reader.bindings]}
    />
  );
}

function LengthPreview({ row: { row }, ...props }: PreviewProps<LengthPoint>) {
  return <TrajectoryPreview row={row} {...props} />;
}
