/** A language model: its vocabulary, the counts from its training text, and trainable weights. */
import { maxOf, minOf } from '../../base/many.ts';
import { own } from '../../base/own-property.ts';
import { createPrng } from '../../base/prng.ts';
import { type Activation, Network } from './network.ts';
import type { Ngram } from './ngram.ts';
import { endToken, roleTokens, separatorBefore, unknownToken, type Vocabulary } from './tokenizer.ts';

export interface ChatTurn {
  readonly role: string;
  readonly content: string;
}

export interface SamplingOptions {
  /** 0 always takes the likeliest token. */
  readonly temperature: number;
  /** Nucleus sampling: only the likeliest tokens that together have this probability. */
  readonly top_p: number;
  readonly max_tokens: number;
  /** The answer's minimum length in tokens; 0 by default. */
  readonly min_tokens?: number;
  readonly seed: number;
  /** Strings that end the answer; they are not part of it. */
  readonly stop?: readonly string[];
}

export const defaultSampling = { temperature: 1, top_p: 1, max_tokens: 32 } as const;

export interface SampledToken {
  readonly token: number;
  /**
   * The text that the token adds, including any space before it; empty while the text may be the start of a stop
   * string.
   */
  readonly text: string;
}

export interface Generated {
  readonly text: string;
  readonly tokens: readonly number[];
  /** Null if the upstream server does not report them. */
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  /** `stop` or `length`; from an upstream server, its finish reason unchanged, or null if it gives none. */
  readonly finish_reason: string | null;
  /** Only from an upstream server. */
  readonly reasoning?: string | undefined;
  readonly refusal?: string | undefined;
  /** The content as JSON, if it is more than text: a thread that grades the answer cannot receive raw JSON. */
  readonly content_parts?: string | undefined;
  readonly tool_calls?: unknown;
}

/** The prediction for the next token. */
interface Prediction {
  /** The base model's log-probabilities before any training; -Infinity for special tokens. */
  readonly base: Float64Array;
  /** Logits after training, before temperature; not normalised. */
  readonly logits: Float64Array;
  readonly activation: Activation;
}

export class PolicyModel {
  readonly slug: string;
  readonly vocabulary: Vocabulary;
  readonly ngram: Ngram;
  readonly network: Network;
  /** The token that ends an answer. */
  readonly end: number;
  /** Tokens that are never sampled, because they are not words. */
  readonly #specialTokens: readonly number[];

  constructor(slug: string, vocabulary: Vocabulary, ngram: Ngram, network: Network) {
    this.slug = slug;
    this.vocabulary = vocabulary;
    this.ngram = ngram;
    this.network = network;
    this.end = vocabulary.token(endToken);
    this.#specialTokens = [unknownToken, ...Object.values(roleTokens)].map(each => vocabulary.token(each));
  }

  /** The same model with other weights, which are not copied: changing them later changes the model. */
  withWeights(weights: Float32Array): PolicyModel {
    return new PolicyModel(this.slug, this.vocabulary, this.ngram, new Network(this.network.shape, weights));
  }

  /** A conversation as tokens: each turn after its role's token, then the token that asks for the answer. */
  encode(turns: readonly ChatTurn[]): number[] {
    const tokens = turns.flatMap(({ role, content }) => [
      this.vocabulary.token(own<string>(roleTokens, role) ?? roleTokens.user),
      ...this.vocabulary.encode(content),
    ]);
    return [...tokens, this.vocabulary.token(roleTokens.assistant)];
  }

  /** Predicts the next token. `answer` holds the tokens so far, and `read` is the network's encoding of the prompt. */
  predict(prompt: readonly number[], answer: readonly number[], read: Float64Array): Prediction {
    const context = answer.length > 1 ? answer.slice(-2) : [prompt.at(-1) ?? 0, ...answer];
    const base = this.ngram.logProbabilities(context, prompt);
    for (const token of this.#specialTokens) base[token] = Number.NEGATIVE_INFINITY;
    const logits = base.slice();
    const activation = this.network.activate(read, context.at(-1));
    this.network.addLogits(logits, activation);
    return { base, logits, activation };
  }

  /** The text that a token adds after another token. */
  piece(token: number, previous: number | undefined): string {
    const word = this.vocabulary.word(token);
    return separatorBefore(previous === undefined ? undefined : this.vocabulary.word(previous), word) + word;
  }

  /** Samples an answer token by token. The generator's return value is the whole answer. */
  *generate(turns: readonly ChatTurn[], options: SamplingOptions): Generator<SampledToken, Generated> {
    const prompt = this.encode(turns);
    const read = this.network.readPrompt(prompt);
    const { next } = createPrng(options.seed);
    const { stop: stops = [], min_tokens = 0 } = options;
    const tokens: number[] = [];
    let text = '';
    /** How many characters have been yielded. */
    let yielded = 0;
    let finish_reason: Generated['finish_reason'] = 'length';
    while (tokens.length < options.max_tokens) {
      const { logits } = this.predict(prompt, tokens, read);
      if (tokens.length < min_tokens) logits[this.end] = Number.NEGATIVE_INFINITY;
      const token = draw(logits, options, next);
      if (token === this.end) {
        finish_reason = 'stop';
        break;
      }
      text += this.piece(token, tokens.at(-1));
      tokens.push(token);
      const stopped = firstStop(text, stops, yielded);
      if (stopped >= 0) {
        text = text.slice(0, stopped);
        finish_reason = 'stop';
        break;
      }
      const decided = text.length - undecidedLength(text, stops);
      yield { token, text: text.slice(yielded, decided) };
      yielded = decided;
    }
    if (yielded < text.length) yield { token: tokens.at(-1) ?? this.end, text: text.slice(yielded) };
    return { text, tokens, prompt_tokens: prompt.length, completion_tokens: tokens.length, finish_reason };
  }

  answer(turns: readonly ChatTurn[], options: SamplingOptions): Generated {
    const tokens = this.generate(turns, options);
    let token = tokens.next();
    while (!token.done) token = tokens.next();
    return token.value;
  }
}

/** Samples a token: by temperature, from the nucleus given by `top_p` (Holtzman et al. 2020). */
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

/** Index of the first of `stops` in a text, searched from `from`; -1 if none is found. */
function firstStop(text: string, stops: readonly string[], from: number): number {
  const places = stops.map(stop => text.indexOf(stop, from)).filter(place => place >= 0);
  return places.length === 0 ? -1 : minOf(places);
}

/** How many characters at the end of a text may be the start of a stop string. */
function undecidedLength(text: string, stops: readonly string[]): number {
  const longest = Math.min(
    text.length,
    maxOf(
      stops.map(stop => stop.length),
      0,
    ),
  );
  for (let length = longest; length > 0; length -= 1) {
    const ending = text.slice(-length);
    if (stops.some(stop => stop.startsWith(ending))) return length;
  }
  return 0;
}
