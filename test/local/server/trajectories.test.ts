/** Uploaded trajectories, datasets, rewards, tokens, secrets. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deepestRequest } from '../../../src/base/json-depth.ts';
import type { ApiError } from '../../../src/local/server/errors.ts';
import type { ServiceContext } from '../../../src/local/server/handlers.ts';
import { trajectoryArea } from '../../../src/local/server/routes/trajectories.ts';
import { TrajectoryTokens, tokenLifetimeMs } from '../../../src/local/server/trajectory-tokens.ts';
import { Keyring } from '../../../src/local/store/keyring.ts';
import { ensureOrganization } from '../../../src/local/store/organizations.ts';
import { openStores } from '../../../src/local/store/stores.ts';
import { clientOf, startService, type TestService } from './running.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.end());

const conversation = (content: string, more: object = {}) => ({
  messages: [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content },
  ],
  ...more,
});
const upload = (trajectories: unknown[], dataset = 'mine', headers = {}) =>
  service.call('POST', '/api/v1/trajectories/upload', { dataset, trajectories }, headers);
const get = async (path: string) => (await service.call('GET', path)).body;

async function stored(more: object, dataset = 'mine'): Promise<string> {
  const { body } = await upload([conversation('x', more)], dataset);
  return body.trajectories[0].trajectory_id;
}

describe('an upload', () => {
  it('stores each, with steps, and lists them by dataset', async () => {
    const steps = [
      { reward: 0, messages: [{ role: 'user', content: 'a' }] },
      { has_error: true, messages: [{ role: 'assistant', content: 'b', tool_calls: '[]' }] },
    ];
    const { status, body } = await upload(
      [
        conversation('one', { trace_id: 't1', model_id: 'some/model', reward: 0, metrics: { words: 1 } }),
        { steps, task: { name: 'quiz' }, error: 'it broke' },
      ],
      'first',
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ uploaded: 2, skipped: 0, failures: [], partial_success: false });
    expect(body.trajectories[0]).toMatchObject({
      request_index: 0,
      status: 'uploaded',
      trace_id: 't1',
      model_id: 'some/model',
      model_association_source: 'upload',
    });
    const list = await get('/api/v1/trajectories?dataset_name=first&order=asc');
    expect(list.items).toHaveLength(2);
    expect(list.items.map(({ steps: listed }: { steps: unknown }) => listed)).toEqual([null, null]);
    const whole = await get(`/api/v1/trajectories/${body.trajectories[1].trajectory_id}`);
    expect(whole).toMatchObject({ status: 'failed', error: 'it broke', task_id: 'quiz', num_steps: 2 });
    // No reward was given, which is not a reward of 0.
    expect(whole.reward).toBeNull();
    expect(whole.steps[0]).toMatchObject({ step_index: 0, reward: 0, has_error: false });
    expect(whole.steps[1].messages[0]).toMatchObject({ role: 'assistant', content: 'b', tool_calls: '[]' });
    expect((await get(`/api/v1/trajectories/${body.trajectories[0].trajectory_id}?include_steps=false`)).reward).toBe(
      0,
    );
    const datasets = await get('/api/v1/datasets?search=first');
    expect(datasets.items[0]).toMatchObject({ dataset_name: 'first', display_name: 'first', source: 'upload' });
  });

  it('keeps fields called __proto__ as data, at every level (X11)', async () => {
    const field = '"__proto__":{"reward":1}';
    const message = `{"role":"user","content":"hello",${field}}`;
    const item = `{"task_id":"t",${field},"metadata":{${field}},"steps":[{"messages":[${message}],${field}}]}`;
    const id = await stored(JSON.parse(item), 'fields');
    const whole = await get(`/api/v1/trajectories/${id}`);
    expect(JSON.stringify(whole).split(field)).toHaveLength(5);
    expect(whole.reward).toBeNull();
  });

  it('skips what exists already, by trace or by content', async () => {
    const items = [conversation('same', { trace_id: 'twice' }), conversation('the same without a trace')];
    const first = await upload(items, 'again');
    const second = await upload(items, 'again');
    expect([first.body.uploaded, second.body.uploaded, second.body.skipped]).toEqual([2, 0, 2]);
    expect(second.body.trajectories[0].trajectory_id).toBe(first.body.trajectories[0].trajectory_id);
  });

  it('stores the valid ones of a batch, and says what is wrong with the others', async () => {
    const { status, body } = await upload([
      conversation('good'),
      { nothing: 1 },
      conversation('bad', { reward: 'high' }),
      'no object',
    ]);
    expect([status, body.uploaded, body.partial_success]).toEqual([200, 1, true]);
    expect(body.trajectories[1]).toMatchObject({
      request_index: 1,
      status: 'error',
      failure: { code: 'invalid_trajectory_upload', item_index: 1 },
    });
    expect(body.trajectories[2].failure.message).toMatch(/^reward: /);
    expect(body.trajectories[3]).toMatchObject({ status: 'error', failure: { item_index: 3 } });
  });

  it('takes exports of other services, with unknown statuses', async () => {
    const { body } = await upload([
      conversation('upper-case', { status: 'FAILED', termination_reason: 'SOMETHING_NEWER' }),
      conversation('newer', { status: 'archived' }),
    ]);
    expect(body.uploaded).toBe(2);
    const statuses = await Promise.all(
      body.trajectories.map(async ({ trajectory_id }: { trajectory_id: string }) => {
        const { status, termination_reason } = await get(`/api/v1/trajectories/${trajectory_id}`);
        return [status, termination_reason];
      }),
    );
    expect(statuses).toEqual([
      ['failed', 'SOMETHING_NEWER'],
      ['completed', null],
    ]);
  });

  describe('of equal trajectories without a trace_id (X2)', () => {
    const counts = async (...request: Parameters<typeof upload>): Promise<number[]> => {
      const { body } = await upload(...request);
      return [body.uploaded, body.skipped];
    };
    const rewardsIn = async (dataset: string): Promise<number[]> => {
      const { items } = await get(`/api/v1/trajectories?dataset_name=${dataset}&order=asc&limit=200`);
      return items.map(({ reward }: { reward: number }) => reward).sort();
    };
    const samples = [1, 0, 1, 0.5, 0].map(reward => conversation('Paris', { reward }));

    it('keeps each, and skips each when sent again', async () => {
      expect(await counts(samples, 'equal')).toEqual([5, 0]);
      expect(await rewardsIn('equal')).toEqual([0, 0, 0.5, 1, 1]);
      expect(await counts(samples, 'equal')).toEqual([0, 5]);
      expect(await counts([...samples, samples[0]], 'equal')).toEqual([1, 5]);
      expect(
        await counts(
          Array.from({ length: 900 }, () => conversation('Paris')),
          'equal',
        ),
      ).toEqual([900, 0]);
    });

    it('tells a second sample in the next request from a repeat by its number', async () => {
      const [one] = samples;
      const numbered = (...numbers: number[]) => ({ 'Benchtop-Occurrences': numbers.join(',') });
      expect(await counts([one, one], 'split', numbered(1, 2))).toEqual([2, 0]);
      expect(await counts([one, one], 'split', numbered(3, 4))).toEqual([2, 0]);
      expect(await counts([one, one], 'split', numbered(3, 4))).toEqual([0, 2]);
      expect(await rewardsIn('split')).toEqual([1, 1, 1, 1]);
    });

    it('refuses numbers that do not fit the request', async () => {
      for (const numbers of ['1', '1,0', '1,x', '1,2,3']) {
        const { status, body } = await upload(samples.slice(0, 2), 'refused', { 'Benchtop-Occurrences': numbers });
        expect([status, body.error.param]).toEqual([422, 'benchtop-occurrences']);
      }
    });
  });

  describe('of an export (R16)', () => {
    const exported = async (record: object, dataset: string) => {
      const { body } = await upload([record], dataset);
      return get(`/api/v1/trajectories/${body.trajectories[0].trajectory_id}`);
    };
    /** Fields that every copy has of its own. */
    const ofTheCopy = ['trajectory_id', 'created_at', 'origin', 'gcs_blob_uri'];
    const content = (record: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(record).filter(([name]) => !ofTheCopy.includes(name) && !name.startsWith('dataset_')),
      );

    it('keeps all fields of the record', async () => {
      const record = {
        messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }], tool_calls: [{ id: 'a' }], extra: 1 }],
        rollout: { status: 'completed', termination_reason: 'MAX_STEPS', harness_diagnostic: { code: 7 }, attempt: 2 },
        rewards: [
          { name: 'style', value: 0.5, explanation: 'because', source: 'judge' },
          { reward_id: 'r1', name: 'length', value: 1, weight: 3, created_at: '2020-01-01T00:00:00.000Z' },
          { key: 'another shape' },
        ],
        metrics: { words: 3 },
        task: { name: 'quiz', difficulty: 'hard' },
        policy_step: 7,
        agent_version: 'v3',
        tags: ['a', 'b'],
        constructor: 'a field like others',
        eval_run_id: 'evr_elsewhere',
        trajectory_id: 'traj_elsewhere',
      };
      const first = await exported(record, 'exported');
      expect(first).toMatchObject({
        status: 'completed',
        termination_reason: 'MAX_STEPS',
        rollout: record.rollout,
        reward: 0.875,
        metrics: { words: 3 },
        task_id: 'quiz',
        task: record.task,
        policy_step: 7,
        agent_version: 'v3',
        tags: ['a', 'b'],
        constructor: 'a field like others',
        eval_run_id: null,
        origin: { eval_run_id: 'evr_elsewhere', trajectory_id: 'traj_elsewhere' },
      });
      expect(first.rewards).toMatchObject([
        { name: 'style', value: 0.5, weight: 1, explanation: 'because', source: 'judge' },
        { reward_id: 'r1', name: 'length', value: 1, weight: 3, created_at: '2020-01-01T00:00:00.000Z' },
        { key: 'another shape' },
      ]);
      const second = await exported(first, 'imported');
      expect(content(second)).toEqual(content(first));
      expect(content(await exported(second, 'imported again'))).toEqual(content(first));
      expect(second.origin).toEqual(first.origin);
    });

    it.each([
      ['without ids', {}],
      ['with a conversation', { conversation_id: 'talk' }],
      ['with a trace', { trace_id: 'trace_own' }],
    ])('%s, is skipped in its own dataset, and a conflict once it has changed (B6)', async (name, ids) => {
      const record = conversation('z', { ...ids, rewards: [{ name: 'a', value: 1 }], policy_step: 3 });
      const { trajectory_id, ...rest } = await exported(record, name);
      // A program may write the fields in another order.
      const again = { ...rest, trajectory_id };
      const [step] = again.steps;
      again.steps = [
        { ...step, messages: step.messages.map(({ role, ...more }: { role: string }) => ({ ...more, role })) },
      ];
      expect((await upload([again], name)).body.trajectories).toMatchObject([{ status: 'skipped' }]);
      const changed = await upload([{ ...again, reward: 0.25 }], name);
      expect(changed.body.error.code).toBe('trajectory_upload_conflict');
    });

    it('keeps unknown fields of both generations', async () => {
      expect(
        await exported(conversation('a', { rollout: { status: 'ARCHIVED', termination_reason: 'NEWER' } }), 'words'),
      ).toMatchObject({
        status: 'completed',
        uploaded_status: 'ARCHIVED',
        termination_reason: 'NEWER',
        rollout: { status: 'ARCHIVED' },
      });
      const failed = await exported(
        conversation('b', { rollout: { status: 'failed', termination_reason: 'max_steps' } }),
        'words',
      );
      expect(failed).toMatchObject({ status: 'failed', termination_reason: 'MAX_STEPS' });
    });

    it('makes no reward of an explicit null, and lets an open trajectory end', async () => {
      const rewards = [{ name: 'a', value: 1 }];
      expect((await exported(conversation('c', { reward: null, rewards }), 'null')).reward).toBeNull();
      const open = await exported(
        conversation('d', { status: 'running', rewards, rollout: { status: 'running', attempt: 1 } }),
        'open',
      );
      const path = `/api/v1/trajectories/${open.trajectory_id}`;
      await service.call('POST', `${path}/rewards`, { name: 'b', value: 0 });
      await service.call('POST', `${path}/complete`, { termination_reason: 'MAX_STEPS' });
      expect(await get(path)).toMatchObject({
        reward: 0.5,
        rewards: [{ name: 'a' }, { name: 'b' }],
        rollout: { status: 'completed', termination_reason: 'MAX_STEPS', attempt: 1 },
      });
    });
  });

  it('is refused if none can be stored, with a failure for each', async () => {
    const { status, body } = await upload([{}, { steps: [] }]);
    expect([status, body.error.type, body.error.code]).toEqual([
      400,
      'invalid_request_error',
      'invalid_trajectory_upload',
    ]);
    expect(body.error.context.failures.map(({ item_index }: { item_index: number }) => item_index)).toEqual([0, 1]);
    expect((await upload([])).body.error.code).toBe('invalid_trajectory_upload');
    expect((await upload([conversation('x')], 'evaluation/x')).body.error.param).toBe('dataset');
    expect((await upload(Array(1001).fill(conversation('x')))).body.error.code).toBe('invalid_trajectory_upload');
  });

  it('conflicts if a trace belongs to another trajectory', async () => {
    await upload([conversation('was', { trace_id: 'taken' })], 'conflicts');
    const { status, body } = await upload([conversation('is', { trace_id: 'taken' })], 'conflicts');
    expect([status, body.error.type, body.error.code]).toEqual([409, 'conflict_error', 'trajectory_upload_conflict']);
    expect(body.error.context.failures[0].context.trace_id).toBe('taken');
  });

  it('is stored once per Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'upload-once' };
    const first = await upload([conversation('once')], 'keyed', headers);
    const second = await upload([conversation('once')], 'keyed', headers);
    expect(second.body).toEqual(first.body);
  });

  it('fails as a whole on a full disk, and says so (V1)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'benchtop-full-'));
    const stores = openStores(folder, new Keyring(new Uint8Array(32)));
    try {
      const organizationId = ensureOrganization(stores.database, 'sk');
      const { count } = stores.database.get<{ count: number }>('select page_count as count from pragma_page_count') ?? {
        count: 0,
      };
      stores.database.get(`pragma max_page_count = ${count}`);
      const { uploadTrajectories } = trajectoryArea.routes;
      const body = { dataset: 'mine', trajectories: [conversation('x'.repeat(100_000))] };
      const header = () => undefined;
      const call = { organizationId, body, ignored: [], params: {}, idempotencyKey: undefined, header, origin: '' };
      const refusal = () => void uploadTrajectories?.(stores as ServiceContext, { ...call, query: undefined });
      expect(refusal).toThrow('Nothing in the batch was stored: the disk of this machine is full.');
      try {
        refusal();
      } catch (error) {
        expect(error).toMatchObject({ status: 507, code: 'trajectory_upload_failed' });
        expect((error as ApiError).details.context?.['failures']).toHaveLength(1);
      }
      expect(stores.datasets.list(organizationId, {}).items).toEqual([]);
    } finally {
      stores.database.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a reward', () => {
  const log = (id: string, reward: object, headers = {}) =>
    service.call('POST', `/api/v1/trajectories/${id}/rewards`, { name: 'quality', ...reward }, headers);

  it('counts by its weight, and is harmless when logged again', async () => {
    const id = await stored({ status: 'running', trace_id: 'rewarded' });
    expect((await log(id, { reward_id: 'a', value: 1 })).body).toEqual({
      ok: true,
      trajectory_id: id,
      status: 'running',
    });
    await log(id, { reward_id: 'b', value: 0, weight: 3 });
    await log(id, { reward_id: 'c', value: 100, weight: 0, explanation: 'only for diagnosis' });
    expect((await log(id, { reward_id: 'a', value: 1 })).status).toBe(200);
    const whole = await get(`/api/v1/trajectories/${id}`);
    expect(whole.reward).toBeCloseTo(0.25);
    expect(whole.rewards).toHaveLength(3);
    const changed = await log(id, { reward_id: 'a', value: 2 });
    expect([changed.status, changed.body.error.code]).toEqual([409, 'reward_id_reused']);
    expect((await log(id, { reward_id: 'd', value: 1, weight: -1 })).body.error.param).toBe('weight');
  });

  it('counts beside others even if the sum of the weights overflows', async () => {
    const rewards = [1, 0].map(value => ({ name: 'quality', value, weight: Number.MAX_VALUE }));
    const uploaded = await stored({ rewards, trace_id: 'heavy' });
    expect((await get(`/api/v1/trajectories/${uploaded}`)).reward).toBe(0.5);
    const id = await stored({ status: 'running', trace_id: 'heavy and open' });
    for (const reward of rewards) expect((await log(id, reward)).status).toBe(200);
    expect((await get(`/api/v1/trajectories/${id}`)).reward).toBe(0.5);
  });

  it('is refused once the trajectory has ended, and not recorded', async () => {
    const id = await stored({ status: 'running', trace_id: 'ending' });
    const complete = (termination_reason: string) =>
      service.call('POST', `/api/v1/trajectories/${id}/complete`, { termination_reason });
    expect((await complete('FINISHED')).status).toBe(422);
    expect((await complete('MAX_STEPS')).body).toEqual({ ok: true, trajectory_id: id, status: 'completed' });
    expect((await complete('MAX_STEPS')).status).toBe(200);
    for (const answer of [await log(id, { reward_id: 'late', value: 1 }), await complete('ERROR')]) {
      expect([answer.status, answer.body.error.type, answer.body.error.code]).toEqual([
        409,
        'conflict_error',
        'trajectory_already_terminal',
      ]);
    }
    expect(await get(`/api/v1/trajectories/${id}`)).toMatchObject({ termination_reason: 'MAX_STEPS', rewards: [] });
    const unknown = await log('traj_unknown', { reward_id: 'a', value: 1 });
    expect([unknown.body.error.type, unknown.body.error.code]).toEqual(['invalid_request_error', 'resource_not_found']);
  });

  it('is logged with a token for one trajectory only', async () => {
    const id = await stored({ status: 'running', trace_id: 'tokened' });
    const other = await stored({ status: 'running', trace_id: 'tokened too' });
    const { body } = await service.call('POST', `/local/trajectories/${id}/token`);
    const bearer = { Authorization: `Bearer ${body.token}`, 'X-API-Key': '' };
    expect((await log(id, { reward_id: 'a', value: 1 }, bearer)).status).toBe(200);
    const foreign = await log(other, { reward_id: 'a', value: 1 }, bearer);
    expect([foreign.status, foreign.body.error.code]).toEqual([403, 'permission_denied']);
    const elsewhere = await service.call('GET', `/api/v1/trajectories/${id}`, undefined, bearer);
    expect(elsewhere.body.error.code).toBe('authentication_required');
    const forged = await log(id, { reward_id: 'b', value: 1 }, { ...bearer, Authorization: `Bearer ${body.token}x` });
    expect([forged.status, forged.body.error.code]).toEqual([401, 'authentication_required']);
  });
});

