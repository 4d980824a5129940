/** What the tree leaves out and reports. */
import { expect, it } from 'vitest';
import { answering } from '../answering.ts';
import { pageOf } from '../queries/scripted-service.ts';
import { hostileServer } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

it('shows the held-out rewards of training runs of all benchmarks, read once', async () => {
  let asked = 0;
  const run = {
    training_run_id: 'trn_1',
    bench_id: 'bench_1',
    status: 'succeeded',
    completed_at: '2020-01-02T03:04:05Z',
  };
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'bench_1', label: 'sums' }]),
      listEvalRuns: () => [],
      listTrainingRuns: () => [run],
      getHeldOutRewards: () => {
        asked += 1;
        return { held_out_rewards: [0.7, 0.5].map((held_out_reward, step) => ({ step, held_out_reward })) };
      },
    }),
  );
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  for (const _ of [1, 2]) expect((await cli('tree', [])).out).toMatch(/^ +trn_1\t0\.5\t0\.7\t/m);
  expect(asked).toBe(1);
});

it('counts the training runs whose benchmark is unknown', async () => {
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'bench_1', label: 'sums' }]),
      listEvalRuns: () => [{ eval_run_id: 'evr_1', bench_id: 'bench_1', status: 'completed' }],
      getTrainingProgress: ({ training_run_id }) => ({ training_run_id, status: 'succeeded', completed_steps: 1 }),
    }),
  );
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  for (const id of ['trn_1', 'trn_2']) expect((await cli('get', ['training', id])).code).toBe(0);
  const { out, notes } = await cli('tree', []);
  expect(out).toContain('evr_1');
  expect(out).not.toContain('trn_');
  expect(notes).toContain('2 training runs with an unknown benchmark left out.');
});
