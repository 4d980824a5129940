/** The rollouts in a training step, or for one of its tasks, worst first. */

import { useMemo } from 'react';
import { type Column, idColumn } from '../../../present/column.ts';
import { type Fact, referenceFact } from '../../../present/fact.ts';
import { numberColumn, rewardColumn } from '../../../present/number-columns.ts';
import { ageOf } from '../../../present/times.ts';
import { checkpointQuery } from '../../../queries/checkpoints.ts';
import { type StepRollout, stepRewardList } from '../../../queries/training.ts';
import { placeOf } from '../../../resources/define.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import { countOf, reward } from '../../../text/numbers.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useListedRows } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { rolloutCommands } from '../commands.ts';
import type { PreviewProps } from '../list/list-props.ts';
import { ResourceList } from '../list/resource-list.tsx';
import { rolloutBindings } from '../tasks/rollout-bindings.ts';
import { useRolloutList } from '../tasks/use-rollout-list.ts';
import { TrajectoryPreview } from '../trajectories/preview.tsx';

const columns: readonly Column<StepRollout>[] = [
  {
    id: 'task',
    title: 'TASK',
    width: { min: 12, max: 40, grow: 2 },
    value: row => row.task_id ?? row.trajectory_id ?? `rollout ${row.place}`,
  },
  rewardColumn(),
  {
    ...numberColumn<StepRollout>('tokens', 'TOKENS', row => countOf(row.completion_tokens), { text: String }),
    ifAny: true,
  },
  idColumn(row => row.trajectory_id ?? undefined, false),
];

const worstFirst = { column: 'reward', descending: false } as const;

/** The step, and its checkpoint if there is one. */
export function useStepFacts(runId: string, step: number): readonly Fact[] {
  const { data } = useLive(checkpointQuery(runId, step), 'visible');
  return [
    { label: 'step', value: step },
    referenceFact('checkpoint', 'checkpoints', data?.checkpoint_id, runId),
    { label: 'committed', value: ageOf(data?.created_at) },
  ];
}

/** The rollout's last lines, once the cursor rests. */
function StepRolloutPreview({ row, ...props }: PreviewProps<StepRollout>) {
  const { trajectory_id } = row;
  return trajectory_id ? <TrajectoryPreview row={{ ...row, trajectory_id }} {...props} /> : null;
}

export function StepRolloutsView({ place: { trainingRunId: runId, step, task } }: ViewProps<'step-rollouts'>) {
  const source = useMemo(() => stepRewardList(runId, step, task), [runId, step, task]);
  const factsOfStep = useStepFacts(runId, step);
  const { open } = useShell();
  const facts = (row: StepRollout): readonly Fact[] => [
    { label: 'task', value: row.task_id },
    { label: 'id', value: row.trajectory_id },
    { label: 'reward', value: reward(row.reward) },
    { label: 'tokens', value: countOf(row.completion_tokens) },
    ...factsOfStep,
  ];
  const list = useRolloutList(columns, facts, useListedRows(source));
  const ofStep = { scope: { training: runId }, steps: String(step), label: `step ${step}` };
  return (
    <ResourceList
      name="rewards"
      source={source}
      texts={{ scope: { training: runId }, step, label: `step ${step}` }}
      {...list}
      initial={{ sort: worstFirst }}
      emptyText="No rollout of this step has a reward"
      open={({ trajectory_id, ...row }) =>
        trajectory_id ? placeOf(trajectories, { ...row, trajectory_id }) : undefined
      }
      preview={StepRolloutPreview}
      keepsPreview
      bindings={[
        ...rolloutBindings(ofStep, open).filter(({ command }) => command !== rolloutCommands.tasks),
        { command: rolloutCommands.tasks, run: () => open({ view: 'step', trainingRunId: runId, step }) },
      ]}
    />
  );
}
