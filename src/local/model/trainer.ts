/**
 * Policy gradient on a grader's rewards. For each task in a batch, a group of answers is sampled; an answer's
 * advantage is its reward minus its group's mean (GRPO, Shao et al. 2024, on-policy, so that nothing is clipped). A
 * step's loss, over all tokens w of all graded answers, with c their context, π the policy and ρ the base model:
 *
 *     1/(graded answers · longest answer) · Σ  −A · log π(w | c)  +  β · KL(π(· | c) ‖ ρ(· | c))
 *
 * As Liu et al. 2025 (Dr. GRPO) show, two divisions in GRPO bias it, so they are left out: dividing by each answer's
 * length favours long wrong answers, and dividing the advantages by the group's standard deviation favours tasks that
 * are nearly always or nearly never solved. "Longest answer" is the run's limit, the same in every step. The
 * vocabulary is small, so the KL divergence and its gradient are exact rather than estimated. In a rollout with tool
 * calls, the answer is everything that the model wrote; the tools' results are only context.
 */
import { hashOf } from '../../base/hash.ts';
import { createPrng, shuffled } from '../../base/prng.ts';
import { adamStep } from './adam.ts';
import type { OptimizerState } from './checkpoint-file.ts';
import { type Episode, episode } from './episode.ts';
import { type Activation, Network } from './network.ts';
import type { ChatTurn, Generated, PolicyModel } from './policy.ts';
import { sumOf, type ToolSpec } from './tools.ts';

export interface GroupTask {
  readonly task_id: string;
  readonly turns: readonly ChatTurn[];
  /** The limit for each answer. */
  readonly max_tokens: number;
  readonly tools?: ToolSpec | undefined;
}

interface TrainerOptions {
  /** How many answers to sample for each task in a batch. */
  readonly samples: number;
  readonly learningRate: number;
  /** β: the cost of diverging from the base model. */
  readonly klPenalty: number;
  readonly seed: number;
  /** The run's longest rollout, in tokens that the model writes. */
  readonly longest: number;
}

/** A step's diagnostics, which help to explain why a reward curve does not rise. */
export interface StepDiagnostics {
  /** KL(π ‖ ρ) from the policy to the base model, in nats: the mean over the tokens of graded answers. */
  readonly kl: number;
  /** The policy's entropy in nats: the mean over the same tokens. Near 0, the policy no longer explores. */
  readonly entropy: number;
  /** The gradient's norm before clipping. */
  readonly gradient_norm: number;
  /** The share of graded groups whose rewards are all equal: their gradient is zero. */
  readonly equal_groups: number;
  /** The share of answers that were cut off at the token limit. */
  readonly truncated: number;
}

export interface StepOutcome {
  /** The mean reward of the graded answers; null if none could be graded, so that the weights stay unchanged. */
  readonly reward: number | null;
  /** Null if the reward is null. */
  readonly diagnostics: StepDiagnostics | null;
}

/** A token of a sampled answer, with the data for its gradient. */
interface TokenTrace {
  readonly token: number;
  readonly activation: Activation;
  /** Each token's probability, and its log-probability in the base model. */
  readonly policy: Float64Array;
  readonly base: Float64Array;
}

/** One of a rollout's prompts, encoded, with the gradient of the encoding. */
interface ReadPrompt {
  readonly tokens: readonly number[];
  readonly read: Float64Array;
  readonly gradient: Float64Array;
}

interface Sampled {
  readonly prompt: ReadPrompt;
  readonly answer: Generated;
  readonly traces: readonly TokenTrace[];
}

/** The graded answers to a task. */
interface Group {
  readonly rewards: readonly number[];
  /** Answers that were cut off, graded or not. */
  readonly truncated: number;
  /** The number of tokens in the graded answers, and sums over them. */
  readonly tokens: number;
  readonly kl: number;
  readonly entropy: number;
}

const areEqual = (values: readonly number[]): boolean => values.every(each => each === values[0]);

/** The weights became NaN: the learning rate is too high. */
export class TrainingDiverged extends Error {
  override readonly name = 'TrainingDiverged';
  readonly code = 'training_diverged';
}

/** Grades a rollout by its last text; null if it could not be graded. Called once per rollout, in order. */
type RewardFunction<Task> = (task: Task, last: Generated, rollout: Episode) => number | null;

export class Trainer {
  /** The model being trained; its weights are updated in place. */
  readonly model: PolicyModel;
  readonly #options: TrainerOptions;
  optimizer: OptimizerState;
  readonly #gradient: Network;

