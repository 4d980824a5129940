/** A service with the endpoints of the document and no others, whose ids are UUIDs. */
import { type Behaviour, json, refusal, text } from '../service/hostile-server.ts';
import { type Answer, page, type Routes, takes } from './routes.ts';

const uuid = (last: string) => `00000000-0000-4000-8000-${last.padStart(12, '0')}`;

export const documentedIds = {
  bench: uuid('b1'),
  run: uuid('e1'),
  oldRun: uuid('e2'),
  training: uuid('a1'),
  trajectory: uuid('f1'),
  production: uuid('d1'),
  test: uuid('d2'),
  gone: uuid('d3'),
};
/** Not an id of anything. */
export const unknownId = uuid('99');
/** The run that a start creates. */
export const startedRun = uuid('e9');

const created_at = '2026-03-04T05:06:07Z';
const failure = { type: 'api_error', code: 'boom', message: 'it broke', context: {} };

/** Four rewards with a mean of 0.5. */
const rewards = (eval_run_id: string) => ({
  eval_run_id,
  trajectory_rewards: [0, 0.5, 0.5, 1].map((reward, index) => ({
    reward,
    trajectory_id: index === 0 ? documentedIds.trajectory : uuid(`f${index + 1}`),
    task_id: `task ${index}`,
  })),
});

/** The routes of the document; a start of an evaluation takes the model as `model_slug`. */
export function documentedRoutes(modelField = 'model_slug'): Routes {
  const { bench, run, oldRun, training, trajectory, production, test, gone } = documentedIds;
  const deployed = { status: 'DEPLOYED', role: 'production', is_active: true, created_at };
  const deployments = [
    { ...deployed, deployment_id: production, model_slug: 'talker' },
    { ...deployed, deployment_id: test, model_slug: 'talker', role: 'test', is_active: false },
    { ...deployed, deployment_id: gone, model_slug: 'broken', status: 'FAILED', is_active: false, failure },
  ];
  return {
    'GET /api/v1/benchmarks': page({ bench_id: bench, label: 't-words', created_at, updated_at: created_at }),
    'GET /api/v1/benchmarks/runtimes': page({
      runtime_id: uuid('c1'),
      image_ref: 'an/image',
      build_status: 'ready',
      created_at,
    }),
    [`GET /api/v1/benchmarks/${bench}/readiness`]: {
      ready: false,
      missing_secret_names: ['TOKEN'],
      unready_task_image_counts: { failed: 1 },
    },
    [`POST /api/v1/benchmarks/${bench}/images/build`]: { bench_id: bench, images: [] },
    [`POST /api/v1/eval/${bench}/start`]: ({ body }: Parameters<Answer>[0]) => {
      takes('body', body, ['display_name', modelField], ['checkpoint_id']);
      return { bench_id: bench, eval_run_id: startedRun, display_name: body['display_name'] };
    },
    ...Object.fromEntries(
      [run, oldRun, startedRun].flatMap(id => [
        [`GET /api/v1/eval/${id}/rollout-statistics`, { eval_run_id: id, snapshots: [] }],
        [`GET /api/v1/eval/${id}/trajectory-rewards`, rewards(id)],
        [`DELETE /api/v1/eval/${bench}/runs/${id}`, { bench_id: bench, eval_run_id: id }],
      ]),
    ),
    [`GET /api/v1/trajectories/${trajectory}`]: {
      trajectory_id: trajectory,
      status: 'completed',
      reward: 0,
      created_at,
      steps: [{ step_index: 0, messages: [{ role: 'assistant', content: 'hello' }] }],
    },
    'GET /api/v1/datasets': page({ dataset_id: uuid('5e'), dataset_name: 'recorded', created_at }),
    [`GET /api/v1/train/${training}/progress`]: {
      training_run_id: training,
      status: 'succeeded',
      completed_steps: 4,
      total_steps: 4,
    },
    'GET /api/v1/models/supported-training-models': {
      items: [
        { model_slug: 'acme/small', model_name: 'Small', pricing: { input: 0.1, output: 0.2, cached_input: 0.05 } },
      ],
    },
    ...Object.fromEntries(
      deployments.flatMap(deployment => [
        [`GET /api/v1/deploy/${deployment.deployment_id}`, deployment],
        [
          `DELETE /api/v1/deploy/${deployment.deployment_id}`,
          { deployment_id: deployment.deployment_id, row_deleted: true },
        ],
      ]),
    ),
    'POST /api/v1/secrets': { secret: { secret_id: uuid('5c'), name: 'TOKEN', byte_length: 3, created_at } },
  };
}

const route = (url: string) => new URL(url, 'http://documented').pathname;

/** A route with `ID` for each of its ids. */
const patternOf = (name: string) => name.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID');
const noResource = refusal(404, 'invalid_request_error', 'resource_not_found', { message: 'There is none.' });

/** Refuses an unknown id of a path of the document as the document does, and any other path as `unknown` does. */
export function refuseUnknown(unknown: Behaviour): Behaviour {
  const patterns = new Set(Object.keys(documentedRoutes()).map(patternOf));
  return (response, request) => {
    const isOfDocument = patterns.has(patternOf(`${request.method} ${route(request.url)}`));
    return (isOfDocument ? noResource : unknown)(response, request);
  };
}

/** Every legal way to refuse an unknown path. */
export const refusals: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>(
  Object.entries({
    'the 404 of the document': (response, request) =>
      refusal(404, 'invalid_request_error', 'resource_not_found', { message: `No route for ${route(request.url)}` })(
        response,
        request,
      ),
    'a 404 without a body': text('', 404),
    'a 404 page': text('<html><title>404 Not Found</title></html>', 404),
    'the 404 of FastAPI': json({ detail: 'Not Found' }, 404),
    'a 405': json({ detail: 'Method Not Allowed' }, 405),
    'a 422 of an id': json(
      { detail: [{ type: 'uuid_parsing', loc: ['path', 'id'], msg: 'Input should be a valid UUID' }] },
      422,
    ),
    'a 422 in the envelope': refusal(422, 'invalid_request_error', 'validation_error', { message: 'This is no id' }),
    'the 403 of a gateway (B24)': json({ message: 'Missing Authentication Token' }, 403),
    'a 400 in the envelope (B24)': refusal(400, 'invalid_request_error', 'validation_error', { message: 'Bad path' }),
    'a 410 (B24)': json({ error: 'Gone' }, 410),
    'a 501': refusal(501, 'api_error', 'not_implemented'),
  }),
);
