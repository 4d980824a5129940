/** Requests of clients of every generation, and the local service's answers. */
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService, until } from './running.ts';

let service: TestService;
let benchId: string;
beforeAll(async () => {
  service = await startService();
  benchId = await service.readyBenchmark('opposites');
});
afterAll(() => service.end());

const model = 'benchtop/tutor-base';
// biome-ignore lint/suspicious/noExplicitAny: the test is about the body
const get = async (path: string): Promise<any> => (await service.call('GET', `/api/v1/${path}`)).body;
const post = (path: string, body?: object, headers = {}) => service.call('POST', `/api/v1/${path}`, body, headers);
const ended = (path: string) =>
  until(
    () => get(path),
    ({ status }) => ['completed', 'succeeded', 'failed', 'cancelled'].includes(status),
  );

/** A built benchmark with these tasks. */
async function ingested(manifest: object) {
  const files = [{ path: 'Dockerfile', content_type: 'text/plain', size_bytes: 1, content_md5: 'x' }];
  const { body: allocated } = await post('benchmarks/uploads', { files, bench_id: null });
  const [{ url, headers }] = allocated.urls;
  await fetch(url, { method: 'PUT', headers, body: 'x' });
  const { status, body } = await post(
    `benchmarks/${allocated.bench_id}/ingest?agent_id=a&bench_type=harness`,
    manifest,
  );
  expect([status, body.error]).toEqual([200, undefined]);
  await post(`benchmarks/${allocated.bench_id}/images/build`);
  await until(
    () => get(`benchmarks/${allocated.bench_id}/readiness`),
    ({ unready_task_image_counts }) => Object.keys(unready_task_image_counts).length === 0,
  );
  return body;
}

