/** The mean of a run on screen: what it is of, and what is to be borne in mind with it. */
import { expect, it } from 'vitest';
import { openWorld, world } from './scripted-world.tsx';

const place = { view: 'record', resource: 'runs', id: 'evr_1' } as const;

it('names the mean of tasks where the mean of all rewards is another', async () => {
  const service = world('completed');
  service.answers.getTrajectoryRewards = () => ({
    trajectory_rewards: [1, 1, 1, 0].map((reward, index) => ({
      reward,
      trajectory_id: `traj_${index}`,
      task_id: reward === 1 ? 'one' : 'other',
    })),
  });
  delete service.answers.getEvalProgress;
  service.answers.getEvalRun = () => ({ eval_run_id: 'evr_1', status: 'completed', reward_mean: 0.75 });
  const screen = openWorld(service, place);
  await screen.waitFor('mean 0.750 of 4 rewards');
  expect(screen.text()).toMatch(/mean of tasks 0\.500, 95% between 0\.\d+ and 0\.\d+ by 2 tasks/);
});
