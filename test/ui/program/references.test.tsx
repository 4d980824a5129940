/** References in the facts open from there, and back returns to the same fact. */
import { expect, it } from 'vitest';
import { notePage } from '../../../src/contract/lists.ts';
import { NetworkError } from '../../../src/service/errors.ts';
import { pageOf } from '../../queries/scripted-service.ts';
import type { Screen } from '../../screen.ts';
import { openWorld, world } from './scripted-world.tsx';

const run = {
  eval_run_id: 'evr_1',
  bench_id: 'bench_1',
  display_name: 'of step 6',
  status: 'completed',
  reward_mean: 0.5,
  base_model_slug: 'acme/small',
  parent_checkpoint_id: 'ckpt_6',
  training_run_id: 'trn_1',
  created_at: '2026-03-04T05:06:07Z',
};
const training = { training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'first', status: 'succeeded' };
const deployment = {
  deployment_id: 'dep_1',
  model_slug: 'mine',
  status: 'DEPLOYED',
  is_active: true,
  checkpoint_id: 'ckpt_6',
};

function linked() {
  const service = world('completed');
  Object.assign(service.answers, {
    listEvalRuns: () => [run],
    getEvalRun: () => run,
    listTrainingRuns: () => [training],
    getTrainingRun: () => training,
    getTrainingProgress: () => ({ training_run_id: 'trn_1', status: 'succeeded', completed_steps: 8, total_steps: 8 }),
    listCheckpoints: () =>
      [8, 6, 4].map(step => ({ checkpoint_id: `ckpt_${step}`, step_index: step, base_model_slug: 'acme/small' })),
    getTrainerRewards: () => ({ trainer_rewards: [] }),
    getHeldOutRewards: () => ({ held_out_rewards: [] }),
    listDeployments: () => pageOf([deployment]),
    getDeployment: () => deployment,
    listSupportedTrainingModels: () => ['acme/large', 'acme/small', 'acme/tiny'].map(model_slug => ({ model_slug })),
  });
  return service;
}

/** Opens the list of runs, with the cursor on the only one. */
async function openRuns(
  size: { readonly columns: number; readonly rows?: number },
  service = linked(),
): Promise<Screen> {
  const screen = openWorld(service, { view: 'list', resource: 'runs' }, size);
  await screen.waitFor('▸ of step 6');
  return screen;
}

/** Goes with tab to the model and the checkpoint that the row names, opens the checkpoint, and comes back to it. */
async function openCheckpointAndReturn(screen: Screen): Promise<void> {
  await screen.press('tab');
  await screen.waitFor('▸acme/small');
  await screen.press('tab');
  await screen.waitFor('▸ckpt_6');
  await screen.press('enter');
  await screen.waitFor('▸ step 6');
  await screen.press('esc');
  await screen.waitFor('▸ckpt_6');
}

it.each([
  [160, 40],
  [80, 24],
  [60, 15],
])('tab reaches what a run in a list names, and enter opens it, at %d columns', async (columns, rows) => {
  const screen = await openRuns({ columns, rows });
  await openCheckpointAndReturn(screen);
  await screen.press('j');
  await screen.waitFor('▸first');
  await screen.press('enter');
  await screen.waitFor('▸ step 8');
  await screen.press('esc');
  await screen.waitFor('▸first');
  await screen.press('k', 'k', 'enter');
  await screen.waitFor('▸ acme/small');
});

it('finds the training run of the checkpoint of a deployment', async () => {
  const screen = openWorld(linked(), { view: 'record', resource: 'deployments', id: 'dep_1' }, { columns: 100 });
  await screen.waitFor('ckpt_6');
  expect(screen.text()).not.toContain('▸ckpt_6');
  // Its training run is found in the background.
  await screen.waitFor(text => /training run +first/.test(text));
  await screen.press('tab');
  await screen.waitFor('▸first');
  await screen.press('tab');
  await screen.waitFor('▸t-words');
  await screen.press('tab');
  await screen.waitFor('▸ckpt_6');
  await screen.press('enter');
  await screen.waitFor('▸ step 6');
  await screen.press('esc');
  await screen.waitFor('▸ckpt_6');
});

it('says where it looked for a checkpoint without a run', async () => {
  const service = linked();
  Object.assign(service.answers, { listCheckpoints: () => [] });
  const screen = openWorld(service, { view: 'record', resource: 'deployments', id: 'dep_1' }, { columns: 100 });
  await screen.waitFor('ckpt_6');
  await screen.press('tab', 'enter');
  await screen.waitFor('None of the newest 100 training runs has the checkpoint ckpt_6');
});

it.each([
  [120, 40],
  [60, 15],
])('ctrl-t shows a run in the tree, which folds and opens, at %d columns', async (columns, rows) => {
  const screen = await openRuns({ columns, rows });
  await screen.press('ctrl-t');
  await screen.waitFor('▸         of step 6');
  await screen.waitFor('mine');
  expect(screen.text()).toContain('- t-words');
  expect(screen.text()).toContain('  - first');
  expect(screen.text()).toContain('    - step 6');
  // It folds the parent, and then the parent's parent.
  await screen.press('z');
  await screen.waitFor('▸     + step 6');
  await screen.press('enter');
  await screen.waitFor('▸ step 6');
  await screen.press('esc');
  await screen.waitFor('▸     + step 6');
  await screen.press('/', 'b', 'o', 'd', 'y', 'backspace', 'backspace', 'backspace', 'backspace', 'm', 'i', 'n', 'e');
  // Its parent stays above it.
  await screen.waitFor('1 match of ');
  expect(screen.text()).toMatch(/- t-words.*- first.*step 6.*▸ {9}mine/s);
});

