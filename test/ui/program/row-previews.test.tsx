/** The row under the cursor, previewed below few rows while the facts are hidden. */
import { expect, it } from 'vitest';
import { pageOf } from '../../queries/scripted-service.ts';
import { openWorld, type World, world } from './scripted-world.tsx';

const steps = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

const trainingRun = (index: number) => ({
  training_run_id: `trn_${index}`,
  bench_id: 'bench_1',
  display_name: `seed${index}`,
  status: 'completed',
  created_at: `2026-03-0${index}T05:06:07Z`,
});

/** Training runs whose held-out rewards rise to a tenth of their number, and a run with four rewards. */
function worldOf(count: number): World {
  const runs = Array.from({ length: count }, (_, index) => trainingRun(index + 1));
  const state = world('completed');
  const numberOf = (id: string): number => Number(id.slice('trn_'.length));
  Object.assign(state.answers, {
    listTrainingRuns: () => runs,
    getTrainingRun: ({ training_run_id: id }: { training_run_id: string }) => trainingRun(numberOf(id)),
    getTrainerRewards: () => ({ trainer_rewards: steps.map(step => ({ step, trainer_reward: step / 100 })) }),
    getHeldOutRewards: ({ training_run_id: id }: { training_run_id: string }) => ({
      held_out_rewards: steps.map(step => ({ step, held_out_reward: (step * numberOf(id)) / 90 })),
    }),
    getTrajectoryRewards: () => ({
      trajectory_rewards: [0.1, 0.3, 0.5, 0.9].map((reward, index) => ({ trajectory_id: `tr_${index}`, reward })),
    }),
  });
  return state;
}

const list = (resource: string) => ({ view: 'list', resource }) as const;

it('draws the curves of a training run, and of the next one as the cursor moves', async () => {
  const screen = openWorld(worldOf(3), list('training'), { columns: 100, rows: 40 });
  await screen.waitFor(text => /└┬.*\n.*0 .*\n.*held-out 0\.300 {2}.*trainer 0\.090/.test(text));
  await screen.press('j', 'j');
  await screen.waitFor(text => /held-out 0\.100 {2}.*trainer 0\.090/.test(text));
});

it('uses the height of a large screen', async () => {
  const screen = openWorld(worldOf(2), list('training'), { columns: 118, rows: 50 });
  await screen.waitFor(text => text.includes('held-out 0.200'));
  const axis = screen
    .text()
    .split('\n')
    .findIndex(line => line.includes('└┬'));
  expect(axis).toBeGreaterThan(30);
});

it('draws the rewards of a run', async () => {
  const screen = openWorld(worldOf(1), list('runs'), { columns: 100, rows: 40 });
  await screen.waitFor(text => /0\.3 █+ 1\b/.test(text));
});

it('draws them in Watch, too', async () => {
  const screen = openWorld(worldOf(2), list('training'), { columns: 100, rows: 40 });
  await screen.waitFor('seed2');
  await screen.press('j', 'p');
  await screen.type(':watch\r');
  await screen.waitFor(text => /WATCHED[\s\S]*seed1[\s\S]*held-out 0\.100 {2}.*trainer 0\.090/.test(text));
});

it('draws them if a filter leaves few rows (C2)', async () => {
  const screen = openWorld(worldOf(9), list('training'), { columns: 100, rows: 17 });
  await screen.waitFor('seed9');
  await screen.type('/seed3');
  await screen.waitFor('1 of 9');
  expect(screen.text()).not.toContain('└┬');
  await screen.press('enter');
  await screen.waitFor(text => /└┬[\s\S]*held-out 0\.300/.test(text));
  await screen.press('esc');
  await screen.waitFor(text => text.includes('seed9') && !text.includes('└┬'));
});

it('leaves the lines to the rows if there are many, and to the facts if these are shown', async () => {
  const screen = openWorld(worldOf(9), list('training'), { columns: 100, rows: 17 });
  await screen.waitFor('seed9');
  await screen.resize(100, 40);
  await screen.waitFor(text => /held-out 0\.\d00 {2}/.test(text));
  await screen.resize(100, 17);
  await screen.waitFor(text => !/└┬/.test(text));
  expect(screen.text()).toContain('seed9');
  await screen.resize(200, 40);
  await screen.waitFor(text => /│ id +trn_9/.test(text));
  // In the inspector.
  expect(
    screen
      .text()
      .split('\n')
      .findLast(line => line.includes('└┬')),
  ).toMatch(/│ +└┬/);
});

it.each([
  [60, 24],
  [100, 40],
])('says for a deployment in Watch what it serves, at %d columns', async (columns, rows) => {
  const service = worldOf(1);
  const deployment = {
    ...{ deployment_id: 'dep_1', model_slug: 'tea', status: 'DEPLOYED', role: 'production', is_active: true },
    ...{ base_model_slug: 'acme/small', checkpoint_id: 'ckpt_6', checkpoint_step: 6 },
    completed_at: '2026-03-04T05:06:07Z',
  };
  service.answers.listDeployments = () => pageOf([deployment]);
  service.answers.getDeployment = () => deployment;
  const screen = openWorld(service, list('deployments'), { columns, rows });
  await screen.waitFor('▸ tea');
  await screen.press('p');
  await screen.type(':watch\r');
  await screen.waitFor(text => text.includes('WATCHED') && /active +yes, serves its slug/.test(text));
  expect(screen.text()).toMatch(/role +production/);
  expect(screen.text()).toMatch(/base model +acme\/small/);
  expect(screen.text()).toMatch(/step +6/);
  expect(screen.text()).toMatch(/checkpoint +ckpt_6/);
  expect(screen.text()).toMatch(/deployed +\d+\w ago/);
  // Its facts name the references already.
  await screen.press('tab');
  await screen.waitFor('▸acme/small');
  expect(screen.text()).toMatch(/active +yes, serves its slug/);
  expect(screen.text().match(/acme\/small/g)).toHaveLength(1);
});