describe('a manifest of the service’s own format', () => {
  const ask = [{ role: 'user', content: [{ type: 'text', text: 'what is the opposite of hot?' }] }];
  const grader = { kind: 'contains', expected: 'cold' };
  const manifest = {
    name: 'foreign',
    visibility: 'public',
    tags: ['nightly'],
    spec: { harness: 'x' },
    anything: { kept: true },
    tasks: [
      {
        name: 'graded',
        input_messages: ask,
        run_command: 'python run.py',
        env_vars: { REGION: 'eu', TOKEN: { secret_ref: 'FOREIGN_TOKEN' } },
        spec: { grader, difficulty: 3 },
        runtime: { source: { dockerfile_path: 'Dockerfile' } },
        env_resources: { cpu: 2 },
        tags: ['easy'],
      },
      {
        name: 'judged',
        split: 'test',
        input_messages: ask,
        run_command: 'x',
        grader: { kind: 'llm_judge', model: 'm' },
      },
      { name: 'silent', split: null, run_command: 'x', environment: { MODE: 'test' }, runtime: { runtime_id: 'rt_1' } },
      { name: 'trained', split: 'train', input_messages: ask, run_command: 'x', grader, spec: null },
      { name: 'untrained', split: 'train', input_messages: ask, run_command: 'x' },
    ],
  };
  let foreign: { bench_id: string; warnings: string[] };
  beforeAll(async () => {
    foreign = await ingested(manifest);
  });

  it('is accepted as a whole', async () => {
    expect(foreign).toMatchObject({ name: 'foreign', label: 'foreign', family: '', task_count: 5, failed_tasks: [] });
    expect(await get(`benchmarks/${foreign.bench_id}`)).toMatchObject({ visibility: 'public', tags: ['nightly'] });
    const counts = { task_count: 5, by_split: { train: 2, test: 3 } };
    expect(await get(`benchmarks/${foreign.bench_id}/task-count`)).toMatchObject(counts);
    const { images } = await get(`benchmarks/${foreign.bench_id}/images`);
    expect(images[0]).toMatchObject({ task_id: 'graded', dockerfile_uri: `local://${foreign.bench_id}/Dockerfile` });
  });

  it('needs the secrets that it refers to, and says which tasks cannot be graded here', async () => {
    const readiness = await get(`benchmarks/${foreign.bench_id}/readiness`);
    expect(readiness).toMatchObject({ ready: false, missing_secret_names: ['FOREIGN_TOKEN'] });
    expect(readiness.ungradable_task_names).toEqual(['judged', 'silent', 'untrained']);
    for (const words of ['llm_judge', 'no input messages', 'no grader']) {
      expect(readiness.warnings.join()).toContain(words);
    }
    expect(foreign.warnings).toEqual(readiness.warnings);
    expect((await post('secrets', { name: 'FOREIGN_TOKEN', value: 'v', description: null })).status).toBe(200);
    expect((await get(`benchmarks/${foreign.bench_id}/readiness`)).ready).toBe(true);
  });

  it('is evaluated: tasks without a grader get an answer and no reward, and do not fail', async () => {
    const { body } = await post('eval', { bench_id: foreign.bench_id, base_model_slug: model });
    const run = await ended(`eval/${body.eval_run_id}`);
    expect(run).toMatchObject({
      status: 'completed',
      failure: null,
      warnings: [expect.any(String), expect.any(String)],
    });
    const { trajectory_rewards: rewards } = await get(`eval/${body.eval_run_id}/trajectory-rewards`);
    expect(rewards.map(({ task_id }: { task_id: string }) => task_id)).toEqual(['graded']);
    const progress = await get(`eval/${body.eval_run_id}/progress`);
    expect(progress).toMatchObject({ terminal_rollouts: 3, total_rollouts: 3 });
    expect(progress.live).toMatchObject({ scored_rollouts: 1, failed_rollouts: 0, ungraded_rollouts: 2 });
    const { items } = await get(`trajectories?eval_run_id=${body.eval_run_id}&sort=task_id&order=asc`);
    expect(items.map(({ task_id, status }: Record<string, string>) => [task_id, status])).toEqual([
      ['graded', 'completed'],
      ['judged', 'completed'],
      ['silent', 'completed'],
    ]);
    const judged = await get(`trajectories/${items[1].trajectory_id}`);
    expect([judged.reward, judged.error]).toEqual([null, null]);
    const said = judged.steps[0].messages.map(({ role, content }: Record<string, string>) => [role, content]);
    expect(said[0]).toEqual(['user', 'what is the opposite of hot?']);
    expect(said.at(-1)).toEqual(['grader', expect.stringMatching(/^Not graded: .*llm_judge/)]);
  });

  it('is trained on tasks that can be graded, and refused if there are none', async () => {
    const options = { num_steps: 1, train_batch_size: 2, samples_per_instance: 2, held_out_every: 1 };
    const { body } = await post('train', { bench_id: foreign.bench_id, base_model_slug: model, options });
    expect((await ended(`train/${body.training_run_id}`)).status).toBe('succeeded');
    const { trajectory_rewards: rewards } = await get(`train/${body.training_run_id}/steps/1/trajectory-rewards`);
    expect(rewards.every(({ task_id }: { task_id: string }) => task_id === 'trained')).toBe(true);
    const { bench_id } = await ingested({ name: 'x', tasks: [{ name: 'a', split: 'train', input_messages: ask }] });
    const refused = await post('train', { bench_id, base_model_slug: model });
    expect([refused.status, refused.body.error.param]).toEqual([422, 'bench_id']);
    expect(refused.body.error.message).toContain('no grader');
  });

  it('is refused if a variable or a local grader is invalid, with its place', async () => {
    const { body: allocated } = await post('benchmarks/uploads', {
      files: [{ path: 'a', content_type: 'text/plain', size_bytes: 1 }],
    });
    const tasks = [
      { name: 'a', env_vars: { A: { from: 'nowhere' } } },
      { name: 'b', grader: { kind: 'regex', pattern: '(' } },
    ];
    const { body } = await post(`benchmarks/${allocated.bench_id}/ingest`, { name: 'bad', tasks });
    const places = body.error.context.issues.map(({ path }: { path: string }) => path);
    expect(places).toEqual([expect.stringMatching(/^tasks\[0\]\.env_vars/), 'tasks[1].grader.pattern']);
  });
});