it('issues tokens with a limited lifetime', () => {
  let now = 1_000_000;
  const tokens = new TrajectoryTokens(new Keyring(new Uint8Array(32).fill(1)), () => now);
  const { token } = tokens.create({ organizationId: 'org_a', trajectoryId: 'traj_b' });
  expect(tokens.read(token)).toEqual({ organizationId: 'org_a', trajectoryId: 'traj_b' });
  now += tokenLifetimeMs;
  expect(tokens.read(token)).toBeUndefined();
});

describe('a secret', () => {
  const create = (body: object) => service.call('POST', '/api/v1/secrets', body);

  it('can be written but never read: not from its endpoints, not from the disk', async () => {
    const value = 'open sesame, please';
    const { body } = await create({ name: 'DOOR', value, description: 'to the cave' });
    expect(Object.keys(body.secret).sort()).toEqual(
      ['byte_length', 'created_at', 'description', 'name', 'secret_id', 'updated_at'].sort(),
    );
    expect(body.secret.byte_length).toBe(19);
    const { body: page } = await service.call('GET', '/api/v1/secrets');
    expect(JSON.stringify([body, page])).not.toContain('sesame');
    for (const name of ['benchtop.db', 'benchtop.db-wal']) {
      expect(readFileSync(join(service.folder, name)).includes(value)).toBe(false);
    }
    expect(statSync(join(service.folder, 'master-key')).mode & 0o077).toBe(0);
    const { body: changed } = await create({ name: 'DOOR', value: 'other' });
    expect([changed.secret.secret_id, changed.secret.byte_length]).toEqual([body.secret.secret_id, 5]);
    const path = `/api/v1/secrets/${body.secret.secret_id}`;
    expect((await service.call('DELETE', path)).body).toEqual({ secret_id: body.secret.secret_id, deleted: true });
    expect((await service.call('DELETE', path)).status).toBe(404);
  });

  it.each([
    [{ name: '1ST', value: 'v' }, 'name'],
    [{ name: 'A-B', value: 'v' }, 'name'],
    [{ name: 'A', value: '' }, 'value'],
    [{ name: 'A', value: 'x'.repeat(70_000) }, 'value'],
  ])('is refused with the field named %#', async (body, param) => {
    const answer = await create(body);
    expect([answer.status, answer.body.error.param]).toEqual([422, param]);
    expect(JSON.stringify(answer.body)).not.toContain('xxxx');
  });

  it('removes the blocker of the benchmark that needs it, and is in the environment of its tasks', async () => {
    const benchId = await service.readyBenchmark('what-is-it');
    const readiness = () => get(`/api/v1/benchmarks/${benchId}/readiness`);
    expect(await readiness()).toMatchObject({ ready: false, missing_secret_names: ['QUIZ_API_KEY'] });
    await create({ name: 'QUIZ_API_KEY', value: 'k' });
    expect(await readiness()).toMatchObject({ ready: true, missing_secret_names: [] });
  });

  it('does not block the repeat of a start that had it', async () => {
    const benchId = await service.readyBenchmark('what-is-it');
    const { body } = await create({ name: 'QUIZ_API_KEY', value: 'k' });
    const run = { display_name: 'once', model_slug: 'benchtop/tutor-base' };
    const start = () => service.call('POST', `/api/v1/eval/${benchId}/start`, run, { 'Idempotency-Key': 'start-once' });
    const first = await start();
    expect(first.status).toBe(200);
    await service.call('DELETE', `/api/v1/secrets/${body.secret.secret_id}`);
    expect(await get(`/api/v1/benchmarks/${benchId}/readiness`)).toMatchObject({ ready: false });
    expect((await start()).body).toEqual(first.body);
  });
});

