/** The form that evaluates several models with several seeds. */
import { expect, it, vi } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { type UntypedCall, untypedCall } from '../../../src/service/call.ts';
import { ValidationError } from '../../../src/service/errors.ts';
import { eventually } from '../../eventually.ts';
import { sayYes } from './actions.tsx';
import { openWorld, world } from './scripted-world.tsx';

const benchmarks: Place = { view: 'list', resource: 'benchmarks' };

interface Body {
  readonly display_name: string;
  readonly model_slug: string;
  readonly options: { readonly seed: number };
}

/** A service with two models and 12 tasks, which refuses the starts of a model while `refused` names it. */
function twoModels() {
  const { service, answers } = world('none');
  const sent: Body[] = [];
  const state = { refused: '' };
  Object.assign(answers, {
    listSupportedTrainingModels: () => [{ model_slug: 'acme/small' }, { model_slug: 'acme/large' }],
    countTasks: () => ({ bench_id: 'bench_1', task_count: 12 }),
    getEvalOptions: () => ({
      options: {
        seed: { type: 'integer', default: 1, min: 0, max: 9 },
        evaluation_samples_per_task: { type: 'integer', default: 2 },
      },
    }),
  });
  const ask = untypedCall(service);
  const call: UntypedCall = async (operation, input, options) => {
    if (operation !== 'startEval') return ask(operation, input, options);
    const body = input?.body as Body;
    sent.push(body);
    if (body.model_slug === state.refused)
      throw new ValidationError('No room.', { type: 'validation_error', code: 'no_room', status: 422 });
    return { eval_run_id: `evr_${sent.length}`, display_name: body.display_name };
  };
  Object.assign(service, { generation: {}, call });
  return { scripted: { ...world('none'), service, answers }, sent, state };
}

const startsOf = (sent: readonly Body[]) =>
  sent.map(({ model_slug, options }) => `${model_slug} ${options.seed}`).sort();
const four = ['acme/large 2', 'acme/large 3', 'acme/small 2', 'acme/small 3'];

it.each([
  [60, 15],
  [80, 24],
  [120, 40],
])('starts each marked model with each seed, and shows the cost first: %i x %i', async (columns, rows) => {
  const { scripted, sent } = twoModels();
  const screen = openWorld(scripted, benchmarks, { columns, rows });
  await screen.waitFor('▸ t-words');
  await screen.press('e');
  await screen.waitFor('▸ Model');
  await screen.press(' ', 'right', ' ');
  await screen.waitFor('2 marked  2/2');
  // The name of a single run is gone.
  expect(screen.text()).not.toContain('Run name');
  await screen.press('tab', 'tab');
  await screen.type('2-3');
  await screen.waitFor(text => text.replaceAll(/[│\s]+/g, ' ').includes('4 runs x 12 tasks x 2 samples = 96 rollouts'));
  await sayYes(screen);
  await screen.waitFor('Started 4 runs');
  expect(startsOf(sent)).toEqual(four);
  expect(new Set(sent.map(({ display_name }) => display_name)).size).toBe(4);
});

it('refuses a seed out of bounds, or too many', async () => {
  const { scripted, sent } = twoModels();
  const screen = openWorld(scripted, benchmarks, { columns: 80, rows: 40 });
  await screen.waitFor('▸ t-words');
  await screen.press('e');
  await screen.waitFor('▸ Model');
  await screen.press('tab', 'tab', 'tab');
  await screen.type('8-12');
  await sayYes(screen);
  await screen.waitFor('From 0 to 9');
  await screen.type('-');
  await screen.waitFor('Type a whole number');
  expect(sent).toEqual([]);
});

it('says what has started if some are refused, and resends only the others', async () => {
  const { scripted, sent, state } = twoModels();
  state.refused = 'acme/large';
  const screen = openWorld(scripted, benchmarks, { columns: 120, rows: 40 });
  await screen.waitFor('▸ t-words');
  await screen.press('e');
  await screen.waitFor('▸ Model');
  await screen.press(' ', 'right', ' ', 'tab', 'tab');
  await screen.type('2,3');
  await sayYes(screen);
  await screen.waitFor(text =>
    text.replaceAll(/[│\s]+/g, ' ').includes('Started 2 of 4 runs. Sending again starts only'),
  );
  state.refused = '';
  await sayYes(screen);
  await screen.waitFor('Started 4 runs');
  expect(startsOf(sent.slice(0, 4))).toEqual(four);
  expect(startsOf(sent.slice(4))).toEqual(four.slice(0, 2));
});

it('remembers what has started when the form is opened again', async () => {
  const { scripted, sent, state } = twoModels();
  state.refused = 'acme/large';
  const screen = openWorld(scripted, benchmarks, { columns: 120, rows: 40 });
  await screen.waitFor('▸ t-words');
  await screen.press('e');
  await screen.waitFor('▸ Model');
  await screen.press(' ', 'right', ' ', 'tab', 'tab');
  await screen.type('2,3');
  await sayYes(screen);
  await screen.waitFor('Started 2 of 4 runs');
  state.refused = '';
  await screen.press('esc');
  await screen.waitFor(text => !text.includes('Evaluate on t-words'));
  // What was typed is still there.
  await screen.press('e');
  await screen.waitFor('2 of 4 have started, and will not be sent again. 2 runs');
  await sayYes(screen);
  await screen.waitFor('Started 4 runs, 2 of them earlier');
  expect(startsOf(sent.slice(4))).toEqual(four.slice(0, 2));
});

it('names runs by seed first, wherever the service lists it', async () => {
  const { scripted, sent } = twoModels();
  const names = ['learning_rate', 'max_samples', 'samples', 'seed'];
  const options = Object.fromEntries(names.map(name => [name, { type: 'integer', default: 1, min: 0, max: 9 }]));
  Object.assign(scripted.answers, { getEvalOptions: () => ({ options }) });
  const screen = openWorld(scripted, benchmarks, { columns: 120, rows: 40 });
  await screen.waitFor('▸ t-words');
  await screen.press('e');
  await screen.waitFor('▸ Model');
  await screen.press('tab', 'tab');
  for (const value of ['5', '6', '7']) {
    await screen.press('tab');
    await screen.type(value);
  }
  await screen.press('tab');
  await screen.type('2-3');
  await sayYes(screen);
  await screen.waitFor('Started 2 runs');
  expect(sent.map(({ display_name }) => display_name).sort()).toEqual([
    't-words small seed 2 lr 5 max samples 6 +1',
    't-words small seed 3 lr 5 max samples 6 +1',
  ]);
});

it.each([
  ['other ones', { options: { other: { type: 'integer' } } }],
  ['none', {}],
])('sends the typed options even if the service now lists %s (attack 25, A2)', async (_, later) => {
  const { scripted, sent } = twoModels();
  const screen = openWorld(scripted, benchmarks, { columns: 120, rows: 40 });
  await screen.waitFor('▸ t-words');
  await screen.press('e');
  await screen.waitFor('▸ Model');
  await screen.press('tab', 'tab', 'tab');
  await screen.type('7');
  const getEvalOptions = vi.fn(() => later);
  Object.assign(scripted.answers, { getEvalOptions });
  screen.workbench.refresh();
  await eventually(() => expect(getEvalOptions).toHaveBeenCalled());
  await screen.waitFor('seed 7');
  await sayYes(screen);
  await screen.waitFor('Started');
  expect(startsOf(sent)).toEqual(['acme/small 7']);
});
