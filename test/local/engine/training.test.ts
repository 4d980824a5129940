/** A training run in the worker: its held-out tasks, its reports, and the errors that end it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TrainingEvent, TrainingOrder, TrainingTask } from '../../../src/local/engine/messages.ts';
import { trainingSplits } from '../../../src/local/engine/validation.ts';
import { NothingGraded, train } from '../../../src/local/engine/worker-training.ts';
import { sampleManifests } from '../../../src/local/samples/benchmarks.ts';
import { WeightFolder } from '../../../src/local/store/weight-folder.ts';

const taskOf = (task_id: string, grader: TrainingTask['grader']): TrainingTask => ({
  task_id,
  turns: [{ role: 'user', content: `say ${task_id}` }],
  grader,
  max_tokens: 2,
});
const right: TrainingTask['grader'] = { kind: 'regex', pattern: '' };
const wrong: TrainingTask['grader'] = { kind: 'exact', expected: 'an answer that has more than two words' };
/** Its expected value is not among its choices, so it cannot grade. */
const unusable: TrainingTask['grader'] = { kind: 'choice', choices: ['a', 'b'], expected: 'c' };

const usual = {
  num_steps: 1,
  train_batch_size: 2,
  samples_per_instance: 2,
  max_output_tokens_per_step: 2,
  learning_rate: 0.01,
  kl_penalty: 0.01,
  held_out_every: 1,
  seed: 1,
};

async function trained(order: Partial<TrainingOrder>, more: Partial<typeof usual> = {}) {
  const dataFolder = mkdtempSync(join(tmpdir(), 'benchtop-training-'));
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true }));
  const news: TrainingEvent[] = [];
  const whole: TrainingOrder = {
    dataFolder,
    runId: 'trn_1',
    model: { kind: 'base', slug: 'benchtop/tutor-base' },
    train: [taskOf('one', right), taskOf('two', wrong)],
    heldOut: [],
    heldOutSplit: 'test',
    options: { ...usual, ...more },
    from: null,
    ...order,
  };
  const error = await train(
    whole,
    each => news.push(each),
    async () => false,
  ).then(
    () => undefined,
    (failure: unknown) => failure,
  );
  return { news, error };
}

describe('a held-out mean (B2)', () => {
  it.each([
    ['the last ones wrong', [right, right, wrong, wrong, wrong], 0.4],
    ['the last ones right', [wrong, wrong, wrong, right, right], 0.4],
    ['half of them', Array.from({ length: 30 }, (_, index) => (index < 15 ? right : wrong)), 0.5],
  ])('is the mean of all known answers: %s', async (_, graders, mean) => {
    const heldOut = graders.map((grader, index) => taskOf(`task ${index}`, grader));
    const { news } = await trained({ heldOut });
    const points = news.filter(({ kind }) => kind === 'held-out');
    const samples = graders.length * (graders.length === 5 ? 16 : 4);
    const counts = { expected_samples: samples, completed_samples: samples, failed_samples: 0 };
    expect(points).toMatchObject([
      { step: 0, split: 'test', held_out_reward: mean, ...counts },
      { step: 1, split: 'test', held_out_reward: mean, ...counts },
    ]);
  });

  it('leaves out answers that could not be graded, and counts them', async () => {
    const heldOut = [taskOf('a', right), taskOf('b', wrong), taskOf('c', unusable), taskOf('d', right)];
    const { news } = await trained({ heldOut, heldOutSplit: 'validation' });
    expect(news.find(({ kind }) => kind === 'held-out')).toMatchObject({
      split: 'validation',
      held_out_reward: 2 / 3,
      expected_samples: 64,
      completed_samples: 48,
      failed_samples: 16,
    });
  });
});

