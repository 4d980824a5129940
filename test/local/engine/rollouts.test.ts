/** Rollouts of an evaluation: their seeds, their latency, and that a run repeats. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { orderOf } from '../../../src/local/engine/rollouts.ts';
import { answerAll } from '../../../src/local/engine/worker-rollouts.ts';
import { buildBaseModel } from '../../../src/local/model/base-models.ts';
import { readTask } from '../../../src/local/samples/manifest.ts';
import { startService, type TestService, until } from '../server/running.ts';

const model = 'benchtop/tutor-base';
const taskOf = (name: string) =>
  readTask({
    name,
    split: 'test',
    input_messages: [{ role: 'user', content: 'tell me about the sea' }],
    grader: { kind: 'word_share', letter: 't' },
  });

describe('rollouts', () => {
  const seeded = { seed: 1, longest: undefined };
  const seedOf = (name: string, sample: number, seed = 1) =>
    orderOf({ task: taskOf(name), sample }, { ...seeded, seed }).sampling.seed;

  it('have a seed made of task, sample and run (V43)', () => {
    expect(seedOf('a', 0)).toBe(seedOf('a', 0));
    expect(new Set([seedOf('a', 0), seedOf('b', 0), seedOf('a', 1), seedOf('a', 0, 2)]).size).toBe(4);
  });

  it('stop between two answers if they are no longer needed', async () => {
    const orders = [0, 1, 2].map(sample => orderOf({ task: taskOf('a'), sample }, seeded));
    let looks = 0;
    const answers = await answerAll(buildBaseModel(model), orders, async () => ++looks > 2);
    expect(answers.map(({ order }) => order.sample)).toEqual([0, 1]);
  });

  it('have the latency of their own answer: together no more than the elapsed time (V7)', async () => {
    const orders = Array.from({ length: 12 }, (_, sample) => orderOf({ task: taskOf('a'), sample }, seeded));
    const loaded = buildBaseModel(model);
    const started = performance.now();
    const answers = await answerAll(loaded, orders, async () => false);
    const passed = performance.now() - started;
    expect(answers.map(({ order }) => order.sample)).toEqual(orders.map(({ sample }) => sample));
    expect(answers.reduce((sum, { latency_ms }) => sum + latency_ms, 0)).toBeLessThanOrEqual(passed);
  });
});

describe('an evaluation', () => {
  async function fresh(): Promise<TestService> {
    const service = await startService();
    onTestFinished(() => service.end());
    return service;
  }

  async function evaluated(service: TestService, options: object) {
    const get = async (path: string) => (await service.call('GET', `/api/v1/${path}`)).body;
    const benchId = await service.readyBenchmark('t-words');
    const body = { bench_id: benchId, base_model_slug: model, options };
    const started = (await service.call('POST', '/api/v1/eval', body)).body;
    const id: string = started.eval_run_id;
    const run = await until(
      () => get(`eval/${id}`),
      ({ status }) => status === 'completed',
    );
    const rows: { task_id: string; sample: number; reward: number; trajectory_id: string }[] = (
      await get(`trajectories?eval_run_id=${id}&limit=200`)
    ).items;
    const answers = await Promise.all(
      rows.map(async ({ trajectory_id, task_id, sample }) => {
        const { steps } = await get(`trajectories/${trajectory_id}`);
        const { content, completion_tokens } = steps[0].messages.at(-2);
        return { text: `${task_id} ${sample} ${content}`, tokens: Number(completion_tokens) };
      }),
    );
    const texts = answers.map(({ text }) => text).sort();
    const tokens = answers.map(each => each.tokens);
    return { id, run, rows, texts, tokens, progress: await get(`eval/${id}/progress`) };
  }

  it('has steps with tool calls and real results, and samples paired with those of another run', async () => {
    const service = await fresh();
    const get = async (path: string) => (await service.call('GET', `/api/v1/${path}`)).body;
    const benchId = await service.readyBenchmark('shop-prices');
    const options = { evaluation_samples_per_task: 2 };
    const body = { bench_id: benchId, base_model_slug: 'benchtop/clerk-small', options };
    const stepsByRollout = async () => {
      const { eval_run_id: id } = (await service.call('POST', '/api/v1/eval', body)).body;
      await until(
        () => get(`eval/${id}`),
        ({ status }) => status === 'completed',
      );
      const { items } = await get(`trajectories?eval_run_id=${id}&limit=200`);
      const read = await Promise.all(
        items.map(async ({ trajectory_id }: { trajectory_id: string }) => get(`trajectories/${trajectory_id}`)),
      );
      return new Map(read.map(({ task_id, sample, steps, grader }) => [`${task_id} ${sample}`, { steps, grader }]));
    };
    const first = await stepsByRollout();
    expect(await stepsByRollout()).toEqual(first);
    const rollouts = [...first.values()];
    expect(rollouts.every(({ grader }) => grader.kind === 'exact')).toBe(true);
    const messages = rollouts.flatMap(({ steps }) => steps.flatMap((step: { messages: object[] }) => step.messages));
    const results = messages.filter(({ role }) => role === 'tool');
    expect(results.map(({ tool_response }) => tool_response)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^\w+: \w+$/), expect.stringMatching(/^there is no |needs two/)]),
    );
    expect(results.every(({ is_error, tool_response }) => is_error === !/^\w+(: \w+)?$/.test(tool_response))).toBe(
      true,
    );
    expect(messages.filter(({ finish_reason }) => finish_reason === 'tool_calls').length).toBeGreaterThan(0);
  });

  it('gives the same rollouts on every machine, and others with another seed (C23)', async () => {
    const [here, elsewhere] = [await fresh(), await fresh()];
    const most = { evaluation_max_samples: 10 };
    const first = await evaluated(here, most);
    const again = await evaluated(here, most);
    const third = await evaluated(elsewhere, { ...most, seed: 1 });
    expect(again.texts).toEqual(first.texts);
    expect(third.texts).toEqual(first.texts);
    expect([again.run.reward_mean, third.run.reward_mean]).toEqual([first.run.reward_mean, first.run.reward_mean]);
    const other = await evaluated(here, { ...most, seed: 2 });
    expect(other.texts).not.toEqual(first.texts);
    expect(other.run.options).toMatchObject({ seed: 2, evaluation_samples_per_task: 1 });
  });

  it('samples each task as often as requested (V43)', async () => {
    const service = await fresh();
    const { id, run, rows, texts, tokens, progress } = await evaluated(service, {
      evaluation_max_samples: 5,
      evaluation_samples_per_task: 3,
    });
    expect(run.options).toEqual({ evaluation_max_samples: 5, evaluation_samples_per_task: 3, seed: 1 });
    expect(progress).toMatchObject({ total_rollouts: 15, terminal_rollouts: 15 });
    const byTask = Map.groupBy(rows, ({ task_id }) => task_id);
    expect([...byTask.values()].map(each => each.map(({ sample }) => sample).sort())).toEqual(
      Array.from({ length: 5 }, () => [0, 1, 2]),
    );
    expect(new Set(texts).size).toBe(15);
    // Recomputes the results of the service from the trajectories (B1).
    const rewards = rows.map(({ reward }) => reward);
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    expect(run.reward_mean).toBeCloseTo(mean, 12);
    expect(progress.live).toMatchObject({ scored_rollouts: 15, failed_rollouts: 0, ungraded_rollouts: 0 });
    expect(progress.live.final_reward_mean).toBeCloseTo(mean, 12);
    const { snapshots } = (await service.call('GET', `/api/v1/eval/${id}/rollout-statistics`)).body;
    const samplesOf = (knob: string): number[] =>
      snapshots
        .filter(({ knob_name }: { knob_name: string }) => knob_name === knob)
        .flatMap(({ samples }: { samples: number[] }) => samples);
    expect(samplesOf('reward').sort()).toEqual(rewards.toSorted());
    expect(samplesOf('completion_tokens').sort()).toEqual(tokens.toSorted());
    expect(samplesOf('latency')).toHaveLength(15);
    const { trajectory_rewards } = (await service.call('GET', `/api/v1/eval/${id}/trajectory-rewards`)).body;
    expect(trajectory_rewards.map(({ reward }: { reward: number }) => reward).sort()).toEqual(rewards.toSorted());
    const { body } = await service.call('GET', `/api/v1/eval/options?bench_id=${run.bench_id}`);
    const { evaluation_samples_per_task, seed } = body.models[0].options;
    expect([evaluation_samples_per_task, seed]).toMatchObject([
      { type: 'integer', min: 1, max: 64, default: 1, default_kind: 'fixed' },
      { type: 'integer', min: 0, default: 1, default_kind: 'fixed' },
    ]);
  });
});