  constructor(model: PolicyModel, options: TrainerOptions, optimizer: OptimizerState) {
    this.model = model;
    this.#options = options;
    this.optimizer = optimizer;
    this.#gradient = new Network(model.network.shape);
  }

  /**
   * Runs step `step` (from 1) on a batch.
   *
   * @throws TrainingDiverged
   */
  step<Task extends GroupTask>(step: number, batch: readonly Task[], reward: RewardFunction<Task>): StepOutcome {
    this.#gradient.weights.fill(0);
    const groups = batch.map((task, index) => this.#learnGroup(task, `${step} ${index}`, reward));
    const graded = groups.filter(group => group.rewards.length > 0);
    const rewards = graded.flatMap(group => group.rewards);
    if (rewards.length === 0) return { reward: null, diagnostics: null };
    const tokens = sumOf(graded.map(group => group.tokens));
    return {
      reward: sumOf(rewards) / rewards.length,
      diagnostics: {
        // For equal distributions, rounding may give slightly less than 0.
        kl: Math.max(0, sumOf(graded.map(group => group.kl)) / tokens),
        entropy: sumOf(graded.map(group => group.entropy)) / tokens,
        gradient_norm: this.#updateWeights(step, rewards.length),
        equal_groups: graded.filter(group => areEqual(group.rewards)).length / graded.length,
        truncated: sumOf(groups.map(group => group.truncated)) / (batch.length * this.#options.samples),
      },
    };
  }

  /**
   * Samples and grades the answers to a task, and adds their gradient. @param name makes the group's random seeds
   * distinct
   */
  #learnGroup<Task extends GroupTask>(task: Task, name: string, reward: RewardFunction<Task>): Group {
    const { samples, seed } = this.#options;
    const first = this.#readPrompt(task.turns);
    const answers = Array.from({ length: samples }, (_, sample) => {
      const rng = createPrng(hashOf(`${seed} ${name} ${sample}`));
      const { texts, last, rollout } = this.#rollout(task, first, rng.next);
      return { texts, last, reward: reward(task, last, rollout) };
    });
    const truncated = answers.filter(({ last }) => last.finish_reason === 'length').length;
    const graded = answers.flatMap(each => (each.reward === null ? [] : [{ ...each, reward: each.reward }]));
    const rewards = graded.map(each => each.reward);
    const advantages = advantagesOf(rewards);
    const group = { rewards, truncated, tokens: 0, kl: 0, entropy: 0 };
    // All rollouts in the group share the first prompt; later prompts depend on each rollout's own calls.
    const prompts = new Set([first]);
    for (const [index, { texts }] of graded.entries()) {
      for (const sampled of texts) {
        const { kl, entropy } = this.#learn(sampled, advantages[index] ?? 0);
        group.tokens += sampled.traces.length;
        group.kl += kl;
        group.entropy += entropy;
        prompts.add(sampled.prompt);
      }
    }
    for (const { tokens, gradient } of prompts) this.model.network.addPromptGradient(this.#gradient, tokens, gradient);
    return group;
  }

  #readPrompt(turns: readonly ChatTurn[]): ReadPrompt {
    const { network } = this.model;
    const tokens = this.model.encode(turns);
    return { tokens, read: network.readPrompt(tokens), gradient: new Float64Array(network.shape.hidden) };
  }

  /** Samples a rollout: one text, or several with tools. */
  #rollout({ turns, tools, max_tokens }: GroupTask, first: ReadPrompt, next: () => number) {
    const texts: Sampled[] = [];
    const rounds = episode(turns, tools);
    rounds.next();
    let last = this.#sample(first, max_tokens, next);
    for (;;) {
      texts.push(last);
      const round = rounds.next(last.answer);
      if (round.done) return { texts, last: last.answer, rollout: round.value };
      last = this.#sample(this.#readPrompt(round.value), max_tokens, next);
    }
  }

