/**
 * Kills the local service at random points and restarts it: everything acknowledged is there, nothing is incomplete,
 * and work in progress resumes.
 */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPrng } from '../../../src/base/prng.ts';
import { Killable } from './killable.ts';

const service = new Killable();
let benchId: string;

beforeAll(async () => {
  await service.start();
  benchId = await service.readyBenchmark('t-words');
});
afterAll(() => service.end());

/** A number of delays up to `most` milliseconds, the first of them very short. */
function delays(seed: number, count: number, most: number): number[] {
  const { next } = createPrng(seed);
  return Array.from({ length: count }, (_, index) => (index === 0 ? 1 : Math.round(next() * most)));
}

const options = { num_steps: 12, train_batch_size: 4, samples_per_instance: 4, held_out_every: 2 };
const hasEnded = ({ status }: { status: string }) => ['succeeded', 'failed', 'cancelled'].includes(status);
const body = { bench_id: '', base_model_slug: 'benchtop/tutor-base', options };

async function train(): Promise<string> {
  const started = await service.call('POST', '/api/v1/train', { ...body, bench_id: benchId });
  return started?.body.training_run_id;
}

async function curve(runId: string): Promise<{ step: number; trainer_reward: number }[]> {
  const { trainer_rewards } = await service.until(`/api/v1/train/${runId}/step/trainer-reward-by-step`, () => true);
  return trainer_rewards;
}

/** An undisturbed run, and its last checkpoint. */
async function wholeRun() {
  const runId = await train();
  await service.until(`/api/v1/train/${runId}/progress`, hasEnded);
  const { items: checkpoints } = await service.until(
    `/api/v1/train/${runId}/checkpoints`,
    ({ items }) => items.length > 0,
  );
  return { runId, checkpointId: checkpoints.at(-1).checkpoint_id as string };
}

describe('training', () => {
  it('resumes from its last checkpoint, with the same curve as an undisturbed run', async () => {
    const undisturbed = await curve((await wholeRun()).runId);
    const runId = await train();
    let before = 0;
    let furthest = 0;
    for (const delay of delays(1, 4, 250)) {
      // A run that records nothing between two kills is set aside.
      const proceeds = ({ status, completed_steps }: { status: string; completed_steps: number }) =>
        completed_steps > furthest || hasEnded({ status });
      if (delay > 1) await service.until(`/api/v1/train/${runId}/progress`, proceeds);
      await service.killAfter(delay);
      furthest = Math.max(furthest, (await curve(runId)).length);
      const progress = await service.until(`/api/v1/train/${runId}/progress`, () => true);
      const steps = (await curve(runId)).map(({ step }) => step);
      // Never more steps than metrics, no gaps, and no losses except since the last checkpoint.
      expect(steps).toEqual(steps.map((_, index) => index + 1));
      expect(steps.length).toBeGreaterThanOrEqual(progress.completed_steps);
      const { items: checkpoints } = await service.until(`/api/v1/train/${runId}/checkpoints`, () => true);
      const committed = checkpoints.at(-1)?.step_index ?? 0;
      expect(committed).toBeGreaterThanOrEqual(before);
      expect(steps.length).toBeGreaterThanOrEqual(committed);
      before = committed;
    }
    const last = await service.until(`/api/v1/train/${runId}/progress`, hasEnded);
    expect(last).toMatchObject({ status: 'succeeded', completed_steps: 12 });
    expect(await curve(runId)).toEqual(undisturbed);
    const { items } = await service.until(`/api/v1/trajectories?training_run_id=${runId}&limit=200`, () => true);
    expect(items).toHaveLength(options.num_steps * options.train_batch_size * options.samples_per_instance);
    expect(service.files('checkpoints').filter(name => name.endsWith('.part'))).toEqual([]);
  });
});

describe('an evaluation', () => {
  it.each(delays(2, 3, 90))('killed after %i ms is resumed, and records each task once', async delay => {
    const started = await service.call('POST', `/api/v1/eval/${benchId}/start`, {
      display_name: `killed after ${delay}`,
      model_slug: 'benchtop/reader-large',
    });
    const runId = started?.body.eval_run_id;
    await service.killAfter(delay);
    const run = await service.until(
      `/api/v1/eval/${runId}`,
      ({ status }) => status === 'completed' || status === 'failed',
    );
    expect(run.status).toBe('completed');
    const { items } = await service.until(`/api/v1/trajectories?eval_run_id=${runId}&limit=200`, () => true);
    const tasks = (items as { task_id: string }[]).map(({ task_id }) => task_id);
    expect(new Set(tasks).size).toBe(tasks.length);
    const { total_rollouts } = await service.until(`/api/v1/eval/${runId}/progress`, () => true);
    expect(tasks).toHaveLength(total_rollouts);
  });
});