describe('a grader in a task spec of the same kind as a local one', () => {
  it('is stored, not run, and does not affect the grader of the task itself', async () => {
    const input_messages = [{ role: 'user', content: 'what is the opposite of hot?' }];
    const theirs = { grader: { kind: 'exact', reference: 'solutions/1.txt' } };
    const tasks = [
      { name: 'theirs', input_messages, run_command: 'x', spec: theirs },
      { name: 'ours', input_messages, run_command: 'x', spec: theirs, grader: { kind: 'exact', expected: 'cold' } },
    ];
    const { bench_id } = await ingested({ name: 'shared-kind', tasks });
    expect((await get(`benchmarks/${bench_id}/readiness`)).ungradable_task_names).toEqual(['theirs']);
  });
});

describe('storage', () => {
  it('takes a file of the signed type, even if the type is not sent or has a character set', async () => {
    const files = [{ path: 'a', content_type: 'Text/Plain', size_bytes: 2 }];
    const { body } = await post('benchmarks/uploads', { files });
    const send = async (bytes: string | Uint8Array<ArrayBuffer>, headers = {}) =>
      (await fetch(body.urls[0].url, { method: 'PUT', headers, body: bytes })).status;
    expect(await send(new Uint8Array([104, 105]))).toBe(200);
    // Fetch adds text/plain;charset=UTF-8 to a string.
    expect(await send('hi')).toBe(200);
    expect(await send('hi', { 'Content-Type': 'application/json' })).toBe(403);
    expect(readdirSync(service.folder)).toContain('uploads');
  });
});

