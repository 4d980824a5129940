/**
 * The trainable part of a model: a network that reads the prompt and the last words and says how much more or less likely
 * than in the training text each next word should be. One hidden layer:
 *
 *     hidden = tanh(P·mean(prompt one-hots) + C·one-hot(last word) + b)
 *     logits = base log-probabilities + O·hidden + o
 *
 * O and o begin at zero, so that an untrained model is its base model exactly.
 */
import { createPrng } from './prng.ts';

export interface NetworkShape {
  readonly vocabulary: number;
  readonly hidden: number;
}

export class Network {
  readonly shape: NetworkShape;
  /** Rows of `hidden` numbers by word. */
  readonly prompt: Float32Array;
  readonly context: Float32Array;
  readonly bias: Float32Array;
  /** Rows of `hidden` numbers by word. */
  readonly output: Float32Array;
  readonly outputBias: Float32Array;

  constructor(shape: NetworkShape, weights?: Float32Array) {
    const { vocabulary, hidden } = shape;
    this.shape = shape;
    const all = weights ?? new Float32Array(Network.size(shape));
    if (all.length !== Network.size(shape))
      throw new RangeError(`a network of this shape has ${Network.size(shape)} weights, not ${all.length}`);
    let from = 0;
    const take = (length: number): Float32Array => {
      const part = all.subarray(from, from + length);
      from += length;
      return part;
    };
    this.prompt = take(vocabulary * hidden);
    this.context = take(vocabulary * hidden);
    this.bias = take(hidden);
    this.output = take(vocabulary * hidden);
    this.outputBias = take(vocabulary);
    this.weights = all;
  }

  /** Every weight, in the order of the fields above. */
  readonly weights: Float32Array;

  static size({ vocabulary, hidden }: NetworkShape): number {
    return 3 * vocabulary * hidden + hidden + vocabulary;
  }

  /** A network that changes nothing yet: its readers random by the seed, its output zero. */
  static initial(shape: NetworkShape, seed: number): Network {
    const network = new Network(shape);
    const { next } = createPrng(seed);
    for (const part of [network.prompt, network.context]) {
      for (let index = 0; index < part.length; index += 1) part[index] = (next() - 0.5) * 2;
    }
    return network;
  }

  /** What the network makes of a prompt, once for all words of an answer. */
  readPrompt(prompt: readonly number[]): Float32Array {
    const { hidden } = this.shape;
    const read = new Float32Array(hidden);
    for (const token of prompt) {
      for (let index = 0; index < hidden; index += 1) {
        read[index] = (read[index] ?? 0) + (this.prompt[token * hidden + index] ?? 0) / Math.sqrt(prompt.length);
      }
    }
    return read;
  }

  hidden(read: Float32Array, last: number | undefined): Float32Array {
    const { hidden } = this.shape;
    const values = new Float32Array(hidden);
    for (let index = 0; index < hidden; index += 1) {
      const context = last === undefined ? 0 : (this.context[last * hidden + index] ?? 0);
      values[index] = Math.tanh((read[index] ?? 0) + context + (this.bias[index] ?? 0));
    }
    return values;
  }

  /** Adds the network's opinion to log-probabilities, in place. */
  addLogits(logits: Float64Array, hidden: Float32Array): void {
    const width = this.shape.hidden;
    for (let token = 0; token < logits.length; token += 1) {
      let sum = this.outputBias[token] ?? 0;
      const row = token * width;
      for (let index = 0; index < width; index += 1) sum += (this.output[row + index] ?? 0) * (hidden[index] ?? 0);
      logits[token] = (logits[token] ?? 0) + sum;
    }
  }
}
