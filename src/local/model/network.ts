/**
 * The trainable part of a model: a network that reads the prompt and the last token, and adjusts the base model's
 * probability of each next token. One hidden layer:
 *
 *     hidden = tanh(P·(sum of prompt one-hots)/√n + C·one-hot(last token) + b)
 *     logits = base log-probabilities + O·hidden + o
 *
 * O and o begin at zero, so that an untrained model is its base model exactly.
 */
import { createPrng } from '../../base/prng.ts';

interface NetworkShape {
  readonly vocabulary: number;
  readonly hidden: number;
}

/** The activations for a context, kept for backpropagation. */
export interface Activation {
  readonly last: number | undefined;
  readonly hidden: Float64Array;
}

export class Network {
  readonly shape: NetworkShape;
  /** All weights, in the order of the parts below, which are views of this array. */
  readonly weights: Float32Array;
  /** One row of `hidden` numbers per token. */
  readonly prompt: Float32Array;
  readonly context: Float32Array;
  readonly bias: Float32Array;
  /** One row of `hidden` numbers per token. */
  readonly output: Float32Array;
  readonly outputBias: Float32Array;

  /** @throws RangeError if the number of weights does not fit the shape */
  constructor(shape: NetworkShape, weights: Float32Array = new Float32Array(Network.size(shape))) {
    const { vocabulary, hidden } = shape;
    if (weights.length !== Network.size(shape))
      throw new RangeError(`A network of this shape has ${Network.size(shape)} weights, not ${weights.length}`);
    this.shape = shape;
    this.weights = weights;
    let from = 0;
    const take = (length: number): Float32Array => {
      const part = weights.subarray(from, from + length);
      from += length;
      return part;
    };
    this.prompt = take(vocabulary * hidden);
    this.context = take(vocabulary * hidden);
    this.bias = take(hidden);
    this.output = take(vocabulary * hidden);
    this.outputBias = take(vocabulary);
  }

  static size({ vocabulary, hidden }: NetworkShape): number {
    return 3 * vocabulary * hidden + hidden + vocabulary;
  }

  /** An initial network: random input weights from the seed, zero output weights. */
  static initial(shape: NetworkShape, seed: number): Network {
    const network = new Network(shape);
    const { next } = createPrng(seed);
    for (const part of [network.prompt, network.context]) {
      for (let index = 0; index < part.length; index += 1) part[index] = (next() - 0.5) * 2;
    }
    return network;
  }

  /** Encodes a prompt, once for all tokens of an answer. */
  readPrompt(prompt: readonly number[]): Float64Array {
    const { hidden } = this.shape;
    const read = new Float64Array(hidden);
    const scale = promptScale(prompt);
    for (const token of prompt) {
      for (let index = 0; index < hidden; index += 1) {
        read[index] = (read[index] ?? 0) + (this.prompt[token * hidden + index] ?? 0) * scale;
      }
    }
    return read;
  }

  activate(read: Float64Array, last: number | undefined): Activation {
    const width = this.shape.hidden;
    const hidden = new Float64Array(width);
    for (let index = 0; index < width; index += 1) {
      const context = last === undefined ? 0 : (this.context[last * width + index] ?? 0);
      hidden[index] = Math.tanh((read[index] ?? 0) + context + (this.bias[index] ?? 0));
    }
    return { last, hidden };
  }

  /** Adds the network's output to log-probabilities, in place. */
  addLogits(logits: Float64Array, { hidden }: Activation): void {
    const width = this.shape.hidden;
    const { output, outputBias } = this;
    for (let token = 0, row = 0; token < logits.length; token += 1, row += width) {
      let sum = outputBias[token] ?? 0;
      for (let index = 0; index < width; index += 1) sum += (output[row + index] ?? 0) * (hidden[index] ?? 0);
      logits[token] = (logits[token] ?? 0) + sum;
    }
  }

  /**
   * Backpropagates one token: adds the gradient of the loss with respect to each weight to `gradient` (a network of the
   * same shape), and with respect to the prompt's encoding to `readGradient`.
   */
  addGradient(
    gradient: Network,
    { last, hidden }: Activation,
    logitGradient: Float64Array,
    readGradient: Float64Array,
  ): void {
    const width = this.shape.hidden;
    const { output } = this;
    const { output: outputGradient, outputBias: outputBiasGradient } = gradient;
    const hiddenGradient = new Float64Array(width);
    for (let token = 0, row = 0; token < logitGradient.length; token += 1, row += width) {
      const grad = logitGradient[token] ?? 0;
      if (grad === 0) continue;
      outputBiasGradient[token] = (outputBiasGradient[token] ?? 0) + grad;
      for (let index = 0; index < width; index += 1) {
        outputGradient[row + index] = (outputGradient[row + index] ?? 0) + grad * (hidden[index] ?? 0);
        hiddenGradient[index] = (hiddenGradient[index] ?? 0) + grad * (output[row + index] ?? 0);
      }
    }
    for (let index = 0; index < width; index += 1) {
      const value = hidden[index] ?? 0;
      const grad = (hiddenGradient[index] ?? 0) * (1 - value * value);
      gradient.bias[index] = (gradient.bias[index] ?? 0) + grad;
      readGradient[index] = (readGradient[index] ?? 0) + grad;
      if (last === undefined) continue;
      const place = last * width + index;
      gradient.context[place] = (gradient.context[place] ?? 0) + grad;
    }
  }

  /**
   * Completes backpropagation, once per prompt: carries the gradient of its encoding over to its tokens' embeddings.
   */
  addPromptGradient(gradient: Network, prompt: readonly number[], readGradient: Float64Array): void {
    const width = this.shape.hidden;
    const scale = promptScale(prompt);
    for (const token of prompt) {
      for (let index = 0; index < width; index += 1) {
        const place = token * width + index;
        gradient.prompt[place] = (gradient.prompt[place] ?? 0) + (readGradient[index] ?? 0) * scale;
      }
    }
  }
}

/** Normalises the encoding by the prompt's length. */
function promptScale(prompt: readonly number[]): number {
  return prompt.length === 0 ? 0 : 1 / Math.sqrt(prompt.length);
}
