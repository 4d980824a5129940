/** The regraded rollouts in a run, a training run or a dataset: flips first. */
import { useMemo, useState } from 'react';
import type { Fact } from '../../../present/fact.ts';
import { rowsMadeElsewhere } from '../../../queries/lists/list-source.ts';
import { recordPlace } from '../../../resources/define.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import {
  changeOf,
  describeGraded,
  flipOf,
  type Regraded,
  regradedColumns,
  regradeFacts,
  summariseRegrade,
} from '../../../rollouts/regrade.ts';
import {
  describeKept,
  describeNoGrades,
  describeProgress,
  gradableIn,
  isUnderWay,
  type RegradingState,
} from '../../../rollouts/regrading.ts';
import { difference, reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { ViewProps } from '../../app/registry.ts';
import { usePane } from '../../app/view.tsx';
import { workPart } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { recordCommands } from '../../keys/general.ts';
import { useKeyOf } from '../../keys/router.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import type { PreviewProps } from '../list/list-props.ts';
import { ResourceList } from '../list/resource-list.tsx';
import { listedRollouts } from '../record/rollout-files.ts';
import { useRolloutFiles } from '../record/use-rollout-files.tsx';
import { TrajectoryPreview } from '../trajectories/preview.tsx';
import { trajectoryNoted } from '../triage/noted.ts';
import { useTriage } from '../triage/use-triage.tsx';
import { useRegrade } from './regrade-window.tsx';
import { useRegrading } from './regradings.ts';

const unknownState: Pick<RegradingState, 'rows' | 'notes' | 'error'> = { rows: [], notes: [], error: undefined };

export function RegradeView({ place: { id, label } }: ViewProps<'regrade'>) {
  const { regrading, state, stop } = useRegrading(id);
  const { rewardRange: range } = useWorkbench().compare;
  const pane = usePane('main');
  const { styles } = useTheme();
  const again = useRegrade();
  const triage = useTriage();
  const filesOf = useRolloutFiles();
  const keyOf = useKeyOf();
  const { rows, notes, error } = state ?? unknownState;
  const passAt = regrading?.passAt ?? range[1];
  const [source] = useState(() => rowsMadeElsewhere<Regraded>(['regrade', id], row => row.trajectory_id));
  const facts = useMemo(
    () => (state && !isUnderWay(state) ? factsOf(state, passAt, range) : []),
    [state, passAt, range],
  );
  const width = pane.width - 2;
  const refresh = () => {
    if (regrading && !regrading.isRunning) again(regrading.again(), true);
  };
  return (
    <ResourceList<Regraded>
      name="regrade"
      source={source}
      rows={rows}
      columns={useMemo(() => regradedColumns(passAt), [passAt])}
      parts={[workPart(refresh, state !== undefined && isUnderWay(state))]}
      emptyText={describeNoGrades(state)}
      open={row => ({
        ...recordPlace(trajectories, row.trajectory_id, row.task_id),
        graded: describeGraded(row),
      })}
      refOf={row => ({ label: row.task_id ?? row.trajectory_id })}
      facts={row => rowFacts(row, passAt)}
      preview={RegradedPreview}
      keepsPreview
      notes={notes}
      actions={some => triage(some.map(trajectoryNoted))}
      files={listed => filesOf(listedRollouts(listed))}
      bindings={[stop]}
      header={[
        styles.title(truncate(sanitiseLine(label ?? ''), width)),
        ...(error ? wrap(sanitiseLine(error.message), width).map(styles.danger) : []),
        ...(state
          ? [describeProgress(state), describeKept(state, keyOf(recordCommands.refresh)), ...summaryLines(facts)]
          : []
        ).flatMap(line => (line === '' ? [] : wrap(line, width))),
        '',
      ]}
    />
  );
}

function RegradedPreview({ row: { trajectory_id, task_id, reward: graded }, ...props }: PreviewProps<Regraded>) {
  const row = useMemo(() => ({ trajectory_id, task_id, reward: graded }), [trajectory_id, task_id, graded]);
  return <TrajectoryPreview row={row} {...props} />;
}

function factsOf(state: RegradingState, passAt: number, range: readonly [number, number]): readonly Fact[] {
  const { rows, left } = state;
  const gradable = gradableIn(state);
  if (gradable === 0) return [];
  const summary = summariseRegrade(rows, { range, passAt });
  return regradeFacts(rows, summary, { ...left, stopped: gradable - rows.length });
}

const rowFacts = (row: Regraded, passAt: number): readonly Fact[] => [
  { label: 'task', value: row.task_id },
  { label: 'id', value: row.trajectory_id },
  { label: 'reward', value: reward(row.reward) },
  { label: 'new reward', value: reward(row.new_reward) },
  { label: 'change', value: changeOf(row) === undefined ? undefined : difference(changeOf(row)) },
  { label: 'flip', value: flipOf(row, passAt) },
  { label: 'explanation', value: row.explanation },
  { label: 'not graded', value: row.error },
];

/** The graded rollouts, the means, and the verdicts: one line each. */
function summaryLines(facts: readonly Fact[]): readonly string[] {
  const starts = ['mean', 'passes'].map(start => facts.findIndex(({ label }) => label === start));
  const bounds = [0, ...starts, facts.length];
  return [0, 1, 2].map(index =>
    facts
      .slice(bounds[index], bounds[index + 1])
      .map(({ label, value }) => `${label} ${value}`)
      .join('; '),
  );
}
