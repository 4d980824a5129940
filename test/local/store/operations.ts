/** Everything that the store can write, on a data folder with some of each. */

import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Catalog } from '../../../src/local/engine/catalog.ts';
import { Deployer } from '../../../src/local/engine/deployments.ts';
import { WorkerThread } from '../../../src/local/engine/worker-thread.ts';
import { sha256 } from '../../../src/local/store/ids.ts';
import type { JobKind, JobRecords } from '../../../src/local/store/job-attempts.ts';
import { Keyring } from '../../../src/local/store/keyring.ts';
import { ensureOrganization } from '../../../src/local/store/organizations.ts';
import { completeTrajectory, logReward } from '../../../src/local/store/reward-logs.ts';
import { openStores, type Stores, sweepFiles } from '../../../src/local/store/stores.ts';
import type { HeldOut } from '../../../src/local/store/training.ts';
import { writeDurably } from '../../../src/local/store/weight-files.ts';
import { observeWrites } from '../../../tools/rig/disk.ts';
import { newDeployment } from './memory.ts';

const keyring = new Keyring(new Uint8Array(32));
const worker = new WorkerThread({ name: 'unused' });

export const open = (folder: string): Stores => openStores(folder, keyring);

export interface Operation {
  readonly name: string;
  readonly removesFiles?: boolean;
  readonly run: (stores: Stores) => unknown;
}

const organizationOf = ({ database }: Stores): string => ensureOrganization(database, 'key');

function deployerOf({ deployments, training, weights }: Stores): Deployer {
  const catalog = new Catalog(deployments, weights, undefined);
  return new Deployer({ deployments, training, catalog, weights, chatWorker: worker });
}

const tasks = ['one', 'two'].map(name => ({
  name,
  input_messages: [{ role: 'user', content: 'say yes' }],
  grader: { kind: 'exact', expected: 'yes' },
}));
const file = { path: 'a.txt', content_type: 'text/plain', size_bytes: 5 };
const bytes = (text: string) => ReadableStream.from([Buffer.from(text.slice(0, 2)), Buffer.from(text.slice(2))]);
const rollout = (task_id: string, sample = 0) => ({
  task_id,
  sample,
  reward: 1,
  error: null,
  steps: [{ step_index: 0, messages: [] }],
  latency_ms: 3,
  completion_tokens: 2,
});
const run = { display_name: 'r', base_model_slug: 'benchtop/tutor-base', parent_checkpoint_id: null };
const start = { ...run, bench_id: 'bench_base', options: {}, ignored_options: [], warnings: [] };
const evaluation = { ...start, training_run_id: null, step: null, split: 'test', total_rollouts: 2 };
const training = { ...start, total_steps: 2, created_by: 'me' };
const deployment = { ...newDeployment, checkpoint_id: 'ckpt_base' };
const failure = { type: 'api_error', code: 'internal_error', message: 'it failed', context: {} } as const;
const heldOut: HeldOut = {
  split: 'validation',
  held_out_reward: 1,
  expected_samples: 1,
  completed_samples: 1,
  failed_samples: 0,
};
const reward = { reward_id: 'rwd_1', name: 'quality', value: 1, weight: 1, explanation: '' };
const uploaded = (text: string) => ({
  trace_id: text,
  conversation_id: undefined,
  status: 'completed',
  steps: [{ messages: [{ role: 'user', content: text }] }],
});

/** The only row of a query. */
function row<Row>({ database }: Stores, sql: string): Row {
  const found = database.get<Row>(sql);
  if (!found) throw new Error(`There is no row of: ${sql}`);
  return found;
}
const evalRunOf = (stores: Stores) => row<{ eval_run_id: string }>(stores, 'select * from eval_runs').eval_run_id;
const trainingRunOf = (stores: Stores, status = 'running') => {
  const [found] = stores.training.list(organizationOf(stores), 'bench_base').filter(each => each.status === status);
  if (!found) throw new Error(`There is no ${status} training run.`);
  return found;
};
const deploymentOf = (stores: Stores, where: string) =>
  row<{ deployment_id: string }>(stores, `select * from deployments where ${where}`).deployment_id;
