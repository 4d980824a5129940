/** From a comparison to rollouts: the lower one, the next changed task, the same task in the other run. */
import { expect, it } from 'vitest';
import { defineView } from '../../../../src/ui/app/registry.ts';
import { CompareView } from '../../../../src/ui/views/runs/compare.tsx';
import { TrajectoryView } from '../../../../src/ui/views/trajectories/trajectory.tsx';
import { fakeService } from '../../../service/fake-service.ts';
import { openViewOnStage } from '../../stage.tsx';

/** The rewards of each task in the base run and in the new one. */
const tasks: Readonly<Record<string, readonly [base: readonly number[], fresh: readonly number[]]>> = {
  worse: [
    [1, 1],
    [1, 0],
  ],
  same: [[1], [1]],
  better: [[0], [1]],
};
const service = fakeService({
  getEvalRun: ({ params: { eval_run_id } }) => ({ eval_run_id, bench_id: 'b', status: 'completed' }),
  getEvalProgress: () => ({ status: 'completed' }),
  getTrajectoryRewards: ({ params: { eval_run_id } }) => ({
    trajectory_rewards: Object.entries(tasks).flatMap(([task_id, [base, fresh]]) =>
      (eval_run_id === 'old' ? base : fresh).map((reward, index) => ({
        ...{ task_id, reward },
        trajectory_id: `traj_${eval_run_id}_${task_id}_${index}`,
      })),
    ),
  }),
  getTrajectory: ({ params: { trajectory_id } }) => ({
    ...{ trajectory_id, status: 'completed' },
    task_id: String(trajectory_id).split('_')[2],
    steps: [{ step_index: 0, messages: [{ role: 'assistant', content: `I am ${trajectory_id}` }] }],
  }),
});

it('opens the lowest rollout of the losing run, the next changed task, and the other run', async () => {
  const stage = openViewOnStage(CompareView, {
    place: { view: 'compare', base: { id: 'old', name: 'before' }, new: { id: 'new', name: 'after' } },
    service: async () => service,
    others: [
      defineView<'record'>({
        ...{ id: 'record trajectories', title: 'T', component: TrajectoryView, commands: [], general: [] },
      }),
    ],
  });
  await stage.waitFor('▸ worse');
  await stage.press('enter');
  await stage.waitFor('I am traj_new_worse_1');
  expect(stage.text()).toMatch(/worse in after \(new\) .*1\/2/);
  await stage.press('tab');
  await stage.waitFor('I am traj_old_worse_0');
  expect(stage.text()).toMatch(/worse in before \(base\) .*1\/2/);
  // Not to the task that is the same.
  await stage.press(']');
  await stage.waitFor('I am traj_old_better_0');
  expect(stage.text()).toMatch(/better in before \(base\) .*2\/2/);
  await stage.press('tab');
  await stage.waitFor('I am traj_new_better_0');
  await stage.press('[');
  await stage.waitFor('I am traj_new_worse_1');
});
