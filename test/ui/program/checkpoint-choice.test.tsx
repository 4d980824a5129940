/** Forms that take a checkpoint: a list with the numbers to choose by, and names (W40). */
import { expect, it } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { eventually } from '../../eventually.ts';
import { pageOf } from '../../queries/scripted-service.ts';
import { openWorld, world } from './scripted-world.tsx';

type Ids = Readonly<Record<string, string>>;

const steps = [20, 40, 60];
const rewards: Readonly<Record<number, number | null>> = { 20: 0.3, 40: 0.7125, 60: 0.5 };

/** Two training runs of a benchmark, of different models, the first with three checkpoints. @param other the second's name */
function trained(other = 'words other') {
  const service = world('completed');
  const run = (id: string, name: string, model: string) => ({
    training_run_id: id,
    bench_id: 'bench_1',
    display_name: name,
    status: 'completed',
    base_model_slug: model,
    created_at: '2026-03-04T05:06:07Z',
  });
  const runs = [run('trn_1', 'words first', 'acme/small'), run('trn_2', other, 'acme/large')];
  const evaluated = {
    eval_run_id: 'evr_1',
    status: 'completed',
    parent_checkpoint_id: 'ckpt_1_60',
    reward_mean: 0.625,
    reward_count: 8,
  };
  Object.assign(service.answers, {
    listTrainingRuns: () => runs,
    getTrainingRun: ({ training_run_id: id = '' }: Ids) => runs.find(({ training_run_id }) => training_run_id === id),
    getTrainingProgress: () => ({ status: 'completed', completed_steps: 60, total_steps: 60 }),
    listCheckpoints: ({ training_run_id: id = '' }: Ids) =>
      (id === 'trn_1' ? steps : [10]).map(step => ({
        checkpoint_id: `ckpt_${id.slice(-1)}_${step}`,
        step_index: step,
      })),
    getTrainerRewards: () => ({ trainer_rewards: [] }),
    getHeldOutRewards: ({ training_run_id: id = '' }: Ids) => ({
      held_out_rewards:
        id === 'trn_1' ? steps.map(step => ({ step, held_out_reward: rewards[step], completed_samples: 100 })) : [],
    }),
    listEvalRuns: () => [evaluated],
    startDeployment: () => ({ deployment_id: 'dep_1', status: 'PENDING' }),
  });
  const { call } = service.service;
  const sent: unknown[] = [];
  Object.assign(service.service, {
    call: (operation: never, input: { body?: unknown } | undefined, options: never) => {
      if (input?.body !== undefined) sent.push(input.body);
      return call(operation, input as never, options);
    },
  });
  return { service, sent };
}

const sizes = [
  [120, 40],
  [80, 24],
  [60, 15],
] as const;
const trainingPlace: Place = {
  view: 'record',
  resource: 'training',
  id: 'trn_1',
  label: 'words first',
  parent: 'bench_1',
};

it.each(sizes)(
  'a run offers its checkpoints with their numbers, the newest preselected, at %d columns',
  async (columns, rows) => {
    const { service, sent } = trained();
    const screen = openWorld(service, trainingPlace, { columns, rows });
    await screen.waitFor('▸ step 60');
    await screen.press('e');
    await screen.waitFor('▸ Run name');
    expect(screen.text()).not.toContain('optional');
    await screen.press('tab');
    await screen.waitFor('← step 60');
    await screen.waitFor(text => /held-out 0\.500/.test(text));
    await screen.press('down');
    await screen.waitFor(text => /← step 40 .*held-out 0\.71[23] +best/.test(text));
    await screen.press('enter');
    await eventually(() => expect(sent).toHaveLength(1));
    expect(sent[0]).toMatchObject({ display_name: 't-words words first step 40' });
  },
);

it.each(['e', 'D'])(
  '%s names the best checkpoint while another is selected, and the deploy form what is deployed',
  async key => {
    const { service } = trained();
    const deployed = { deployment_id: 'dep_1', model_slug: 'tutor', checkpoint_id: 'ckpt_1_20', status: 'DEPLOYED' };
    Object.assign(service.answers, {
      listDeployments: () => pageOf([{ ...deployed, role: 'production', is_active: true }]),
    });
    const screen = openWorld(service, trainingPlace, { columns: 120, rows: 40 });
    await screen.waitFor('▸ step 60');
    await screen.press(key);
    const flat = (text: string) => text.replaceAll(/[│\s]+/g, ' ');
    const better = "This run's best is step 40, held-out 0.713 from 100 samples.";
    await screen.waitFor(text => flat(text).includes(better));
    if (key === 'D')
      await screen.waitFor(text => flat(text).includes('Step 20 of this run is deployed as production: tutor.'));
    await screen.press(...(key === 'D' ? (['tab', 'tab'] as const) : (['tab'] as const)));
    await screen.waitFor('← step 60');
    await screen.press('down');
    await screen.waitFor(text => text.includes('← step 40') && !flat(text).includes(better));
  },
);

it.each(['e', 'D', 't'])('%s shows the evaluated mean over all rewards, like the list', async key => {
  const { service } = trained();
  const evaluated = (id: string, reward_mean: number) => ({
    ...{ eval_run_id: id, bench_id: 'bench_1', status: 'completed', parent_checkpoint_id: 'ckpt_1_60', reward_mean },
  });
  const runs = [evaluated('evr_1', 0.8), evaluated('evr_2', 0.5)];
  Object.assign(service.answers, {
    listEvalRuns: () => runs,
    getEvalRun: ({ params }: { params: object }) => runs.find(run => Object.values(params).includes(run.eval_run_id)),
  });
  const screen = openWorld(service, trainingPlace, { columns: 120, rows: 40 });
  const counts = { evr_1: 40, evr_2: 160 };
  const now = Date.now();
  const known = Object.entries(counts).map(([id, count]) => ({
    ...{ kind: 'run', id, status: 'completed', done: count, total: count, graded: count },
  }));
  screen.workbench.statuses.report(known, { askedAt: now, at: now });
  await screen.waitFor(text => /▸ step 60.*0\.560/.test(text));
  await screen.press(key);
  await screen.waitFor(text => /│ ▸ \w/.test(text));
  await screen.press('tab');
  await screen.waitFor(text => /step 60.*evaluated 0\.560 n=200 in 2 runs/.test(text));
});

