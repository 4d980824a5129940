/** Training and deployments over HTTP, in every state that they reach. */
import { readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trainingSplits } from '../../../src/local/engine/validation.ts';
import { packCheckpoint, unpackCheckpoint } from '../../../src/local/model/checkpoint-file.ts';
import { writeDurably } from '../../../src/local/store/weight-files.ts';
import { startService, type TestService, until } from './running.ts';

let service: TestService;
let benchId: string;

beforeAll(async () => {
  service = await startService();
  benchId = await service.readyBenchmark('opposites');
});
afterAll(() => service.end());

const quick = { num_steps: 4, train_batch_size: 4, samples_per_instance: 4, held_out_every: 2 };
/** Until it is stopped. */
const endless = { num_steps: 2000, train_batch_size: 2, samples_per_instance: 2, held_out_every: 1000 };

async function start(body: object = {}, headers: Record<string, string> = {}) {
  const whole = { bench_id: benchId, base_model_slug: 'benchtop/tutor-base', options: quick, ...body };
  return (await service.call('POST', '/api/v1/train', whole, headers)).body;
}
// biome-ignore lint/suspicious/noExplicitAny: the test is about the body
const get = async (path: string): Promise<any> => (await service.call('GET', `/api/v1/train/${path}`)).body;
interface Progress {
  status: string;
  completed_steps: number;
  failure: { code: string; context: object } | null;
}
const hasEnded = ({ status }: Progress) => ['succeeded', 'failed', 'cancelled'].includes(status);
const ended = (id: string) => until((): Promise<Progress> => get(`${id}/progress`), hasEnded);

async function checkpointOf(id: string): Promise<string> {
  return (await get(`${id}/checkpoints`)).items.at(-1).checkpoint_id;
}

async function deployed(checkpoint_id: string, model_slug: string, role = 'production') {
  const { body } = await service.call('POST', '/api/v1/deploy', { checkpoint_id, model_slug, role });
  const path = `/api/v1/deploy/${body.deployment_id}`;
  return until(
    async () => (await service.call('GET', path)).body,
    ({ status }) => status === 'DEPLOYED' || status === 'FAILED',
  );
}

const ask = (model: string, path = '/v1/chat/completions') =>
  service.call('POST', path, { model, messages: [{ role: 'user', content: 'opposite: hot?' }], max_tokens: 4 });