  /** Returns the gradient's norm before clipping. @throws TrainingDiverged */
  #updateWeights(step: number, answers: number): number {
    const { learningRate, longest } = this.#options;
    const { weights } = this.model.network;
    const gradient = this.#gradient.weights;
    const divisor = answers * longest;
    for (let index = 0; index < gradient.length; index += 1) gradient[index] = (gradient[index] ?? 0) / divisor;
    const { state, gradientNorm } = adamStep(weights, gradient, learningRate, this.optimizer);
    this.optimizer = state;
    if (weights.every(Number.isFinite)) return gradientNorm;
    throw new TrainingDiverged(`The weights overflowed in step ${step}. Try a learning rate below ${learningRate}.`);
  }

  #sample(from: ReadPrompt, limit: number, next: () => number): Sampled {
    const { model } = this;
    const { tokens: prompt, read } = from;
    const traces: TokenTrace[] = [];
    const tokens: number[] = [];
    let text = '';
    let ended = false;
    while (!ended && tokens.length < limit) {
      const { base, logits, activation } = model.predict(prompt, tokens, read);
      const policy = softmax(logits);
      const token = pick(policy, next);
      traces.push({ token, activation, policy, base });
      ended = token === model.end;
      if (ended) break;
      text += model.piece(token, tokens.at(-1));
      tokens.push(token);
    }
    const counts = { prompt_tokens: prompt.length, completion_tokens: tokens.length };
    return { prompt: from, answer: { text, tokens, ...counts, finish_reason: ended ? 'stop' : 'length' }, traces };
  }

  /** Adds an answer's gradient. Returns the KL divergence and the entropy, summed over the answer's tokens. */
  #learn({ prompt, traces }: Sampled, advantage: number): { kl: number; entropy: number } {
    const beta = this.#options.klPenalty;
    const hasNoGradient = advantage === 0 && beta === 0;
    const logitGradient = new Float64Array(this.model.network.shape.vocabulary);
    const sum = { kl: 0, entropy: 0 };
    for (const { token, activation, policy, base } of traces) {
      const { values, divergence, entropy } = logRatios(policy, base);
      sum.kl += divergence;
      sum.entropy += entropy;
      if (hasNoGradient) continue;
      for (let each = 0; each < logitGradient.length; each += 1) {
        const drift = beta * ((values[each] ?? 0) - divergence);
        logitGradient[each] = (policy[each] ?? 0) * (advantage + drift);
      }
      logitGradient[token] = (logitGradient[token] ?? 0) - advantage;
      this.model.network.addGradient(this.#gradient, activation, logitGradient, prompt.gradient);
    }
    return sum;
  }
}

/** Rewards minus their mean: exactly 0 if all are equal, which subtracting a rounded mean would not guarantee. */
export function advantagesOf(rewards: readonly number[]): number[] {
  if (areEqual(rewards)) return rewards.map(() => 0);
  const mean = sumOf(rewards) / rewards.length;
  return rewards.map(each => each - mean);
}

interface LogRatios {
  /** log π/ρ of each token. */
  readonly values: Float64Array;
  /** KL(π ‖ ρ): their mean under π. */
  readonly divergence: number;
  /** The entropy of π. Both are in nats. */
  readonly entropy: number;
}

/** Compares the policy with the base model, whose `base` is not normalised. */
function logRatios(policy: Float64Array, base: Float64Array): LogRatios {
  let total = 0;
  for (const value of base) total += Math.exp(value);
  const norm = Math.log(total);
  const values = new Float64Array(policy.length);
  let divergence = 0;
  let entropy = 0;
  for (let token = 0; token < values.length; token += 1) {
    const probability = policy[token] ?? 0;
    if (probability === 0) continue;
    const logarithm = Math.log(probability);
    const value = logarithm - ((base[token] ?? 0) - norm);
    values[token] = value;
    divergence += probability * value;
    entropy -= probability * logarithm;
  }
  return { values, divergence, entropy };
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
 * A run's batches: a function from a step (from 1) to its tasks. Each epoch shuffles all tasks with its own seed, so
 * that any step's batch can be computed directly. An epoch has only full batches, so that no batch contains a task
 * twice; the tasks left over differ from epoch to epoch.
 */
export function batchesOf<Task>(tasks: readonly Task[], size: number, seed: number): (step: number) => Task[] {
  const length = Math.min(size, tasks.length);
  const perEpoch = Math.max(1, Math.floor(tasks.length / Math.max(1, length)));
  let latest: { readonly epoch: number; readonly order: readonly Task[] } | undefined;
  return step => {
    const epoch = Math.floor((step - 1) / perEpoch);
    if (latest?.epoch !== epoch) latest = { epoch, order: shuffled(tasks, hashOf(`${seed} epoch ${epoch}`)) };
    const start = ((step - 1) % perEpoch) * length;
    return latest.order.slice(start, start + length);
  };
}
