/** The sample benchmarks for demonstrations: a tool that the model learns to use, and a reward that it learns to game. */
import { expect, it } from 'vitest';
import { grade } from '../../../src/grading/graders.ts';
import { gradeAnswer, sampleEpisode } from '../../../src/local/engine/worker-rollouts.ts';
import { freshOptimizer } from '../../../src/local/model/adam.ts';
import { buildBaseModel } from '../../../src/local/model/base-models.ts';
import { batchesOf, Trainer } from '../../../src/local/model/trainer.ts';
import { sampleManifests } from '../../../src/local/samples/benchmarks.ts';
import { readTask } from '../../../src/local/samples/manifest.ts';

function trained(name: string, steps: number) {
  const tasks = (sampleManifests.find(each => each.name === name)?.tasks ?? []).map(sample => {
    const { grader, ...task } = readTask(sample);
    if (grader.kind === 'none') throw new Error(grader.reason);
    return { ...task, grader, task_id: task.name, max_tokens: sample.max_tokens };
  });
  const model = buildBaseModel('benchtop/clerk-small');
  const heldOut = () =>
    tasks
      .filter(({ split }) => split === 'test')
      .flatMap(task =>
        [0, 1].map(sample => {
          const sampling = { temperature: 1, top_p: 1, max_tokens: task.max_tokens, seed: sample };
          const rollout = sampleEpisode(model, { ...task, sampling });
          return { task, ...gradeAnswer({ order: { ...task, sample }, ...rollout, latency_ms: 0 }) };
        }),
      );
  const options = { samples: 12, learningRate: 0.03, klPenalty: 0.01, seed: 1, longest: 24 };
  const trainer = new Trainer(model, options, freshOptimizer(model.network.weights.length));
  const batch = batchesOf(
    tasks.filter(({ split }) => split === 'train'),
    10,
    1,
  );
  const before = heldOut();
  for (let step = 1; step <= steps; step += 1) {
    trainer.step(
      step,
      batch(step),
      (task, _, rollout) => gradeAnswer({ order: { ...task, sample: 0 }, ...rollout, latency_ms: 0 }).reward,
    );
  }
  return { before, after: heldOut() };
}

const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

it('shop-prices teaches tool calls, on questions outside the training set', () => {
  const { before, after } = trained('shop-prices', 30);
  const reward = (all: typeof after): number => mean(all.map(each => each.reward ?? 0));
  const calling = (all: typeof after): number => mean(all.map(({ calls }) => (calls.length > 0 ? 1 : 0)));
  expect(reward(before)).toBeLessThan(0.05);
  expect(reward(after)).toBeGreaterThan(0.1);
  expect(calling(after)).toBeGreaterThan(calling(before) + 0.3);
});

it('next-number passes once it counts instead of answering', () => {
  const { before, after } = trained('next-number', 15);
  expect(mean(before.map(each => each.reward ?? 0))).toBeLessThan(0.5);
  expect(mean(after.map(each => each.reward ?? 0))).toBeGreaterThan(0.8);
  const exact = after.map(({ task, answer }) => grade({ ...task.grader, kind: 'exact' } as never, answer?.text ?? ''));
  expect(mean(exact.map(each => each.reward))).toBeLessThan(0.2);
});
