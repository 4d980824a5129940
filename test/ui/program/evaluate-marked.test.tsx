/** Evaluates all marked training runs or checkpoints with one form. */
import { expect, it } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { untypedCall } from '../../../src/service/call.ts';
import { eventually } from '../../eventually.ts';
import { pageOf } from '../../queries/scripted-service.ts';
import { sayYes } from './actions.tsx';
import { openWorld, world } from './scripted-world.tsx';

type Ids = Readonly<Record<string, string>>;

interface Body {
  readonly display_name: string;
  readonly model_slug: string;
  readonly checkpoint_id: string;
  readonly options?: object;
}

const training: Place = { view: 'list', resource: 'training' };

/** Three training runs of two models; the last one has no held-out reward, and `other` is on another benchmark. */
function trained(last = 'bench_1') {
  const { service, answers } = world('none');
  const run = (id: string, name: string, model: string, bench_id = 'bench_1') => ({
    ...{ training_run_id: id, bench_id, display_name: name, status: 'completed', base_model_slug: model },
    created_at: `2026-03-04T05:06:0${9 - Number(id.at(-1))}Z`,
  });
  const runs = [
    run('trn_1', 'first', 'acme/small'),
    run('trn_2', 'second', 'acme/large'),
    run('trn_3', 'third', 'acme/small', last),
  ];
  Object.assign(answers, {
    listBenchmarks: () =>
      pageOf([...new Set(['bench_1', last])].map(bench_id => ({ bench_id, label: `label of ${bench_id}` }))),
    getBenchmark: ({ bench_id = '' }: Ids) => ({ bench_id, label: `label of ${bench_id}` }),
    listTrainingRuns: ({ bench_id = '' }: Ids) => runs.filter(each => each.bench_id === bench_id),
    getTrainingRun: ({ training_run_id: id = '' }: Ids) => runs.find(({ training_run_id }) => training_run_id === id),
    getTrainingProgress: () => ({ status: 'completed', completed_steps: 60, total_steps: 60 }),
    listCheckpoints: ({ training_run_id: id = '' }: Ids) =>
      [20, 40].map(step_index => ({ checkpoint_id: `ckpt_${id.at(-1)}_${step_index}`, step_index })),
    getTrainerRewards: () => ({ trainer_rewards: [] }),
    getHeldOutRewards: ({ training_run_id: id = '' }: Ids) => ({
      held_out_rewards: (id === 'trn_3' ? [] : [20, 40]).map(step => ({
        ...{ step, held_out_reward: (id === 'trn_1' ? 20 : 40) === step ? 0.75 : 0.5, completed_samples: 100 },
      })),
    }),
    getEvalOptions: () => ({ options: { seed: { type: 'integer', default: 1, min: 0, max: 9 } } }),
  });
  const sent: { readonly benchmark: unknown; readonly body: Body }[] = [];
  const ask = untypedCall(service);
  Object.assign(service, {
    generation: {},
    call: async (...[operation, input, options]: Parameters<typeof ask>) => {
      if (operation !== 'startEval') return ask(operation, input, options);
      const body = input?.body as Body;
      sent.push({ benchmark: (input?.params as Ids | undefined)?.['bench_id'], body });
      return { eval_run_id: `evr_${sent.length}`, display_name: body.display_name };
    },
  });
  return { scripted: { ...world('none'), service, answers }, sent };
}

const flat = (text: string): string => text.replaceAll(/[│\s]+/g, ' ');

it.each([
  [60, 15],
  [80, 24],
  [200, 60],
])('starts one evaluation for each run, of its best or latest checkpoint: %i x %i', async (columns, rows) => {
  const { scripted, sent } = trained();
  const screen = openWorld(scripted, training, { columns, rows });
  await screen.waitFor('▸ first');
  await screen.press('space', 'space', 'space', 'e');
  await screen.waitFor('Checkpoint of each run');
  // Before it is sent where there is room, and after that as the error of the field.
  if (columns > 60) await screen.waitFor(text => flat(text).includes('third has no checkpoint best: none has a'));
  await sayYes(screen);
  await screen.waitFor(text => flat(text).includes('third has no checkpoint best: none has a'));
  expect(sent).toEqual([]);
  await screen.press('esc', 'U', 'g', 'space', 'space', 'e');
  await screen.waitFor(text => flat(text).includes('step 20 of first, step 40 of second: 2 runs'));
  await sayYes(screen);
  await screen.waitFor('Started 2 runs');
  expect(sent.map(({ body }) => body).sort((one, other) => one.display_name.localeCompare(other.display_name))).toEqual(
    [
      expect.objectContaining({ checkpoint_id: 'ckpt_1_20', display_name: 'label of bench_1 first step 20' }),
      expect.objectContaining({ checkpoint_id: 'ckpt_2_40', display_name: 'label of bench_1 second step 40' }),
    ],
  );
});

it('names a run without a best checkpoint by id if another unmarked one has its name', async () => {
  const { scripted } = trained();
  const listed = scripted.answers['listTrainingRuns']?.({ bench_id: 'bench_1' }) as readonly object[];
  const other = { ...listed[0], training_run_id: 'trn_0', display_name: 'third', created_at: '2026-03-04T05:06:00Z' };
  Object.assign(scripted.answers, { listTrainingRuns: () => [...listed, other] });
  const screen = openWorld(scripted, { ...training, scope: { benchmark: 'bench_1' } }, { columns: 120, rows: 40 });
  await screen.waitFor('▸ first');
  await screen.press('space', 'space', 'space', 'e');
  await screen.waitFor(text => flat(text).includes('trn_3 has no checkpoint best: none has a'));
});

it('uses the latest of each on its own benchmark, with several seeds', async () => {
  const { scripted, sent } = trained('bench_2');
  const screen = openWorld(scripted, training, { columns: 120, rows: 40 });
  await screen.waitFor(text => ['first', 'second', 'third'].every(name => text.includes(name)));
  await screen.press('space', 'space', 'space', 'e');
  await screen.waitFor('▸ Checkpoint of each run');
  await screen.press('right');
  await screen.waitFor(text => flat(text).includes('step 40 of first, step 40 of second, step 40 of third: 3 runs'));
  await screen.press('tab');
  await screen.type('1-2');
  await sayYes(screen);
  await screen.waitFor('Started 6 runs');
  const told = sent.map(
    ({ benchmark, body }) => `${String(benchmark)} ${body.checkpoint_id} ${JSON.stringify(body.options)}`,
  );
  expect(told.sort()).toEqual(
    ['bench_1 ckpt_1_40', 'bench_1 ckpt_2_40', 'bench_2 ckpt_3_40'].flatMap(each =>
      [1, 2].map(seed => `${each} {"seed":${seed}}`),
    ),
  );
});

it('evaluates the marked checkpoints of a run', async () => {
  const { scripted, sent } = trained();
  const place: Place = { view: 'record', resource: 'training', id: 'trn_1', label: 'first', parent: 'bench_1' };
  const screen = openWorld(scripted, place, { columns: 120, rows: 40 });
  await screen.waitFor('▸ step 40');
  await screen.press('space', 'space', 'e');
  await screen.waitFor(text => flat(text).includes('step 40 of first, step 20 of first: 2 runs'));
  expect(screen.text()).not.toContain('Checkpoint of each run');
  await sayYes(screen);
  await eventually(() => expect(sent.map(({ body }) => body.checkpoint_id).sort()).toEqual(['ckpt_1_20', 'ckpt_1_40']));
});
