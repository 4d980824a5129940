/**
 * An n-gram model, the base of every model. It interpolates word counts from its training text (Jelinek and Mercer
 * 1980), with a small share for the words in the prompt (a cache, Kuhn and De Mori 1990), so that the prompt influences
 * the answer.
 */

export interface NgramWeights {
  readonly trigram: number;
  readonly bigram: number;
  readonly unigram: number;
  readonly cache: number;
}

/** Counts as flat rows: a context (one or two words), the next word, and its count. */
interface NgramCounts {
  readonly unigrams: Uint32Array;
  /** Rows of three: last word, next word, count. */
  readonly bigrams: Uint32Array;
  /** Rows of four: word before the last, last word, next word, count. */
  readonly trigrams: Uint32Array;
}

/** The words that followed a context, with their probabilities. */
type Followers = readonly (readonly [token: number, probability: number])[];

/** The pseudo-count of unseen words, so that training can still make them likelier. */
const unseenCount = 0.01;

export class Ngram {
  readonly counts: NgramCounts;
  readonly weights: NgramWeights;
  readonly #size: number;
  /** The probability of each word in any position, and its logarithm. */
  readonly #unigrams: Float64Array;
  readonly #logUnigrams: Float64Array;
  readonly #afterOne: ReadonlyMap<number, Followers>;
  readonly #afterTwo: ReadonlyMap<number, Followers>;

  constructor(counts: NgramCounts, weights: NgramWeights) {
    this.counts = counts;
    this.weights = weights;
    this.#size = counts.unigrams.length;
    const total = counts.unigrams.reduce((sum, count) => sum + count + unseenCount, 0);
    this.#unigrams = Float64Array.from(counts.unigrams, count => (count + unseenCount) / total);
    this.#logUnigrams = this.#unigrams.map(Math.log);
    this.#afterOne = followers(counts.bigrams, 1, this.#size);
    this.#afterTwo = followers(counts.trigrams, 2, this.#size);
  }

  /** Counts each passage separately, so that no count spans two passages. */
  static count(size: number, passages: readonly (readonly number[])[], weights: NgramWeights): Ngram {
    const unigrams = new Uint32Array(size);
    const bigrams = new Map<number, number>();
    const trigrams = new Map<number, number>();
    for (const passage of passages) {
      for (const [index, token] of passage.entries()) {
        unigrams[token] = (unigrams[token] ?? 0) + 1;
        const last = passage[index - 1];
        if (last === undefined) continue;
        add(bigrams, last * size + token);
        const before = passage[index - 2];
        if (before !== undefined) add(trigrams, (before * size + last) * size + token);
      }
    }
    return new Ngram({ unigrams, bigrams: rows(bigrams, 2, size), trigrams: rows(trigrams, 3, size) }, weights);
  }

  /** The log-probability of each next word after a context. The probabilities sum to 1. */
  logProbabilities(context: readonly number[], prompt: readonly number[]): Float64Array {
    const { trigram, bigram, unigram, cache } = this.weights;
    const last = context.at(-1);
    const before = context.at(-2);
    const one = last === undefined ? undefined : this.#afterOne.get(last);
    const two = last === undefined || before === undefined ? undefined : this.#afterTwo.get(before * this.#size + last);
    // An unseen context's share goes to shorter contexts.
    const shareTwo = two ? trigram : 0;
    const shareOne = one ? bigram : 0;
    const shareCache = prompt.length > 0 ? cache : 0;
    const whole = shareTwo + shareOne + unigram + shareCache;
    // Few words follow a context, and only they need a logarithm of their own.
    const extra = new Map<number, number>();
    const give = (token: number, probability: number): unknown =>
      extra.set(token, (extra.get(token) ?? 0) + probability);
    for (const [token, probability] of one ?? []) give(token, (probability * shareOne) / whole);
    for (const [token, probability] of two ?? []) give(token, (probability * shareTwo) / whole);
    for (const token of prompt) give(token, shareCache / whole / prompt.length);
    const share = Math.log(unigram / whole);
    const values = new Float64Array(this.#size);
    for (let token = 0; token < values.length; token += 1) values[token] = (this.#logUnigrams[token] ?? 0) + share;
    for (const [token, more] of extra) {
      values[token] = Math.log(((this.#unigrams[token] ?? 0) * unigram) / whole + more);
    }
    return values;
  }
}

function add(counts: Map<number, number>, key: number): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Splits keys into `words` words each, in order, with their counts. */
function rows(counts: ReadonlyMap<number, number>, words: number, size: number): Uint32Array {
  const flat = new Uint32Array(counts.size * (words + 1));
  let at = 0;
  for (const [key, count] of [...counts].sort(([left], [right]) => left - right)) {
    let rest = key;
    for (let place = words - 1; place >= 0; place -= 1) {
      flat[at + place] = rest % size;
      rest = Math.floor(rest / size);
    }
    flat[at + words] = count;
    at += words + 1;
  }
  return flat;
}

function followers(flat: Uint32Array, words: number, size: number): ReadonlyMap<number, Followers> {
  const found = new Map<number, [number, number][]>();
  const width = words + 2;
  for (let at = 0; at < flat.length; at += width) {
    let key = 0;
    for (let place = 0; place < words; place += 1) key = key * size + (flat[at + place] ?? 0);
    const list = found.get(key) ?? [];
    list.push([flat[at + words] ?? 0, flat[at + words + 1] ?? 0]);
    found.set(key, list);
  }
  for (const list of found.values()) {
    const total = list.reduce((sum, [, count]) => sum + count, 0);
    for (const entry of list) entry[1] /= total;
  }
  return found;
}
