/** Rows of the document that are rules instead of fields, each with its check. */

import { join } from 'node:path';
import { expect } from 'vitest';
import { Database } from '../../src/local/store/database.ts';
import { organizationOfKey } from '../../src/local/store/organizations.ts';
import { readPages } from '../../src/service/pagination.ts';
import { createOrganization } from '../local/organizations.ts';
import { startService, until } from '../local/server/running.ts';
import type { World } from './samples.ts';

export type Check = (world: World) => Promise<void>;

const model = 'benchtop/tutor-base';
const uploadBody = { files: [{ path: 'a', content_type: 'text/plain', size_bytes: 1 }] };

async function refusal({ local }: World, method: string, path: string, body?: unknown, headers = {}) {
  const { status, body: answer, headers: head } = await local.call(method, path, body, headers);
  const { type, code, param, context } = answer.error ?? {};
  return { status, type, code, param, context, head };
}

async function isRateLimited(): Promise<void> {
  const limited = await startService({ rateLimit: { perSecond: 0.1, burst: 1 } });
  try {
    await limited.call('GET', '/api/v1/datasets');
    const { body, headers } = await limited.call('GET', '/api/v1/datasets');
    expect([body.error.type, body.error.code]).toEqual(['rate_limit_error', 'rate_limited']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  } finally {
    await limited.end();
  }
}

/** A separate organization with this many runtimes. */
async function addRuntimes({ local }: World, key: string, count: number): Promise<void> {
  const database = new Database(join(local.folder, 'benchtop.db'));
  const organization_id = organizationOfKey(database, key) ?? createOrganization(database, 'many runtimes', key);
  for (let made = 0; made < count; made += 1) {
    database.put('runtimes', {
      runtime_id: `runtime_many_${made}`,
      organization_id,
      image_ref: null,
      dockerfile_uri: null,
      content_hash: `hash ${made}`,
      provider: 'local',
      blueprint_id: null,
      build_status: 'ready',
      created_at: new Date(made).toISOString(),
    });
  }
  database.close();
}

const limitBounds: Check = async world => {
  const list = (query: string) => world.local.call('GET', `/api/v1/benchmarks/runtimes${query}`);
  for (const limit of ['1', '200']) expect((await list(`?limit=${limit}`)).status).toBe(200);
  for (const limit of ['0', '201', '1.5']) expect((await list(`?limit=${limit}`)).body.error.param).toBe('limit');
  const key = 'sk-many-runtimes';
  await addRuntimes(world, key, 30);
  const { body } = await world.local.call('GET', '/api/v1/benchmarks/runtimes', undefined, { 'X-API-Key': key });
  expect(body.items).toHaveLength(25);
  expect(body.has_more).toBe(true);
  await expect(world.service.call('listBenchmarkRuntimes', { query: { limit: 201 } })).rejects.toThrow();
};

const pageBounds: Check = async world => {
  for (const path of ['benchmarks', 'datasets']) {
    for (const limit of [1, 200])
      expect((await world.local.call('GET', `/api/v1/${path}?limit=${limit}`)).status).toBe(200);
    for (const limit of [0, 201]) {
      expect((await refusal(world, 'GET', `/api/v1/${path}?limit=${limit}`)).param).toBe('limit');
    }
    for (const order of ['asc', 'desc']) {
      expect((await world.local.call('GET', `/api/v1/${path}?order=${order}`)).status).toBe(200);
    }
    expect((await refusal(world, 'GET', `/api/v1/${path}?order=up`)).param).toBe('order');
  }
};

const displayName: Check = async world => {
  const start = (display_name: string) =>
    refusal(world, 'POST', `/api/v1/eval/${world.ids.benchId}/start`, { display_name, model_slug: 'nobody/nothing' });
  // The name is validated first; then the model, which does not exist.
  for (const name of ['', 'x'.repeat(257)]) expect((await start(name)).param).toBe('display_name');
  for (const name of ['x', 'x'.repeat(256)]) expect((await start(name)).param).toBe('model_slug');
};

const readinessRule: Check = async world => {
  const { benchId } = world.ids;
  expect((await world.service.call('getBenchmarkReadiness', { params: { bench_id: benchId } })).ready).toBe(true);
  const secrets = await world.service.call('listSecrets', { query: { search: 'CONFORMANCE_KEY' } });
  await world.service.call('deleteSecret', { params: { secret_id: secrets.items[0]?.secret_id ?? '' } });
  expect(await world.service.call('getBenchmarkReadiness', { params: { bench_id: benchId } })).toMatchObject({
    ready: false,
    missing_secret_names: ['CONFORMANCE_KEY'],
  });
  await world.service.call('createSecret', { body: { name: 'CONFORMANCE_KEY', value: 'v' } });
  expect((await world.service.call('getBenchmarkReadiness', { params: { bench_id: benchId } })).ready).toBe(true);
};

const buildRule: Check = async world => {
  const { body } = await world.local.call('POST', '/api/v1/benchmarks/uploads', uploadBody);
  await fetch(body.urls[0].url, { method: 'PUT', headers: body.urls[0].headers, body: 'x' });
  const input_messages = [{ role: 'user', content: 'x' }];
  const grader = { kind: 'exact', expected: 'x' };
  const tasks = [{ name: 'a', split: 'test', input_messages, run_command: 'x', grader }];
  const path = `/api/v1/benchmarks/${body.bench_id}`;
  await world.local.call('POST', `${path}/ingest`, { name: 'to build', tasks });
  const statuses = async () =>
    (await world.local.call('GET', `${path}/images`)).body.images.map(
      (image: { build_status: string }) => image.build_status,
    );
  expect(await statuses()).toEqual(['pending']);
  const built = await world.local.call('POST', `${path}/images/build`);
  expect(built.body.images[0].build_status).toBe('building');
  await until(statuses, all => all.every((status: string) => status === 'ready'));
};

const logTerminal: Check = async world => {
  const path = `/api/v1/trajectories/${world.ids.endedTrajectory}/rewards`;
  const answer = await refusal(world, 'POST', path, { reward_id: 'late', name: 'x', value: 1 });
  expect([answer.type, answer.code]).toEqual(['conflict_error', 'trajectory_already_terminal']);
  const { rewards } = await world.service.call('getTrajectory', {
    params: { trajectory_id: world.ids.endedTrajectory },
    query: { include_steps: true },
  });
  expect(rewards).toEqual([]);
};

const logUnknown: Check = async world => {
  const body = { reward_id: 'r', name: 'x', value: 1 };
  const answer = await refusal(world, 'POST', '/api/v1/trajectories/unknown/rewards', body);
  expect([answer.type, answer.code]).toEqual(['invalid_request_error', 'resource_not_found']);
};

const ingestedRule: Check = async world => {
  const answer = await refusal(world, 'POST', '/api/v1/benchmarks/uploads', {
    ...uploadBody,
    bench_id: world.ids.benchId,
  });
  expect(answer.status).toBe(409);
};

const mints: Check = async world => {
  const mint = async () => (await world.local.call('POST', '/api/v1/benchmarks/uploads', uploadBody)).body.bench_id;
  const [first, second] = [await mint(), await mint()];
  expect(first).not.toBe(second);
};

const noRows: Check = async world => {
  const { body } = await world.local.call('POST', '/api/v1/benchmarks/uploads', uploadBody);
  expect((await world.local.call('GET', `/api/v1/benchmarks/${body.bench_id}`)).status).toBe(404);
  const { items } = (await world.local.call('GET', '/api/v1/benchmarks?limit=200')).body;
  expect(items.map((item: { bench_id: string }) => item.bench_id)).not.toContain(body.bench_id);
};

const perRequest: Check = async world => {
  const files = Array.from({ length: 201 }, (_, index) => ({ ...uploadBody.files[0], path: `f${index}` }));
  expect((await refusal(world, 'POST', '/api/v1/benchmarks/uploads', { files })).param).toBe('files');
  const first = await world.local.call('POST', '/api/v1/benchmarks/uploads', { files: files.slice(0, 200) });
  const rest = { files: files.slice(200), bench_id: first.body.bench_id };
  const second = await world.local.call('POST', '/api/v1/benchmarks/uploads', rest);
  expect(second.body.bench_id).toBe(first.body.bench_id);
};

const evalStart: Check = async world => {
  const answer = await world.service.call('startEval', {
    params: { bench_id: world.ids.benchId },
    body: { display_name: 'x', model_slug: model },
  });
  for (const id of [answer.eval_run_id, answer.pipeline_run_id, answer.execution_id]) expect(id).toMatch(/^\w+$/);
  const unknown = await refusal(world, 'POST', '/api/v1/eval/unknown/start', { display_name: 'x', model_slug: model });
  expect(unknown.code).toBe('resource_not_found');
};

const evalDelete: Check = async world => {
  const { benchId } = world.ids;
  const { eval_run_id } = await world.service.call('startEval', {
    params: { bench_id: benchId },
    body: { display_name: 'x', model_slug: model },
  });
  expect(await world.service.call('deleteEvalRun', { params: { bench_id: benchId, eval_run_id } })).toMatchObject({
    bench_id: benchId,
    eval_run_id,
  });
  expect((await world.local.call('GET', `/api/v1/eval/${eval_run_id}`)).status).toBe(404);
};

const orders: Check = async world => {
  const list = async (order: string) =>
    (await world.local.call('GET', `/api/v1/benchmarks/runtimes?limit=200${order}`)).body.items.map(
      (item: { runtime_id: string }) => item.runtime_id,
    );
  const ascending = await list('&order=asc');
  expect(ascending.length).toBeGreaterThan(1);
  expect(await list('&order=desc')).toEqual(ascending.toReversed());
  expect(await list('')).toEqual(ascending.toReversed());
};

const cursors: Check = async world => {
  const seen: string[] = [];
  const pages = readPages(cursor => world.service.call('listBenchmarkRuntimes', { query: { limit: 1, cursor } }));
  for await (const { items } of pages) seen.push(...items.map(({ runtime_id }) => runtime_id));
  const { items } = (await world.local.call('GET', '/api/v1/benchmarks/runtimes?limit=200')).body;
  expect(seen).toEqual(items.map((item: { runtime_id: string }) => item.runtime_id));
};

const apiKeyOnly: Check = async world => {
  for (const path of ['benchmarks', 'benchmarks/runtimes', `eval/${world.ids.runId}/rollout-statistics`, 'deploy']) {
    const answer = await refusal(world, 'GET', `/api/v1/${path}`, undefined, { 'X-API-Key': '' });
    expect([answer.status, answer.type, answer.code]).toEqual([401, 'authentication_error', 'authentication_required']);
    const bearer = { 'X-API-Key': '', Authorization: `Bearer ${world.local.apiKey}` };
    expect((await refusal(world, 'GET', `/api/v1/${path}`, undefined, bearer)).code).toBe('authentication_required');
  }
};

const bearerForChat: Check = async world => {
  const body = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 2 };
  const ask = (headers: Record<string, string>) =>
    world.local.call('POST', '/v1/chat/completions', body, { 'X-API-Key': '', ...headers });
  expect((await ask({ Authorization: `Bearer ${world.local.apiKey}` })).status).toBe(200);
  expect((await ask({})).status).toBe(401);
};

