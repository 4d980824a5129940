/** The trainer: its gradient is that of its loss, it learns, and a run repeats exactly. */
import { describe, expect, it } from 'vitest';
import { freshOptimizer } from '../../../src/local/model/adam.ts';
import {
  packCheckpoint,
  packOptimizer,
  unpackCheckpoint,
  unpackOptimizer,
} from '../../../src/local/model/checkpoint-file.ts';
import { CorruptFileError } from '../../../src/local/model/container.ts';
import { Network } from '../../../src/local/model/network.ts';
import { Ngram } from '../../../src/local/model/ngram.ts';
import { PolicyModel } from '../../../src/local/model/policy.ts';
import { Vocabulary } from '../../../src/local/model/tokenizer.ts';
import { advantagesOf, batchOf, NothingGraded, Trainer, TrainingDiverged } from '../../../src/local/model/trainer.ts';

function smallModel(): PolicyModel {
  const vocabulary = Vocabulary.of(['red green blue say a colour']);
  const shares = { trigram: 0, bigram: 0.5, unigram: 0.5, cache: 0.1 };
  const ngram = Ngram.count(vocabulary.size, [vocabulary.encode('say a red green blue colour')], shares);
  return new PolicyModel('small', vocabulary, ngram, Network.initial({ vocabulary: vocabulary.size, hidden: 4 }, 7));
}

const tasks = ['say red', 'say green', 'say blue'].map(content => ({
  task_id: content,
  turns: [{ role: 'user', content }],
  max_tokens: 2,
}));
const options = { samples: 16, learningRate: 0.05, klPenalty: 0.01, seed: 3 };

function trainer(more: Partial<typeof options> = {}): Trainer {
  const model = smallModel();
  return new Trainer(model, { ...options, ...more }, freshOptimizer(model.network.weights.length));
}

/** Rewards the colour that the task names: only a model that reads the prompt can learn this. */
const colour = ({ task_id }: { task_id: string }, { text }: { text: string }): number =>
  text.startsWith(task_id.slice(4)) ? 1 : 0;

describe('the way back through the network', () => {
  it('has the slope that the difference of two losses has', () => {
    const model = smallModel();
    const { network } = model;
    for (let index = 0; index < network.output.length; index += 1) network.output[index] = Math.sin(index) / 3;
    const prompt = model.encode(tasks[0]?.turns ?? []);
    const said = [model.vocabulary.token('a')];
    const wanted = model.vocabulary.token('green');
    const loss = (): number => {
      const { logits } = model.predict(prompt, said, network.readPrompt(prompt));
      const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
      return Math.log(total) - (logits[wanted] ?? 0);
    };
    const { logits, activation } = model.predict(prompt, said, network.readPrompt(prompt));
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    const slope = logits.map((logit, token) => Math.exp(logit) / total - (token === wanted ? 1 : 0));
    const gradient = new Network(network.shape);
    const byRead = new Float64Array(network.shape.hidden);
    network.addGradient(gradient, activation, slope, byRead);
    network.addPromptGradient(gradient, prompt, byRead);
    const nudge = 1 / 64;
    for (let index = 0; index < network.weights.length; index += 7) {
      const was = network.weights[index] ?? 0;
      network.weights[index] = was + nudge;
      const above = loss();
      network.weights[index] = was - nudge;
      const below = loss();
      network.weights[index] = was;
      expect(gradient.weights[index]).toBeCloseTo((above - below) / (2 * nudge), 3);
    }
  });
});

