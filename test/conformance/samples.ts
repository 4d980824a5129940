/**
 * Real answers for everything that the document describes, from uploading, evaluating, training, deploying and chatting
 * with the local service. Each is requested twice: raw over HTTP, and through the service layer.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createService, type Service } from '../../src/service/index.ts';
import { startService, type TestService, until } from '../local/server/running.ts';
import { storeSamples } from './records.ts';

type Body = Readonly<Record<string, unknown>>;

/** An answer as sent, and as the service layer returns it. */
export interface Sample {
  readonly raw: Body;
  /** The request that it answers. */
  readonly from: string;
  /** Missing if the service layer returns none (an error body). */
  readonly layer?: Body | undefined;
}

export interface World {
  readonly local: TestService;
  readonly service: Service;
  /** Samples by their object. */
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  readonly ids: {
    readonly benchId: string;
    readonly runId: string;
    readonly trainingId: string;
    readonly checkpointId: string;
    readonly openTrajectory: string;
    readonly endedTrajectory: string;
  };
  readonly end: () => Promise<void>;
}

const model = 'benchtop/tutor-base';
const quick = { num_steps: 2, train_batch_size: 2, samples_per_instance: 2, held_out_every: 2 };

const message = {
  role: 'assistant',
  content: 'hot',
  tool_calls: '[]',
  tool_response: 'ok',
  reasoning: 'the opposite of cold',
  finish_reason: 'stop',
  prompt_tokens: 3,
  completion_tokens: 1,
};

/** The fields that identify an object of the document. */
const identities: readonly (readonly [of: string, ...fields: string[]])[] = [
  ['BenchmarkRuntime (organization-scoped)', 'runtime_id', 'organization_id'],
  ['Benchmark (list item)', 'bench_id', 'organization_id'],
  ['Benchmark image (returned by image build)', 'task_id', 'provider'],
  ['Benchmark readiness', 'ready'],
  ['Upload URL entry (benchmark upload)', 'url'],
  ['Eval run', 'eval_run_id', 'xid'],
  ['Trajectory (detail)', 'trajectory_id', 'organization_id'],
  ['step', 'step_index', 'messages'],
  ['message', 'message_id'],
  ['trajectory reward', 'trajectory_id', 'task_id', 'reward'],
  ['Trajectory upload result', 'partial_success'],
  ['upload item', 'request_index'],
  ['upload failure', 'item_index'],
  ['reward log', 'ok', 'trajectory_id'],
  ['dataset', 'dataset_id', 'gcs_prefix'],
  ['secret', 'secret_id', 'name'],
  ['Deployment', 'deployment_id', 'is_active'],
  ['Training run progress', 'training_run_id', 'completed_steps'],
  ['model', 'model_name'],
  ['pricing', 'cached_input'],
  ['page', 'has_more'],
];

/** The document's objects in an answer, at any depth. */
function describedIn(value: unknown): [of: string, raw: Body][] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(describedIn);
  const known = identities.find(([, ...fields]) => fields.every(field => Object.hasOwn(value, field)));
  return known ? [[known[0], value as Body], ...inner] : inner;
}

