/** The mean of a run on screen: its coverage and its caveats. */
import { expect, it } from 'vitest';
import { AuthenticationError } from '../../../src/service/errors.ts';
import { eventually } from '../../eventually.ts';
import { notFound } from '../../queries/scripted-service.ts';
import { openWorld, world } from './scripted-world.tsx';

const place = { view: 'record', resource: 'runs', id: 'evr_1' } as const;

it('names the mean over tasks if the mean over all rewards differs', async () => {
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
  await screen.waitFor('mean 0.750 over 4 rewards');
  expect(screen.text()).toMatch(/mean of tasks 0\.500, 95% CI 0\.\d+ to 0\.\d+ over 2 tasks/);
});

it.each([
  ['test', true],
  ['validation', false],
])('warns even in a narrow terminal if the %s tasks chose its checkpoint, once that is known', async (split, warns) => {
  const service = world('completed');
  const row = { eval_run_id: 'evr_1', status: 'completed', reward_mean: 0.5, split: 'test' };
  service.answers.getEvalRun = () => ({ ...row, parent_checkpoint_id: 'ckpt_1', training_run_id: 'trn_1' });
  service.answers.getTrajectoryRewards = () => ({
    trajectory_rewards: [0, 1].map(reward => ({ reward, trajectory_id: `traj_${reward}`, task_id: `t${reward}` })),
  });
  const curve = Promise.withResolvers<object>();
  service.answers.getHeldOutRewards = () => curve.promise;
  const screen = openWorld(service, place, { columns: 70 });
  await screen.waitFor('mean 0.500 over 2 rewards');
  expect(screen.text()).not.toContain('optimistic');
  curve.resolve({ held_out_rewards: [{ step: 1, split, held_out_reward: 0.5 }] });
  await eventually(() => expect(screen.workbench.cache.isFetching({ queryKey: ['training'] })).toBe(0));
  if (warns) await screen.waitFor('optimistic if its checkpoint was chosen by held-out reward on');
  else expect(screen.text()).not.toContain('optimistic');
});

it.each([
  ['listed', 60],
  ['not listed', 60],
  ['not listed', 130],
])('says once why the rewards could not be read if trajectories are %s, in %i columns', async (lists, columns) => {
  const service = world('running');
  if (lists === 'not listed') delete service.answers.listTrajectories;
  service.answers.getTrajectoryRewards = () => {
    throw new AuthenticationError('The key is not known.', { status: 401 });
  };
  const screen = openWorld(service, place, { columns, rows: 15 });
  // All in one frame: the error is gone while the rewards are asked for again.
  const parts = ['rewards not read', 'No rollouts to show', 'failing, retry in'];
  await screen.waitFor(
    text => parts.every(part => text.includes(part)) && text.split('The key is not known.').length === 2,
  );
  expect(screen.text()).not.toMatch(/no reward yet|has a reward yet/);
});

it('does not say that there is no reward while they are read again after an error', async () => {
  const service = world('running');
  service.answers.getTrajectoryRewards = () => {
    throw new AuthenticationError('The key is not known.', { status: 401 });
  };
  const screen = openWorld(service, place);
  await screen.waitFor('No rollouts to show');
  let isAsked = false;
  service.answers.getTrajectoryRewards = () => {
    isAsked = true;
    return new Promise(() => {});
  };
  await screen.waitFor(() => isAsked);
  expect(screen.text()).toContain('No rollouts to show');
  expect(screen.text()).not.toContain('has a reward yet');
});

it('says only that a run does not exist', async () => {
  const service = world();
  const gone = () => notFound('evr_lost');
  for (const operation of ['getEvalRun', 'getEvalProgress', 'getTrajectoryRewards', 'getRolloutStatistics'] as const)
    service.answers[operation] = gone;
  const screen = openWorld(service, { ...place, id: 'evr_lost' });
  await screen.waitFor('There is no evr_lost.');
  await screen.waitFor('It could not be read');
  expect(screen.text()).not.toMatch(/reports no status|reward yet|No rollout has ended/);
});

it('says for a run without status and rewards that no rollout has a reward, not that none has ended', async () => {
  const service = world('running');
  delete service.answers.getEvalProgress;
  service.answers.getEvalRun = () => ({ eval_run_id: 'evr_1', status: null });
  service.answers.listTrajectories = () => ({ items: [], has_more: false, next_cursor: null, dropped: 0 });
  service.answers.getTrajectoryRewards = () => ({ trajectory_rewards: [] });
  const screen = openWorld(service, place);
  await screen.waitFor('No rollout has a reward yet');
  expect(screen.text()).not.toContain('No rollout has ended');
});

it('reads the rewards once per poll if the service lists no trajectories', async () => {
  const service = world('running');
  delete service.answers.listTrajectories;
  service.answers.getTrajectoryRewards = () => ({ trajectory_rewards: [{ reward: 1, trajectory_id: 'traj_1' }] });
  const screen = openWorld(service, place, { poll: { focusedMs: 20, visibleMs: 600_000 } });
  await screen.waitFor('over 1 reward');
  await eventually(() => expect(service.asked('getRolloutStatistics', 'evr_1')).toBeGreaterThan(12));
  const extra = service.asked('getTrajectoryRewards', 'evr_1') - service.asked('getRolloutStatistics', 'evr_1');
  expect(extra).toBeLessThan(4);
});