describe('deeply nested content', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const uploadText = (...trajectories: string[]) =>
    service.call('POST', '/api/v1/trajectories/upload', `{"dataset":"deep","trajectories":[${trajectories.join()}]}`);
  const shallow = JSON.stringify(conversation('x'));
  /** Levels of the whole request, including those around the nested part. */
  const withMetadata = (levels: number) => `{"messages":[{"role":"user"}],"metadata":{"a":${nested(levels - 4)}}}`;
  const withMessage = (levels: number) => `{"messages":[{"role":"user","content":${nested(levels - 5)}}]}`;

  it.each([
    ['upload', () => uploadText(withMetadata(deepestRequest))],
    ['upload', () => uploadText(withMessage(deepestRequest))],
    ['open', () => service.call('POST', '/api/v1/trajectories', withMessage(deepestRequest + 2))],
  ])('is stored up to a limit, and returned in its record and its list (%s)', async (_, store) => {
    const { status, body } = await store();
    expect(status).toBe(200);
    const client = clientOf(service);
    const trajectory_id = body.tid ?? body.trajectories[0].trajectory_id;
    const read = await client.call('getTrajectory', { params: { trajectory_id } });
    expect(read.trajectory_id).toBe(trajectory_id);
    const { items } = await client.call('listTrajectories', { query: { limit: 1 } });
    expect(items[0]?.trajectory_id).toBe(trajectory_id);
    await client.close();
  });

  it.each([deepestRequest + 1, 3_000, 10_000, 100_000])('is refused at %i levels, with its path', async levels => {
    for (const trajectory of [withMetadata(levels), withMessage(levels)]) {
      const { status, body } = await uploadText(shallow, trajectory);
      expect([status, body.error.param]).toEqual([422, 'trajectories[1]']);
      expect(body.error.message).toBe('trajectories[1]: is nested too deeply; a request may have at most 990 levels.');
    }
    const opened = await service.call('POST', '/api/v1/trajectories', withMetadata(levels + 2));
    expect([opened.status, opened.body.error.param]).toEqual([422, 'metadata']);
    const chat = await service.call('POST', '/v1/chat/completions', `{"messages":${nested(levels)}}`);
    expect(chat.status).toBe(422);
  });
});
