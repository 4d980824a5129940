/** A language model: its words, what it counted in its training text, and the weights that training here moves. */
import { Network } from './network.ts';
import type { Ngram } from './ngram.ts';
import { createPrng } from './prng.ts';
import { endToken, joint, roleTokens, unknownToken, type Vocabulary } from './tokenizer.ts';

export interface ChatTurn {
  readonly role: string;
  readonly content: string;
}

export interface SamplingOptions {
  /** 0 takes the likeliest word every time. */
  readonly temperature: number;
  /** Only the likeliest words that together have this much probability are drawn from. */
  readonly top_p: number;
  readonly max_tokens: number;
  readonly seed: number;
}

export const defaultSampling = { temperature: 1, top_p: 1, max_tokens: 32 } as const;

export interface SampledToken {
  readonly token: number;
  /** What the token adds to the text, with the space before it. */
  readonly text: string;
}

export interface Generated {
  readonly text: string;
  readonly tokens: readonly number[];
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly finish_reason: 'stop' | 'length';
}

export class PolicyModel {
  readonly slug: string;
  readonly vocabulary: Vocabulary;
  readonly #ngram: Ngram;
  readonly network: Network;
  /** Words that are never said: they are not words. */
  readonly #unspeakable: readonly number[];
  readonly #end: number;

  constructor(slug: string, vocabulary: Vocabulary, ngram: Ngram, network: Network) {
    this.slug = slug;
    this.vocabulary = vocabulary;
    this.#ngram = ngram;
    this.network = network;
    this.#end = vocabulary.token(endToken);
    this.#unspeakable = [unknownToken, ...Object.values(roleTokens)].map(each => vocabulary.token(each));
  }

  /** The same model with other weights. */
  withWeights(weights: Float32Array): PolicyModel {
    return new PolicyModel(this.slug, this.vocabulary, this.#ngram, new Network(this.network.shape, weights));
  }

  /** A conversation as tokens: each turn behind the token of its role, then the token that asks for the answer. */
  encode(turns: readonly ChatTurn[]): number[] {
    const tokens = turns.flatMap(({ role, content }) => [
      this.vocabulary.token(roleTokens[role] ?? roleTokens['user'] ?? ''),
      ...this.vocabulary.encode(content),
    ]);
    return [...tokens, this.vocabulary.token(roleTokens['assistant'] ?? '')];
  }

  /** Log-probabilities of the next word before any temperature; not normalised. */
  logits(prompt: readonly number[], said: readonly number[], read: Float32Array): Float64Array {
    const context = said.length > 1 ? said : [prompt.at(-1) ?? 0, ...said];
    const logits = this.#ngram.probabilities(context, prompt);
    for (let token = 0; token < logits.length; token += 1) logits[token] = Math.log((logits[token] ?? 0) + 1e-9);
    this.network.addLogits(logits, this.network.hidden(read, context.at(-1)));
    for (const token of this.#unspeakable) logits[token] = Number.NEGATIVE_INFINITY;
    return logits;
  }

  /** Samples an answer word by word. The generator's return value is the whole answer. */
  *generate(turns: readonly ChatTurn[], options: SamplingOptions): Generator<SampledToken, Generated> {
    const prompt = this.encode(turns);
    const read = this.network.readPrompt(prompt);
    const { next } = createPrng(options.seed);
    const said: number[] = [];
    let text = '';
    let finish_reason: Generated['finish_reason'] = 'length';
    while (said.length < options.max_tokens) {
      const token = draw(this.logits(prompt, said, read), options, next);
      if (token === this.#end) {
        finish_reason = 'stop';
        break;
      }
      const previous = said.at(-1);
      const word = this.vocabulary.word(token);
      const piece = joint(previous === undefined ? undefined : this.vocabulary.word(previous), word) + word;
      said.push(token);
      text += piece;
      yield { token, text: piece };
    }
    return { text, tokens: said, prompt_tokens: prompt.length, completion_tokens: said.length, finish_reason };
  }
}

/** Draws a token: by temperature, among the nucleus of `top_p` (Holtzman et al. 2020). */
export function draw(
  logits: Float64Array,
  { temperature, top_p }: Pick<SamplingOptions, 'temperature' | 'top_p'>,
  next: () => number,
): number {
  let best = 0;
  for (let token = 1; token < logits.length; token += 1) {
    if ((logits[token] ?? 0) > (logits[best] ?? 0)) best = token;
  }
  if (temperature === 0) return best;
  const top = logits[best] ?? 0;
  const weights = Float64Array.from(logits, logit => Math.exp((logit - top) / temperature));
  let total = weights.reduce((sum, weight) => sum + weight, 0);
  if (top_p < 1) {
    const order = [...weights.keys()].sort((left, right) => (weights[right] ?? 0) - (weights[left] ?? 0));
    let kept = 0;
    for (const token of order) {
      if (kept >= top_p * total) weights[token] = 0;
      else kept += weights[token] ?? 0;
    }
    total = kept;
  }
  let left = next() * total;
  for (let token = 0; token < weights.length; token += 1) {
    left -= weights[token] ?? 0;
    if (left < 0) return token;
  }
  return best;
}