describe('an evaluation', () => {
  it('starts with the fields of every generation, with nulls, and records what it ignored', async () => {
    const options = { disable_thinking: true, evaluation_max_samples: 2, algorithm: null, num_steps: 4 };
    const newest = {
      bench_id: benchId,
      base_model_slug: model,
      parent_checkpoint_id: null,
      options,
      display_name: null,
      agent_id: 'agent',
    };
    const middle = {
      display_name: 'middle',
      model_slug: model,
      checkpoint_id: null,
      eval_options: { max_output_tokens_per_step: 1 },
      execution_timeout_seconds: 60,
    };
    for (const [path, body, expected] of [
      [
        'eval',
        newest,
        {
          display_name: `opposites with ${model}`,
          options: { evaluation_max_samples: 2 },
          ignored_options: ['agent_id', 'disable_thinking', 'num_steps'],
        },
      ],
      [
        `eval/${benchId}/start`,
        middle,
        {
          display_name: 'middle',
          options: { max_output_tokens_per_step: 1 },
          ignored_options: ['execution_timeout_seconds'],
        },
      ],
    ] as const) {
      const { status, body: started } = await post(path, body);
      expect([status, started.bench_id]).toEqual([200, benchId]);
      const run = await ended(`eval/${started.eval_run_id}`);
      const names = { model_slug: model, base_model_slug: model, checkpoint_id: null, parent_checkpoint_id: null };
      expect(run).toMatchObject({ ...expected, ...names, agent_id: null });
      expect(Date.parse(run.completed_at)).toBeGreaterThanOrEqual(Date.parse(run.created_at));
      const { items } = await get(`trajectories?eval_run_id=${started.eval_run_id}&limit=200`);
      expect(items.length).toBe(path === 'eval' ? 2 : 20);
      const { steps } = await get(`trajectories/${items[0].trajectory_id}`);
      if (path !== 'eval') expect(steps[0].messages[2].completion_tokens).toBeLessThanOrEqual(1);
    }
  });

  it('takes fields that have no meaning here, and names them in the answer and in the record of the run', async () => {
    const asked = {
      model_slug: model,
      display_name: 'x',
      options: { nonsense: [1], num_steps: 3 },
      tags: ['a'],
      note: null,
    };
    const { status, body } = await post(`eval/${benchId}/start`, asked);
    const ignored_options = ['tags', 'nonsense', 'num_steps'];
    expect([status, body.ignored_options]).toEqual([200, ignored_options]);
    expect(await get(`eval/${body.eval_run_id}`)).toMatchObject({ options: {}, ignored_options });
  });

  it('takes two names of one field if they agree, and refuses them otherwise', async () => {
    const both = { bench_id: benchId, model_slug: model, base_model_slug: model };
    expect((await post('eval', both)).status).toBe(200);
    const refused = await post('eval', { ...both, base_model_slug: 'benchtop/aesop-small' });
    expect([refused.status, refused.body.error.param]).toEqual([422, 'base_model_slug']);
  });

  it('starts once per Idempotency-Key on either path', async () => {
    const headers = { 'Idempotency-Key': 'either path' };
    const first = await post('eval', { bench_id: benchId, base_model_slug: model }, headers);
    const again = await post('eval', { bench_id: benchId, base_model_slug: model }, headers);
    expect([again.status, again.body]).toEqual([200, first.body]);
  });

  it('treats an empty Idempotency-Key as none (C5)', async () => {
    const start = async (key: string) =>
      (await post('eval', { bench_id: benchId, base_model_slug: model }, { 'Idempotency-Key': key })).body.eval_run_id;
    expect(new Set([await start(''), await start(''), await start(' ')]).size).toBe(3);
  });

  it.each([
    ['eval', { base_model_slug: model }, 'bench_id'],
    ['eval', {}, 'bench_id'],
    ['eval/BENCH/start', { model_slug: model, display_name: null }, 'display_name'],
    ['eval/BENCH/start', { model_slug: model, display_name: 'x', bench_id: 'b' }, 'bench_id'],
    [
      'eval/BENCH/start',
      { model_slug: model, display_name: 'x', options: { evaluation_max_samples: 0 } },
      'options.evaluation_max_samples',
    ],
    ['eval', { base_model_slug: model, bench_id: 'BENCH', benchmark_name: 't-words' }, 'benchmark_name'],
  ])('is refused at %s with the field named: %j', async (path, body, param) => {
    const sent = JSON.parse(JSON.stringify(body).replace('BENCH', benchId)) as object;
    const { status, body: answer } = await post(path.replace('BENCH', benchId), sent);
    expect([status, answer.error.param]).toEqual([422, param]);
  });

  it('is deleted by its own id, and not through another benchmark', async () => {
    const { body } = await post('eval', { bench_id: benchId, base_model_slug: model });
    const other = await service.readyBenchmark('t-words');
    const wrong = await service.call('DELETE', `/api/v1/eval/${other}/runs/${body.eval_run_id}`);
    expect(wrong.status).toBe(404);
    const gone = await service.call('DELETE', `/api/v1/eval/${body.eval_run_id}`);
    expect(gone.body).toEqual({ bench_id: benchId, eval_run_id: body.eval_run_id });
    expect((await service.call('GET', `/api/v1/eval/${body.eval_run_id}`)).status).toBe(404);
  });

  it('lists its options in the newest shape', async () => {
    const { bench_id, models } = await get(`eval/options?bench_id=${benchId}&base_model_slug=${model}`);
    expect([bench_id, models.length, models[0].base_model_slug]).toEqual([benchId, 1, model]);
    expect(models[0].options.evaluation_max_samples).toEqual({
      type: 'integer',
      min: 1,
      max: 10_000,
      default: null,
      choices: null,
      default_kind: 'computed',
      description: expect.any(String),
    });
  });
});

