/** Checkpoints named by their place in a partly read list. */
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { hostileServer, json } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const run = { training_run_id: 'trn_1', bench_id: 'b1', display_name: 'first', status: 'completed' };
const second = { checkpoint_id: 'ck2', step_index: 2 };
const ninth = { checkpoint_id: 'ck9', step_index: 9 };
const rewards = [
  { step: 2, held_out_reward: 0.5 },
  { step: 9, held_out_reward: 0.9 },
];

/** A service with one training run that lists these checkpoints. */
async function serving(checkpoints: unknown) {
  const started: unknown[] = [];
  const server = await hostileServer((response, request) => {
    const path = request.url.split('?')[0] ?? '';
    if (request.method === 'POST') started.push(JSON.parse(request.body));
    const answers: Readonly<Record<string, unknown>> = {
      '/api/v1/train/trn_1': run,
      '/api/v1/train/trn_1/checkpoints': checkpoints,
      '/api/v1/train/trn_1/step/held-out-reward-by-step': { held_out_rewards: rewards },
      '/api/v1/deploy': { deployment_id: 'dep_1', status: 'PENDING' },
    };
    const answer = answers[path];
    return json(answer ?? { message: 'none' }, answer ? 200 : 404)(response, request);
  });
  return { started, cli: cliOn({ baseUrl: server.url, apiKey: 'key' }) };
}

const gaps: readonly (readonly [string, unknown, string])[] = [
  ['an unreadable row', [second, { step_index: 9 }], '1 checkpoint could not be read'],
  ['a row without its step', [second, { checkpoint_id: 'ck9' }], 'the step of 1 checkpoint is not known'],
  ['no cursor', { items: [second], has_more: true, next_cursor: null }, 'gives no way to read them'],
  ['a cursor that loops', { items: [second, ninth], has_more: true, next_cursor: 'x' }, 'gives no way to read them'],
];

it.each(gaps)('are refused if another may be meant: %s', async (_, checkpoints, why) => {
  for (const word of ['trn_1', 'trn_1@latest', 'trn_1@best']) {
    const service = await serving(checkpoints);
    const { code, notes } = await service.cli('deploy', [word, '--slug', 's']);
    expect(notes).toMatch(/The (latest|best) checkpoint of trn_1 is not known/);
    expect(notes).toContain(why);
    expect(notes).toContain('Give the id of a checkpoint. Nothing was changed.');
    expect(service.started).toEqual([]);
    expect(code).toBe(exitCodes.usage);
  }
});

it('are read with a note', async () => {
  const { cli } = await serving(gaps[0]?.[1]);
  const { code, out, notes } = await cli('get', ['checkpoint', 'trn_1@latest']);
  expect(code).toBe(exitCodes.done);
  expect(notes).toContain('The latest checkpoint of trn_1 is not known: 1 checkpoint could not be read.');
  expect(notes).toContain('Its deployments could not be read.');
  expect(out).toContain('held-out    0.500 at step 2');
});

it('are not called missing by step', async () => {
  const { cli } = await serving(gaps[0]?.[1]);
  const { code, notes } = await cli('deploy', ['trn_1@9', '--slug', 's']);
  expect(code).toBe(exitCodes.notFound);
  expect(notes).toContain('it has a checkpoint at step 2. 1 checkpoint could not be read.');
});

it('are taken from a list that was read whole', async () => {
  const { cli, started } = await serving([second, ninth]);
  await cli('deploy', ['trn_1', '--slug', 's']);
  expect(started).toEqual([{ checkpoint_id: 'ck9', model_slug: 's', role: 'test' }]);
});

it.each(['checkpoints --training trn_1', 'runs --benchmark b1', 'training --benchmark b1', 'runs', 'training'])(
  'make a list of %s say that it continues, even without a cursor',
  async words => {
    const items = [{ checkpoint_id: 'ck2', eval_run_id: 'evr_1', training_run_id: 'trn_1', bench_id: 'b1' }];
    const server = await hostileServer((response, request) => {
      const isRecord = /train\/trn_1(\?|$)|benchmarks\/b1(\?|$)/.test(request.url);
      const isOf = /benchmarks(\?|$)/.test(request.url);
      const list = { items, has_more: true, next_cursor: null };
      return json(isRecord ? items[0] : isOf ? { items, has_more: false } : list)(response, request);
    });
    const { notes } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('list', [...words.split(' '), '--all']);
    expect(notes).toContain('There may be more rows, but the service gives no way to read them');
  },
);
