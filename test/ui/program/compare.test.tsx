/** Two runs side by side on screen: which is the base, and which is better. */
import { expect, it, onTestFinished } from 'vitest';
import { fakeService } from '../../service/fake-service.ts';
import { openProgram } from './rig.tsx';

function twoRuns() {
  const rewards = { evr_old: 0.2, evr_new: 0.8 } as const;
  const service = fakeService({
    getTrajectoryRewards: ({ params }) => {
      const run = params.eval_run_id as keyof typeof rewards;
      const of = (task: number) => ({ task_id: `task ${task}`, trajectory_id: `traj_${run}_${task}` });
      return {
        trajectory_rewards: [1, 2, 3, 4].map(task => ({ ...of(task), reward: rewards[run] + task / 100 })),
      };
    },
  });
  const start = {
    view: 'compare',
    base: { id: 'evr_old', name: 'before' },
    new: { id: 'evr_new', name: 'after' },
  } as const;
  const { screen, workbench, close } = openProgram({ service, start, columns: 120, rows: 30 });
  onTestFinished(close);
  return { screen, workbench };
}

it('says which run is better, and swaps the two', async () => {
  const { screen } = twoRuns();
  await screen.waitFor('The new run is better');
  expect(screen.text()).toMatch(/base +0\.225 of 4 tasks +before/);
  expect(screen.text()).toMatch(/TASK +BASE +NEW +DIFF/);
  expect(screen.text()).toContain('<v> swap');
  await screen.press('v');
  await screen.waitFor('The base is better');
  expect(screen.text()).toMatch(/base +0\.825 of 4 tasks +after/);
});

it('is final once both runs have ended', async () => {
  const { screen, workbench } = twoRuns();
  await screen.waitFor(text => text.includes('The new run is better') && text.includes('live, read every'));
  const at = Date.now();
  const report = (id: string, status: string) =>
    workbench.statuses.report([{ kind: 'run', id, label: id, status }], { askedAt: at, at });
  report('evr_old', 'completed');
  report('evr_new', 'running');
  report('evr_new', 'completed');
  await screen.waitFor(text => text.includes('The new run is better') && text.includes('● final'));
});
