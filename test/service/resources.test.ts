/** Every endpoint of the contract has a function, which sends what the document says, with the credential it says. */
import { describe, expect, it } from 'vitest';
import { endpoints, type Operation } from '../../src/contract/endpoints.ts';
import { CancelledError } from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import type { CallOptions } from '../../src/service/options.ts';
import { apiKey, errorOf, hostileServer, inferenceToken, json, serviceAt } from './hostile-server.ts';

interface Row {
  readonly call: (service: Service, options: CallOptions) => Promise<unknown>;
  /** Method and address as they stand in the document, filled in. */
  readonly request: string;
  readonly body?: unknown;
  readonly credential?: 'apiKey' | 'inferenceToken' | 'trajectoryToken';
  /** An `Idempotency-Key` goes along. */
  readonly keyed?: boolean;
}

const files = [{ path: 'a.json', content_type: 'application/json', size_bytes: 3 }];
const reward = { reward_id: 'r1', name: 'taste', value: 0, explanation: 'none', weight: 0 };
const evaluation = { display_name: 'baseline', model_slug: 'acme/small', checkpoint_id: 'ckpt_1' };
const training = { bench_id: 'b/1', base_model_slug: 'acme/small', options: { num_steps: 4 }, display_name: 'first' };
const deployment = { checkpoint_id: 'ckpt_1', model_slug: 'words-1', role: 'test' } as const;
const secret = { name: 'TOKEN', value: 'hunter2!', description: '' };
const upload = { dataset: 'd', trajectories: [{ steps: [] }] };
const question = { model: 'm', messages: [{ role: 'user', content: 'x' }] };
const token = 'trajectory-token-1';

