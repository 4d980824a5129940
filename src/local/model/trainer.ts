/**
 * Policy gradient on the rewards of a grader. For each task of a batch a group of answers is sampled; an answer's advantage
 * is its reward less the mean of its group, over the group's standard deviation (GRPO, Shao et al. 2024, on-policy, so
 * that nothing is clipped). The loss of a step, over all words w of all answers, with c their context, π the policy and ρ
 * the base model:
 *
 *     1/(answers · longest answer) · Σ  −A · log π(w | c)  +  β · KL(π(· | c) ‖ ρ(· | c))
 *
 * The sum is divided by a constant and not by each answer's length, which would favour long wrong answers (Liu et al.
 * 2025). The vocabulary is small, so the KL divergence and its slope are exact instead of estimated.
 */
import { hashOf } from '../../text/hash.ts';
import { moveWeights } from './adam.ts';
import type { OptimizerState } from './checkpoint-file.ts';
import { type Activation, Network } from './network.ts';
import type { ChatTurn, Generated, PolicyModel } from './policy.ts';
import { createPrng } from './prng.ts';

export interface GroupTask {
  readonly task_id: string;
  readonly turns: readonly ChatTurn[];
  readonly max_tokens: number;
}

export interface TrainerOptions {
  /** Answers sampled for each task of a batch. */
  readonly samples: number;
  readonly learningRate: number;
  /** β: the cost of diverging from the base model. */
  readonly klPenalty: number;
  readonly seed: number;
}

/** One word of a sampled answer, with what its gradient needs. */
interface SaidWord {
  readonly token: number;
  readonly activation: Activation;
  /** Probabilities of each word, and log-probabilities of the base model. */
  readonly policy: Float64Array;
  readonly base: Float64Array;
}

interface Sampled {
  readonly answer: Generated;
  readonly words: readonly SaidWord[];
}

/** The weights are no longer numbers: the learning rate was too high. */
export class TrainingDiverged extends Error {
  override readonly name = 'TrainingDiverged';
  readonly code = 'training_diverged';
}

/** None of a step's answers could be graded, so there is nothing to learn from. */
export class NothingGraded extends Error {
  override readonly name = 'NothingGraded';
  readonly code = 'no_rollout_scored';
}

/** The reward of an answer; null if it could not be graded. Called once per answer, in order. */
export type RewardFunction<Task> = (task: Task, answer: Generated) => number | null;

export class Trainer {
  /** The model being trained; its weights are updated in place. */
  readonly model: PolicyModel;
  readonly #options: TrainerOptions;
  #optimizer: OptimizerState;
  readonly #gradient: Network;

  constructor(model: PolicyModel, options: TrainerOptions, optimizer: OptimizerState) {
    this.model = model;
    this.#options = options;
    this.#optimizer = optimizer;
    this.#gradient = new Network(model.network.shape);
  }

  get optimizer(): OptimizerState {
    return this.#optimizer;
  }

  /**
   * Runs step `step` (from 1) on a batch. Returns the mean reward of its answers.
   *
   * @throws TrainingDiverged
   * @throws NothingGraded
   */
  step<Task extends GroupTask>(step: number, batch: readonly Task[], reward: RewardFunction<Task>): number {
    const { samples, learningRate, seed } = this.#options;
    const longest = Math.max(...batch.map(task => task.max_tokens));
    const scale = 1 / (batch.length * samples * longest);
    this.#gradient.weights.fill(0);
    const rewards: number[] = [];
    for (const [place, task] of batch.entries()) {
      const prompt = this.model.encode(task.turns);
      const read = this.model.network.readPrompt(prompt);
      const group = Array.from({ length: samples }, (_, sample) => {
        const chance = createPrng(hashOf(`${seed} ${step} ${place} ${sample}`));
        const sampled = this.#sample(prompt, read, task.max_tokens, chance.next);
        return { sampled, reward: reward(task, sampled.answer) };
      });
      const graded = group.filter((each): each is { sampled: Sampled; reward: number } => each.reward !== null);
      rewards.push(...graded.map(each => each.reward));
      const advantages = advantagesOf(graded.map(each => each.reward));
      const slopeByRead = new Float64Array(this.model.network.shape.hidden);
      for (const [index, { sampled }] of graded.entries()) {
        this.#learn(sampled, (advantages[index] ?? 0) * scale, scale, slopeByRead);
      }
      this.model.network.addPromptGradient(this.#gradient, prompt, slopeByRead);
    }
    if (rewards.length === 0) throw new NothingGraded(`None of the answers of step ${step} could be graded.`);
    this.#optimizer = moveWeights(this.model.network.weights, this.#gradient.weights, learningRate, this.#optimizer);
    if (!this.model.network.weights.every(Number.isFinite)) {
      throw new TrainingDiverged(`The weights overflowed in step ${step}. Try a learning rate below ${learningRate}.`);
    }
    return rewards.reduce((sum, each) => sum + each, 0) / rewards.length;
  }

  #sample(prompt: readonly number[], read: Float64Array, longest: number, next: () => number): Sampled {
    const { model } = this;
    const words: SaidWord[] = [];
    const said: number[] = [];
    let text = '';
    let ended = false;
    while (!ended && said.length < longest) {
      const { base, logits, activation } = model.predict(prompt, said, read);
      const policy = softmax(logits);
      const token = pick(policy, next);
      words.push({ token, activation, policy, base });
      ended = token === model.end;
      if (ended) break;
      text += model.piece(token, said.at(-1));
      said.push(token);
    }
    const counts = { prompt_tokens: prompt.length, completion_tokens: said.length };
    return { answer: { text, tokens: said, ...counts, finish_reason: ended ? 'stop' : 'length' }, words };
  }