export async function makeWorld(): Promise<World> {
  const local = await startService();
  storeSamples(local);
  const key = async () => local.apiKey;
  const service = createService({ baseUrl: local.baseUrl, apiKey: key, inferenceToken: key, userAgent: 'conformance' });
  const samples = new Map<string, Sample[]>();
  const keep = (of: string, raw: Body, layer?: unknown, from = 'the service'): void => {
    samples.set(of, [...(samples.get(of) ?? []), { raw, layer: layer as Body | undefined, from }]);
  };
  /** Sends calls, and collects every object that the document describes. */
  const ask = async (method: string, path: string, body?: object) => {
    const answer = (await local.call(method, `/api/v1/${path}`, body)).body;
    for (const [of, raw] of describedIn(answer)) keep(of, raw, undefined, `${method} ${path}`);
    return answer;
  };
  const get = (path: string) => ask('GET', path);
  const post = (path: string, body?: object) => ask('POST', path, body);

  // Benchmarks: upload, ingest, build.
  const files = [{ path: 'run.sh', content_type: 'text/plain', size_bytes: 2 }];
  const allocated = await post('benchmarks/uploads', { files });
  keep('upload urls', allocated);
  // Other addresses, with the same fields.
  keep('upload urls', await service.call('createBenchmarkUpload', { body: { files, bench_id: allocated.bench_id } }));
  keep('Upload URL entry (benchmark upload)', allocated.urls[0], allocated.urls[0]);
  const { url, headers } = allocated.urls[0];
  await fetch(url, { method: 'PUT', headers, body: 'ok' });
  const task = (name: string, split: string) => ({
    name,
    split,
    input_messages: [{ role: 'user', content: `opposite: ${name}?` }],
    run_command: 'answer',
    grader: { kind: 'exact', expected: 'cold' },
    files: ['run.sh'],
    environment: [{ name: 'KEY', secret_name: 'CONFORMANCE_KEY' }],
  });
  const benchId: string = allocated.bench_id;
  await post(`benchmarks/${benchId}/ingest`, {
    name: 'conformance',
    tasks: [task('hot', 'test'), task('warm', 'train'), task('mild', 'train')],
  });
  keep(
    'Benchmark readiness',
    await get(`benchmarks/${benchId}/readiness`),
    await service.call('getBenchmarkReadiness', { params: { bench_id: benchId } }),
  );
  const secret = await post('secrets', { name: 'CONFORMANCE_KEY', value: 'v', description: 'for the tasks' });
  keep('secret', secret.secret, (await service.call('listSecrets', { query: { search: 'CONFORMANCE_KEY' } })).items[0]);
  const built = await post(`benchmarks/${benchId}/images/build`, {});
  keep('image build', built, await service.call('buildBenchmarkImages', { params: { bench_id: benchId } }));
  await until(
    () => get(`benchmarks/${benchId}/readiness`),
    ({ ready }) => ready,
  );
  keep(
    'Benchmark readiness',
    await get(`benchmarks/${benchId}/readiness`),
    await service.call('getBenchmarkReadiness', { params: { bench_id: benchId } }),
  );
  const [image] = (await get(`benchmarks/${benchId}/images`)).images;
  keep(
    'Benchmark image (returned by image build)',
    image,
    (await service.call('listBenchmarkImages', { params: { bench_id: benchId } })).images[0],
  );
  const page = await get('benchmarks?limit=1');
  keep('page', page, await service.call('listBenchmarks', { query: { limit: 1 } }));
  keep('page', await get('benchmarks?limit=200'), undefined);
  keep(
    'Benchmark (list item)',
    page.items[0],
    (await service.call('listBenchmarks', { query: { limit: 1 } })).items[0],
  );
  keep(
    'BenchmarkRuntime (organization-scoped)',
    (await get('benchmarks/runtimes?limit=1')).items[0],
    (await service.call('listBenchmarkRuntimes', { query: { limit: 1 } })).items[0],
  );

  // An evaluation.
  const started = await post(`eval/${benchId}/start`, { display_name: 'conformance', model_slug: model });
  keep('eval start', started, started);
  const runId: string = started.eval_run_id;
  await until(
    () => get(`eval/${runId}`),
    ({ status }) => status === 'completed',
  );
  const statistics = await get(`eval/${runId}/rollout-statistics`);
  const layerStatistics = await service.call('getRolloutStatistics', { params: { eval_run_id: runId } });
  keep('rollout statistics', statistics, layerStatistics);
  keep('Eval run', statistics.snapshots[0], layerStatistics.snapshots[0]);
  const rewards = await get(`eval/${runId}/trajectory-rewards`);
  const layerRewards = await service.call('getTrajectoryRewards', { params: { eval_run_id: runId } });
  keep('trajectory rewards', rewards, layerRewards);
  keep('trajectory reward', rewards.trajectory_rewards[0], layerRewards.trajectory_rewards[0]);

  // Trajectories.
  const trajectories = [
    {
      trace_id: 'open',
      status: 'running',
      model_id: 'm',
      steps: [{ reward: 0.5, has_error: true, messages: [message] }],
    },
    { trace_id: 'ended', error: 'it broke', reward: 0, messages: [message] },
    { broken: true },
  ];
  const uploaded = await post('trajectories/upload', { dataset: 'conformance', trajectories });
  const again = await service.call('uploadTrajectories', { body: { dataset: 'conformance', trajectories } });
  keep('Trajectory upload result', uploaded);
  keep('Trajectory upload result', again as unknown as Body, again);
  keep('upload failure', uploaded.trajectories[2].failure, uploaded.trajectories[2].failure);
  const [openTrajectory, endedTrajectory]: string[] = uploaded.trajectories.map(
    ({ trajectory_id }: { trajectory_id: string }) => trajectory_id,
  );
  const ids = [openTrajectory ?? '', endedTrajectory ?? '', rewards.trajectory_rewards[0].trajectory_id as string];
  const reward = { reward_id: 'r1', name: 'quality', value: 1 };
  const logged = await post(`trajectories/${ids[0]}/rewards`, reward);
  keep(
    'reward log',
    logged,
    await service.call('logReward', { params: { trajectory_id: ids[0] ?? '' }, body: reward }),
  );
  for (const id of ids) {
    const whole = await get(`trajectories/${id}`);
    const layer = await service.call('getTrajectory', {
      params: { trajectory_id: id },
      query: { include_steps: true },
    });
    keep('Trajectory (detail)', whole, layer);
    keep('step', whole.steps[0], layer.steps?.[0]);
    keep('message', whole.steps[0].messages[0], layer.steps?.[0]?.messages?.[0]);
  }
  keep(
    'dataset',
    (await get('datasets?search=conformance')).items[0],
    (await service.call('listDatasets', { query: { search: 'conformance' } })).items[0],
  );

  // Training.
  const training = await post('train', { bench_id: benchId, base_model_slug: model, options: quick });
  const trainingId: string = training.training_run_id;
  await until(
    () => get(`train/${trainingId}/progress`),
    ({ status }) => status === 'succeeded',
  );
  keep(
    'Training run progress',
    await get(`train/${trainingId}/progress`),
    await service.call('getTrainingProgress', { params: { training_run_id: trainingId } }),
  );
  const checkpointId: string = (await get(`train/${trainingId}/checkpoints`)).items.at(-1).checkpoint_id;
  const models = await get('models/supported-training-models');
  keep('model', models.items[0], (await service.call('listSupportedTrainingModels'))[0]);
  keep('pricing', models.items[0].pricing, (await service.call('listSupportedTrainingModels'))[0]?.pricing);

  // A deployment in progress, a finished one, and one whose checkpoint is lost, like that of a training run.
  const deploy = (checkpoint_id: string, model_slug: string) =>
    post('deploy', { checkpoint_id, model_slug, role: 'production' });
  const fresh = await deploy(checkpointId, 'conformance');
  keep('Deployment', fresh);
  type Ended = { status: string; failure: Body };
  const ended = ({ status }: Ended) => ['DEPLOYED', 'FAILED', 'failed', 'succeeded'].includes(status);
  const deployed = await until(() => get(`deploy/${fresh.deployment_id}`), ended);
  keep('Deployment', deployed, await service.call('getDeployment', { params: { deployment_id: fresh.deployment_id } }));
  const lost = await post('train', { bench_id: benchId, base_model_slug: model, options: { ...quick, seed: 99 } });
  await until(() => get(`train/${lost.training_run_id}/progress`), ended);
  const lostCheckpoint = (await get(`train/${lost.training_run_id}/checkpoints`)).items.at(-1).checkpoint_id;
  rmSync(join(local.folder, 'checkpoints', lost.training_run_id), { recursive: true });
  const failing = await deploy(lostCheckpoint, 'lost');
  const failed = await until(() => get(`deploy/${failing.deployment_id}`), ended);
  keep('Deployment', failed, await service.call('getDeployment', { params: { deployment_id: failing.deployment_id } }));
  keep(
    'deployment failure',
    failed.failure,
    (await service.call('getDeployment', { params: { deployment_id: failing.deployment_id } })).failure,
  );
  const child = await post('train', { bench_id: benchId, parent_checkpoint_id: lostCheckpoint, options: quick });
  const childFailed = await until(() => get(`train/${child.training_run_id}/progress`), ended);
  keep(
    'Training run progress',
    childFailed,
    await service.call('getTrainingProgress', { params: { training_run_id: child.training_run_id } }),
  );
  keep(
    'training failure',
    childFailed.failure,
    (await service.call('getTrainingProgress', { params: { training_run_id: child.training_run_id } })).failure,
  );

  // Everything so far, once more in lists and by itself.
  for (const path of ['benchmarks', 'benchmarks/runtimes', 'trajectories', 'datasets', 'deploy', 'secrets']) {
    await get(`${path}?limit=200`);
  }
  await get(`benchmarks/${benchId}`);
  await get(`trajectories/${ids[0]}?include_steps=false`);
  await get(`train/${trainingId}/steps/1/trajectory-rewards`);
  await post('trajectories', { task_id: 'mine' });
  for (const change of ['unpromote', 'promote']) await post(`deploy/${fresh.deployment_id}/${change}`);

  // Inference, and its errors.
  const bearer = { Authorization: `Bearer ${local.apiKey}`, 'X-API-Key': '' };
  const chat = (name: string) =>
    local.call(
      'POST',
      '/v1/chat/completions',
      { model: name, messages: [{ role: 'user', content: 'hi' }], max_tokens: 3 },
      bearer,
    );
  const completion = (await chat('conformance')).body;
  keep('chat completion', completion, completion);
  keep('chat choice', completion.choices[0], completion.choices[0]);
  keep('chat message', completion.choices[0].message, completion.choices[0].message);
  keep('usage', completion.usage, completion.usage);
  keep('inference error', (await chat('nobody')).body.error);
  keep('Envelope of the `/api/v1` endpoints', (await local.call('GET', '/api/v1/deploy/unknown')).body.error);
  keep('Envelope of the `/api/v1` endpoints', (await local.call('GET', '/api/v1/benchmarks?limit=0')).body.error);

  // Deletions.
  const gone = (await local.call('DELETE', `/api/v1/deploy/${failing.deployment_id}`)).body;
  keep('undeploy', gone, gone);
  const doomed = await post(`eval/${benchId}/start`, { display_name: 'doomed', model_slug: model });
  const deleted = (await local.call('DELETE', `/api/v1/eval/${benchId}/runs/${doomed.eval_run_id}`)).body;
  keep('eval delete', deleted, deleted);

  return {
    local,
    service,
    samples,
    ids: {
      benchId,
      runId,
      trainingId,
      checkpointId,
      openTrajectory: openTrajectory ?? '',
      endedTrajectory: endedTrajectory ?? '',
    },
    end: async () => {
      await service.close();
      await local.end();
    },
  };
}
