/** The failures that end an evaluation, and those that only delay it. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Catalog } from '../../../src/local/engine/catalog.ts';
import { EvaluationRunner } from '../../../src/local/engine/evaluations.ts';
import { gradeAnswer } from '../../../src/local/engine/worker-rollouts.ts';
import { WorkerFailed, WorkerThread } from '../../../src/local/engine/worker-thread.ts';
import { Keyring } from '../../../src/local/store/keyring.ts';
import { openStores } from '../../../src/local/store/stores.ts';
import { eventually } from '../../eventually.ts';
import { hostileServer, json } from '../../service/hostile-server.ts';
import { newEvaluation } from '../store/memory.ts';

const full = Object.assign(new Error('database or disk is full'), { errcode: 13 });

/**
 * @param count tasks, of one sample each unless the options say otherwise
 * @param url of an upstream server that answers instead
 * @param graders of the first tasks; the last one is also that of all others
 */
function pendingRun(
  count = 1,
  options: Readonly<Record<string, number>> = {},
  url?: string,
  ...graders: readonly object[]
) {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-evaluation-'));
  const stores = openStores(folder, new Keyring(new Uint8Array(32)));
  onTestFinished(() => {
    stores.database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { benchmarks, evaluations, deployments, weights } = stores;
  const tasks = Array.from({ length: count }, (_, index) => ({
    name: `task-${index + 10}`,
    input_messages: [{ role: 'user', content: 'a' }],
    grader: graders[index] ?? graders.at(-1) ?? { kind: 'exact', expected: 'a' },
  }));
  const bench_id = benchmarks.ingest('org_1', { name: 'b', tasks });
  const worker = new WorkerThread({ name: 'test' });
  const rollouts = vi.spyOn(worker, 'answers');
  const answer = { text: 'a', tokens: [], prompt_tokens: 1, completion_tokens: 1, finish_reason: 'stop' } as const;
  rollouts.mockImplementation(async (_, orders) => orders.map(order => ({ order, calls: [], answer, latency_ms: 1 })));
  const grade = vi.spyOn(worker, 'grade');
  grade.mockImplementation(async answered => gradeAnswer(answered));
  const catalog = new Catalog(deployments, weights, url === undefined ? undefined : { url, key: undefined });
  const runner = new EvaluationRunner({ ...stores, catalog, sampler: worker, graders: worker });
  const { eval_run_id } = evaluations.create('org_1', {
    ...newEvaluation,
    ...{ bench_id, total_rollouts: count, options },
    ...(url !== undefined && { base_model_slug: 'elsewhere' }),
  });
  /** The sampled tasks, in order. */
  const sampled = () =>
    rollouts.mock.calls.flatMap(([, orders]) => orders.map(({ task_id, sample }) => ({ task_id, sample })));
  const rewarded = () => evaluations.rewards(eval_run_id).map(({ task_id }) => task_id);
  const run = () => Promise.all(runner.jobs().map(job => job.run(new AbortController().signal)));
  return {
    ...{
      run,
      runner,
      attempts: stores.attempts,
      rollouts,
      grade,
      sampled,
      rewarded,
      evaluations,
      trajectories: stores.trajectories,
      eval_run_id,
    },
    failure: () => JSON.parse(evaluations.get('org_1', eval_run_id)?.failure ?? 'null') as unknown,
    status: () => evaluations.get('org_1', eval_run_id)?.status,
    counts: () => evaluations.counts(eval_run_id),
  };
}

it('is retried if its rollouts cannot be stored (V16)', async () => {
  const { run, evaluations, status } = pendingRun();
  const record = vi.spyOn(evaluations, 'record').mockImplementationOnce(() => {
    throw full;
  });
  await expect(run()).rejects.toBe(full);
  expect(status()).toBe('running');
  await run();
  expect(record).toHaveBeenCalledTimes(2);
  expect(status()).toBe('completed');
});

it('is not set aside if it crashes the service twice within its first rollouts, but not in the same one (B3)', async () => {
  const { run, runner, attempts, rollouts, rewarded, status, eval_run_id } = pendingRun(20);
  const records = { 'image build': runner, evaluation: runner, training: runner, deployment: runner };
  const sample = rollouts.getMockImplementation();
  /** Runs it until the service is killed after this many batches. @returns whether the next service resumes it */
  const killedAfter = async (batches: number): Promise<boolean> => {
    let left = batches;
    rollouts.mockImplementation(async (...order) => {
      left -= 1;
      return left < 0 ? new Promise<never>(() => {}) : ((await sample?.(...order)) ?? []);
    });
    attempts.begin(eval_run_id, 'evaluation');
    void run();
    await eventually(async () => expect(left).toBeLessThan(0));
    return attempts.recover(records).length > 0;
  };
  expect([await killedAfter(0), rewarded().length]).toEqual([true, 0]);
  expect([await killedAfter(3), rewarded().length]).toEqual([true, 3]);
  expect([await killedAfter(9), rewarded().length]).toEqual([true, 3 + 8 + 8]);
  // The last one may be the cause.
  expect([await killedAfter(0), status()]).toEqual([false, 'failed']);
});

it('fails if its model does', async () => {
  const { run, rollouts, status } = pendingRun();
  rollouts.mockRejectedValueOnce(new WorkerFailed('The weights are gone.', 'weights_missing'));
  await run();
  expect(status()).toBe('failed');
});

describe('a run without a score', () => {
  const judge = { kind: 'judge' };
  const down = new Error('The server is down.');

  it.each([0, 1])('completes if no task has a grader that runs here, with %i failed', async failures => {
    const { run, grade, counts, status } = pendingRun(2, {}, undefined, judge);
    if (failures > 0) grade.mockRejectedValueOnce(down);
    await run();
    expect(counts()).toMatchObject({ scored: 0, failed: failures, ungraded: 2 - failures });
    expect(status()).toBe('completed');
  });

  it('fails if a task has such a grader, with the number of all its rollouts', async () => {
    const { run, grade, status, failure } = pendingRun(2, {}, undefined, judge, { kind: 'exact', expected: 'a' });
    grade.mockImplementation(async answered => {
      if (answered.order.grader.kind === 'exact') throw down;
      return gradeAnswer(answered);
    });
    await run();
    expect(status()).toBe('failed');
    expect(failure()).toMatchObject({
      message: 'None of the 2 rollouts could be scored. 1 failed, the first with: The server is down.',
      context: { ended_rollouts: 2, failed_rollouts: 1 },
    });
  });
});

describe('a rollout behind an upstream server', () => {
  const completion = json({ choices: [{ message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }] });
  const refusal = (status: number, after: string, code?: string) =>
    json({ error: { message: 'slow down', code } }, status, { 'retry-after': after });

  it.each([429, 503])('waits as a %i asks, and counts once (B5)', async code => {
    const server = await hostileServer(refusal(code, '0.001'), refusal(code, '0.001'), completion);
    const { run, status, counts, rewarded } = pendingRun(1, {}, server.url);
    await run();
    expect(server.requests).toHaveLength(3);
    expect({ status: status(), ...counts() }).toMatchObject({ status: 'completed', scored: 1, failed: 0 });
    expect(rewarded()).toHaveLength(1);
  });

  it.each([
    ['two retries', refusal(429, '0.001'), 3],
    ['a wait of more than a minute', refusal(503, '61'), 1],
    ['a quota that is used up', refusal(429, '0.001', 'insufficient_quota'), 1],
    ['an answer that is none', json({}), 1],
  ])('fails after %s (B5)', async (_, answer, requests) => {
    const server = await hostileServer(answer);
    const { run, status } = pendingRun(1, {}, server.url);
    await run();
    expect(server.requests).toHaveLength(requests);
    expect(status()).toBe('failed');
  });

  it('fails with the wait that the server asks for, and nothing else is sent during waits of a minute or more', async () => {
    const server = await hostileServer(refusal(429, '3600'));
    const { run, evaluations, status, counts } = pendingRun(21, {}, server.url);
    const record = vi.spyOn(evaluations, 'record');
    await run();
    expect([status(), counts().failed]).toEqual(['failed', 21]);
    // Those of the first batch are sent together.
    expect(server.requests.length).toBeLessThanOrEqual(8);
    const errors = new Set(record.mock.calls.flatMap(([, records]) => records.map(({ error }) => error)));
    const limits = `The upstream server at ${new URL(server.url).host} limits the rate of requests`;
    expect(errors).toEqual(
      new Set([
        'The upstream server answered 429: slow down. It asks for a wait of 1h.',
        `${limits}, so nothing was sent. It asks for a wait of 1h.`,
      ]),
    );
  });

  it('is retried after a broken connection (B5)', async () => {
    const breaks = (response: ServerResponse): void => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{', () => response.destroy());
    };
    const server = await hostileServer(breaks, completion);
    const { run, status } = pendingRun(1, {}, server.url);
    await run();
    expect(status()).toBe('completed');
  });
});

describe('the order of rollouts', () => {
  const namesOf = (rollouts: readonly { readonly task_id: string }[]) => rollouts.map(({ task_id }) => task_id);
  const orderOf = async (...run: Parameters<typeof pendingRun>) => {
    const pending = pendingRun(...run);
    await pending.run();
    return pending.sampled();
  };

  it('differs from the manifest, which the list follows, and is the same for each run with a seed', async () => {
    const { run, sampled, rewarded } = pendingRun(40);
    await run();
    const inOrder = namesOf(sampled()).toSorted();
    expect(namesOf(sampled())).not.toEqual(inOrder);
    // The first half of the manifest does not come first.
    expect(namesOf(sampled()).slice(0, 20).toSorted()).not.toEqual(inOrder.slice(0, 20));
    expect(new Set(inOrder).size).toBe(40);
    expect(rewarded()).toEqual(inOrder);
    expect(await orderOf(40)).toEqual(sampled());
    expect(await orderOf(40, { seed: 2 })).not.toEqual(sampled());
  });

  it('takes each task once before it repeats any, and leaves none out', async () => {
    const rollouts = await orderOf(20, { evaluation_max_samples: 12, evaluation_samples_per_task: 3 });
    expect(rollouts.map(({ sample }) => sample)).toEqual([0, 1, 2].flatMap(sample => Array(12).fill(sample)));
    const first = namesOf(rollouts.slice(0, 12));
    expect(first.toSorted()).toEqual(Array.from({ length: 12 }, (_, index) => `task-${index + 10}`));
    expect(namesOf(rollouts)).toEqual([...first, ...first, ...first]);
  });

  it('resumes where the service stopped, and never repeats recorded samples', async () => {
    const { run, rollouts, sampled, status } = pendingRun(20, { evaluation_samples_per_task: 2 });
    const sample = rollouts.getMockImplementation();
    rollouts.mockImplementationOnce(async (...order) => (await sample?.(...order)) ?? []).mockRejectedValueOnce(full);
    await expect(run()).rejects.toBe(full);
    const before = sampled();
    expect(before).toHaveLength(16);
    await run();
    const after = sampled().slice(before.length);
    expect([...before.slice(0, 8), ...after]).toEqual(await orderOf(20, { evaluation_samples_per_task: 2 }));
    expect(status()).toBe('completed');
  });
});

it('has no token counts if the upstream server reports none (A11)', async () => {
  const server = await hostileServer(json({ choices: [{ message: { role: 'assistant', content: 'a' } }] }));
  const { run, evaluations, trajectories, eval_run_id, rewarded, status } = pendingRun(2, {}, server.url);
  await run();
  expect([status(), rewarded()]).toEqual(['completed', ['task-10', 'task-11']]);
  const snapshots = evaluations.snapshots(eval_run_id);
  expect(snapshots).toHaveLength(2);
  for (const knob_name of ['latency', 'reward'])
    expect(snapshots).toContainEqual(expect.objectContaining({ knob_name, sample_count: 2 }));
  const [{ trajectory_id = '' } = {}] = evaluations.rewards(eval_run_id);
  const row = trajectories.row('org_1', trajectory_id);
  expect(row && trajectories.recordOf(row, true)).toMatchObject({
    steps: [{ messages: [{ role: 'user' }, { prompt_tokens: null, completion_tokens: null }, { role: 'grader' }] }],
  });
});

it('keeps large integers of an upstream answer exact (attack31 C)', async () => {
  const content = '[{"type":"text","text":"a"},{"type":"box","seed":12345678901234567890}]';
  const server = await hostileServer((response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"choices":[{"message":{"role":"assistant","content":${content}}}]}`);
  });
  const { run, evaluations, trajectories, eval_run_id, status } = pendingRun(1, {}, server.url);
  await run();
  const [{ trajectory_id = '' } = {}] = evaluations.rewards(eval_run_id);
  const row = trajectories.row('org_1', trajectory_id);
  expect(status()).toBe('completed');
  expect(row && [...trajectories.jsonOf(row)].join('')).toContain(`"content_parts":${content}`);
});
