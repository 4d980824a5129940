/**
 * Policy gradient on the rewards of a grader. For each task of a batch a group of answers is sampled; an answer's advantage
 * is its reward less the mean of its group (GRPO, Shao et al. 2024, on-policy, so that nothing is clipped). The loss of a
 * step, over all words w of all graded answers, with c their context, π the policy and ρ the base model:
 *
 *     1/(graded answers · longest answer) · Σ  −A · log π(w | c)  +  β · KL(π(· | c) ‖ ρ(· | c))
 *
 * As Liu et al. 2025 (Dr. GRPO) show, two divisions of GRPO bias it, and both are left out: that by each answer's length,
 * which favours long wrong answers, and that of the advantages by the group's standard deviation, which favours tasks
 * that are nearly always or nearly never solved. "Longest answer" is the limit of the run, the same in every step. The
 * vocabulary is small, so the KL divergence and its slope are exact instead of estimated.
 */
import { hashOf } from '../../text/hash.ts';
import { moveWeights } from './adam.ts';
import type { OptimizerState } from './checkpoint-file.ts';
import { type Activation, Network } from './network.ts';
import type { ChatTurn, Generated, PolicyModel } from './policy.ts';
import { createPrng, shuffled } from './prng.ts';

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
  /** Longest answer of the run, in tokens. */
  readonly longest: number;
}

/** What a step did, besides its reward: what a reader of a curve looks at when it does not rise. */
export interface StepDiagnostics {
  /** KL(π ‖ ρ) of the policy to the base model, in nats: the mean over the words of graded answers. */
  readonly kl: number;
  /** Entropy of the policy in nats: the mean over the same words. Near 0 it no longer explores. */
  readonly entropy: number;
  /** Norm of the gradient before it was clipped. */
  readonly gradient_norm: number;
  /** Share of the graded groups whose rewards are all equal, so that nothing was learnt from them. */
  readonly equal_groups: number;
  /** Share of the answers that were cut off at their longest length. */
  readonly truncated: number;
}

export interface StepOutcome {
  /** Mean reward of the graded answers; null if none could be graded, in which case the weights stay as they are. */
  readonly reward: number | null;
  /** Null with the reward. */
  readonly diagnostics: StepDiagnostics | null;
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
   * Runs step `step` (from 1) on a batch.
   *
   * @throws TrainingDiverged
   */
  step<Task extends GroupTask>(step: number, batch: readonly Task[], reward: RewardFunction<Task>): StepOutcome {
    const { samples, learningRate, seed, longest } = this.#options;
    this.#gradient.weights.fill(0);
    const rewards: number[] = [];
    const words = { count: 0, kl: 0, entropy: 0 };
    const groups = { graded: 0, equal: 0 };
    let truncated = 0;
    for (const [place, task] of batch.entries()) {
      const prompt = this.model.encode(task.turns);
      const read = this.model.network.readPrompt(prompt);
      const group = Array.from({ length: samples }, (_, sample) => {
        const chance = createPrng(hashOf(`${seed} ${step} ${place} ${sample}`));
        const sampled = this.#sample(prompt, read, task.max_tokens, chance.next);
        return { sampled, reward: reward(task, sampled.answer) };
      });
      truncated += group.filter(({ sampled }) => sampled.answer.finish_reason === 'length').length;
      const graded = group.filter((each): each is { sampled: Sampled; reward: number } => each.reward !== null);
      if (graded.length === 0) continue;
      const own = graded.map(each => each.reward);
      rewards.push(...own);
      groups.graded += 1;
      if (own.every(each => each === own[0])) groups.equal += 1;
      const advantages = advantagesOf(own);
      const slopeByRead = new Float64Array(this.model.network.shape.hidden);
      for (const [index, { sampled }] of graded.entries()) {
        const { kl, entropy } = this.#learn(sampled, advantages[index] ?? 0, slopeByRead);
        words.count += sampled.words.length;
        words.kl += kl;
        words.entropy += entropy;
      }
      this.model.network.addPromptGradient(this.#gradient, prompt, slopeByRead);
    }
    if (rewards.length === 0) return { reward: null, diagnostics: null };
    const gradient = this.#gradient.weights;
    const divisor = rewards.length * longest;
    for (let index = 0; index < gradient.length; index += 1) gradient[index] = (gradient[index] ?? 0) / divisor;
    const moved = moveWeights(this.model.network.weights, gradient, learningRate, this.#optimizer);
    this.#optimizer = moved.state;
    if (!this.model.network.weights.every(Number.isFinite)) {
      throw new TrainingDiverged(`The weights overflowed in step ${step}. Try a learning rate below ${learningRate}.`);
    }
    return {
      reward: rewards.reduce((sum, each) => sum + each, 0) / rewards.length,
      diagnostics: {
        kl: words.kl / words.count,
        entropy: words.entropy / words.count,
        gradient_norm: moved.gradientNorm,
        equal_groups: groups.equal / groups.graded,
        truncated: truncated / (batch.length * samples),
      },
    };
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

  /** Adds the gradient of an answer. Returns the KL divergence and the entropy of its words, summed. */
  #learn({ words }: Sampled, advantage: number, slopeByRead: Float64Array): { kl: number; entropy: number } {
    const beta = this.#options.klPenalty;
    const isFlat = advantage === 0 && beta === 0;
    const slope = new Float64Array(this.model.network.shape.vocabulary);
    const sum = { kl: 0, entropy: 0 };
    for (const { token, activation, policy, base } of words) {
      const { values, divergence, entropy } = logRatios(policy, base);
      sum.kl += divergence;
      sum.entropy += entropy;
      if (isFlat) continue;
      for (let each = 0; each < slope.length; each += 1) {
        const drift = beta * ((values[each] ?? 0) - divergence);
        slope[each] = (policy[each] ?? 0) * (advantage + drift);
      }
      slope[token] = (slope[token] ?? 0) - advantage;
      this.model.network.addGradient(this.#gradient, activation, slope, slopeByRead);
    }
    return sum;
  }
}

/** Rewards less their mean; all 0 if they are equal, also where their mean is rounded. */
export function advantagesOf(rewards: readonly number[]): number[] {
  if (rewards.every(each => each === rewards[0])) return rewards.map(() => 0);
  const mean = rewards.reduce((sum, each) => sum + each, 0) / rewards.length;
  return rewards.map(each => each - mean);
}

interface LogRatios {
  /** log π/ρ of each word. */
  readonly values: Float64Array;
  /** KL(π ‖ ρ): their mean under π. */
  readonly divergence: number;
  /** That of π. Both in nats. */
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
 * The batches of a run: a function from a step (from 1) to its tasks. Each epoch shuffles all tasks with its own seed, so
 * that the batch of any step is known without the ones before, and has whole batches only, so that none holds a task
 * twice. The tasks that are left over at the end of an epoch, other ones each time, wait for the next.
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