const liveTrajectoryOf = (stores: Stores) => {
  const { trajectory_id } = row<{ trajectory_id: string }>(stores, "select * from trajectories where source = 'live'");
  const found = stores.trajectories.row(organizationOf(stores), trajectory_id);
  if (!found) throw new Error('There is no live trajectory.');
  return found;
};

function writeCheckpoint(stores: Stores, runId: string, step: number) {
  const weights_hash = writeDurably(stores.weights.checkpoint(runId, step), Buffer.from(`weights ${step}`));
  return { weights_hash, state_hash: writeDurably(stores.weights.trainerState(runId, step), Buffer.from(`${step}`)) };
}

function deploy(stores: Stores, more: { role?: 'test'; created_by?: string } = {}): string {
  const { deployment_id } = stores.deployments.create(organizationOf(stores), { ...deployment, ...more });
  const weights_hash = writeDurably(stores.weights.serving(deployment_id), Buffer.from('serving'));
  stores.deployments.move(deployment_id, 'DEPLOYING', { weights_hash });
  stores.deployments.deploy(deployment_id);
  return deployment_id;
}

/**
 * Makes a data folder with some of everything.
 *
 * @param onWrite called before each write
 */
export async function makeWorld(folder: string, onWrite: () => void = () => {}): Promise<void> {
  mkdirSync(folder);
  await observeWrites(onWrite, async () => {
    const stores = open(folder);
    const { benchmarks, evaluations, uploads, trajectoryUploads, trajectories, deployments, secrets, attempts } =
      stores;
    const organizationId = organizationOf(stores);
    for (const benchId of ['bench_base', 'bench_open']) {
      uploads.declare(benchId, [file]);
      await uploads.receive(benchId, file.path, 5, bytes('hello'), () => false);
    }
    const files = [{ ...file, sha256: (await uploads.hash('bench_base', file.path)) ?? '' }];
    benchmarks.ingest(organizationId, { name: 'base', tasks }, { benchId: 'bench_base', files });
    benchmarks.beginBuild('bench_base');
    benchmarks.finishBuild(organizationId, 'bench_base', 'one', { content: 'one', image_ref: undefined });
    const { eval_run_id } = evaluations.create(organizationId, evaluation);
    evaluations.setStatus(eval_run_id, 'running');
    evaluations.record(eval_run_id, [rollout('one')]);
    for (const status of ['running', 'succeeded'] as const) {
      const trained = stores.training.create(organizationId, training);
      stores.training.move(trained.training_run_id, ['pending'], 'running');
      stores.training.recordStep(trained, 1, { reward: 0.5, diagnostics: null }, [rollout('one')]);
      stores.training.commit(trained, 1, writeCheckpoint(stores, trained.training_run_id, 1));
      if (status === 'succeeded') stores.training.move(trained.training_run_id, ['running'], status);
    }
    deploy(stores, { role: 'test', created_by: 'you' });
    deploy(stores);
    const { deployment_id } = deployments.create(organizationId, deployment);
    deployments.move(deployment_id, 'MERGING');
    writeDurably(stores.weights.serving(deployment_id), Buffer.from('new'));
    secrets.put(organizationId, { name: 'S1', value: 'one', description: '' });
    stores.database.transaction(() => trajectoryUploads.store(organizationId, 'mine', [uploaded('first')]));
    const live = { organization_id: organizationId, source: 'live', status: 'running', steps: [] };
    trajectories.add({ ...live, dataset_id: null, dataset_name: null });
    attempts.begin(eval_run_id, 'evaluation');
    stores.database.close();
  });
}

const ofAll = (records: JobRecords): Record<JobKind, JobRecords> => ({
  'image build': records,
  evaluation: records,
  training: records,
  deployment: records,
});