describe('training', () => {
  it('starts with older fields, caps large values, and records what it ignored', async () => {
    const { status, body } = await post('train', {
      bench_id: benchId,
      base_model_id: model,
      training_options: {
        num_steps: 1,
        train_batch_size: 2,
        samples_per_instance: 2,
        disable_thinking: true,
        max_turns_per_trajectory: 8,
        max_response_chars_per_tool_call: 4000,
        max_output_tokens_per_step: 8192,
        seed: null,
      },
      bypass_ownership: false,
      parent_checkpoint_id: null,
    });
    expect(status).toBe(200);
    const ignored = ['disable_thinking', 'max_turns_per_trajectory', 'max_response_chars_per_tool_call'];
    expect(body).toMatchObject({
      model_slug: model,
      // The tasks' own limit, which is the one in force.
      options: { num_steps: 1, max_output_tokens_per_step: 3, seed: 1 },
      ignored_options: ['bypass_ownership', ...ignored, 'max_output_tokens_per_step'],
      resolved_trajectory_options: null,
      completed_at: null,
    });
    const id = body.training_run_id;
    expect((await ended(`train/${id}`)).completed_at).toEqual(expect.any(String));
    const { items } = await get(`train/${id}/checkpoints`);
    expect(items.at(-1)).toMatchObject({ training_run_id: id, base_model_slug: model, is_deployable: true });
    const curve = await get(`train/${id}/step/held-out-reward-by-step`);
    const point = { completed_samples: 104, loaded_trajectories: 104, cancelled_samples: 0, round_completed: true };
    expect(curve).toMatchObject({ training_run_id: id, held_out_rewards: [point, point] });
    expect(await get(`train/${id}/step/trainer-reward-by-step`)).toMatchObject({ training_run_id: id });

    const deployment = (await post('deploy', { checkpoint_id: items.at(-1).checkpoint_id, model_slug: 'bare' })).body;
    expect(deployment).toMatchObject({ role: 'production', model_endpoint_id: null });
    await until(
      () => get(`deploy/${deployment.deployment_id}`),
      each => each.status === 'DEPLOYED',
    );
    expect((await post(`deploy/${deployment.deployment_id}/promote`, { demote_deployment_id: null })).status).toBe(200);
    const unknown = await post(`deploy/${deployment.deployment_id}/promote`, { demote_deployment_id: 'dep_none' });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'resource_not_found']);
    expect(await get('deploy/summary')).toMatchObject({
      total: 1,
      active: 1,
      by_status: { DEPLOYED: 1 },
      pending: 0,
      deploying: 0,
      deployed: 1,
      failed: 0,
    });
  });
});

describe('the name of a benchmark', () => {
  const options = { num_steps: 1, train_batch_size: 1, samples_per_instance: 2 };
  const train = (benchmark_name: string, more = {}) =>
    post('train', { benchmark_name, agent_name: 'me', base_model_slug: model, options, ...more });

  it('replaces its id if it is unique', async () => {
    for (const bench_id of [undefined, null, benchId]) {
      const { status, body } = await train('opposites', { bench_id });
      expect([status, body.bench_id, body.ignored_options]).toEqual([200, benchId, ['agent_name']]);
    }
    const run = await post('eval', { benchmark_name: 'opposites', base_model_slug: model });
    expect([run.status, run.body.bench_id]).toEqual([200, benchId]);
  });

  it('is refused if no benchmark has it, or several do', async () => {
    const none = await train('nothing');
    expect([none.status, none.body.error.code]).toEqual([404, 'resource_not_found']);
    const tasks = [{ name: 'a', split: 'train', input_messages: [{ role: 'user', content: 'x' }] }];
    const twins = [await ingested({ name: 'twin', tasks }), await ingested({ name: 'twin', tasks })];
    const { status, body } = await train('twin');
    expect([status, body.error.param]).toEqual([422, 'benchmark_name']);
    expect(body.error.context.bench_ids).toEqual(expect.arrayContaining(twins.map(({ bench_id }) => bench_id)));
    const neither = await post('train', { base_model_slug: model });
    expect([neither.status, neither.body.error.param]).toEqual([422, 'bench_id']);
  });
});

describe('lists', () => {
  it('ignore unknown query parameters', async () => {
    const { status, body } = await service.call('GET', '/api/v1/benchmarks?include_holodeck=true&limit=1');
    expect([status, body.items.length]).toEqual([200, 1]);
    expect(body.items[0]).toMatchObject({ name: body.items[0].label, agent_id: null });
    expect((await service.call('GET', `/api/v1/train/${benchId}/runs?has_training_execution=true`)).status).toBe(200);
    const { items } = await get('models/supported-training-models');
    for (const each of items) expect(each.base_model_slug).toBe(each.model_slug);
  });
});

