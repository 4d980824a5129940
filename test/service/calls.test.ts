/** Every operation of the contract sends the documented request, with the documented credential. */
import { describe, expect, it } from 'vitest';
import { endpoints, type InputOf, type Operation } from '../../src/contract/endpoints.ts';
import { untypedCall } from '../../src/service/call.ts';
import { CancelledError } from '../../src/service/errors.ts';
import type { CallOptions } from '../../src/service/options.ts';
import { apiKey, errorOf, hostileServer, inferenceToken, json, refusal, serviceAt } from './hostile-server.ts';

interface Row<Name extends Operation> {
  readonly input: InputOf<Name>;
  readonly options?: CallOptions;
  /** Method and address as in the document, filled in. */
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

/** Operations that are determined by their path alone need no row. */
const rows: { readonly [Name in Operation]?: Row<Name> } = {
  listBenchmarks: {
    input: { query: { search: 'a b', order: 'desc' } },
    request: 'GET /api/v1/benchmarks?order=desc&search=a+b',
  },
  listBenchmarkRuntimes: {
    input: { query: { limit: 200, sort: 'provider' } },
    request: 'GET /api/v1/benchmarks/runtimes?limit=200&sort=provider',
  },
  createBenchmarkUpload: {
    input: { body: { files, bench_id: 'b1' } },
    request: 'POST /api/v1/benchmarks/uploads',
    body: { files, bench_id: 'b1' },
  },
  getBenchmarkReadiness: {
    input: { params: { bench_id: 'b/1' } },
    request: 'GET /api/v1/benchmarks/b%2F1/readiness',
  },
  buildBenchmarkImages: {
    input: { params: { bench_id: 'b/1' } },
    request: 'POST /api/v1/benchmarks/b%2F1/images/build',
  },
  listBenchmarkImages: {
    input: { params: { bench_id: 'b/1' } },
    request: 'GET /api/v1/benchmarks/b%2F1/images',
  },
  ingestBenchmark: {
    input: { params: { bench_id: 'b/1' }, body: { tasks: [] } },
    request: 'POST /api/v1/benchmarks/b%2F1/ingest',
    body: { tasks: [] },
  },
  getBenchmark: {
    input: { params: { bench_id: 'b/1' } },
    request: 'GET /api/v1/benchmarks/b%2F1',
  },
  startEval: {
    input: { params: { bench_id: 'b/1' }, body: evaluation },
    request: 'POST /api/v1/eval/b%2F1/start',
    body: evaluation,
    keyed: true,
  },
  getRolloutStatistics: {
    input: { params: { eval_run_id: 'evr:1' } },
    request: 'GET /api/v1/eval/evr%3A1/rollout-statistics',
  },
  getTrajectoryRewards: {
    input: { params: { eval_run_id: 'evr:1' } },
    request: 'GET /api/v1/eval/evr%3A1/trajectory-rewards',
  },
  deleteEvalRun: {
    input: { params: { bench_id: 'b/1', eval_run_id: 'evr:1' } },
    request: 'DELETE /api/v1/eval/b%2F1/runs/evr%3A1',
  },
  listEvalRuns: {
    input: { params: { bench_id: 'b/1' } },
    request: 'GET /api/v1/eval/b%2F1/runs',
  },
  getEvalRun: {
    input: { params: { eval_run_id: 'evr:1' } },
    request: 'GET /api/v1/eval/evr%3A1',
  },
  getEvalProgress: {
    input: { params: { eval_run_id: 'evr:1' } },
    request: 'GET /api/v1/eval/evr%3A1/progress',
  },
  cancelEval: {
    input: { params: { eval_run_id: 'evr:1' } },
    request: 'POST /api/v1/eval/evr%3A1/cancel',
  },
  uploadTrajectories: {
    input: { body: upload },
    request: 'POST /api/v1/trajectories/upload',
    body: upload,
    keyed: true,
  },
  getTrajectory: {
    input: { params: { trajectory_id: 't1' }, query: { include_steps: true } },
    request: 'GET /api/v1/trajectories/t1?include_steps=true',
  },
  logReward: {
    input: { params: { trajectory_id: 't1' }, body: reward },
    options: { token },
    request: 'POST /api/v1/trajectories/t1/rewards',
    body: reward,
    keyed: true,
    credential: 'trajectoryToken',
  },
  listTrajectories: {
    input: { query: { eval_run_id: 'evr:1', limit: 9 } },
    request: 'GET /api/v1/trajectories?limit=9&eval_run_id=evr%3A1',
  },
  completeTrajectory: {
    input: { params: { trajectory_id: 't1' }, body: { termination_reason: 'ENV_DONE' } },
    options: { token },
    request: 'POST /api/v1/trajectories/t1/complete',
    body: { termination_reason: 'ENV_DONE' },
    credential: 'trajectoryToken',
  },
  listDatasets: {
    input: { query: { limit: 1 } },
    request: 'GET /api/v1/datasets?limit=1',
  },
  getTrainingProgress: {
    input: { params: { training_run_id: 'trn_1' } },
    request: 'GET /api/v1/train/trn_1/progress',
  },
  startTraining: {
    input: { body: training },
    request: 'POST /api/v1/train',
    body: training,
    keyed: true,
  },
  listTrainingRuns: {
    input: { params: { bench_id: 'b/1' } },
    request: 'GET /api/v1/train/b%2F1/runs',
  },
  getTrainingRun: {
    input: { params: { training_run_id: 'trn_1' } },
    request: 'GET /api/v1/train/trn_1',
  },
  cancelTraining: {
    input: { params: { training_run_id: 'trn_1' } },
    request: 'POST /api/v1/train/trn_1/cancel',
  },
  deleteTrainingRun: {
    input: { params: { training_run_id: 'trn_1' } },
    request: 'DELETE /api/v1/train/trn_1',
  },
  listCheckpoints: {
    input: { params: { training_run_id: 'trn_1' } },
    request: 'GET /api/v1/train/trn_1/checkpoints',
  },
  getCheckpoint: {
    input: { params: { training_run_id: 'trn_1', step_index: 20 } },
    request: 'GET /api/v1/train/trn_1/checkpoints/20',
  },
  deleteBenchmark: {
    input: { params: { bench_id: 'b/1' } },
    request: 'DELETE /api/v1/benchmarks/b%2F1',
  },
  createTrajectory: {
    input: { body: { dataset: 'live' } },
    request: 'POST /api/v1/trajectories',
    body: { dataset: 'live' },
    keyed: true,
  },
  listModels: { input: {}, request: 'GET /v1/models', credential: 'inferenceToken' },
  getModel: {
    input: { params: { model: 'acme/small' } },
    request: 'GET /v1/models/acme%2Fsmall',
    credential: 'inferenceToken',
  },
  getTrainerRewards: {
    input: { params: { training_run_id: 'trn_1' } },
    request: 'GET /api/v1/train/trn_1/step/trainer-reward-by-step',
  },
  getHeldOutRewards: {
    input: { params: { training_run_id: 'trn_1' } },
    request: 'GET /api/v1/train/trn_1/step/held-out-reward-by-step',
  },
  getStepTrajectoryRewards: {
    input: { params: { training_run_id: 'trn_1', step: 0 } },
    request: 'GET /api/v1/train/trn_1/steps/0/trajectory-rewards',
  },
  getTrainingOptions: {
    input: {},
    request: 'GET /api/v1/train/options',
  },
  listSupportedTrainingModels: {
    input: {},
    request: 'GET /api/v1/models/supported-training-models',
  },
  getDeployment: {
    input: { params: { deployment_id: 'dep_1' } },
    request: 'GET /api/v1/deploy/dep_1',
  },
  undeploy: {
    input: { params: { deployment_id: 'dep_1' } },
    request: 'DELETE /api/v1/deploy/dep_1',
  },
  listDeployments: {
    input: { query: { status: 'DEPLOYED' } },
    request: 'GET /api/v1/deploy?status=DEPLOYED',
  },
  startDeployment: {
    input: { body: deployment },
    request: 'POST /api/v1/deploy',
    body: deployment,
    keyed: true,
  },
  promoteDeployment: {
    input: { params: { deployment_id: 'dep_1' } },
    request: 'POST /api/v1/deploy/dep_1/promote',
  },
  unpromoteDeployment: {
    input: { params: { deployment_id: 'dep_1' } },
    request: 'POST /api/v1/deploy/dep_1/unpromote',
  },
  getDeploymentSummary: {
    input: {},
    request: 'GET /api/v1/deploy/summary',
  },
  createSecret: {
    input: { body: secret },
    request: 'POST /api/v1/secrets',
    body: secret,
  },
  listSecrets: {
    input: {},
    request: 'GET /api/v1/secrets',
  },
  deleteSecret: {
    input: { params: { secret_id: 'sec_1' } },
    request: 'DELETE /api/v1/secrets/sec_1',
  },
  createChatCompletion: {
    input: { body: { ...question, stream: false } },
    request: 'POST /v1/chat/completions',
    body: { ...question, stream: false },
    credential: 'inferenceToken',
  },
};

const operations = Object.keys(endpoints) as Operation[];

function rowOf(operation: Operation): Row<Operation> {
  const row = rows[operation];
  if (row) return row;
  const { method, path } = endpoints[operation];
  expect(method, `what ${operation} sends is in no row`).toBe('GET');
  const params = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, 'x']));
  return { input: { params }, request: `GET ${path.replaceAll(/\{\w+\}/g, 'x')}` } as Row<Operation>;
}