export const operations: readonly Operation[] = [
  { name: 'a new key', run: ({ database }) => ensureOrganization(database, 'another key') },
  {
    name: 'an ingest',
    run: stores => {
      const files = [{ ...file, sha256: sha256('hello') }];
      return stores.benchmarks.ingest(organizationOf(stores), { name: 'new', tasks }, { benchId: 'bench_open', files });
    },
  },
  {
    name: 'an image that was built',
    run: stores =>
      stores.benchmarks.finishBuild(organizationOf(stores), 'bench_base', 'two', { content: 'two', image_ref: 'x' }),
  },
  {
    name: 'an image that failed',
    run: stores => stores.benchmarks.finishBuild(organizationOf(stores), 'bench_base', 'two', { failure: 'no' }),
  },
  { name: 'builds set aside', run: ({ benchmarks }) => benchmarks.failBuilds('bench_base', 'no') },
  {
    name: 'a secret',
    run: stores => stores.secrets.put(organizationOf(stores), { name: 'S2', value: 'two', description: '' }),
  },
  {
    name: 'a changed secret',
    run: stores => stores.secrets.put(organizationOf(stores), { name: 'S1', value: 'changed', description: 'new' }),
  },
  {
    name: 'a deleted secret',
    run: stores =>
      stores.secrets.delete(
        organizationOf(stores),
        row<{ secret_id: string }>(stores, "select * from secrets where name = 'S1'").secret_id,
      ),
  },
  {
    name: 'an evaluation started with a key',
    run: stores => {
      const organizationId = organizationOf(stores);
      const request = { organizationId, operation: 'startEval', key: 'k', body: evaluation };
      return stores.idempotency.once(request, () => stores.evaluations.create(organizationId, evaluation));
    },
  },
  { name: 'recorded rollouts', run: stores => stores.evaluations.record(evalRunOf(stores), [rollout('two')]) },
  { name: 'a completed evaluation', run: stores => stores.evaluations.complete(evalRunOf(stores)) },
  {
    name: 'a failed evaluation',
    run: stores => stores.evaluations.setStatus(evalRunOf(stores), 'failed', failure),
  },
  {
    name: 'a deleted evaluation',
    run: stores => stores.evaluations.delete(organizationOf(stores), evalRunOf(stores)),
  },
  { name: 'a training run', run: stores => stores.training.create(organizationOf(stores), training) },
  {
    name: 'a training step',
    run: stores =>
      stores.training.recordStep(trainingRunOf(stores), 2, { reward: 1, diagnostics: null }, [
        rollout('one'),
        rollout('two'),
      ]),
  },
  {
    name: 'a training step that is repeated',
    run: stores =>
      stores.training.recordStep(trainingRunOf(stores), 1, { reward: 1, diagnostics: null }, [rollout('two')]),
  },
  {
    name: 'a point of the held-out curve',
    run: stores => stores.training.recordHeldOut(trainingRunOf(stores).training_run_id, 1, heldOut),
  },
  {
    name: 'a checkpoint with its files',
    run: stores => {
      const trained = trainingRunOf(stores);
      stores.training.commit(trained, 2, writeCheckpoint(stores, trained.training_run_id, 2));
    },
  },
  {
    name: 'a deleted training run with its files',
    removesFiles: true,
    run: stores => {
      const { training_run_id } = trainingRunOf(stores, 'succeeded');
      stores.training.delete(training_run_id);
      stores.weights.removeRun(training_run_id);
    },
  },
  {
    name: 'a deployment that is asked for',
    run: stores => stores.deployments.create(organizationOf(stores), deployment),
  },
  {
    name: 'a deployment that takes the place of another',
    run: stores => {
      const id = deploymentOf(stores, "status = 'MERGING'");
      stores.database.transaction(() => {
        stores.deployments.move(id, 'DEPLOYING', { weights_hash: sha256('new') });
        stores.deployments.deploy(id);
      });
    },
  },
  {
    name: 'a promotion and a demotion at once',
    run: stores => {
      const [promoted, demoted] = ["role = 'test'", 'is_active = 1'].map(where => deploymentOf(stores, where));
      const found = stores.deployments.get(organizationOf(stores), promoted ?? '');
      if (found) stores.deployments.promote(found, demoted);
    },
  },
  { name: 'a demotion', run: stores => stores.deployments.unpromote(deploymentOf(stores, 'is_active = 1')) },
  {
    name: 'a failed deployment',
    run: stores => stores.deployments.fail(deploymentOf(stores, "status = 'MERGING'"), failure),
  },
  {
    name: 'a deployment that is taken away with its files',
    removesFiles: true,
    run: stores => deployerOf(stores).remove(deploymentOf(stores, 'is_active = 1')),
  },
  {
    name: 'an upload of trajectories with a key',
    run: stores => {
      const organizationId = organizationOf(stores);
      const items = [uploaded('first'), uploaded('second'), uploaded('third')];
      const request = { organizationId, operation: 'uploadTrajectories', key: 'k', body: items };
      return stores.idempotency.once(request, () => stores.trajectoryUploads.store(organizationId, 'new', items));
    },
  },
  {
    name: 'a step of a live trajectory',
    run: stores => stores.trajectories.addStep(liveTrajectoryOf(stores).trajectory_id, 'm', { messages: [{}] }),
  },
  { name: 'a reward', run: stores => logReward(stores.database, liveTrajectoryOf(stores), reward) },
  {
    name: 'a completed trajectory',
    run: stores => completeTrajectory(stores.database, liveTrajectoryOf(stores), 'ENV_DONE'),
  },
  { name: 'a job that begins', run: ({ attempts }) => attempts.begin('trn_1', 'training') },
  { name: 'a job that is done', run: stores => stores.attempts.end(evalRunOf(stores), true) },
  {
    name: 'a job that is set aside',
    run: stores => {
      const fail = (id: string) => stores.evaluations.setStatus(id, 'failed', failure);
      const records = ofAll({
        jobs: () => stores.evaluations.unfinished().map(run => ({ id: run.eval_run_id })),
        progress: () => 0,
        fail,
      });
      return stores.database.transaction(() => {
        stores.attempts.recover(records);
        stores.attempts.begin(evalRunOf(stores), 'evaluation');
        stores.attempts.recover(records);
      });
    },
  },
  {
    name: 'announced files',
    run: ({ uploads }) => uploads.declare('bench_open', [{ ...file, path: 'b.txt' }]),
  },
  {
    name: 'a received file',
    run: ({ uploads }) => uploads.receive('bench_open', file.path, 5, bytes('HELLO'), () => false),
  },
];

