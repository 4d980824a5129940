/** The tasks in a training step, worst first. */
import { useMemo } from 'react';
import { emptyCurve } from '../../../contract/trainer-curve.ts';
import type { StepTask } from '../../../present/task-groups.ts';
import { stepsIn } from '../../../queries/step-rewards.ts';
import { trainerRewardsQuery } from '../../../queries/training-curves.ts';
import { stepTaskList } from '../../../resources/step-tasks.ts';
import { groupFacts, taskColumn } from '../../../resources/task-groups.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { type Binding, useKeyOf } from '../../keys/router.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { teachingCommands } from '../commands.ts';
import { ResourceList } from '../list/resource-list.tsx';
import { drawnColumns } from '../tasks/group-columns.ts';
import { pairBinding, worstAndBest } from '../tasks/rollout-bindings.ts';
import { useStepFacts } from './step-rollouts.tsx';

const worstFirst = { column: 'mean', descending: false } as const;

export function TrainingStepView({ place: { trainingRunId: runId, step } }: ViewProps<'step'>) {
  const { compare } = useWorkbench();
  const shell = useShell();
  const theme = useTheme();
  const keyOf = useKeyOf();
  const source = useMemo(() => stepTaskList(runId, step, compare.rewardRange), [runId, step, compare.rewardRange]);
  const columns = useMemo(() => [taskColumn, ...drawnColumns(theme)], [theme]);
  // The keys for neighbouring steps need only the steps so far.
  const steps = stepsIn(useLive(trainerRewardsQuery(runId, true), 'visible').data ?? emptyCurve);
  const goTo = (next: number | undefined): Omit<Binding, 'command'> => ({
    enabled: next !== undefined,
    run: () => shell.navigate({ kind: 'replace', place: { view: 'step', trainingRunId: runId, step: next ?? step } }),
  });
  const factsOfStep = useStepFacts(runId, step);
  return (
    <ResourceList<StepTask>
      name="step tasks"
      source={source}
      texts={{ scope: { training: runId }, step, label: `step ${step}` }}
      columns={columns}
      initial={{ sort: worstFirst }}
      emptyText={`No rollout of this step names its task: ${keyOf(teachingCommands.rollouts)} lists the rollouts`}
      open={({ task_id: task }) => ({ view: 'task-life', trainingRunId: runId, task, step })}
      actions={([row]) => [
        pairBinding(worstAndBest(row?.rollouts ?? []), 'It has fewer than two rollouts with a reward', shell.open),
      ]}
      facts={row => [...groupFacts(row), ...factsOfStep]}
      bindings={[
        {
          command: teachingCommands.rollouts,
          run: () => shell.open({ view: 'step-rollouts', trainingRunId: runId, step }),
        },
        { command: teachingCommands.earlier, ...goTo(steps.findLast(each => each < step)) },
        { command: teachingCommands.later, ...goTo(steps.find(each => each > step)) },
      ]}
    />
  );
}