/** An answer that has every field that some answer must have. */
const fields = {
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
  id: 'acme/small',
};

const credentials = {
  apiKey: { 'x-api-key': apiKey, authorization: undefined },
  inferenceToken: { 'x-api-key': undefined, authorization: `Bearer ${inferenceToken}` },
  trajectoryToken: { 'x-api-key': undefined, authorization: `Bearer ${token}` },
};

describe.each(operations)('%s', operation => {
  const { input, options, request, body, credential = 'apiKey', keyed = false } = rowOf(operation);

  it('sends what the document shows', async () => {
    const server = await hostileServer(json({ ...fields, ...input.params }));
    await untypedCall(serviceAt(server.url).service)(operation, input, options);
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
    const server = await hostileServer(json(fields));
    const { service } = serviceAt(server.url);
    const call = untypedCall(service)(operation, input, { ...options, signal: AbortSignal.abort() });
    expect(await errorOf(call)).toBeInstanceOf(CancelledError);
    expect(server.requests).toEqual([]);
  });
});

// Chat completions change nothing and are not described.
const describable = operations.filter(operation => operation !== 'createChatCompletion');

it.each(describable)('describes %s as it is sent, without sending it', async operation => {
  const { input, request, body } = rowOf(operation);
  const server = await hostileServer(json(fields));
  const { service } = serviceAt(server.url);
  const described = service.describe(noting => untypedCall(noting)(operation, input));
  expect(described.map(({ method, path }) => `${method} ${path}`)).toEqual([request]);
  expect(described[0]?.body).toEqual(operation === 'createSecret' ? { ...secret, value: '••••' } : body);
  expect(server.requests).toEqual([]);
});

