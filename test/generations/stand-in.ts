/**
 * Services written from the tables of their shapes and independent of `src`: the generation closest to the document, the
 * newest, and one with the endpoints of the document alone. All are strict: they reject anything unknown, and record it
 * in `refused`.
 */
import { type Behaviour, hostileServer, json, type SeenRequest, stream } from '../service/hostile-server.ts';
import { documentedIds, documentedRoutes, refuseUnknown } from './documented.ts';
import { type Answer, type Body, lists, page, Refused, type Routes, takes } from './routes.ts';

export interface StandIn {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Requests that this service does not know: method, path and why. */
  readonly refused: readonly string[];
  readonly ids: Readonly<
    Record<'bench' | 'run' | 'oldRun' | 'training' | 'trajectory' | 'production' | 'test' | 'gone', string>
  >;
}

const created_at = '2026-03-04T05:06:07Z';
const completed_at = '2026-03-04T06:06:07Z';
const failure = { type: 'api_error', code: 'boom', message: 'it broke', context: { node: 'n-1' } };
const chatEvents = [
  'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"hi there"}}]}\n\n',
  'data: {"choices":[{"index":0,"delta":{"content":null},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
];

/** Six rewards with a mean of 0.5. */
const rewards = (nameless: boolean) =>
  [0, 0, 0.5, 0.5, 1, 1].map((reward, index) => ({
    reward,
    trajectory_id: nameless && index > 3 ? null : `tj-${index}`,
    task_id: nameless && index === 5 ? null : `task ${index}`,
  }));

function uploadUrls({ body, host }: { readonly body: Body; readonly host: string }, bench_id: string) {
  takes('body', body, ['files'], ['bench_id']);
  const files = body['files'] as readonly { readonly path: string }[];
  const urls = files.map(({ path }) => ({ path, url: `http://${host}/put/${path}`, headers: {} }));
  return { bench_id, urls, expires_at: '2099-01-01T00:00:00Z' };
}

/** The common answers of both generations; `model` is the field that names a model. */
function shared({ bench, run, oldRun, training, trajectory }: StandIn['ids'], model: string): Routes {
  return {
    'GET /api/v1/benchmarks/runtimes': page({
      runtime_id: 'rt-1',
      image_ref: 'an/image',
      build_status: 'ready',
      created_at,
    }),
    [`GET /api/v1/benchmarks/${bench}/readiness`]: {
      ready: false,
      missing_secret_names: ['TOKEN'],
      unready_task_image_counts: { failed: 1 },
    },
    'POST /api/v1/benchmarks/uploads': (request: Parameters<Answer>[0]) => uploadUrls(request, 'b-new'),
    [`POST /api/v1/benchmarks/${bench}/images/build`]: { bench_id: bench, images: [] },
    'GET /api/v1/benchmarks/b-new/readiness': { ready: true, missing_secret_names: [], unready_task_image_counts: {} },
    'POST /api/v1/benchmarks/b-new/images/build': { bench_id: 'b-new', images: [] },
    [`GET /api/v1/eval/${run}/rollout-statistics`]: {
      eval_run_id: run,
      snapshots: [
        { stage: 'sample', knob_name: 'latency', unit: 'ms', sample_count: 2, created_at, samples: [1, 2] },
        { stage: 'grade', knob_name: 'latency', unit: 'ms', sample_count: 0, created_at, samples: null },
      ],
    },
    // The preview of a row reads them once the cursor rests on it.
    [`GET /api/v1/eval/${oldRun}/rollout-statistics`]: { eval_run_id: oldRun, snapshots: [] },
    [`GET /api/v1/eval/${run}/progress`]: {
      eval_run_id: run,
      status: 'running',
      terminal_rollouts: 6,
      total_rollouts: 16,
    },
    [`POST /api/v1/eval/${run}/cancel`]: undefined,
    [`GET /api/v1/train/${training}/progress`]: {
      training_run_id: training,
      status: 'running',
      completed_steps: 2,
      total_steps: 4,
    },
    [`POST /api/v1/train/${training}/cancel`]: undefined,
    [`DELETE /api/v1/train/${training}`]: { training_run_id: training },
    [`GET /api/v1/train/${training}/step/trainer-reward-by-step`]: {
      training_run_id: training,
      trainer_rewards: [{ trainer_reward: 0.9 }, { step: 1, trainer_reward: 0.2 }, { step: 2, trainer_reward: null }],
    },
    'GET /api/v1/datasets': page({ dataset_id: 'ds-1', dataset_name: 'recorded', created_at }),
    [`POST /api/v1/trajectories/${trajectory}/rewards`]: ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, ['reward_id', 'name', 'value'], ['explanation', 'weight']);
      return { ok: true, trajectory_id: trajectory, status: 'running' };
    },
    [`POST /api/v1/trajectories/${trajectory}/complete`]: ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, [], ['termination_reason']);
      return { ok: true, trajectory_id: trajectory, status: 'completed' };
    },
    'GET /api/v1/secrets': page({ secret_id: 'sec-1', name: 'TOKEN', byte_length: 3, description: null, created_at }),
    'POST /api/v1/secrets': { secret: { secret_id: 'sec-2', name: 'TOKEN', byte_length: 3, created_at } },
    'DELETE /api/v1/secrets/sec-1': { secret_id: 'sec-1' },
    'GET /api/v1/models/supported-training-models': {
      items: [{ [model]: 'acme/small', model_name: 'Small', pricing: { input: 0.1, output: 0.2, cached_input: null } }],
    },
    'GET /v1/models': {
      object: 'list',
      data: [
        { id: 'acme/small', object: 'model' },
        { id: 'talker', object: 'model' },
      ],
    },
    'POST /v1/chat/completions': ({ body }: Parameters<Answer>[0]) => {
      if (body['model'] !== 'acme/small' && body['model'] !== 'talker') throw new Refused(404, 'model_not_found');
      return chatEvents;
    },
  };
}