const trajectoryToken: Check = async world => {
  const { openTrajectory, endedTrajectory } = world.ids;
  const { body } = await world.local.call('POST', `/local/trajectories/${openTrajectory}/token`);
  const headers = { 'X-API-Key': '', Authorization: `Bearer ${body.token}` };
  const log = (id: string) =>
    world.local.call(
      'POST',
      `/api/v1/trajectories/${id}/rewards`,
      { reward_id: 'by token', name: 'x', value: 1 },
      headers,
    );
  expect((await log(openTrajectory)).status).toBe(200);
  const foreign = (await log(endedTrajectory)).body.error;
  expect([foreign.type, foreign.code]).toEqual(['permission_error', 'permission_denied']);
};

const uploadErrors: Readonly<Record<string, Check>> = {
  invalid_trajectory_upload: async world => {
    const answer = await refusal(world, 'POST', '/api/v1/trajectories/upload', { dataset: 'x', trajectories: [{}] });
    expect([answer.type, answer.code]).toEqual(['invalid_request_error', 'invalid_trajectory_upload']);
    expect(answer.context.failures).toHaveLength(1);
  },
  trajectory_upload_conflict: async world => {
    const trajectories = [{ trace_id: 'open', messages: [{ role: 'user', content: 'another' }] }];
    const answer = await refusal(world, 'POST', '/api/v1/trajectories/upload', {
      dataset: 'conformance',
      trajectories,
    });
    expect([answer.type, answer.code]).toEqual(['conflict_error', 'trajectory_upload_conflict']);
    expect(answer.context.failures).toHaveLength(1);
  },
  // That a full disk causes it is tested where the disk can be filled: test/local/server/trajectories.test.ts.
  trajectory_upload_failed: async () => {
    const { apiError } = await import('../../src/local/server/errors.ts');
    const { error } = apiError('trajectory_upload_failed', 'x', { context: { failures: [] } }).envelope();
    expect([error.type, error.context]).toEqual(['api_error', { failures: [] }]);
  },
};

