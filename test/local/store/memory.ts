/** All stores on a database in memory, with a benchmark. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Database } from '../../../src/local/store/database.ts';
import { Keyring } from '../../../src/local/store/keyring.ts';
import { ensureOrganization } from '../../../src/local/store/organizations.ts';
import { openStores } from '../../../src/local/store/stores.ts';

/** Closed, and removed with its folder of files, when the test ends. */
export function storesInMemory() {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-stores-'));
  const stores = openStores(folder, new Keyring(new Uint8Array(32)), new Database(':memory:'));
  onTestFinished(() => {
    stores.database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const organizationId = ensureOrganization(stores.database, 'key');
  const task = (name: string) => ({
    name,
    input_messages: [{ role: 'user', content: 'say yes' }],
    grader: { kind: 'exact', expected: 'yes' },
  });
  const manifest = { name: 'base', tasks: [task('one'), task('two')] };
  stores.benchmarks.ingest(organizationId, manifest, { benchId: 'bench_1', files: [] });
  return { stores, organizationId };
}

const start = {
  bench_id: 'bench_1',
  display_name: 'r',
  base_model_slug: 'benchtop/tutor-base',
  parent_checkpoint_id: null,
  options: {},
  ignored_options: [],
  warnings: [],
} as const;
export const newEvaluation = { ...start, training_run_id: null, step: null, split: 'test', total_rollouts: 3 } as const;
export const newTraining = { ...start, total_steps: 3, created_by: 'me' } as const;

export const rollout = (task_id: string, more: { sample?: number; reward?: number | null; error?: string } = {}) => ({
  sample: 0,
  reward: 1,
  error: null,
  steps: [{ step_index: 0, messages: [] }],
  latency_ms: 3,
  completion_tokens: 2,
  ...more,
  task_id,
});

export const newDeployment = {
  checkpoint_id: 'ckpt_1',
  model_slug: 'm',
  role: 'production',
  output_speed: 'normal',
  expected_concurrency: 'low',
  created_by: 'me',
} as const;