const baseIds = /^(bench_base|bench_open|ckpt_base)$/;
/** Ids and times differ each time. */
const plain = (text: string): string =>
  text
    .replace(/\b([a-z]+)_[A-Za-z0-9]{12}\b/g, (id, kind: string) => (baseIds.test(id) ? id : `${kind}_`))
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time');

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => !name.startsWith('benchtop.db') && statSync(join(folder, name)).isFile())
    .map(name => `${plain(name)} ${plain(readFileSync(join(folder, name), 'utf8')).trim()}`)
    .sort();
}

/** Opens a data folder as a start of the service does, and returns all that it holds, as text. */
export function stateOf(folder: string): string {
  const stores = open(folder);
  try {
    deployerOf(stores).recover();
    sweepFiles(stores);
    const { database } = stores;
    expect(database.all('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(database.all('pragma foreign_key_check')).toEqual([]);
    const tables = database
      .all<{ name: string }>("select name from sqlite_schema where type = 'table' order by name")
      .map(({ name }) => {
        const rows = database.all<Record<string, unknown>>(`select * from ${name}`);
        const lines = rows.map(each => plain(JSON.stringify({ ...each, ...(each['sealed'] ? { sealed: '' } : {}) })));
        return `${name}\n${lines.sort().join('\n')}`;
      });
    return [...tables, ...filesIn(folder)].join('\n');
  } finally {
    stores.database.close();
  }
}