const optionalString =
  (name: string, works: string): Check =>
  async world => {
    expect((await world.local.call('GET', `/api/v1/benchmarks/runtimes?${name}=${works}`)).status).toBe(200);
  };

/** Checks by section and first cell. */
export const rules: Readonly<Record<string, Check>> = {
  'Other states and rules | Trajectory | trajectory is already terminal': logTerminal,
  'Other states and rules | Trajectory | trajectory id unknown': logUnknown,
  'Other states and rules | Benchmark upload | the benchmark is already ingested': ingestedRule,
  'Other states and rules | Benchmark upload | always': mints,
  'Other states and rules | Benchmark | always': noRows,
  'Other states and rules | Benchmark | ingested, all required secrets available, all task environments built':
    readinessRule,
  'Other states and rules | Benchmark images | image unbuilt': buildRule,
  'Other states and rules | Eval run | benchmark exists': evalStart,
  'Other states and rules | Eval run | run exists': evalDelete,
  'GET /api/v1/benchmarks/runtimes | cursor': cursors,
  'GET /api/v1/benchmarks/runtimes | limit': limitBounds,
  'GET /api/v1/benchmarks/runtimes | sort': async world => {
    await optionalString('sort', 'created_at')(world);
    expect((await refusal(world, 'GET', '/api/v1/benchmarks/runtimes?sort=colour')).param).toBe('sort');
  },
  'GET /api/v1/benchmarks/runtimes | order': orders,
  'GET /api/v1/benchmarks/runtimes | search': async world => {
    await optionalString('search', 'local')(world);
    const { body } = await world.local.call('GET', '/api/v1/benchmarks/runtimes?search=nothing-like-it');
    expect(body.items).toEqual([]);
  },
  'POST /api/v1/benchmarks/uploads | files': async world => {
    expect((await refusal(world, 'POST', '/api/v1/benchmarks/uploads', {})).param).toBe('files');
    const { body } = await world.local.call('POST', '/api/v1/benchmarks/uploads', uploadBody);
    expect(body.urls.map(({ path }: { path: string }) => path)).toEqual(['a']);
  },
  'POST /api/v1/benchmarks/uploads | bench_id': perRequest,
  'POST /api/v1/eval/{bench_id}/start | display_name': async world => {
    expect((await refusal(world, 'POST', `/api/v1/eval/${world.ids.benchId}/start`, {})).param).toBe('display_name');
    await displayName(world);
  },
  'POST /api/v1/eval/{bench_id}/start | checkpoint_id': async world => {
    const { benchId, checkpointId } = world.ids;
    const { eval_run_id } = await world.service.call('startEval', {
      params: { bench_id: benchId },
      body: {
        display_name: 'of a checkpoint',
        checkpoint_id: checkpointId,
      },
    });
    expect((await world.service.call('getEvalRun', { params: { eval_run_id } })).parent_checkpoint_id).toBe(
      checkpointId,
    );
  },
  'Authentication | Organization API key': apiKeyOnly,
  'Authentication | Bearer auth token': bearerForChat,
  'Authentication | Short-lived trajectory access token, scoped to one rollout trajectory': trajectoryToken,
  'Envelope of the `/api/v1` endpoints | invalid_trajectory_upload':
    uploadErrors['invalid_trajectory_upload'] ?? logUnknown,
  'Envelope of the `/api/v1` endpoints | trajectory_upload_conflict':
    uploadErrors['trajectory_upload_conflict'] ?? logUnknown,
  'Envelope of the `/api/v1` endpoints | trajectory_upload_failed':
    uploadErrors['trajectory_upload_failed'] ?? logUnknown,
  'Envelope of the `/api/v1` endpoints | resource_not_found': async world => {
    await logUnknown(world);
    const answer = await refusal(world, 'GET', '/api/v1/deploy/unknown');
    expect([answer.type, answer.code]).toEqual(['invalid_request_error', 'resource_not_found']);
  },
  'Envelope of the `/api/v1` endpoints | trajectory_already_terminal': logTerminal,
  'Error response headers | X-Request-ID': async world => {
    expect((await refusal(world, 'GET', '/api/v1/deploy/unknown')).head.get('x-request-id')).toMatch(/^req_/);
  },
  'Error response headers | Service-Should-Retry': async () => {
    const limited = await startService({ rateLimit: { perSecond: 0.1, burst: 1 } });
    await limited.call('GET', '/api/v1/datasets');
    const { headers } = await limited.call('GET', '/api/v1/datasets');
    await limited.end();
    expect(headers.get('service-should-retry')).toBe('true');
  },
  'Error response headers | Retry-After': isRateLimited,
  'Limits | limit (page size)': limitBounds,
  'Limits | page size bound': pageBounds,
  'Limits | display_name length': displayName,
  'Limits | per-request file limit': perRequest,
  'Limits | signed URL validity': async world => {
    const { body } = await world.local.call('POST', '/api/v1/benchmarks/uploads', uploadBody);
    expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now());
    // That an expired address is refused is tested with a clock: test/local/server/uploads.test.ts.
    expect(new URL(body.urls[0].url).searchParams.get('expires')).toBe(String(Date.parse(body.expires_at)));
  },
};

/** An empty organization: its key does not see the data of another key. */
export const scopedByKey: Check = async world => {
  const database = new Database(join(world.local.folder, 'benchtop.db'));
  createOrganization(database, 'another', 'sk-another');
  database.close();
  const { body } = await world.local.call('GET', '/api/v1/benchmarks', undefined, { 'X-API-Key': 'sk-another' });
  expect(body.items).toEqual([]);
};