describe('a step', () => {
  it('reports the mean reward of its graded rollouts, numbered by task, and its metrics (V45)', async () => {
    const tasks = [taskOf('one', right), taskOf('two', wrong), taskOf('three', unusable)];
    const { news } = await trained({ train: tasks }, { train_batch_size: 3, samples_per_instance: 4 });
    const step = news.find(each => each.kind === 'step');
    expect(step).toMatchObject({ reward: 0.5, diagnostics: { equal_groups: 1 } });
    const rollouts = step?.kind === 'step' ? step.rollouts : [];
    const byTask = Map.groupBy(rollouts, ({ task_id }) => task_id);
    expect(byTask.size).toBe(3);
    for (const each of byTask.values()) expect(each.map(({ sample }) => sample)).toEqual([0, 1, 2, 3]);
  });

  it('without any grade is skipped; several in a row end the run (V47)', async () => {
    const { news, error } = await trained({ train: [taskOf('one', unusable)] }, { num_steps: 20, held_out_every: 20 });
    expect(error).toBeInstanceOf(NothingGraded);
    const steps = news.filter(({ kind }) => kind === 'step');
    expect(steps).toHaveLength(5);
    expect(steps[0]).toMatchObject({ reward: null, diagnostics: null });
    // Every second step has the task that can be graded.
    const mixed = await trained(
      { train: [taskOf('one', unusable), taskOf('two', right)] },
      { num_steps: 20, held_out_every: 20, train_batch_size: 1 },
    );
    expect(mixed.error).toBeUndefined();
    expect(mixed.news.filter(each => each.kind === 'step' && each.reward === null)).toHaveLength(10);
  });
});

it('keeps counting ungraded steps after a resume (V47)', async () => {
  const train = [taskOf('one', unusable)];
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-training-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const before = await trained({ dataFolder: folder, train }, { num_steps: 3, held_out_every: 3 });
  const saved = before.news.find(each => each.kind === 'checkpoint');
  if (saved?.kind !== 'checkpoint') throw new Error('no checkpoint');
  const paths = new WeightFolder(folder);
  const from = {
    step: 3,
    weights: { path: paths.checkpoint('trn_1', 3), hash: saved.weights_hash },
    state: { path: paths.trainerState('trn_1', 3), hash: saved.state_hash },
    ungraded: 3,
  };
  const { news, error } = await trained({ dataFolder: folder, train, from }, { num_steps: 20, held_out_every: 20 });
  expect(error).toBeInstanceOf(NothingGraded);
  expect(news.filter(({ kind }) => kind === 'step')).toHaveLength(2);
});

describe('held-out tasks (V42)', () => {
  const named = (count: number) => Array.from({ length: count }, (_, index) => ({ task_id: `task-${index}` }));

  it('are part of a large train split, and not trained on; the test split is left alone', () => {
    const all = named(100);
    const test = [{ task_id: 'a test task' }];
    const { train, heldOut, heldOutSplit } = trainingSplits(all, test);
    expect(heldOutSplit).toBe('validation');
    expect([...train, ...heldOut].map(({ task_id }) => task_id).sort()).toEqual(
      all.map(({ task_id }) => task_id).sort(),
    );
    expect(heldOut.length).toBeGreaterThan(15);
    expect(heldOut.length).toBeLessThan(40);
    // A task stays on its side when others are added.
    const more = trainingSplits([...all, ...named(200).slice(100)], test).heldOut;
    expect(heldOut.every(task => more.includes(task))).toBe(true);
  });

  it('are the test split if the train split is small', () => {
    const test = [{ task_id: 'a test task' }];
    expect(trainingSplits(named(20), test)).toEqual({ train: named(20), heldOut: test, heldOutSplit: 'test' });
  });

  it.each(sampleManifests.map(({ name, tasks }) => [name, tasks] as const))(
    'of %s are validation tasks',
    (_, tasks) => {
      const [train, test] = (['train', 'test'] as const).map(split =>
        tasks.filter(task => task.split === split).map(({ name }) => ({ task_id: name })),
      );
      expect(trainingSplits(train ?? [], test ?? []).heldOutSplit).toBe('validation');
    },
  );
});