describe('a training run', () => {
  it('goes from pending to succeeded and leaves curves, rollouts and checkpoints', async () => {
    const run = await start({ display_name: 'first' });
    expect(run).toMatchObject({ status: 'pending', display_name: 'first', has_training_execution: false });
    expect(run.options).toMatchObject({ ...quick, learning_rate: 0.01, seed: 1 });
    const id: string = run.training_run_id;
    expect(await ended(id)).toEqual({
      training_run_id: id,
      status: 'succeeded',
      completed_steps: 4,
      total_steps: 4,
      failure: null,
      waits_because: null,
    });
    const { trainer_rewards } = await get(`${id}/step/trainer-reward-by-step`);
    expect(trainer_rewards.map(({ step }: { step: number }) => step)).toEqual([1, 2, 3, 4]);
    const { held_out_rewards } = await get(`${id}/step/held-out-reward-by-step`);
    expect(held_out_rewards.map(({ step }: { step: number }) => step)).toEqual([0, 2, 4]);
    expect(held_out_rewards[0]).toMatchObject({
      split: 'validation',
      expected_samples: 104,
      completed_samples: 104,
      failed_samples: 0,
    });
    // Tasks that are measured are not trained on.
    const rollouts = (await service.call('GET', `/api/v1/trajectories?training_run_id=${id}&limit=200`)).body.items;
    const trained = new Set(rollouts.map(({ task_id }: { task_id: string }) => task_id));
    const { heldOut } = trainingSplits(
      [...trained].map(task_id => ({ task_id: String(task_id) })),
      [],
    );
    expect(heldOut).toEqual([]);
    const { step: _, trainer_reward: __, ...diagnostics } = trainer_rewards[3];
    expect(Object.keys(diagnostics).sort()).toEqual(
      ['entropy', 'equal_groups', 'gradient_norm', 'kl', 'truncated'].sort(),
    );
    expect((await get(id)).diagnostics).toEqual({ step: 4, ...diagnostics });

    const { trajectory_rewards } = await get(`${id}/steps/3/trajectory-rewards`);
    expect(trajectory_rewards).toHaveLength(16);
    expect(trajectory_rewards[0]).toMatchObject({
      prompt_tokens: expect.any(Number),
      completion_tokens: expect.any(Number),
    });
    const mean = trajectory_rewards.reduce((sum: number, { reward }: { reward: number }) => sum + reward, 0) / 16;
    expect(mean).toBeCloseTo(trainer_rewards[2].trainer_reward);
    const { body: page } = await service.call('GET', `/api/v1/trajectories?training_run_id=${id}&limit=200`);
    expect(page.items).toHaveLength(64);
    expect(page.items[0]).toMatchObject({ source: 'training', status: 'completed', training_run_id: id });

    const { items: checkpoints } = await get(`${id}/checkpoints`);
    expect(checkpoints.map(({ step_index }: { step_index: number }) => step_index)).toEqual([2, 4]);
    expect(await get(`${id}/checkpoints/2`)).toEqual(checkpoints[0]);
    expect((await get(`${id}/checkpoints/3`)).error.code).toBe('resource_not_found');
    expect((await get(`${id}/steps/9/trajectory-rewards`)).error.code).toBe('resource_not_found');
    expect(await get(id)).toMatchObject({ status: 'succeeded', failure: null, has_training_execution: true });
    expect((await get(`${benchId}/runs`))[0].training_run_id).toBe(id);
  });

  it('waits its turn, can be cancelled before and during its work, and keeps its results', async () => {
    const first = await start({ options: endless });
    const second = await start({ options: endless });
    await until(
      () => get(`${first.training_run_id}/progress`),
      ({ completed_steps }) => completed_steps > 2,
    );
    expect((await get(second.training_run_id)).status).toBe('pending');
    const cancel = (id: string) => service.call('POST', `/api/v1/train/${id}/cancel`);
    expect((await cancel(second.training_run_id)).body.status).toBe('cancel_signaled');
    expect((await cancel(first.training_run_id)).body.status).toBe('cancel_signaled');
    const states = new Set<string>();
    const last = await until(async () => {
      const progress = await get(`${first.training_run_id}/progress`);
      states.add(progress.status);
      return progress;
    }, hasEnded);
    expect(last.status).toBe('cancelled');
    for (const state of states) expect(['cancel_signaled', 'cancelling', 'cancelled']).toContain(state);
    expect((await ended(second.training_run_id)).completed_steps).toBe(0);
    // A stopped run can be continued from its last step.
    const { items: checkpoints } = await get(`${first.training_run_id}/checkpoints`);
    expect(checkpoints.at(-1).step_index).toBe(last.completed_steps);
    const again = await cancel(first.training_run_id);
    expect([again.status, again.body.error.code]).toEqual([409, 'run_already_terminal']);
  });

  it('starts from a checkpoint of another run, and knows its base model', async () => {
    const parent = await start();
    await ended(parent.training_run_id);
    const parent_checkpoint_id = await checkpointOf(parent.training_run_id);
    const child = await start({ parent_checkpoint_id, base_model_slug: undefined });
    expect(child).toMatchObject({ parent_checkpoint_id, base_model_slug: 'benchtop/tutor-base' });
    await ended(child.training_run_id);
    const held = async (id: string) => (await get(`${id}/step/held-out-reward-by-step`)).held_out_rewards;
    const parentLast = (await held(parent.training_run_id)).at(-1).held_out_reward;
    expect((await held(child.training_run_id))[0].held_out_reward).toBe(parentLast);
    const wrong = await service.call('POST', '/api/v1/train', {
      bench_id: benchId,
      parent_checkpoint_id,
      base_model_slug: 'benchtop/aesop-small',
    });
    expect([wrong.status, wrong.body.error.param]).toEqual([422, 'base_model_slug']);
  });

  it('fails with a reason if its start checkpoint is damaged', async () => {
    // A separate seed, so that no other test's model with the same weights is in memory.
    const parent = await start({ options: { ...quick, seed: 77 } });
    await ended(parent.training_run_id);
    const parent_checkpoint_id = await checkpointOf(parent.training_run_id);
    truncateSync(join(service.folder, 'checkpoints', parent.training_run_id, '4.weights'), 100);
    const child = await start({ parent_checkpoint_id });
    const { failure } = await ended(child.training_run_id);
    expect(failure).toMatchObject({ type: 'dependency_error', code: 'weights_corrupt' });
    expect(failure?.context).toMatchObject({ base_model_slug: 'benchtop/tutor-base', completed_steps: 0 });
  });

  it('is started once per Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'train-once' };
    const first = await start({}, headers);
    expect((await start({}, headers)).training_run_id).toBe(first.training_run_id);
    const reordered = Object.fromEntries(Object.entries(quick).toReversed());
    expect((await start({ options: reordered }, headers)).training_run_id).toBe(first.training_run_id);
    expect((await start({ display_name: 'other' }, headers)).error.code).toBe('idempotency_key_reused');
    await ended(first.training_run_id);
  });

  it.each([
    [{ options: { num_steps: 0 } }, 'options.num_steps'],
    [{ options: { num_steps: 1.5 } }, 'options.num_steps'],
    [{ options: { learning_rate: 'fast' } }, 'options.learning_rate'],
    [{ options: { samples_per_instance: 1 } }, 'options.samples_per_instance'],
    [{ base_model_slug: 'nobody/nothing' }, 'base_model_slug'],
    [{ base_model_slug: undefined }, 'base_model_slug'],
    [{ display_name: 'x'.repeat(257) }, 'display_name'],
  ])('is refused with the field named: %j', async (body, param) => {
    const { error } = await start(body);
    expect([error.code, error.param]).toEqual(['validation_error', param]);
  });

  it('is deleted with everything it has once it has ended', async () => {
    const running = await start({ options: endless });
    const path = `/api/v1/train/${running.training_run_id}`;
    expect((await service.call('DELETE', path)).body.error.code).toBe('run_not_terminal');
    await service.call('POST', `${path}/cancel`);
    await ended(running.training_run_id);
    expect((await service.call('DELETE', path)).body).toEqual({ training_run_id: running.training_run_id });
    expect((await service.call('GET', path)).status).toBe(404);
    const { body } = await service.call('GET', `/api/v1/trajectories?training_run_id=${running.training_run_id}`);
    expect(body.items).toEqual([]);
    expect(readdirSync(join(service.folder, 'checkpoints'))).not.toContain(running.training_run_id);
  });

  it('gives the same result with the same seed', async () => {
    const curve = async () => {
      const { training_run_id: id } = await start({ options: { ...quick, seed: 42 } });
      await ended(id);
      return (await get(`${id}/step/trainer-reward-by-step`)).trainer_rewards;
    };
    expect(await curve()).toEqual(await curve());
  });

  it('lists its options for each model, with the defaults for a benchmark', async () => {
    const { bench_id, models } = await get(`options?bench_id=${benchId}&base_model_slug=benchtop/tutor-base`);
    expect([bench_id, models.length, models[0].base_model_slug]).toEqual([benchId, 1, 'benchtop/tutor-base']);
    const { learning_rate, num_steps } = models[0].options;
    const fixed = { type: 'number', min: 1e-6, max: 1, default: 0.01, choices: null, default_kind: 'fixed' };
    expect(learning_rate).toMatchObject(fixed);
    expect(num_steps).toMatchObject({ default_kind: 'computed', default: expect.any(Number) });
    const { body: anything } = await service.call('GET', '/api/v1/train/options');
    expect([anything.bench_id, anything.models.length]).toEqual([null, 5]);
    expect((await service.call('GET', '/api/v1/train/options?bench_id=unknown')).status).toBe(404);
  });
});