const rows: Record<Operation, Row> = {
  listBenchmarks: {
    call: (service, options) => service.benchmarks.list({ search: 'a b', order: 'desc' }, options),
    request: 'GET /api/v1/benchmarks?order=desc&search=a+b',
  },
  listBenchmarkRuntimes: {
    call: (service, options) => service.benchmarks.listRuntimes({ limit: 200, sort: 'provider' }, options),
    request: 'GET /api/v1/benchmarks/runtimes?limit=200&sort=provider',
  },
  createBenchmarkUpload: {
    call: (service, options) => service.benchmarks.createUpload({ files, bench_id: 'b1' }, options),
    request: 'POST /api/v1/benchmarks/uploads',
    body: { files, bench_id: 'b1' },
  },
  getBenchmarkReadiness: {
    call: (service, options) => service.benchmarks.readiness('b/1', options),
    request: 'GET /api/v1/benchmarks/b%2F1/readiness',
  },
  buildBenchmarkImages: {
    call: (service, options) => service.benchmarks.buildImages('b/1', options),
    request: 'POST /api/v1/benchmarks/b%2F1/images/build',
  },
  listBenchmarkImages: {
    call: (service, options) => service.benchmarks.images('b/1', options),
    request: 'GET /api/v1/benchmarks/b%2F1/images',
  },
  ingestBenchmark: {
    call: (service, options) => service.benchmarks.ingest('b/1', { tasks: [] }, options),
    request: 'POST /api/v1/benchmarks/b%2F1/ingest',
    body: { tasks: [] },
  },
  getBenchmark: {
    call: (service, options) => service.benchmarks.get('b/1', options),
    request: 'GET /api/v1/benchmarks/b%2F1',
  },
  startEval: {
    call: (service, options) => service.evaluations.start('b/1', evaluation, options),
    request: 'POST /api/v1/eval/b%2F1/start',
    body: evaluation,
    keyed: true,
  },
  getRolloutStatistics: {
    call: (service, options) => service.evaluations.statistics('evr:1', options),
    request: 'GET /api/v1/eval/evr%3A1/rollout-statistics',
  },
  getTrajectoryRewards: {
    call: (service, options) => service.evaluations.rewards('evr:1', options),
    request: 'GET /api/v1/eval/evr%3A1/trajectory-rewards',
  },
  deleteEvalRun: {
    call: (service, options) => service.evaluations.delete('b/1', 'evr:1', options),
    request: 'DELETE /api/v1/eval/b%2F1/runs/evr%3A1',
  },
  listEvalRuns: {
    call: (service, options) => service.evaluations.listRuns('b/1', options),
    request: 'GET /api/v1/eval/b%2F1/runs',
  },
  getEvalRun: {
    call: (service, options) => service.evaluations.get('evr:1', options),
    request: 'GET /api/v1/eval/evr%3A1',
  },
  getEvalProgress: {
    call: (service, options) => service.evaluations.progress('evr:1', options),
    request: 'GET /api/v1/eval/evr%3A1/progress',
  },
  cancelEval: {
    call: (service, options) => service.evaluations.cancel('evr:1', options),
    request: 'POST /api/v1/eval/evr%3A1/cancel',
  },
  uploadTrajectories: {
    call: (service, options) => service.trajectories.upload(upload, options),
    request: 'POST /api/v1/trajectories/upload',
    body: upload,
    keyed: true,
  },
  getTrajectory: {
    call: (service, options) => service.trajectories.get('t1', { include_steps: true }, options),
    request: 'GET /api/v1/trajectories/t1?include_steps=true',
  },
  logReward: {
    call: (service, options) => service.trajectories.logReward('t1', reward, { ...options, token }),
    request: 'POST /api/v1/trajectories/t1/rewards',
    body: reward,
    credential: 'trajectoryToken',
  },
  listTrajectories: {
    call: (service, options) => service.trajectories.list({ eval_run_id: 'evr:1', limit: 9 }, options),
    request: 'GET /api/v1/trajectories?limit=9&eval_run_id=evr%3A1',
  },
  completeTrajectory: {
    call: (service, options) => service.trajectories.complete('t1', 'ENV_DONE', { ...options, token }),
    request: 'POST /api/v1/trajectories/t1/complete',
    body: { termination_reason: 'ENV_DONE' },
    credential: 'trajectoryToken',
  },
  listDatasets: {
    call: (service, options) => service.datasets.list({ limit: 1 }, options),
    request: 'GET /api/v1/datasets?limit=1',
  },
  getTrainingProgress: {
    call: (service, options) => service.training.progress('trn_1', options),
    request: 'GET /api/v1/train/trn_1/progress',
  },
  startTraining: {
    call: (service, options) => service.training.start(training, options),
    request: 'POST /api/v1/train',
    body: training,
    keyed: true,
  },
  listTrainingRuns: {
    call: (service, options) => service.training.listRuns('b/1', options),
    request: 'GET /api/v1/train/b%2F1/runs',
  },
  getTrainingRun: {
    call: (service, options) => service.training.get('trn_1', options),
    request: 'GET /api/v1/train/trn_1',
  },
  cancelTraining: {
    call: (service, options) => service.training.cancel('trn_1', options),
    request: 'POST /api/v1/train/trn_1/cancel',
  },
  deleteTrainingRun: {
    call: (service, options) => service.training.delete('trn_1', options),
    request: 'DELETE /api/v1/train/trn_1',
  },
  listCheckpoints: {
    call: (service, options) => service.training.checkpoints('trn_1', options),
    request: 'GET /api/v1/train/trn_1/checkpoints',
  },
  getCheckpoint: {
    call: (service, options) => service.training.checkpoint('trn_1', 20, options),
    request: 'GET /api/v1/train/trn_1/checkpoints/20',
  },
  getTrainerRewards: {
    call: (service, options) => service.training.trainerRewards('trn_1', options),
    request: 'GET /api/v1/train/trn_1/step/trainer-reward-by-step',
  },
  getHeldOutRewards: {
    call: (service, options) => service.training.heldOutRewards('trn_1', options),
    request: 'GET /api/v1/train/trn_1/step/held-out-reward-by-step',
  },
  getStepTrajectoryRewards: {
    call: (service, options) => service.training.stepRewards('trn_1', 0, options),
    request: 'GET /api/v1/train/trn_1/steps/0/trajectory-rewards',
  },
  getTrainingOptions: {
    call: (service, options) => service.training.options(options),
    request: 'GET /api/v1/train/options',
  },
  listSupportedTrainingModels: {
    call: (service, options) => service.models.listSupportedTrainingModels(options),
    request: 'GET /api/v1/models/supported-training-models',
  },
  getDeployment: {
    call: (service, options) => service.deployments.get('dep_1', options),
    request: 'GET /api/v1/deploy/dep_1',
  },
  undeploy: {
    call: (service, options) => service.deployments.undeploy('dep_1', options),
    request: 'DELETE /api/v1/deploy/dep_1',
  },
  listDeployments: {
    call: (service, options) => service.deployments.list({ status: 'DEPLOYED' }, options),
    request: 'GET /api/v1/deploy?status=DEPLOYED',
  },
  startDeployment: {
    call: (service, options) => service.deployments.start(deployment, options),
    request: 'POST /api/v1/deploy',
    body: deployment,
    keyed: true,
  },
  promoteDeployment: {
    call: (service, options) => service.deployments.promote('dep_1', options),
    request: 'POST /api/v1/deploy/dep_1/promote',
  },
  unpromoteDeployment: {
    call: (service, options) => service.deployments.unpromote('dep_1', options),
    request: 'POST /api/v1/deploy/dep_1/unpromote',
  },
  getDeploymentSummary: {
    call: (service, options) => service.deployments.summary(options),
    request: 'GET /api/v1/deploy/summary',
  },
  createSecret: {
    call: (service, options) => service.secrets.create(secret, options),
    request: 'POST /api/v1/secrets',
    body: secret,
  },
  listSecrets: {
    call: (service, options) => service.secrets.list({}, options),
    request: 'GET /api/v1/secrets',
  },
  deleteSecret: {
    call: (service, options) => service.secrets.delete('sec_1', options),
    request: 'DELETE /api/v1/secrets/sec_1',
  },
  createChatCompletion: {
    call: (service, options) => service.chat.complete(question, options),
    request: 'POST /v1/chat/completions',
    body: { ...question, stream: false },
    credential: 'inferenceToken',
  },
};

