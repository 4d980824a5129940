/** What the tree leaves out and reports. */
import { expect, it } from 'vitest';
import { answering } from '../answering.ts';
import { pageOf } from '../queries/scripted-service.ts';
import { hostileServer } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

it('counts the training runs whose benchmark the service does not say', async () => {
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
  expect(notes).toContain('2 training runs of an unknown benchmark left out.');
});