  /** Adds the gradient of an answer. */
  #learn({ words }: Sampled, advantage: number, scale: number, slopeByRead: Float64Array): void {
    const beta = this.#options.klPenalty * scale;
    if (advantage === 0 && beta === 0) return;
    const slope = new Float64Array(this.model.network.shape.vocabulary);
    for (const { token, activation, policy, base } of words) {
      const ratio = beta === 0 ? undefined : logRatios(policy, base);
      for (let each = 0; each < slope.length; each += 1) {
        const probability = policy[each] ?? 0;
        const drift = ratio ? beta * ((ratio.values[each] ?? 0) - ratio.divergence) : 0;
        slope[each] = probability * (advantage + drift);
      }
      slope[token] = (slope[token] ?? 0) - advantage;
      this.model.network.addGradient(this.#gradient, activation, slope, slopeByRead);
    }
  }
}

/** Rewards less their mean, divided by their standard deviation; all 0 if they are equal. */
export function advantagesOf(rewards: readonly number[]): number[] {
  const mean = rewards.reduce((sum, each) => sum + each, 0) / rewards.length;
  const variance = rewards.reduce((sum, each) => sum + (each - mean) ** 2, 0) / rewards.length;
  const deviation = Math.sqrt(variance);
  return rewards.map(each => (deviation < 1e-9 ? 0 : (each - mean) / deviation));
}

/** log π/ρ of each word, and KL(π ‖ ρ), their mean under π. `base` is not normalised. */
function logRatios(policy: Float64Array, base: Float64Array): { values: Float64Array; divergence: number } {
  let total = 0;
  for (const value of base) total += Math.exp(value);
  const norm = Math.log(total);
  const values = new Float64Array(policy.length);
  let divergence = 0;
  for (let token = 0; token < values.length; token += 1) {
    const probability = policy[token] ?? 0;
    if (probability === 0) continue;
    const value = Math.log(probability) - ((base[token] ?? 0) - norm);
    values[token] = value;
    divergence += probability * value;
  }
  return { values, divergence };
}

function softmax(logits: Float64Array): Float64Array {
  let top = Number.NEGATIVE_INFINITY;
  for (const logit of logits) if (logit > top) top = logit;
  const values = new Float64Array(logits.length);
  let total = 0;
  for (let token = 0; token < values.length; token += 1) {
    const value = Math.exp((logits[token] ?? 0) - top);
    values[token] = value;
    total += value;
  }
  for (let token = 0; token < values.length; token += 1) values[token] = (values[token] ?? 0) / total;
  return values;
}

function pick(probabilities: Float64Array, next: () => number): number {
  let left = next();
  let last = 0;
  for (let token = 0; token < probabilities.length; token += 1) {
    const probability = probabilities[token] ?? 0;
    if (probability === 0) continue;
    last = token;
    left -= probability;
    if (left < 0) return token;
  }
  return last;
}

/**
 * The tasks of step `step` (from 1). Each epoch shuffles all tasks with its own seed, so the order can be derived for
 * any step without the ones before.
 */
export function batchOf<Task>(tasks: readonly Task[], size: number, step: number, seed: number): Task[] {
  return Array.from({ length: Math.min(size, tasks.length) }, (_, place) => {
    const index = (step - 1) * Math.min(size, tasks.length) + place;
    const order = shuffled(tasks, hashOf(`${seed} epoch ${Math.floor(index / tasks.length)}`));
    return order[index % tasks.length];
  }).filter(task => task !== undefined);
}

/** Fisher and Yates. */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const { next } = createPrng(seed);
  const order = [...items];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(next() * (last + 1));
    [order[last], order[other]] = [order[other] as Item, order[last] as Item];
  }
  return order;
}
