/**
 * A double of the service: one of everything, some running and some ended, so that every command of every view has a
 * target. It accepts every write; `requests` has the requests that arrived.
 */
import { type Behaviour, type HostileServer, hostileServer, json, type SeenRequest, stream } from './hostile-server.ts';

const created_at = '2026-03-04T05:06:07Z';
const bench_id = 'bench_1';
const page = (...items: readonly object[]) => ({ items, has_more: false, next_cursor: null });

const run = { bench_id, created_at, base_model_slug: 'acme/small', display_name: 'baseline' };
const runs = [
  { ...run, eval_run_id: 'evr_1', status: 'running' },
  { ...run, eval_run_id: 'evr_2', status: 'completed', reward_mean: 0.5 },
];
const training = { bench_id, created_at, base_model_slug: 'acme/small', display_name: 'first' };
const trainings = [
  { ...training, training_run_id: 'trn_1', status: 'running' },
  { ...training, training_run_id: 'trn_2', status: 'succeeded' },
];
const trajectory = { bench_id, created_at, task_id: 'one', eval_run_id: 'evr_1', model_id: 'acme/small' };
const steps = [{ step_index: 0, messages: [{ role: 'assistant', content: 'hello' }] }];
const trajectories = [
  { ...trajectory, trajectory_id: 'traj_1', status: 'running' },
  { ...trajectory, trajectory_id: 'traj_2', status: 'completed', reward: 1 },
];
const deployment = { created_at, model_slug: 'talker', base_model_slug: 'acme/small' };
const deployments = [
  { ...deployment, deployment_id: 'dep_1', status: 'DEPLOYED', role: 'production', is_active: true },
  { ...deployment, deployment_id: 'dep_2', status: 'DEPLOYED', role: 'test', is_active: false },
];
const checkpoint = { checkpoint_id: 'ckpt_1', step_index: 2, created_at };
const rewards = { trajectory_rewards: [{ trajectory_id: 'traj_2', task_id: 'one', reward: 1, status: 'completed' }] };
const image = { task_id: 'one', provider: 'local', build_status: 'pending' };

/** The answers by path; the first match counts. Any id is accepted. */
const answers: readonly (readonly [pattern: RegExp, body: unknown])[] = [
  [/\/benchmarks\/runtimes$/, page({ runtime_id: 'rt_1', image_ref: 'an/image', build_status: 'ready', created_at })],
  [
    /\/benchmarks\/\w+\/readiness$/,
    { ready: false, missing_secret_names: ['TOKEN'], unready_task_image_counts: { pending: 1 } },
  ],
  [/\/benchmarks\/\w+\/images$/, { bench_id, images: [image] }],
  [/\/benchmarks\/\w+\/task-count$/, { bench_id, task_count: 3, by_split: { train: 2, test: 1 } }],
  [/\/benchmarks\/\w+$/, { bench_id, label: 't-words', created_at, eval_run_count: 2 }],
  [/\/benchmarks$/, page({ bench_id, label: 't-words', created_at, eval_run_count: 2 })],
  [/\/eval\/options$/, { options: {} }],
  [/\/eval\/\w+\/runs$/, runs],
  [/\/eval\/\w+\/rollout-statistics$/, { snapshots: [] }],
  [/\/eval\/\w+\/trajectory-rewards$/, rewards],
  [/\/eval\/\w+\/progress$/, { eval_run_id: 'evr_1', status: 'running', terminal_rollouts: 2, total_rollouts: 4 }],
  [/\/eval\/evr_2$/, runs[1]],
  [/\/eval\/\w+$/, runs[0]],
  [/\/train\/options$/, { num_steps: { default: 4 } }],
  [/\/train\/\w+\/runs$/, trainings],
  [/\/train\/\w+\/progress$/, { status: 'running', completed_steps: 2, total_steps: 4 }],
  [/\/train\/\w+\/checkpoints$/, [checkpoint]],
  [/\/train\/\w+\/checkpoints\/\d+$/, checkpoint],
  [
    /\/train\/\w+\/step\/[\w-]+$/,
    [
      { step: 1, trainer_reward: 0.2 },
      { step: 2, trainer_reward: 0.4 },
    ],
  ],
  [/\/train\/\w+\/steps\/\d+\/trajectory-rewards$/, rewards],
  [/\/train\/trn_2$/, trainings[1]],
  [/\/train\/\w+$/, trainings[0]],
  [/\/trajectories$/, page(...trajectories)],
  [/\/trajectories\/traj_2$/, { ...trajectories[1], steps }],
  [/\/trajectories\/\w+$/, { ...trajectories[0], steps }],
  [/\/datasets$/, page({ dataset_id: 'ds_1', dataset_name: 'uploaded', created_at })],
  [/\/deploy\/summary$/, { DEPLOYED: 2 }],
  [/\/deploy$/, page(...deployments)],
  [/\/deploy\/dep_2$/, deployments[1]],
  [/\/deploy\/\w+$/, deployments[0]],
  [/\/models\/supported-training-models$/, [{ model_slug: 'acme/small', model_name: 'Small' }]],
  [/\/v1\/models$/, { object: 'list', data: [{ id: 'acme/chatty', object: 'model' }] }],
  [/\/secrets$/, page({ secret_id: 'sec_1', name: 'TOKEN', byte_length: 3, created_at })],
];

/** Every id that an answer to a write may need. */
const done = {
  bench_id,
  eval_run_id: 'evr_3',
  training_run_id: 'trn_3',
  deployment_id: 'dep_3',
  trajectory_id: 'traj_1',
  secret_id: 'sec_2',
  secret: { secret_id: 'sec_2', name: 'TOKEN' },
  images: [],
  trajectories: [],
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
};

const words = [
  'data: {"choices":[{"index":0,"delta":{"content":"hi there"}}]}\n\n',
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
];

/** Addresses for the files of a benchmark, at the server itself. */
function uploadUrls({ body, headers }: SeenRequest): object {
  const { files = [] } = JSON.parse(body) as { files?: { path: string }[] };
  const urls = files.map(({ path }) => ({ path, url: `http://${headers.host}/put/${path}` }));
  return { bench_id, urls };
}

const answer: Behaviour = (response, request) => {
  const path = request.url.split('?')[0] ?? '';
  if (path.endsWith('/chat/completions')) return stream(words)(response, request);
  if (path.endsWith('/benchmarks/uploads')) return json(uploadUrls(request))(response, request);
  if (request.method !== 'GET') return json(done)(response, request);
  const found = answers.find(([pattern]) => pattern.test(path));
  return json(
    found ? found[1] : { error: { type: 'invalid_request_error', code: 'resource_not_found' } },
    found ? 200 : 404,
  )(response, request);
};

export interface ServiceDouble extends HostileServer {
  /** The write requests that arrived: method and path. */
  readonly writes: () => string[];
  /** Whether a request changes something; chat completions do not. */
  readonly isWrite: (request: Pick<SeenRequest, 'method' | 'url'>) => boolean;
}

/** Closes when the test ends. */
export async function serviceDouble(): Promise<ServiceDouble> {
  const server = await hostileServer(answer);
  const isWrite: ServiceDouble['isWrite'] = ({ method, url }) => method !== 'GET' && !url.endsWith('/chat/completions');
  const writes = () => server.requests.filter(isWrite).map(({ method, url }) => `${method} ${url.split('?')[0]}`);
  return { ...server, writes, isWrite };
}
