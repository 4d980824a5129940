/**
 * What a base model knows before any training here: how often which word follows which, counted in its training text and
 * interpolated (Jelinek and Mercer 1980), with a small share for the words of the prompt (a cache, Kuhn and De Mori
 * 1990), so that what is asked has a say in what is answered.
 */

export interface NgramWeights {
  readonly trigram: number;
  readonly bigram: number;
  readonly unigram: number;
  readonly cache: number;
}

type Counts = Map<number, number>;

export class Ngram {
  readonly #size: number;
  readonly #weights: NgramWeights;
  readonly #unigrams: Float64Array;
  readonly #bigrams = new Map<number, Counts>();
  readonly #trigrams = new Map<number, Counts>();

  /** Counts passages; each is read on its own, so that none runs into the next. */
  constructor(size: number, passages: readonly (readonly number[])[], weights: NgramWeights) {
    this.#size = size;
    this.#weights = weights;
    this.#unigrams = new Float64Array(size).fill(0.01);
    for (const passage of passages) {
      for (const [index, token] of passage.entries()) {
        this.#unigrams[token] = (this.#unigrams[token] ?? 0) + 1;
        const first = passage[index - 1];
        if (first === undefined) continue;
        count(this.#bigrams, first, token);
        const second = passage[index - 2];
        if (second !== undefined) count(this.#trigrams, second * size + first, token);
      }
    }
    normalise(this.#unigrams);
  }

  /** Probability of each next word after a context; they sum to 1. */
  probabilities(context: readonly number[], prompt: readonly number[]): Float64Array {
    const { trigram, bigram, unigram, cache } = this.#weights;
    const last = context.at(-1);
    const before = context.at(-2);
    const seen2 = last === undefined ? undefined : this.#bigrams.get(last);
    const seen3 =
      last === undefined || before === undefined ? undefined : this.#trigrams.get(before * this.#size + last);
    const probabilities = new Float64Array(this.#size);
    // Where a longer context was never seen, its share goes to the shorter ones.
    const share3 = seen3 ? trigram : 0;
    const share2 = seen2 ? bigram : 0;
    const shareCache = prompt.length > 0 ? cache : 0;
    const whole = share3 + share2 + unigram + shareCache;
    for (let token = 0; token < this.#size; token += 1) {
      probabilities[token] = ((this.#unigrams[token] ?? 0) * unigram) / whole;
    }
    addCounts(probabilities, seen2, share2 / whole);
    addCounts(probabilities, seen3, share3 / whole);
    for (const token of prompt) probabilities[token] = (probabilities[token] ?? 0) + shareCache / whole / prompt.length;
    return probabilities;
  }
}

function count(table: Map<number, Counts>, key: number, token: number): void {
  const counts = table.get(key) ?? new Map<number, number>();
  counts.set(token, (counts.get(token) ?? 0) + 1);
  table.set(key, counts);
}

function addCounts(probabilities: Float64Array, counts: Counts | undefined, share: number): void {
  if (!counts || share === 0) return;
  let total = 0;
  for (const each of counts.values()) total += each;
  for (const [token, each] of counts) probabilities[token] = (probabilities[token] ?? 0) + (share * each) / total;
}

function normalise(values: Float64Array): void {
  const total = values.reduce((sum, value) => sum + value, 0);
  for (let index = 0; index < values.length; index += 1) values[index] = (values[index] ?? 0) / total;
}