const olderIds = {
  bench: 'bench_1',
  run: 'evr_1',
  oldRun: 'evr_2',
  training: 'trn_1',
  trajectory: 'traj_1',
  production: 'dep_1',
  test: 'dep_2',
  gone: 'dep_3',
};

/** The benchmark that an upload makes; nothing has been done with it. */
const uploaded = (benchmark: object): Routes => ({
  'GET /api/v1/benchmarks/b-new': benchmark,
  'GET /api/v1/benchmarks/b-new/images': { bench_id: 'b-new', images: [] },
  'GET /api/v1/eval/b-new/runs': [],
});

/** The generation closest to the document. */
function older(): Routes {
  const { bench, run, oldRun, training, trajectory, test, gone } = olderIds;
  const benchmark = { bench_id: bench, label: 't-words', created_at, updated_at: created_at, eval_run_count: 2 };
  const runs = [
    {
      eval_run_id: run,
      bench_id: bench,
      display_name: 'baseline',
      base_model_slug: 'acme/small',
      status: 'running',
      created_at,
    },
    { eval_run_id: oldRun, bench_id: bench, display_name: 'before', status: 'failed', failure, created_at },
  ];
  const trained = { training_run_id: training, bench_id: bench, display_name: 'first', status: 'running', created_at };
  const recorded = {
    trajectory_id: trajectory,
    status: 'running',
    task_id: 'task 1',
    dataset_name: 'recorded',
    created_at,
  };
  const deployed = { model_slug: 'talker', status: 'DEPLOYED', role: 'production', is_active: true, created_at };
  const deployments = [
    { ...deployed, deployment_id: 'dep_1' },
    { ...deployed, deployment_id: test, role: 'test', is_active: false },
    { ...deployed, deployment_id: gone, status: 'FAILED', is_active: false, failure },
  ];
  const withAddress = (host: string) =>
    deployments.map(each => ({ ...each, playground_endpoint_url: `http://${host}/playground/${each.deployment_id}` }));
  const checkpoint = { checkpoint_id: 'ckpt_1', step_index: 2, created_at };
  return {
    ...shared(olderIds, 'model_slug'),
    'GET /api/v1/benchmarks': page(benchmark, { label: 'without an id' }),
    [`GET /api/v1/benchmarks/${bench}`]: benchmark,
    [`GET /api/v1/benchmarks/${bench}/images`]: {
      bench_id: bench,
      images: [
        { task_id: 'task 1', provider: 'p', provider_ref: 'r', dockerfile_uri: 'd', build_status: 'ready' },
        { task_id: 'task 2', provider: 'p', provider_ref: 'r', dockerfile_uri: 'd', build_status: 'failed' },
      ],
    },
    'POST /api/v1/benchmarks/b-new/ingest': ({ query }: Parameters<Answer>[0]) => {
      takes('query', Object.fromEntries(query), []);
      return { bench_id: 'b-new', ok: true };
    },
    ...uploaded({ ...benchmark, bench_id: 'b-new', label: 'mine' }),
    [`GET /api/v1/eval/${bench}/runs`]: runs,
    [`GET /api/v1/eval/${run}`]: runs[0],
    [`GET /api/v1/eval/${oldRun}`]: runs[1],
    [`GET /api/v1/eval/${oldRun}/progress`]: {
      eval_run_id: oldRun,
      status: 'failed',
      terminal_rollouts: 0,
      total_rollouts: 6,
    },
    [`GET /api/v1/eval/${run}/trajectory-rewards`]: { eval_run_id: run, trajectory_rewards: rewards(false) },
    [`GET /api/v1/eval/${oldRun}/trajectory-rewards`]: { eval_run_id: oldRun, trajectory_rewards: rewards(false) },
    [`POST /api/v1/eval/${bench}/start`]: ({ body }: Parameters<Answer>[0]) => {
      takes(
        'body',
        body,
        ['display_name', 'model_slug'],
        ['checkpoint_id', 'eval_options', 'execution_timeout_seconds'],
      );
      return { bench_id: bench, eval_run_id: 'evr_9', display_name: body['display_name'] };
    },
    [`DELETE /api/v1/eval/${bench}/runs/${run}`]: { bench_id: bench, eval_run_id: run },
    [`DELETE /api/v1/eval/${bench}/runs/${oldRun}`]: { bench_id: bench, eval_run_id: oldRun },
    [`GET /api/v1/train/${bench}/runs`]: [trained],
    [`GET /api/v1/train/${training}`]: trained,
    [`GET /api/v1/train/${training}/checkpoints`]: [checkpoint],
    [`GET /api/v1/train/${training}/checkpoints/2`]: checkpoint,
    [`GET /api/v1/train/${training}/step/held-out-reward-by-step`]: {
      held_out_rewards: [{ step: 2, held_out_reward: 0.4, expected_samples: 16, completed_samples: 14 }],
    },
    [`GET /api/v1/train/${training}/steps/1/trajectory-rewards`]: { trajectory_rewards: rewards(false) },
    [`GET /api/v1/train/${training}/steps/2/trajectory-rewards`]: { trajectory_rewards: rewards(false) },
    'GET /api/v1/train/options': { options: { num_steps: { type: 'integer', minimum: 1, maximum: 9 } } },
    'POST /api/v1/train': ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, ['bench_id'], ['base_model_slug', 'display_name', 'options', 'parent_checkpoint_id']);
      return { ...trained, training_run_id: 'trn_9', status: 'pending' };
    },
    'GET /api/v1/trajectories': page(recorded),
    [`GET /api/v1/trajectories/${trajectory}`]: {
      ...recorded,
      steps: [{ step_index: 0, reward: null, messages: [{ role: 'assistant', content: 'hello', tool_calls: '[]' }] }],
    },
    'POST /api/v1/trajectories/upload': ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, ['dataset', 'trajectories']);
      return { uploaded: 1, skipped: 1, trajectories: ['uploaded', 'failed', 'skipped'].map(status => ({ status })) };
    },
    'GET /api/v1/deploy': ({ host }: Parameters<Answer>[0]) => page(...withAddress(host)),
    ...Object.fromEntries(
      deployments.map(({ deployment_id }, index) => [
        `GET /api/v1/deploy/${deployment_id}`,
        ({ host }: Parameters<Answer>[0]) => withAddress(host)[index],
      ]),
    ),
    ...Object.fromEntries(
      deployments.map(({ deployment_id }) => [
        `DELETE /api/v1/deploy/${deployment_id}`,
        { deployment_id, row_deleted: true },
      ]),
    ),
    [`POST /api/v1/deploy/${test}/promote`]: ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, []);
      return { ...deployments[1], is_active: true };
    },
    [`POST /api/v1/deploy/dep_1/unpromote`]: deployments[0],
    'GET /api/v1/deploy/summary': { total: 3, active: 1, by_status: { DEPLOYED: 2, FAILED: 1 } },
    'POST /api/v1/deploy': ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, ['checkpoint_id', 'model_slug', 'role']);
      return { ...deployed, deployment_id: 'dep_9', status: 'PENDING' };
    },
    [`POST /playground/${test}/v1/chat/completions`]: chatEvents,
  };
}

