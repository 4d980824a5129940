/** Forms that start something: their descriptions, and help. */
import { hashKey } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { modelList } from '../../../src/queries/models.ts';
import type { Place } from '../../../src/resources/place.ts';
import { NetworkError } from '../../../src/service/errors.ts';
import { RememberedStore } from '../../../src/store/store.ts';
import { sayYes } from './actions.tsx';
import { openWorld, world } from './scripted-world.tsx';

const benchmarks: Place = { view: 'list', resource: 'benchmarks' };

function offering() {
  const service = world('none');
  Object.assign(service.answers, {
    getTrainingOptions: () => ({
      options: {
        num_steps: { type: 'integer', default: 60, min: 1, max: 2000 },
        train_batch_size: { type: 'integer', default: 16, min: 1, max: 256 },
        samples_per_instance: { type: 'integer', default: 16, min: 1, max: 64 },
      },
    }),
  });
  Object.assign(service.service, { generation: {} });
  return service;
}

it('a form names the options like the contract, with defaults and bounds, and the cost of the run (W42)', async () => {
  const screen = openWorld(offering(), benchmarks, { columns: 120, rows: 40 });
  await screen.waitFor('▸ t-words');
  await screen.press('t');
  await screen.waitFor('num_steps  default 60, 1 to 2000');
  expect(screen.text()).toContain('60 steps x 16 tasks x 16 samples = 15,360 rollouts; cost');
  await screen.press('tab', 'tab');
  await screen.type('2');
  await screen.waitFor('2 steps x 16 tasks x 16 samples = 512 rollouts');
});

it('estimates nothing with a value that the form refuses (out31 C1)', async () => {
  const screen = openWorld(offering(), benchmarks, { columns: 120, rows: 40 });
  await screen.waitFor('▸ t-words');
  await screen.press('t');
  await screen.waitFor('16 samples = 15,360 rollouts');
  await screen.press('tab', 'tab');
  await screen.type('-3');
  await screen.waitFor(text => text.includes('num_steps: ') && !text.includes(' rollouts'));
});

it.each([
  [120, 40],
  [80, 24],
])(
  'estimates tokens from the previous run on the same benchmark and model, at %d columns (W42)',
  async (columns, rows) => {
    const service = offering();
    const run = { training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'words', base_model_slug: 'acme/small' };
    Object.assign(service.answers, {
      listTrainingRuns: () => [{ ...run, status: 'completed', options: { num_steps: 4 } }],
      getTrainerRewards: () => ({ trainer_rewards: [{ step: 4 }] }),
      getStepTrajectoryRewards: () => ({ trajectory_rewards: [{ reward: 1, completion_tokens: 1_200 }] }),
    });
    const screen = openWorld(service, benchmarks, { columns, rows });
    await screen.waitFor('▸ t-words');
    await screen.press('t');
    await screen.waitFor(text => /about 18M output tokens \(1,200 each, as in/.test(text.replaceAll(/[│\s]+/g, ' ')));
    expect(screen.text().replaceAll(/[│\s]+/g, ' ')).toContain('step 4 of words); cost unknown: set priceUnit');
  },
);

/** Opens the form to train on the models of an earlier session. The service answers with the others when asked to. */
async function openRemembering(slugs: readonly string[]) {
  const service = offering();
  const answer = Promise.withResolvers<readonly object[]>();
  service.answers.listSupportedTrainingModels = () => answer.promise;
  const rows = slugs.map(model_slug => ({ model_slug }));
  const list = { complete: false, dropped: 0, repeated: 0, notes: [], remembered_at: undefined };
  const remembered = (): RememberedStore => {
    const store = RememberedStore.inMemory('test');
    store.keepList(hashKey(modelList.key), { ...list, rows }, Date.now());
    store.flush();
    return store;
  };
  const screen = openWorld(service, benchmarks, { columns: 120, rows: 40, remembered });
  await screen.waitFor('▸ t-words');
  await screen.press('t');
  await screen.waitFor(`1/${slugs.length}`);
  return {
    screen,
    answer: (...read: readonly string[]) => answer.resolve(read.map(model_slug => ({ model_slug }))),
  };
}

it('offers all models once they have been read, if it opened on those of an earlier session (attack37 B2)', async () => {
  const { screen, answer } = await openRemembering(['acme/small']);
  await screen.type('large');
  await screen.waitFor('There is no “large” here');
  answer('acme/small', 'acme/large');
  await screen.waitFor('1/2');
  await screen.press('backspace');
  await screen.waitFor('2/2');
});

it('keeps the chosen model if the service no longer lists it (rev38ui A2)', async () => {
  const { screen, answer } = await openRemembering(['acme/small', 'acme/large']);
  await screen.press('right');
  await screen.waitFor('t-words large');
  answer('acme/small', 'acme/new');
  await screen.waitFor('2/3');
  expect(screen.text()).toContain('acme/large');
  expect(screen.text()).toContain('t-words large');
});

it('ctrl-g opens help over a form, even in a small terminal, and the form is still there (W39)', async () => {
  const screen = openWorld(offering(), benchmarks, { columns: 60, rows: 15 });
  await screen.waitFor('▸ t-words');
  await screen.press('t');
  await screen.waitFor('▸ Model');
  await screen.press('?');
  await screen.waitFor('Help');
  await screen.press('esc');
  await screen.waitFor('▸ Model');
  await screen.press('tab', '?', 'ctrl-g');
  await screen.waitFor('Help');
  await screen.press('esc');
  await screen.waitFor('t-words small?');
});

it('a form with a lost answer says where to look', async () => {
  const service = offering();
  service.answers.startEval = () => {
    throw new NetworkError('The connection was lost. Check before you repeat it.', { outcomeUnknown: true });
  };
  const screen = openWorld(service, benchmarks, { columns: 120, rows: 40 });
  await screen.waitFor('▸ t-words');
  await screen.press('e');
  await screen.waitFor('▸ Model');
  await sayYes(screen);
  const shown = 'repeat it. If this service lists runs, :runs shows whether it has started.';
  await screen.waitFor(text => text.replace(/[│\s]+/g, ' ').includes(shown));
});

it('a form that started another benchmark says so', async () => {
  const service = offering();
  service.answers.startEval = () => ({ eval_run_id: 'evr_78', bench_id: 'bench_c', display_name: 'zz' });
  const screen = openWorld(service, benchmarks, { columns: 160, rows: 40 });
  await screen.waitFor('▸ t-words');
  await screen.press('e');
  await screen.waitFor('▸ Model');
  await sayYes(screen);
  await screen.waitFor('its response names the benchmark bench_c');
});