describe('an own trajectory', () => {
  it('is opened once per key, rewarded, and completed without a reason', async () => {
    const headers = { 'Idempotency-Key': 'open once' };
    const body = { task: { name: 'quiz', conversation_id: 'talk' }, agent_id: 'agent', metadata: { try: 1 } };
    const { status, body: opened } = await post('trajectories', body, headers);
    expect([status, opened.trajectory_id, opened.status]).toEqual([200, opened.tid, 'running']);
    expect((await post('trajectories', body, headers)).body).toEqual(opened);
    const { tid } = opened;
    expect(
      (await post(`trajectories/${tid}/rewards`, { reward_id: 'a', name: 'n', value: 0, weight: null })).status,
    ).toBe(200);
    expect((await post(`trajectories/${tid}/rewards`, { name: 'n', value: 1 })).status).toBe(200);
    expect((await post(`trajectories/${tid}/complete`)).body).toEqual({
      ok: true,
      trajectory_id: tid,
      status: 'completed',
    });
    expect(await get(`trajectories/${tid}`)).toMatchObject({
      task_id: 'quiz',
      conversation_id: 'talk',
      reward: 0.5,
      termination_reason: 'ENV_DONE',
      metadata: { try: 1 },
      dataset_id: null,
      rollout: { status: 'completed', termination_reason: 'ENV_DONE' },
    });
    const patched = (await post('trajectories', {})).body.tid;
    expect((await post(`trajectories/${patched}/complete`, { termination_reason: 'GOLDEN_PATCH' })).status).toBe(200);
  });

  it('records each answer of a chat that names it as a step, until it has ended', async () => {
    const { tid } = (await post('trajectories', {})).body;
    const chat = (id: string, stream = false) =>
      service.call(
        'POST',
        '/v1/chat/completions',
        { model, messages: [{ role: 'user', content: 'opposite: hot?' }], temperature: 0, stream },
        { 'X-Trajectory-Id': id },
      );
    const { body } = await chat(tid);
    await chat(tid, true);
    const whole = await get(`trajectories/${tid}`);
    expect(whole).toMatchObject({ num_steps: 2, model_id: model, model_association_source: 'chat' });
    const said = ['opposite: hot?', body.choices[0].message.content];
    for (const { messages } of whole.steps) {
      expect(messages.map(({ content }: { content: string }) => content)).toEqual(said);
    }
    await post(`trajectories/${tid}/complete`);
    expect((await chat(tid)).body.error.code).toBe('trajectory_already_terminal');
    expect((await chat('unknown')).body.error.code).toBe('resource_not_found');
  });

  it('returns the texts of the document as texts', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const parts = [
      { type: 'text', text: 'look at ' },
      { type: 'text', text: 'this' },
    ];
    const picture = { type: 'image_url', image_url: { url: 'https://example.invalid/x.png' } };
    const messages = [
      { message_id: 'm1', role: 'user', content: parts },
      { role: 'user', content: [...parts, picture] },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: { value: 1 }, tool_response: { value: 1 } },
    ];
    const task = { name: 'quiz', conversation_id: 'of the task' };
    const trajectories = [{ task, messages }];
    const { body } = await post('trajectories/upload', { dataset: 'parts', trajectories, agent_id: 'agent' });
    expect(body.trajectories[0]).toMatchObject({ status: 'uploaded', conversation_id: 'of the task', failure: null });
    const whole = await get(`trajectories/${body.trajectories[0].trajectory_id}`);
    const [first, second, third, fourth] = whole.steps[0].messages;
    expect(first).toMatchObject({
      message_id: 0,
      uploaded_message_id: 'm1',
      content: 'look at this',
      tool_calls: null,
    });
    expect(second.content).toBe('look at this');
    expect(second.content_parts).toEqual([...parts, picture]);
    expect(third.content).toBeNull();
    expect(JSON.parse(third.tool_calls)).toEqual([call]);
    expect([JSON.parse(fourth.content), JSON.parse(fourth.tool_response)]).toEqual([{ value: 1 }, { value: 1 }]);
  });
});
