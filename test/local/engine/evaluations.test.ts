/** What ends an evaluation, and what only delays it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Catalog } from '../../../src/local/engine/catalog.ts';
import { EvaluationRunner } from '../../../src/local/engine/evaluations.ts';
import { WorkerFailed, WorkerThread } from '../../../src/local/engine/worker-thread.ts';
import { Keyring } from '../../../src/local/store/keyring.ts';
import { openStores } from '../../../src/local/store/stores.ts';

const full = Object.assign(new Error('database or disk is full'), { errcode: 13 });

function pendingRun() {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-evaluation-'));
  const stores = openStores(folder, new Keyring(new Uint8Array(32)));
  onTestFinished(() => {
    stores.database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { benchmarks, evaluations, deployments, weights } = stores;
  const tasks = [
    { name: 'one', input_messages: [{ role: 'user', content: 'a' }], grader: { kind: 'exact', expected: 'a' } },
  ];
  const bench_id = benchmarks.ingest('org_1', { name: 'b', tasks });
  const worker = new WorkerThread({ name: 'test' });
  const rollouts = vi.spyOn(worker, 'rollouts');
  const answer = { task_id: 'one', sample: 0, answer: null, reward: 1, explanation: '', error: null, latency_ms: 1 };
  rollouts.mockResolvedValue([answer]);
  const catalog = new Catalog(deployments, weights, undefined);
  const runner = new EvaluationRunner({ ...stores, catalog, worker, graders: worker });
  const { eval_run_id } = evaluations.create('org_1', {
    bench_id,
    display_name: 'x',
    base_model_slug: 'benchtop/tutor-base',
    parent_checkpoint_id: null,
    training_run_id: null,
    step: null,
    split: 'test',
    total_rollouts: 1,
    options: {},
    ignored_options: [],
    warnings: [],
  });
  const run = () => Promise.all(runner.jobs().map(job => job.run(new AbortController().signal)));
  return { run, rollouts, evaluations, status: () => evaluations.get('org_1', eval_run_id)?.status };
}

it('is tried again where its rollouts cannot be stored (V16)', async () => {
  const { run, evaluations, status } = pendingRun();
  const record = vi.spyOn(evaluations, 'record').mockImplementationOnce(() => {
    throw full;
  });
  await expect(run()).rejects.toBe(full);
  expect(status()).toBe('running');
  await run();
  expect(record).toHaveBeenCalledTimes(2);
  expect(status()).toBe('completed');
});

it('fails where its model does', async () => {
  const { run, rollouts, status } = pendingRun();
  rollouts.mockRejectedValueOnce(new WorkerFailed('The weights are gone.', 'weights_missing'));
  await run();
  expect(status()).toBe('failed');
});
