/** The rollouts of a training step, or of one of its tasks, worst first. */

import { useMemo } from 'react';
import { type Column, idColumn } from '../../../present/column.ts';
import { referenceFact } from '../../../present/fact.ts';
import { ageOf } from '../../../present/times.ts';
import { checkpointQuery, type StepRollout, stepRewardList } from '../../../queries/training.ts';
import { placeOf } from '../../../resources/define.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import { countOf, reward } from '../../../text/numbers.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useLive } from '../../data/use-live.ts';
import { usePromptDoor } from '../chat/use-prompt-door.ts';
import { ResourceList } from '../list/resource-list.tsx';
import { listedRollouts } from '../record/rollout-files.ts';
import { useRolloutFiles } from '../record/use-rollout-files.tsx';
import { markTwo, pairBinding } from '../tasks/rollout-doors.ts';

const columns: readonly Column<StepRollout>[] = [
  {
    id: 'task',
    title: 'TASK',
    width: { min: 12, max: 40, grow: 2 },
    value: row => row.task_id ?? row.trajectory_id ?? `rollout ${row.place}`,
  },
  {
    id: 'reward',
    title: 'REWARD',
    width: 8,
    align: 'right',
    value: row => row.reward ?? undefined,
    text: row => reward(row.reward),
  },
  {
    id: 'tokens',
    title: 'TOKENS',
    width: 6,
    align: 'right',
    ifAny: true,
    value: row => countOf(row.completion_tokens),
  },
  idColumn(row => row.trajectory_id ?? undefined, false),
];

const worstFirst = { column: 'reward', descending: false } as const;

export function StepRolloutsView({ place: { trainingRunId: runId, step, task } }: ViewProps<'step-rollouts'>) {
  const source = useMemo(() => stepRewardList(runId, step, task), [runId, step, task]);
  const checkpoint = useLive(checkpointQuery(runId, step), 'visible');
  const shell = useShell();
  const filesOf = useRolloutFiles();
  const promptDoor = usePromptDoor();
  return (
    <ResourceList
      name="rewards"
      source={source}
      texts={{ scope: { training: runId }, step, label: `step ${step}` }}
      columns={columns}
      sort={worstFirst}
      emptyWords="No rollout of this step has a reward"
      open={({ trajectory_id, ...row }) =>
        trajectory_id ? placeOf(trajectories, { ...row, trajectory_id }) : undefined
      }
      actions={rows => [pairBinding(rows, markTwo, shell.open), promptDoor(rows[0]?.trajectory_id)]}
      files={listed => filesOf(listedRollouts(listed))}
      facts={row => [
        { label: 'task', value: row.task_id },
        { label: 'id', value: row.trajectory_id },
        { label: 'reward', value: reward(row.reward) },
        { label: 'tokens', value: countOf(row.completion_tokens) },
        { label: 'step', value: step },
        referenceFact('checkpoint', 'checkpoints', checkpoint.data?.checkpoint_id, runId),
        { label: 'committed', value: ageOf(checkpoint.data?.created_at) },
      ]}
    />
  );
}