describe('training', () => {
  it('raises the reward of answers that depend on what was asked', () => {
    const learner = trainer();
    const first = learner.step(1, tasks, colour);
    for (let step = 2; step < 150; step += 1) learner.step(step, tasks, colour);
    const last = learner.step(150, tasks, colour);
    expect(first).toBeLessThan(0.3);
    expect(last).toBeGreaterThan(0.9);
  });

  it('gives the same weights for the same seed, and others for another', () => {
    const weightsOf = (seed: number): Float32Array => {
      const learner = trainer({ seed });
      for (let step = 1; step <= 5; step += 1) learner.step(step, tasks, colour);
      return learner.model.network.weights;
    };
    expect(weightsOf(1)).toEqual(weightsOf(1));
    expect(weightsOf(1)).not.toEqual(weightsOf(2));
  });

  it('resumes from what it kept as if it had not stopped', () => {
    const whole = trainer();
    const half = trainer();
    for (let step = 1; step <= 3; step += 1) {
      whole.step(step, tasks, colour);
      half.step(step, tasks, colour);
    }
    const { slug: base_model_slug, network } = half.model;
    const weights = unpackCheckpoint(packCheckpoint({ base_model_slug, step: 3, weights: network.weights })).weights;
    const state = unpackOptimizer(packOptimizer(base_model_slug, half.optimizer));
    const resumed = new Trainer(smallModel().withWeights(weights), options, state);
    for (let step = 4; step <= 6; step += 1) {
      expect(resumed.step(step, tasks, colour)).toBe(whole.step(step, tasks, colour));
    }
    expect(resumed.model.network.weights).toEqual(whole.model.network.weights);
  });

  it('stays nearer to the base model where that costs more', () => {
    const rewardWith = (klPenalty: number): number => {
      const learner = trainer({ klPenalty });
      for (let step = 1; step < 80; step += 1) learner.step(step, tasks, colour);
      return learner.step(80, tasks, colour);
    };
    expect(rewardWith(5)).toBeLessThan(rewardWith(0) - 0.3);
  });

  it('learns nothing from rewards that are all the same, and leaves ungraded answers out', () => {
    const learner = trainer({ klPenalty: 0 });
    const before = learner.model.network.weights.slice();
    expect(learner.step(1, tasks, () => 0.5)).toBe(0.5);
    expect(learner.model.network.weights).toEqual(before);
    let count = 0;
    const everySecond = () => (count++ % 2 === 0 ? null : 1);
    expect(trainer().step(1, tasks, everySecond)).toBe(1);
    expect(() => trainer().step(1, tasks, () => null)).toThrow(NothingGraded);
  });

  it('ends where the weights grow beyond all numbers', () => {
    const learner = trainer({ learningRate: 1e38 });
    expect(() => {
      for (let step = 1; step < 20; step += 1) learner.step(step, tasks, colour);
    }).toThrow(TrainingDiverged);
  });
});

describe('batches', () => {
  it('go through all tasks in every epoch, in another order, and are known of any step', () => {
    const items = ['a', 'b', 'c', 'd', 'e'];
    const epochs = [0, 1].map(epoch =>
      Array.from({ length: 5 }, (_, index) => batchOf(items, 1, epoch * 5 + index + 1, 9)[0]),
    );
    for (const epoch of epochs) expect([...epoch].sort()).toEqual(items);
    expect(epochs[0]).not.toEqual(epochs[1]);
    expect(batchOf(items, 3, 4, 9)).toEqual(batchOf(items, 3, 4, 9));
    expect(batchOf(items, 50, 1, 9)).toHaveLength(5);
  });

  it('give advantages that sum to nothing', () => {
    const advantages = advantagesOf([0, 0.5, 1, 1]);
    expect(advantages.reduce((sum, each) => sum + each, 0)).toBeCloseTo(0);
    expect(advantagesOf([0.3, 0.3])).toEqual([0, 0]);
  });
});

describe('what training keeps', () => {
  it('is refused when it is cut off or something else', () => {
    const bytes = packCheckpoint({ base_model_slug: 'small', step: 1, weights: new Float32Array([1, 2]) });
    expect(() => unpackCheckpoint(bytes.slice(0, -1))).toThrow(CorruptFileError);
    expect(() => unpackOptimizer(bytes)).toThrow(CorruptFileError);
  });
});