/** The form that evaluates a model on the benchmark, at its checkpoint. */
async function atCheckpoint(columns: number, rows: number) {
  const { service, sent } = trained();
  const screen = openWorld(service, { view: 'list', resource: 'benchmarks' }, { columns, rows });
  await screen.waitFor('▸ t-words');
  await screen.press('e');
  await screen.waitFor('▸ Model');
  expect(service.asked('listCheckpoints')).toBe(0);
  await screen.press('tab', 'tab');
  await screen.waitFor('← the base model');
  return { screen, sent };
}

it.each(sizes)(
  'is optional on a benchmark, and shows the owner of the offered checkpoints, at %d columns',
  async (columns, rows) => {
    const { screen, sent } = await atCheckpoint(columns, rows);
    await screen.waitFor('1/5');
    expect(screen.text()).toMatch(/step 60 of.*first/);
    await screen.type('words first@best');
    await screen.waitFor(text => /← step 40 of.*first.*3\/5/.test(text));
    await screen.press('enter');
    await eventually(() => expect(sent).toHaveLength(1));
    expect(sent[0]).toMatchObject({ display_name: 't-words words first step 40', checkpoint_id: 'ckpt_1_40' });
  },
);

it('refuses a checkpoint of another model, which its row names', async () => {
  const { screen, sent } = await atCheckpoint(120, 40);
  await screen.waitFor(text => /step 10 of words other .*other model/.test(text));
  await screen.type('trn_2@10');
  await screen.waitFor('✗ It is a checkpoint of acme/large, not of acme/small');
  await screen.press('enter');
  expect(sent).toEqual([]);
});

it.each([
  ['words first@30', '✗ words first has no checkpoint 30'],
  ['words other@best', '✗ words other has no checkpoint best: none has a held-out reward'],
  ['nothing@best', '✗ No training run here is called nothing'],
  ['ckpt_1 40', '✗ An id has no spaces'],
])('explains what is wrong with %s', async (typed, words) => {
  const { screen } = await atCheckpoint(120, 40);
  await screen.waitFor('1/5');
  await screen.type(typed);
  await screen.waitFor(words);
});

it('sends an unknown id as typed', async () => {
  const { screen, sent } = await atCheckpoint(120, 40);
  await screen.type('ckpt_elsewhere');
  await screen.waitFor('t-words checkpoint');
  await screen.press('enter');
  await eventually(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toMatchObject({ checkpoint_id: 'ckpt_elsewhere' });
});

it.each(sizes)(
  'the list of deployments deploys a selected or typed checkpoint, at %d columns',
  async (columns, rows) => {
    const { service, sent } = trained();
    const screen = openWorld(service, { view: 'list', resource: 'deployments' }, { columns, rows });
    await screen.waitFor('Deployments');
    await screen.press('D');
    await screen.waitFor('Deploy a checkpoint');
    await screen.press('tab', 'tab');
    await screen.waitFor(text => text.includes('nothing chosen yet') && /step 60 of.*first/.test(text));
    await screen.type('words other');
    await screen.waitFor('Deploy step 10 of words other');
    await screen.press('enter');
    await eventually(() => expect(sent).toHaveLength(1));
    expect(sent[0]).toEqual({ checkpoint_id: 'ckpt_2_10', model_slug: 'words-other', role: 'test' });
  },
);

it.each([
  ['ckpt_lost', 'ckpt_lost', 'ckpt_lost'],
  ['words first@40', 'trn_1@40', 'ckpt_1_40'],
])('takes %s as the commands do, whatever a training run is called', async (name, typed, id) => {
  const { service, sent } = trained(name);
  const screen = openWorld(service, { view: 'list', resource: 'deployments' }, { columns: 120, rows: 40 });
  await screen.waitFor('Deployments');
  await screen.press('D');
  await screen.waitFor('Deploy a checkpoint');
  await screen.type('s');
  await screen.press('tab', 'tab');
  await screen.waitFor(text => text.includes('nothing chosen yet') && text.includes(`step 10 of ${name}`));
  if (name !== typed) {
    await screen.type(name);
    await screen.waitFor('✗ Use trn_2 or trn_1@40: words first@40 has 2 meanings');
    await screen.press(...Array.from(name, () => 'backspace' as const));
  }
  await screen.type(typed);
  await screen.waitFor(`“${typed}”`);
  await screen.press('enter');
  await eventually(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toMatchObject({ checkpoint_id: id });
});

it('says why a run is not deployed from its newest checkpoint', async () => {
  const { service } = trained();
  Object.assign(service.answers, {
    listCheckpoints: () =>
      steps.map(step => ({ checkpoint_id: `ckpt_1_${step}`, step_index: step, is_deployable: step < 60 })),
  });
  const screen = openWorld(service, { view: 'list', resource: 'training', scope: {} }, { columns: 160, rows: 40 });
  await screen.waitFor('▸ words first');
  await screen.press('D');
  await screen.waitFor('Deploy step 40 of words first');
  await screen.waitFor('The newest checkpoint, step 60, cannot be deployed: using step 40 instead.');
});