const manifest = {
  name: 'large',
  tasks: Array.from({ length: 2_000 }, (_, index) => ({
    name: `task-${index}`,
    split: 'test',
    input_messages: [{ role: 'user', content: `say ${index}` }],
    run_command: 'answer',
    grader: { kind: 'exact', expected: 'yes' },
  })),
};
const file = { path: 'data.bin', content_type: 'application/octet-stream', size_bytes: 8 * 1024 * 1024 };

async function allocate(size_bytes = file.size_bytes) {
  const allocated = await service.call('POST', '/api/v1/benchmarks/uploads', { files: [{ ...file, size_bytes }] });
  return allocated?.body as { bench_id: string; urls: { url: string }[] };
}

describe('an ingest', () => {
  it.each(delays(3, 3, 120))('killed after %i ms is complete, or has not happened', async delay => {
    const { bench_id, urls } = await allocate(0);
    const headers = { 'Content-Type': file.content_type };
    expect((await fetch(urls[0]?.url ?? '', { method: 'PUT', headers, body: '' })).status).toBe(200);
    const path = `/api/v1/benchmarks/${bench_id}`;
    const ingest = service.call('POST', `${path}/ingest`, manifest);
    await service.killAfter(delay);
    const acknowledged = (await ingest)?.status === 200;
    const found = await service.call('GET', path);
    if (found?.status === 404) {
      expect(acknowledged).toBe(false);
      expect((await service.call('POST', `${path}/ingest`, manifest))?.status).toBe(200);
    }
    const { images } = await service.until(`${path}/images`, () => true);
    expect(images).toHaveLength(manifest.tasks.length);
  });
});

describe('an upload', () => {
  it.each(delays(4, 3, 60))('killed after %i ms is complete or absent, and can be sent again', async delay => {
    const { bench_id, urls } = await allocate();
    const url = urls[0]?.url ?? '';
    const content = Buffer.alloc(file.size_bytes, 7);
    let acknowledged = false;
    const sending = request(url, { method: 'PUT', headers: { 'Content-Type': file.content_type } }, answer => {
      acknowledged = answer.statusCode === 200;
      answer.resume();
    });
    sending.on('error', () => {});
    sending.end(content);
    await service.killAfter(delay);
    const stored = service.files('uploads').filter(name => !name.endsWith('.json'));
    expect(stored.filter(name => name.endsWith('.part'))).toEqual([]);
    const path = `/api/v1/benchmarks/${bench_id}/ingest`;
    const small = { ...manifest, tasks: manifest.tasks.slice(0, 2) };
    const first = await service.call('POST', path, small);
    if (acknowledged) expect(first?.status).toBe(200);
    if (first?.status === 200) return;
    // The address still works, on another port.
    const again = new URL(url);
    again.port = new URL(service.baseUrl).port;
    const sent = await fetch(again, { method: 'PUT', headers: { 'Content-Type': file.content_type }, body: content });
    expect(sent.status).toBe(200);
    expect((await service.call('POST', path, small))?.status).toBe(200);
  });
});

describe('a deployment', () => {
  let checkpointId: string;
  beforeAll(async () => {
    ({ checkpointId } = await wholeRun());
  });
  const ask = (model: string) =>
    service.call('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 2 });
  const deploy = (model_slug: string) =>
    service.call('POST', '/api/v1/deploy', { checkpoint_id: checkpointId, model_slug, role: 'production' });
  const arrived = ({ status }: { status: string }) => status === 'DEPLOYED' || status === 'FAILED';

  it.each(delays(5, 3, 150))('killed after %i ms becomes active, and answers', async delay => {
    const slug = `killed-${delay}`;
    const id = (await deploy(slug))?.body.deployment_id;
    await service.killAfter(delay);
    const done = await service.until(`/api/v1/deploy/${id}`, arrived);
    expect(done.status).toBe('DEPLOYED');
    expect((await ask(slug))?.status).toBe(200);
    expect(service.files('deployments').filter(name => name.endsWith('.part'))).toEqual([]);
  });

  it.each(delays(6, 3, 8))('removed and killed after %i ms is gone, or unchanged', async delay => {
    const slug = `leaving-${delay}`;
    const id = (await deploy(slug))?.body.deployment_id;
    await service.until(`/api/v1/deploy/${id}`, arrived);
    const leaving = service.call('DELETE', `/api/v1/deploy/${id}`);
    await service.killAfter(delay);
    const acknowledged = (await leaving)?.status === 200;
    const found = await service.call('GET', `/api/v1/deploy/${id}`);
    if (acknowledged) expect(found?.status).toBe(404);
    const files = service.files('deployments').filter(name => name.startsWith(id));
    if (found?.status === 404) {
      expect(files).toEqual([]);
      expect((await ask(slug))?.status).toBe(404);
    } else {
      expect(found?.body.status).toBe('DEPLOYED');
      expect((await ask(slug))?.status).toBe(200);
    }
  });
});