const newestIds = {
  bench: '7f3a',
  run: '91c0',
  // Still a run.
  oldRun: 'dep-91c1',
  training: 'e33b',
  trajectory: '0aa1',
  production: 'd12a',
  test: 'd12b',
  gone: 'd12c',
};

/** The newest generation: other names, other paths, nulls, and an agent for every upload. */
function newest(): Routes {
  const { bench, run, oldRun, training, trajectory, test, gone } = newestIds;
  const agent_id = 'agent-1';
  const benchmark = { bench_id: bench, name: 't-words', agent_id, description: null, created_at, eval_run_count: 2 };
  const runs = [
    {
      eval_run_id: run,
      bench_id: bench,
      display_name: 'baseline',
      base_model_slug: 'acme/small',
      status: 'running',
      options: { algorithm: 'grpo' },
      agent_id,
      created_at,
    },
    {
      eval_run_id: oldRun,
      bench_id: bench,
      display_name: 'before',
      status: null,
      reward_mean: 0.5,
      created_at,
      completed_at,
    },
    { display_name: 'without an id' },
  ];
  const trained = {
    training_run_id: training,
    bench_id: bench,
    display_name: 'first',
    status: 'running',
    agent_id,
    created_at,
  };
  const recorded = {
    trajectory_id: trajectory,
    status: 'running',
    task_id: 'task 1',
    policy_step: 3,
    rollout: { status: 'error', termination_reason: 'TIMEOUT', harness_diagnostic: 'the harness hung' },
    created_at,
  };
  const deployed = {
    model_slug: 'talker',
    status: 'DEPLOYED',
    role: 'production',
    is_active: true,
    model_endpoint_id: 'me-1',
    created_at,
  };
  const deployments = [
    { ...deployed, deployment_id: 'd12a', checkpoint_id: 'c-1' },
    { ...deployed, deployment_id: test, role: 'test', is_active: false },
    { ...deployed, deployment_id: gone, status: 'CANCELLED', is_active: false },
  ];
  const checkpoints = [
    { checkpoint_id: 'c-1', step_index: 2, is_deployable: true, base_model_slug: 'acme/small', created_at },
    { checkpoint_id: 'c-2', step_index: 3, is_deployable: false, base_model_slug: 'acme/small', created_at },
  ];
  const curve = { step: 2, held_out_reward: 0.4, expected_samples: 16, completed_samples: 16, loaded_trajectories: 14 };
  const options = {
    num_steps: { type: 'integer', min: 1, max: 9, default: 4, default_kind: 'fixed', description: 'Steps.' },
  };
  const evalOptions = {
    evaluation_max_samples: {
      type: 'integer',
      min: 1,
      max: 9,
      default: null,
      default_kind: 'computed',
      description: null,
    },
  };
  return {
    ...shared(newestIds, 'base_model_slug'),
    'GET /api/v1/benchmarks': page(benchmark, { name: 'without an id' }),
    [`GET /api/v1/benchmarks/${bench}`]: benchmark,
    [`GET /api/v1/benchmarks/${bench}/task-count`]: { bench_id: bench, task_count: 3 },
    'GET /api/v1/agents': page({ agent_id, name: 'me' }),
    [`GET /api/v1/benchmarks/${bench}/images`]: {
      bench_id: bench,
      images: [
        { task_id: 'task 1', provider: 'p', provider_ref: 'r', dockerfile_uri: 'd', build_status: 'ready' },
        { task_id: 'task 2', provider: 'p', provider_ref: null, build_status: 'failed', failure_message: 'no space' },
        { task_id: 'task 3', provider: 'p', provider_ref: null, dockerfile_uri: null, build_status: null },
      ],
    },
    'POST /api/v1/benchmarks/b-new/ingest': ({ query }: Parameters<Answer>[0]) => {
      takes('query', Object.fromEntries(query), ['agent_id'], ['bench_type']);
      if (query.get('agent_id') !== agent_id) throw new Refused(404, 'There is no such agent.');
      const failed_tasks = [{ task_id: 'x', label: 'two', error: 'no image' }];
      return {
        bench_id: 'b-new',
        name: 'mine',
        family: 'style',
        task_count: 0,
        failed_tasks,
        warnings: ['tags ignored'],
      };
    },
    ...uploaded({ ...benchmark, bench_id: 'b-new', name: 'mine' }),
    'GET /api/v1/benchmarks/b-new/task-count': { bench_id: 'b-new', task_count: 3 },
    [`GET /api/v1/eval/${bench}/runs`]: runs,
    [`GET /api/v1/eval/${run}`]: runs[0],
    [`GET /api/v1/eval/${oldRun}`]: runs[1],
    [`GET /api/v1/eval/${oldRun}/progress`]: {
      eval_run_id: oldRun,
      status: null,
      terminal_rollouts: 6,
      total_rollouts: 6,
    },
    [`GET /api/v1/eval/${run}/trajectory-rewards`]: { eval_run_id: run, trajectory_rewards: rewards(true) },
    [`GET /api/v1/eval/${oldRun}/trajectory-rewards`]: { eval_run_id: oldRun, trajectory_rewards: rewards(true) },
    'GET /api/v1/eval/options': ({ query }: Parameters<Answer>[0]) => {
      takes('query', Object.fromEntries(query), ['bench_id'], ['base_model_slug']);
      return { bench_id: bench, models: [{ base_model_slug: 'acme/small', options: evalOptions }] };
    },
    'POST /api/v1/eval': ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, ['bench_id', 'base_model_slug', 'display_name'], ['parent_checkpoint_id', 'options']);
      return { bench_id: bench, eval_run_id: '91c9', display_name: body['display_name'] };
    },
    [`DELETE /api/v1/eval/${run}`]: { bench_id: bench, eval_run_id: run },
    [`DELETE /api/v1/eval/${oldRun}`]: { bench_id: bench, eval_run_id: oldRun },
    [`GET /api/v1/train/${bench}/runs`]: page(trained),
    [`GET /api/v1/train/${training}`]: trained,
    [`GET /api/v1/train/${training}/checkpoints`]: { items: checkpoints },
    [`GET /api/v1/train/${training}/checkpoints/2`]: checkpoints[0],
    [`GET /api/v1/train/${training}/checkpoints/3`]: checkpoints[1],
    [`GET /api/v1/train/${training}/steps/3/trajectory-rewards`]: { trajectory_rewards: [] },
    [`GET /api/v1/train/${training}/step/held-out-reward-by-step`]: {
      training_run_id: training,
      held_out_rewards: [{ ...curve, round_completed: true, cancelled_samples: 2, failed_samples: 0 }],
    },
    [`GET /api/v1/train/${training}/steps/1/trajectory-rewards`]: { trajectory_rewards: rewards(true) },
    [`GET /api/v1/train/${training}/steps/2/trajectory-rewards`]: { trajectory_rewards: rewards(true) },
    'GET /api/v1/train/options': ({ query }: Parameters<Answer>[0]) => {
      takes('query', Object.fromEntries(query), ['bench_id'], ['base_model_slug']);
      return { bench_id: bench, models: [{ base_model_slug: 'acme/small', options }] };
    },
    'POST /api/v1/train': ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, ['bench_id'], ['base_model_slug', 'display_name', 'options', 'parent_checkpoint_id']);
      return { ...trained, training_run_id: 'e339', status: 'pending', resolved_trajectory_options: null };
    },
    'GET /api/v1/trajectories': page(recorded),
    [`GET /api/v1/trajectories/${trajectory}`]: {
      ...recorded,
      steps: [
        {
          step_index: 0,
          messages: [
            { role: 'assistant', content: [{ type: 'text', text: 'hello' }], tool_calls: [{ id: 'c' }] },
            null,
          ],
        },
      ],
    },
    'POST /api/v1/trajectories/upload': ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, ['dataset', 'trajectories', 'agent_id']);
      const trajectories = ['uploaded', 'error', 'skipped'].map((status, request_index) => ({
        request_index,
        status,
        failure: status === 'error' ? { code: 'too_long', message: 'it is too long' } : null,
      }));
      return { uploaded: 1, skipped: 1, trajectories };
    },
    'GET /api/v1/deploy': page(...deployments),
    ...Object.fromEntries(deployments.map(each => [`GET /api/v1/deploy/${each.deployment_id}`, each])),
    ...Object.fromEntries(
      deployments.map(({ deployment_id }) => [
        `DELETE /api/v1/deploy/${deployment_id}`,
        { deployment_id, row_deleted: true },
      ]),
    ),
    [`POST /api/v1/deploy/${test}/promote`]: ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, [], ['demote_deployment_id']);
      return { ...deployments[1], is_active: true };
    },
    'POST /api/v1/deploy/d12a/unpromote': deployments[0],
    'GET /api/v1/deploy/summary': { total: 3, pending: 0, deploying: 0, deployed: 2, failed: 0 },
    'POST /api/v1/deploy': ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, ['checkpoint_id', 'model_slug'], ['role']);
      if (body['checkpoint_id'] !== 'c-1') throw new Refused(409, 'checkpoint_not_deployable');
      return { deployment_id: 'd129', role: body['role'] };
    },
    [`POST /v1/playground/${test}/chat/completions`]: chatEvents,
  };
}

