/** The tasks in a training step. */
import { unreadableIn } from '../contract/lists.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { type StepTask, tasksOf } from '../present/task-groups.ts';
import { byTask } from '../present/teaching.ts';
import { type ListSource, wholePage } from '../queries/lists/list-source.ts';
import { eachOnce } from '../queries/run-rewards.ts';
import { trainingKeys } from '../queries/training.ts';
import { counted } from '../text/numbers.ts';

/** The tasks in a completed step. @param rewardRange the range of rewards from the settings */
export function stepTaskList(runId: string, step: number, rewardRange: Range): ListSource<StepTask> {
  return {
    key: [...trainingKeys.stepRewards(runId, step), 'tasks', rewardRange],
    id: row => row.task_id,
    readPage: async ({ service, signal }) => {
      const params = { training_run_id: runId, step };
      const { trajectory_rewards } = await service.call('getStepTrajectoryRewards', { params }, { signal });
      const read = { step, rewards: eachOnce(trajectory_rewards) };
      const { nameless } = byTask(read);
      const note = nameless === 0 ? undefined : `${counted(nameless, 'rollout')} without a task`;
      return {
        ...wholePage(tasksOf(read, rewardRange), note),
        dropped: unreadableIn(trajectory_rewards),
      };
    },
    activity: () => 'settled',
    derived: true,
  };
}