const operations = Object.keys(endpoints) as Operation[];

/** An answer that has every field that some answer must have. */
const anything = json({
  items: [],
  urls: [],
  images: [],
  snapshots: [],
  choices: [],
  trajectory_rewards: [],
  trainer_rewards: [],
  held_out_rewards: [],
  ready: true,
  secret: { secret_id: 's' },
  bench_id: 'b/1',
  eval_run_id: 'evr:1',
  training_run_id: 'trn_1',
  trajectory_id: 't1',
  deployment_id: 'dep_1',
  checkpoint_id: 'ckpt_1',
});

const credentials = {
  apiKey: { 'x-api-key': apiKey, authorization: undefined },
  inferenceToken: { 'x-api-key': undefined, authorization: `Bearer ${inferenceToken}` },
  trajectoryToken: { 'x-api-key': undefined, authorization: `Bearer ${token}` },
};

describe.each(operations)('%s', operation => {
  const { call, request, body, credential = 'apiKey', keyed = false } = rows[operation];

  it('sends what the document says', async () => {
    const server = await hostileServer(anything);
    await call(serviceAt(server.url).service, {});
    const [seen, ...others] = server.requests;
    expect(others).toEqual([]);
    expect(`${seen?.method} ${seen?.url}`).toBe(request);
    expect(seen?.body ? JSON.parse(seen.body) : undefined).toEqual(body);
    expect(seen?.headers['content-type']).toBe(body ? 'application/json' : undefined);
    const { 'x-api-key': key, authorization } = seen?.headers ?? {};
    expect({ 'x-api-key': key, authorization }).toEqual(credentials[credential]);
    expect(seen?.headers).toMatchObject({ accept: 'application/json', 'user-agent': 'benchtop/test' });
    expect(seen?.headers['idempotency-key'] !== undefined).toBe(keyed);
  });

  it('can be cancelled', async () => {
    const server = await hostileServer(anything);
    const { service } = serviceAt(server.url);
    expect(await errorOf(call(service, { signal: AbortSignal.abort() }))).toBeInstanceOf(CancelledError);
    expect(server.requests).toEqual([]);
  });
});

// Chat completions change nothing and are not described.
const describable = operations.filter(operation => operation !== 'createChatCompletion');

it.each(describable)('describes %s as it is sent, and sends nothing for that', async operation => {
  const { call, request, body } = rows[operation];
  const server = await hostileServer(anything);
  const { service } = serviceAt(server.url);
  const described = service.describe(noting => call(noting, {}));
  expect(described.map(({ method, path }) => `${method} ${path}`)).toEqual([request]);
  expect(described[0]?.body).toEqual(operation === 'createSecret' ? { ...secret, value: '••••' } : body);
  expect(server.requests).toEqual([]);
});

it('logs rewards with the key of the organization where no token is given', async () => {
  const server = await hostileServer(anything);
  await serviceAt(server.url).service.trajectories.logReward('t1', reward);
  expect(server.requests[0]?.headers).toMatchObject({ 'x-api-key': apiKey });
});