it('reads only open branches of the tree of everything', async () => {
  const service = linked();
  const screen = openWorld(service, { view: 'tree' }, { columns: 120 });
  await screen.waitFor('▸ + t-words');
  expect(service.asked('listCheckpoints')).toBe(0);
  await screen.waitFor('live, read every');
  // The filter does not search unread rows, and notes this.
  await screen.press('/', 'f', 'i', 'r', 's', 't', 'enter');
  await screen.waitFor('without 1 closed branch: z opens one');
  await screen.press('esc');
  await screen.waitFor(text => !text.includes('closed branch'));
  await screen.press('z');
  await screen.waitFor('+ first');
  await screen.press('a');
  await screen.waitFor('evaluate');
});

it.each([120, 60])('says how many runs the tree omits for an unknown benchmark, at %d columns', async columns => {
  const service = linked();
  const runs = [training, { ...training, training_run_id: 'trn_2', bench_id: undefined }];
  service.answers.listTrainingRuns = () => runs;
  const screen = openWorld(service, { view: 'list', resource: 'training' }, { columns });
  await screen.waitFor('▸ first');
  await screen.type(':tree\r');
  await screen.waitFor('1 training run with an unknown benchmark left out');
});

it.each([
  [120, 40],
  [80, 24],
  [60, 15],
])('tab reaches in Watch and the inbox what a line names, at %d columns', async (columns, rows) => {
  const service = linked();
  // It ends as soon as it is read.
  service.answers.listEvalRuns = () => [{ ...run, status: 'running' }];
  const screen = await openRuns({ columns, rows }, service);
  await screen.type(':watch\r');
  await screen.waitFor(text => text.includes('WATCHED') && text.includes('▸ of step 6'));
  await openCheckpointAndReturn(screen);
  await screen.press('esc');
  await screen.type(':inbox\r');
  await screen.waitFor('EVENT');
  await screen.press('tab');
  await screen.waitFor('▸acme/small');
  await screen.press('enter');
  await screen.waitFor('▸ acme/small');
});

it.each([
  ['mine', 'dep_1'],
  ['acme/small', '▸ acme/small'],
])('tab reaches the model of a chat, and opens its deployment or the list with %s', async (model, opened) => {
  const screen = openWorld(linked(), { view: 'chat', model }, { columns: 120, rows: 40 });
  await screen.waitFor('No messages with');
  await screen.press('tab');
  await screen.waitFor(`▸${model}`);
  await screen.press('enter');
  await screen.waitFor(opened);
});

it.each([
  [120, 40],
  [60, 15],
])('enter on the last line of a list in the tree reads more, at %d columns', async (columns, rows) => {
  const service = linked();
  const pages = ['', 'two', 'three'];
  let isBroken = true;
  service.answers.listEvalRuns = (_ids, { cursor = '' } = {}) => {
    const page = pages.indexOf(String(cursor));
    if (page === 2 && isBroken) throw new NetworkError('the line is down');
    const items: unknown[] = [1, 2].map(each => ({
      ...run,
      eval_run_id: `evr_${page}${each}`,
      parent_checkpoint_id: null,
    }));
    notePage(items, { dropped: 0, cursor: pages[page + 1] ?? null });
    return items;
  };
  const screen = openWorld(service, { view: 'tree', benchmark: 'bench_1' }, { columns, rows });
  await screen.waitFor('… more, 2 read');
  await screen.press('/', '…', 'enter');
  await screen.waitFor('▸     … more');
  await screen.press('enter');
  await screen.waitFor('… more, 4 read');
  await screen.press('enter');
  await screen.waitFor('More evaluations could not be read: the line');
  isBroken = false;
  await screen.press('enter');
  await screen.waitFor('No row matches');
  await screen.press('esc');
  await screen.waitFor(text => (text.match(/of step 6/g) ?? []).length === 6);
  expect(screen.text()).not.toContain('… more');
});

/** In the facts, not in the list's column. */
const idFact = /id +evr_1/;

it('the hint for tab says that it reaches what the row names, and comes first while the facts are hidden', async () => {
  const screen = await openRuns({ columns: 120 });
  await screen.press('F');
  await screen.waitFor(text => /<tab> references.*<\/> filter/.test(text));
  expect(screen.text()).not.toMatch(idFact);
  await openCheckpointAndReturn(screen);
  await screen.press('esc');
  await screen.waitFor('▸ of step 6');
  expect(screen.text()).not.toMatch(idFact);
  await screen.press('F');
  await screen.waitFor(text => idFact.test(text));
  await screen.waitFor(text => !/<tab> references.*<\/> filter/.test(text));
  await screen.type(':references\r');
  await screen.waitFor('▸acme/small');
});

it.each([
  [120, 40],
  [60, 15],
])(
  'tab reaches what a training run or a deployment names, at %d columns with the facts hidden',
  async (columns, rows) => {
    const service = linked();
    service.answers.listTrainingRuns = () => [{ ...training, base_model_slug: 'acme/small' }];
    service.answers.listDeployments = () => pageOf([{ ...deployment, base_model_slug: 'acme/small' }]);
    const screen = openWorld(service, { view: 'list', resource: 'training' }, { columns, rows });
    await screen.waitFor('▸ first');
    if (columns === 120) await screen.press('F');
    for (const row of ['first', 'mine']) {
      await screen.waitFor(`▸ ${row}`);
      await screen.press('tab');
      await screen.waitFor('▸acme/small');
      await screen.press('enter');
      await screen.waitFor('▸ acme/small');
      await screen.press('esc');
      await screen.waitFor('▸acme/small');
      await screen.press('esc');
      await screen.waitFor(`▸ ${row}`);
      await screen.type(':deployments\r');
    }
  },
);