it('sends any other request with the key of the organization', async () => {
  const server = await hostileServer(refusal(401, 'authentication_error', 'authentication_required'));
  const error = await errorOf(serviceAt(server.url).service.sendRaw({ method: 'GET', path: '/api/v1/anything' }));
  expect(server.requests[0]?.headers).toMatchObject({ 'x-api-key': apiKey });
  expect((error as Error).message).toContain('Check the API key of this profile.');
});

it('sends the path of any other request as it is, braces too', async () => {
  const server = await hostileServer(json({}));
  await serviceAt(server.url).service.sendRaw({ method: 'GET', path: '/api/v1/{name}/}x?a={b}' });
  expect(decodeURIComponent(server.requests[0]?.url ?? '')).toBe('/api/v1/{name}/}x?a={b}');
});

it('sends the body length of a request, which some services require', async () => {
  const server = await hostileServer(json({}));
  await serviceAt(server.url).service.sendRaw({ method: 'POST', path: '/x', body: Buffer.from('{"a":1}') });
  expect(server.requests[0]?.headers).toMatchObject({ 'content-length': '7' });
  expect(server.requests[0]?.headers).not.toHaveProperty('transfer-encoding');
});

it('logs rewards with the key of the organization if no token is set', async () => {
  const server = await hostileServer(json(fields));
  await serviceAt(server.url).service.call('logReward', { params: { trajectory_id: 't1' }, body: reward });
  expect(server.requests[0]?.headers).toMatchObject({ 'x-api-key': apiKey });
});

it('types input and output as in the contract', () => {
  const { call } = serviceAt('https://service.example').service;
  const wrong = () => [
    // @ts-expect-error the id of the path is missing
    call('startEval', { body: evaluation }),
    // @ts-expect-error the body is missing
    call('startEval', { params: { bench_id: 'b' } }),
    // @ts-expect-error the path has no such name
    call('getEvalRun', { params: { run_id: 'evr_1' } }),
    // @ts-expect-error the list has no such query
    call('listBenchmarks', { query: { page: 2 } }),
    // @ts-expect-error the operation takes no body
    call('undeploy', { params: { deployment_id: 'dep_1' }, body: {} }),
  ];
  expect(wrong).toBeTypeOf('function');
});