/** A new resource looks like an existing one but for its id. */
function withKnownIds(path: string, { run, training, trajectory, test }: StandIn['ids']) {
  const alike = [
    [/\b(evr_9|91c9)\b/, run],
    [/\b(trn_9|e339)\b/, training],
    [/\b(dep_9|d129)\b/, test],
    [/\btj-\d\b/, trajectory],
  ] as const;
  const [[pattern, like] = []] = alike.filter(([id]) => id.test(path));
  const [id] = pattern?.exec(path) ?? [];
  if (pattern === undefined || like === undefined || id === undefined)
    return { path, answered: (found: unknown) => found };
  const answered = (found: unknown): unknown =>
    found && JSON.parse(JSON.stringify(found).replaceAll(`"${like}"`, `"${id}"`));
  return { path: path.replace(pattern, like), answered };
}

/** Paths of the document's generation, which this one does not have. */
const later = /^\/api\/v1\/(benchmarks\/[^/]+\/(task-count|spec)|eval\/options|agents)$/;

export type Generation = 'document' | 'newest' | 'documented';

export interface StandInOptions {
  /** How an unknown path is refused; by default as FastAPI does. */
  readonly unknown?: Behaviour;
  /** Routes instead of or besides its own. */
  readonly routes?: Routes;
}

