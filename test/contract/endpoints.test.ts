/** The declared endpoints are those of the document, with its methods, paths and credentials. */
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../src/contract/endpoints.ts';
import { errorCodes, errorTypes } from '../../src/contract/errors.ts';

/** As the document lists them. */
const documented = [
  ['GET', '/api/v1/benchmarks/runtimes', 'apiKey'],
  ['GET', '/api/v1/benchmarks', 'apiKey'],
  ['POST', '/api/v1/benchmarks/uploads', 'apiKey'],
  ['GET', '/api/v1/benchmarks/{bench_id}/readiness', 'apiKey'],
  ['POST', '/api/v1/benchmarks/{bench_id}/images/build', 'apiKey'],
  ['POST', '/api/v1/eval/{bench_id}/start', 'apiKey'],
  ['GET', '/api/v1/eval/{eval_run_id}/rollout-statistics', 'apiKey'],
  ['GET', '/api/v1/eval/{eval_run_id}/trajectory-rewards', 'apiKey'],
  ['DELETE', '/api/v1/eval/{bench_id}/runs/{eval_run_id}', 'apiKey'],
  ['POST', '/api/v1/trajectories/upload', 'apiKey'],
  ['GET', '/api/v1/trajectories/{trajectory_id}', 'shownWithout'],
  ['POST', '/api/v1/trajectories/{trajectory_id}/rewards', 'trajectoryToken'],
  ['GET', '/api/v1/datasets', 'shownWithout'],
  ['GET', '/api/v1/train/{training_run_id}/progress', 'apiKey'],
  ['GET', '/api/v1/models/supported-training-models', 'shownWithout'],
  ['GET', '/api/v1/deploy/{deployment_id}', 'apiKey'],
  ['DELETE', '/api/v1/deploy/{deployment_id}', 'apiKey'],
  ['POST', '/api/v1/secrets', 'apiKey'],
  ['POST', '/v1/chat/completions', 'inferenceToken'],
] as const;

/** As gaps.md lists them. */
const capabilities = [
  'GET /api/v1/benchmarks/{bench_id}',
  'GET /api/v1/benchmarks/{bench_id}/images',
  'POST /api/v1/benchmarks/{bench_id}/ingest',
  'GET /api/v1/eval/{bench_id}/runs',
  'GET /api/v1/eval/{eval_run_id}',
  'GET /api/v1/eval/{eval_run_id}/progress',
  'POST /api/v1/eval/{eval_run_id}/cancel',
  'POST /api/v1/train',
  'GET /api/v1/train/options',
  'GET /api/v1/train/{bench_id}/runs',
  'GET /api/v1/train/{training_run_id}',
  'DELETE /api/v1/train/{training_run_id}',
  'POST /api/v1/train/{training_run_id}/cancel',
  'GET /api/v1/train/{training_run_id}/checkpoints',
  'GET /api/v1/train/{training_run_id}/checkpoints/{step_index}',
  'GET /api/v1/train/{training_run_id}/step/trainer-reward-by-step',
  'GET /api/v1/train/{training_run_id}/step/held-out-reward-by-step',
  'GET /api/v1/train/{training_run_id}/steps/{step}/trajectory-rewards',
  'GET /api/v1/trajectories',
  'POST /api/v1/trajectories/{trajectory_id}/complete',
  'GET /api/v1/deploy',
  'POST /api/v1/deploy',
  'GET /api/v1/deploy/summary',
  'POST /api/v1/deploy/{deployment_id}/promote',
  'POST /api/v1/deploy/{deployment_id}/unpromote',
  'GET /api/v1/secrets',
  'DELETE /api/v1/secrets/{secret_id}',
  'GET /api/v1/eval/options',
  'GET /api/v1/benchmarks/{bench_id}/task-count',
  'POST /api/v1/trajectories',
  'GET /v1/models',
];

const declared = Object.values(endpoints);

it.each(documented)('%s %s', (method, path, auth) => {
  const [endpoint, ...others] = declared.filter(each => each.method === method && each.path === path);
  expect(others).toEqual([]);
  expect(endpoint).toMatchObject({ auth });
  expect(endpoint).not.toHaveProperty('capability');
});

it('marks everything else as a capability', () => {
  const rest = declared
    .filter(each => 'capability' in each && each.capability)
    .map(each => `${each.method} ${each.path}`);
  expect(rest).toEqual(expect.arrayContaining(capabilities));
  expect(declared).toHaveLength(documented.length + rest.length);
});

it('declares each endpoint under its own name', () => {
  for (const [name, { operation }] of Object.entries(endpoints)) expect(operation).toBe(name);
});

describe('a safe retry', () => {
  it('takes an idempotency key, carries one in its body, or stores nothing', () => {
    const keyed = declared.filter(each => 'idempotencyKey' in each).map(({ operation }) => operation);
    const starts = [
      'createTrajectory',
      'logReward',
      'startDeployment',
      'startEval',
      'startTraining',
      'uploadTrajectories',
    ];
    expect(keyed.sort()).toEqual(starts);
    const repeatable = declared.filter(each => 'repeatable' in each).map(({ operation }) => operation);
    expect(repeatable).toEqual(['uploadTrajectories']);
    const empty = declared.filter(each => 'storesNothing' in each).map(({ operation }) => operation);
    expect(empty).toEqual(['createBenchmarkUpload']);
  });

  it('includes uploads with a trace id for every trajectory, if the service skips stored ones (V8, A5)', () => {
    const { repeatable } = endpoints.uploadTrajectories;
    const bodies = [[{ trace_id: 'a' }, { trace_id: 'b' }], [{ trace_id: 'a' }, {}], [{ trace_id: '' }]];
    const of = (skipsStored: boolean) =>
      bodies.map(trajectories => repeatable?.({ dataset: 'd', trajectories }, { skipsStored: () => skipsStored }));
    expect([of(true), of(false)]).toEqual([
      [true, false, false],
      [false, false, false],
    ]);
  });
});

it('lists the error codes of the document with their types', () => {
  expect(errorTypes).toHaveLength(7);
  for (const type of Object.values(errorCodes)) expect(errorTypes).toContain(type);
});
