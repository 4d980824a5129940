/** The trainer: its gradient is that of its loss, it learns, and a run repeats exactly. */
import { describe, expect, it, vi } from 'vitest';
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
import {
  advantagesOf,
  batchesOf,
  type StepDiagnostics,
  Trainer,
  TrainingDiverged,
} from '../../../src/local/model/trainer.ts';

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
const options = { samples: 16, learningRate: 0.05, klPenalty: 0.01, seed: 3, longest: 2 };

function trainer(more: Partial<typeof options> = {}): Trainer {
  const model = smallModel();
  return new Trainer(model, { ...options, ...more }, freshOptimizer(model.network.weights.length));
}

/** Rewards the colour that the task names: only a model that reads the prompt can learn this. */
const colour = ({ task_id }: { task_id: string }, { text }: { text: string }): number =>
  text.startsWith(task_id.slice(4)) ? 1 : 0;

describe('backpropagation', () => {
  it('has the slope of the difference of two losses', () => {
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
    expect([...gradient.outputBias]).toEqual([...slope].map(each => expect.closeTo(each, 5)));
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
  it('raises the reward of answers that depend on the prompt', () => {
    const learner = trainer();
    const first = learner.step(1, tasks, colour).reward;
    for (let step = 2; step < 150; step += 1) learner.step(step, tasks, colour);
    const last = learner.step(150, tasks, colour).reward;
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

  it('resumes from its saved state as if it had not stopped', () => {
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
      expect(resumed.step(step, tasks, colour)).toEqual(whole.step(step, tasks, colour));
    }
    expect(resumed.model.network.weights).toEqual(whole.model.network.weights);
  });

  it('stays closer to the base model with a higher penalty', () => {
    const rewardWith = (klPenalty: number): number => {
      const learner = trainer({ klPenalty });
      for (let step = 1; step < 80; step += 1) learner.step(step, tasks, colour);
      return learner.step(80, tasks, colour).reward ?? 0;
    };
    expect(rewardWith(5)).toBeLessThan(rewardWith(0) - 0.3);
  });

  it('learns nothing from equal rewards, and leaves ungraded answers out', () => {
    const learner = trainer({ klPenalty: 0 });
    const before = learner.model.network.weights.slice();
    expect(learner.step(1, tasks, () => 0.1).reward).toBeCloseTo(0.1);
    expect(learner.model.network.weights).toEqual(before);
    let count = 0;
    const everySecond = () => (count++ % 2 === 0 ? null : 1);
    expect(trainer().step(1, tasks, everySecond).reward).toBe(1);
  });

  it('skips a step without a graded answer (V47)', () => {
    const learner = trainer();
    const [weights, optimizer] = [learner.model.network.weights.slice(), learner.optimizer];
    expect(learner.step(1, tasks, () => null)).toEqual({ reward: null, diagnostics: null });
    expect(learner.model.network.weights).toEqual(weights);
    expect(learner.optimizer).toBe(optimizer);
  });

  it('has the same gradient with extra ungraded answers (V46)', () => {
    /** The norm of a first step in which only the first `graded` answers of a task get their reward. */
    const normWith = (samples: number, graded: number): number | undefined => {
      let place = -1;
      const reward = (_: unknown, { text }: { text: string }) => {
        place += 1;
        return place % samples < graded ? text.length : null;
      };
      return trainer({ samples, klPenalty: 0 }).step(1, tasks, reward).diagnostics?.gradient_norm;
    };
    expect(normWith(32, 16)).toBe(normWith(16, 16));
  });

  it('divides by the limit of the run, not by the longest answer of the batch (V46)', () => {
    const [short] = tasks;
    const normWith = (longest: number): number =>
      trainer({ longest }).step(1, short ? [short] : [], colour).diagnostics?.gradient_norm ?? 0;
    expect(normWith(2)).toBeCloseTo(2 * normWith(4), 9);
  });

  it('reports the metrics of a step (V45)', () => {
    const first = trainer().step(1, tasks, colour).diagnostics;
    const size = smallModel().vocabulary.size;
    expect(first?.kl).toBeCloseTo(0, 6);
    expect(first?.entropy).toBeGreaterThan(0.5);
    expect(first?.entropy).toBeLessThan(Math.log(size));
    expect(first?.gradient_norm).toBeGreaterThan(0);

    const learner = trainer();
    let last: StepDiagnostics | null = null;
    for (let step = 1; step <= 150; step += 1) last = learner.step(step, tasks, colour).diagnostics;
    expect(last?.kl).toBeGreaterThan(0.1);
    expect(last?.entropy).toBeLessThan(first?.entropy ?? 0);

    // Of three tasks, one has equal rewards, and one none; every third answer of the batch is cut off.
    const lengths: boolean[] = [];
    const { end } = smallModel();
    const outcome = trainer().step(1, tasks, (task, answer) => {
      expect(answer.tokens).not.toContain(end);
      expect(answer.completion_tokens).toBe(answer.tokens.length);
      lengths.push(answer.finish_reason === 'length');
      if (task === tasks[0]) return 0.25;
      return task === tasks[1] ? null : answer.text.length;
    });
    expect(outcome.diagnostics?.equal_groups).toBe(0.5);
    expect(outcome.diagnostics?.truncated).toBe(lengths.filter(Boolean).length / lengths.length);
  });

  it('stops if the weights overflow', () => {
    const learner = trainer({ learningRate: 1e38 });
    const train = (): void => {
      for (let step = 1; step < 20; step += 1) learner.step(step, tasks, colour);
    };
    expect(train).toThrow(TrainingDiverged);
    expect(train).toThrow(/^The weights overflowed in step \d+\. Try a learning rate below 1e\+38\.$/);
  });
});

describe('batches', () => {
  it('go through all tasks in every epoch, in another order, and can be computed for any step', () => {
    const items = ['a', 'b', 'c', 'd', 'e'];
    const batchAt = batchesOf(items, 1, 9);
    const epochs = [0, 1].map(epoch => Array.from({ length: 5 }, (_, index) => batchAt(epoch * 5 + index + 1)[0]));
    for (const epoch of epochs) expect([...epoch].sort()).toEqual(items);
    expect(epochs[0]).not.toEqual(epochs[1]);
    expect(batchesOf(items, 3, 9)(4)).toEqual(batchesOf(items, 3, 9)(4));
    expect(batchesOf(items, 50, 9)(1)).toHaveLength(5);
  });

  it('contain no task twice, and leave out no task forever (V49)', () => {
    const items = Array.from({ length: 11 }, (_, index) => index);
    const batchAt = batchesOf(items, 4, 3);
    const seen = new Set<number>();
    for (let step = 1; step <= 40; step += 1) {
      const batch = batchAt(step);
      expect(new Set(batch).size).toBe(4);
      // An epoch has two whole batches.
      if (step % 2 === 0) expect(new Set([...batchAt(step - 1), ...batchAt(step)]).size).toBe(8);
      for (const item of batch) seen.add(item);
      expect(batchesOf(items, 4, 3)(step)).toEqual(batch);
    }
    expect(seen.size).toBe(11);
  });

  it('shuffle all tasks once per epoch, not per batch (V49)', () => {
    const items = Array.from({ length: 100 }, (_, index) => index);
    const copied = vi.spyOn(items, Symbol.iterator);
    const batchAt = batchesOf(items, 10, 3);
    for (let step = 1; step <= 30; step += 1) batchAt(step);
    expect(copied).toHaveBeenCalledTimes(3);
  });

  it('have advantages that sum to zero', () => {
    const advantages = advantagesOf([0, 0.5, 1, 1]);
    expect(advantages.reduce((sum, each) => sum + each, 0)).toBeCloseTo(0);
    expect(advantagesOf([0.3, 0.3])).toEqual([0, 0]);
  });
});

describe('the saved state of training', () => {
  it('is refused if it is cut off or of another kind', () => {
    const bytes = packCheckpoint({ base_model_slug: 'small', step: 1, weights: new Float32Array([1, 2]) });
    expect(() => unpackCheckpoint(bytes.slice(0, -1))).toThrow(CorruptFileError);
    expect(() => unpackOptimizer(bytes)).toThrow(CorruptFileError);
  });
});