const worlds = {
  document: () => ({ ids: olderIds, routes: older() }),
  newest: () => ({ ids: newestIds, routes: newest() }),
  documented: () => ({ ids: documentedIds, routes: documentedRoutes() }),
};

/** A stand-in that closes when the test ends. */
export async function standIn(
  generation: Generation,
  { unknown, routes: more = {} }: StandInOptions = {},
): Promise<StandIn> {
  const { ids, routes: own } = worlds[generation]();
  const routes = new Map(Object.entries({ ...own, ...more }));
  const refuseOther = unknown && refuseUnknown(unknown);
  const refused: string[] = [];
  const answer: Behaviour = (response, request) => {
    const { pathname, searchParams: query } = new URL(request.url, 'http://stand-in');
    const { path, answered } = withKnownIds(decodeURIComponent(pathname), ids);
    const name = `${request.method} ${path}`;
    const refuse = (status: number, detail: unknown) => {
      refused.push(`${name} ${JSON.stringify(detail)}`);
      return json({ detail }, status)(response, request);
    };
    if (pathname.startsWith('/put/')) return json({})(response, request);
    if (!routes.has(name) && generation === 'document' && later.test(pathname)) {
      return json({ detail: 'Not Found' }, 404)(response, request);
    }
    if (!routes.has(name) && refuseOther) return refuseOther(response, request);
    if (!routes.has(name)) {
      const other = [...routes.keys()].some(route => route.endsWith(name.slice(name.indexOf(' '))));
      return refuse(other ? 405 : 404, other ? 'Method Not Allowed' : 'Not Found');
    }
    try {
      if (name.startsWith('GET') && generation === 'document' && name.endsWith('/options'))
        takes('query', Object.fromEntries(query), []);
      if (request.method === 'GET' && /\/(benchmarks|datasets|deploy|secrets)$/.test(pathname)) {
        takes('query', Object.fromEntries(query), [], [...lists, 'status']);
      }
      const route = routes.get(name);
      const body = request.body === '' ? {} : (JSON.parse(request.body) as Body);
      const found =
        typeof route === 'function' ? (route as Answer)({ query, body, host: request.headers.host ?? '' }) : route;
      if (found === chatEvents) return stream(chatEvents)(response, request);
      if (found !== undefined) return json(answered(found))(response, request);
      response.writeHead(204);
      response.end();
    } catch (error) {
      if (error instanceof Refused) return refuse(error.status, error.detail);
      throw error;
    }
  };
  const { url, requests } = await hostileServer(answer);
  return { url, requests, refused, ids };
}
