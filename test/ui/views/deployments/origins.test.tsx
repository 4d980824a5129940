/** Training runs tell two deployments of one slug at the same step apart. */
import { expect, it } from 'vitest';
import { pageOf } from '../../../queries/scripted-service.ts';
import { openWorld, world } from '../../program/scripted-world.tsx';

const size = { columns: 120, rows: 40 };

function twice() {
  const service = world('none');
  const runs = ['s1', 's2'].map(name => ({
    ...{ training_run_id: `trn_${name}`, display_name: `count-${name}`, status: 'succeeded', bench_id: 'bench_1' },
  }));
  const served = (name: string, is_active: boolean) => ({
    ...{ deployment_id: `dep_${name}`, model_slug: 'counter', status: 'DEPLOYED', role: 'production', is_active },
    ...{ checkpoint_id: `ckpt_${name}`, checkpoint_step: 15, updated_at: '2026-03-04T05:06:07Z' },
  });
  Object.assign(service.answers, {
    listTrainingRuns: () => runs,
    getTrainingRun: ({ training_run_id: id = '' }) => runs.find(run => run.training_run_id === id),
    listDeployments: () => pageOf([served('s1', true), served('s2', false)]),
    getDeployment: () => served('s1', true),
    listCheckpoints: ({ training_run_id: id = '' }) => [{ checkpoint_id: `ckpt_${id.slice(4)}`, step_index: 15 }],
    getHeldOutRewards: ({ training_run_id: id = '' }) => ({
      held_out_rewards: [{ step: 15, held_out_reward: id === 'trn_s1' ? 0.727 : 0.5, completed_samples: 112 }],
    }),
  });
  return service;
}

it.each([
  ['u', 'it stays deployed', 'unpromoteDeployment'],
  ['d', 'serving ends', 'undeploy'],
] as const)('in the question that %s asks (C6)', async (key, effect, request) => {
  const service = twice();
  const screen = openWorld(service, { view: 'record', resource: 'deployments', id: 'dep_s1' }, size);
  await screen.waitFor('yes, serves its slug');
  await screen.press(key);
  const flat = (text: string): string => text.replaceAll(/[\s│]+/g, ' ');
  const question = `counter, dep_s1 (count-s1 step 15, held-out 0.727 on t-words): ${effect}`;
  await screen.waitFor(text => flat(text).includes(question));
  expect(flat(screen.text())).toContain('In production: counter. Nothing answers there until another');
  await screen.type('counter');
  await screen.press('enter');
  await screen.waitFor(() => service.asked(request) === 1);
});

const list = { view: 'list', resource: 'deployments' } as const;

it.each([
  [120, 40],
  [60, 24],
])('in the list at %d columns', async (columns, rows) => {
  const screen = openWorld(twice(), list, { columns, rows });
  await screen.waitFor(text => /counter +count-s1/.test(text) && /counter +count-s2/.test(text));
  if (columns < 120) return;
  await screen.waitFor(text => /count-s1 .* 0\.727/.test(text) && /count-s2 .* 0\.500/.test(text));
});

it('with requests that are sent once, however often the list is polled', async () => {
  const service = twice();
  const screen = openWorld(service, list, { columns: 120, rows: 40 });
  await screen.waitFor('0.727');
  const polls = service.asked('listDeployments');
  await screen.waitFor(() => service.asked('listDeployments') > polls + 5);
  expect([service.asked('listCheckpoints'), service.asked('getHeldOutRewards')]).toEqual([2, 2]);
});

it('in the facts, whose references open the training run and the previous deployment', async () => {
  const screen = openWorld(twice(), list, { columns: 160, rows: 40 });
  await screen.waitFor(text => /training run +count-s1/.test(text) && /held-out +0\.727 at step/.test(text));
  await screen.waitFor(text => /replaced +count-s2 step 15,/.test(text));
  await screen.press('enter');
  await screen.waitFor(text => text.includes('Deployments › counter') && text.includes('count-s2 step 15, dep_s2'));
  await screen.press('tab');
  await screen.waitFor('▸count-s1');
  await screen.press('enter');
  await screen.waitFor('step 15');
});

it('of a continued training run, with the step it continues', async () => {
  const service = twice();
  const continued = {
    training_run_id: 'trn_3',
    display_name: 'on',
    status: 'succeeded',
    parent_checkpoint_id: 'ckpt_s2',
  };
  const { listTrainingRuns = () => [], getTrainingRun = () => undefined } = service.answers;
  service.answers.listTrainingRuns = (...asked) => [...(listTrainingRuns(...asked) as object[]), continued];
  service.answers.getTrainingRun = (...asked) => getTrainingRun(...asked) ?? continued;
  const place = { view: 'record', resource: 'training', id: 'trn_3', label: 'on' } as const;
  const screen = openWorld(service, place, { columns: 160, rows: 40 });
  await screen.waitFor(text => /from +count-s2 step 15/.test(text));
});