describe('a deployment', () => {
  let checkpointId: string;
  let runId: string;
  beforeAll(async () => {
    const run = await start();
    runId = run.training_run_id;
    await ended(runId);
    checkpointId = await checkpointOf(runId);
  });

  it('is started once per Idempotency-Key', async () => {
    const start = async (role: string) => {
      const request = { checkpoint_id: checkpointId, model_slug: 'deployed-once', role };
      return (await service.call('POST', '/api/v1/deploy', request, { 'Idempotency-Key': 'deploy-once' })).body;
    };
    const { deployment_id } = await start('test');
    expect((await start('test')).deployment_id).toBe(deployment_id);
    expect((await start('production')).error.code).toBe('idempotency_key_reused');
  });

  it('is merged, deployed, active, and answers under its slug and at its own address', async () => {
    const request = { checkpoint_id: checkpointId, model_slug: 'Opposite-1', role: 'production' };
    const { body: fresh } = await service.call('POST', '/api/v1/deploy', request);
    expect(fresh).toMatchObject({ status: 'PENDING', model_slug: 'opposite-1', model_id: null, updated_at: null });
    expect(fresh).toMatchObject({ base_model_slug: null, checkpoint_step: null, is_active: false });
    expect(fresh).toMatchObject({ completed_at: null, failure: null });
    const path = `/api/v1/deploy/${fresh.deployment_id}`;
    const done = await until(
      async () => (await service.call('GET', path)).body,
      ({ status }) => status === 'DEPLOYED',
    );
    expect(done).toMatchObject({ is_active: true, base_model_slug: 'benchtop/tutor-base', checkpoint_step: 4 });
    expect(done.model_id).toMatch(/^model_/);
    expect(Date.parse(done.completed_at)).toBeGreaterThanOrEqual(Date.parse(done.created_at));
    expect((await ask('opposite-1')).body.choices[0].message.role).toBe('assistant');
    const own = await ask('whatever', new URL(done.playground_endpoint_url).pathname);
    expect(own.body.model).toBe(fresh.deployment_id);
  });

  it('is replaced by the next one of its slug, and restored by promotion, with its first completion time', async () => {
    const first = await deployed(checkpointId, 'shared');
    const second = await deployed(checkpointId, 'shared');
    const byId = async (id: string) => (await service.call('GET', `/api/v1/deploy/${id}`)).body;
    expect(second.model_slug_id).toBe(first.model_slug_id);
    expect([(await byId(first.deployment_id)).is_active, second.is_active]).toEqual([false, true]);
    const { body: promoted } = await service.call('POST', `/api/v1/deploy/${first.deployment_id}/promote`);
    expect(promoted).toMatchObject({ is_active: true, completed_at: first.completed_at, role: 'production' });
    expect((await byId(second.deployment_id)).is_active).toBe(false);
    const { body: idle } = await service.call('POST', `/api/v1/deploy/${first.deployment_id}/unpromote`);
    expect(idle).toMatchObject({ is_active: false, role: 'test', completed_at: first.completed_at });
    const refused = await ask('shared');
    // Waiting does not help: no client is to ask again.
    expect([refused.status, refused.body.error.code]).toEqual([409, 'model_not_ready']);
    // Both are named: the last one was just taken out.
    const named = [first, second].map(({ deployment_id: id }) => String.raw`${id} \([^()]+ step 4\)`);
    expect(refused.body.error.message).toMatch(new RegExp(String.raw`under its id: ${named.join(', ')}\.$`));
  });

  it('with the role of a test answers by id only', async () => {
    const { deployment_id, is_active } = await deployed(checkpointId, 'trial', 'test');
    expect(is_active).toBe(false);
    expect((await ask('trial')).status).toBe(409);
    expect((await ask(deployment_id)).status).toBe(200);
  });

  it('fails if its checkpoint is gone, and says so', async () => {
    const run = await start();
    await ended(run.training_run_id);
    const lost = await checkpointOf(run.training_run_id);
    rmSync(join(service.folder, 'checkpoints', run.training_run_id), { recursive: true });
    const failed = await deployed(lost, 'lost');
    expect(failed).toMatchObject({ status: 'FAILED', is_active: false, model_id: null });
    expect(failed.failure).toMatchObject({ type: 'dependency_error', code: 'weights_missing' });
    expect(failed.failure.context).toMatchObject({ stage: 'merge', checkpoint_id: lost });
    const refused = await service.call('POST', `/api/v1/deploy/${failed.deployment_id}/promote`);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'deployment_not_ready']);
  });

  it('fails if its checkpoint is damaged', async () => {
    const run = await start({ options: { ...quick, seed: 78 } });
    await ended(run.training_run_id);
    const damaged = await checkpointOf(run.training_run_id);
    truncateSync(join(service.folder, 'checkpoints', run.training_run_id, '4.weights'), 100);
    const { status, failure } = await deployed(damaged, 'damaged');
    expect([status, failure.code, failure.context.stage]).toEqual(['FAILED', 'weights_corrupt', 'merge']);
  });

  it('fails if its probe gets no answer', async () => {
    const run = await start({ options: { ...quick, seed: 79 } });
    await ended(run.training_run_id);
    const silent = await checkpointOf(run.training_run_id);
    // A complete file of weights that are not numbers.
    const path = join(service.folder, 'checkpoints', run.training_run_id, '4.weights');
    const { weights, ...header } = unpackCheckpoint(readFileSync(path));
    const hash = writeDurably(path, packCheckpoint({ ...header, weights: weights.fill(Number.NaN) }));
    const database = new DatabaseSync(join(service.folder, 'benchtop.db'));
    database.prepare('update checkpoints set weights_hash = ? where checkpoint_id = ?').run(hash, silent);
    database.close();
    const { status, failure } = await deployed(silent, 'silent');
    expect([status, failure.code, failure.context.stage]).toEqual(['FAILED', 'probe_failed', 'deploy']);
  });

  it('that loses its file while it serves answers with its own error', async () => {
    const { deployment_id } = await deployed(checkpointId, 'vanishing');
    const folder = service.folder;
    // Another process: it is no longer in memory.
    await service.stop();
    const again = await startService({ dataFolder: folder });
    rmSync(join(folder, 'deployments', deployment_id, 'serving.weights'));
    const body = { model: 'vanishing', messages: [{ role: 'user', content: 'hi' }], max_tokens: 2 };
    const answer = await again.call('POST', '/v1/chat/completions', body);
    expect([answer.status, answer.body.error.code]).toEqual([500, 'internal_error']);
    expect(Object.keys(answer.body.error)).toEqual(['message', 'type', 'param', 'code']);
    await again.stop();
    service = await startService({ dataFolder: folder });
    const { body: after } = await service.call('GET', `/api/v1/deploy/${deployment_id}`);
    expect([after.status, after.failure.code, after.is_active]).toEqual(['FAILED', 'weights_missing', false]);
  });

  it('is removed with its files, and no other answers for it', async () => {
    const { deployment_id } = await deployed(checkpointId, 'leaving');
    expect(readdirSync(join(service.folder, 'deployments'))).toContain(deployment_id);
    const { body } = await service.call('DELETE', `/api/v1/deploy/${deployment_id}`);
    expect(body).toEqual({ deployment_id, row_deleted: true });
    expect(readdirSync(join(service.folder, 'deployments'))).not.toContain(deployment_id);
    expect((await service.call('GET', `/api/v1/deploy/${deployment_id}`)).body.error.code).toBe('resource_not_found');
    expect((await ask('leaving')).body.error.code).toBe('model_not_found');
  });

  it('is listed by status and counted', async () => {
    const { body: failed } = await service.call('GET', '/api/v1/deploy?status=FAILED');
    expect(failed.items.length).toBeGreaterThan(0);
    for (const { status } of failed.items) expect(status).toBe('FAILED');
    const { body: all } = await service.call('GET', '/api/v1/deploy?limit=200&sort=model_slug&order=asc');
    const slugs = all.items.map(({ model_slug }: { model_slug: string }) => model_slug);
    expect(slugs).toEqual([...slugs].sort());
    const { body: summary } = await service.call('GET', '/api/v1/deploy/summary');
    expect(summary.total).toBe(all.items.length);
    expect(summary.by_status.FAILED).toBe(failed.items.length);
  });

  it.each([
    [{ model_slug: 'two words' }, 422, 'model_slug'],
    [{ model_slug: 'x'.repeat(33) }, 422, 'model_slug'],
    [{ role: 'hero' }, 422, 'role'],
    [{ checkpoint_id: 'ckpt_unknown' }, 404, null],
  ])('is refused if invalid: %j', async (change, status, param) => {
    const body = { checkpoint_id: checkpointId, model_slug: 'fine', role: 'test', ...change };
    const answer = await service.call('POST', '/api/v1/deploy', body);
    expect([answer.status, answer.body.error.param]).toEqual([status, param]);
  });

  it('of a checkpoint is evaluated as that checkpoint', async () => {
    const body = { display_name: 'after', checkpoint_id: checkpointId };
    const { body: started } = await service.call('POST', `/api/v1/eval/${benchId}/start`, body);
    const run = await until(
      async () => (await service.call('GET', `/api/v1/eval/${started.eval_run_id}`)).body,
      ({ status }) => status === 'completed',
    );
    expect(run).toMatchObject({ parent_checkpoint_id: checkpointId, training_run_id: runId, step: 4 });
  });
});
