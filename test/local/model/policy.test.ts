import { describe, expect, it } from 'vitest';
import { hashOf } from '../../../src/base/hash.ts';
import { createPrng } from '../../../src/base/prng.ts';
import { baseModels, buildBaseModel } from '../../../src/local/model/base-models.ts';
import { Network } from '../../../src/local/model/network.ts';
import { Ngram } from '../../../src/local/model/ngram.ts';
import { draw, type Generated, type PolicyModel, type SamplingOptions } from '../../../src/local/model/policy.ts';
import { separatorBefore, splitWords, Vocabulary } from '../../../src/local/model/tokenizer.ts';

const turns = [{ role: 'user', content: 'tell me about the sea' }];
const sampling: SamplingOptions = { temperature: 1, top_p: 1, max_tokens: 12, seed: 7 };

function say(model: PolicyModel, options: Partial<SamplingOptions> = {}): Generated {
  const words = model.generate(turns, { ...sampling, ...options });
  for (;;) {
    const word = words.next();
    if (word.done) return word.value;
  }
}

describe('words', () => {
  it('splits words, digits and signs, and joins them again', () => {
    const words = splitWords("Don't stop: 47, please");
    expect(words).toEqual(["don't", 'stop', ':', '4', '7', ',', 'please']);
    const text = words.map((word, index) => separatorBefore(words[index - 1], word) + word).join('');
    expect(text).toBe("don't stop: 47, please");
  });

  it('reads an unknown word as unknown', () => {
    const vocabulary = Vocabulary.of(['tea time']);
    expect(vocabulary.encode('tea quark').map(token => vocabulary.word(token))).toEqual(['tea', '<unknown>']);
  });
});

describe('Ngram', () => {
  it('gives probabilities that sum to 1 and prefer what followed before', () => {
    const ngram = Ngram.count(
      5,
      [
        [0, 1, 2],
        [0, 1, 3],
      ],
      { trigram: 0.4, bigram: 0.4, unigram: 0.2, cache: 0.1 },
    );
    for (const context of [[], [0], [0, 1], [4, 4]]) {
      const sum = ngram.logProbabilities(context, [4]).reduce((total, value) => total + Math.exp(value), 0);
      expect(sum).toBeCloseTo(1, 9);
    }
    const [, , afterTwo = 0, afterThree = 0, never = 0] = ngram.logProbabilities([0, 1], []);
    expect(afterTwo).toBeCloseTo(afterThree, 9);
    expect(afterTwo).toBeGreaterThan(never);
  });
});

describe('draw', () => {
  const logits = Float64Array.from([Math.log(0.6), Math.log(0.3), Math.log(0.1)]);
  const shares = (temperature: number, top_p: number): number[] => {
    const { next } = createPrng(1);
    const counts = [0, 0, 0];
    for (let index = 0; index < 4_000; index += 1) {
      const token = draw(logits, { temperature, top_p }, next);
      counts[token] = (counts[token] ?? 0) + 1;
    }
    return counts.map(count => count / 4_000);
  };

  it('follows the probabilities', () => {
    const [first = 0, second = 0, third = 0] = shares(1, 1);
    expect(first).toBeCloseTo(0.6, 1);
    expect(second).toBeCloseTo(0.3, 1);
    expect(third).toBeCloseTo(0.1, 1);
  });

  it('picks the likeliest word at temperature 0, and is flatter at a high temperature', () => {
    expect(shares(0, 1)).toEqual([1, 0, 0]);
    expect(shares(5, 1)[2] ?? 0).toBeGreaterThan(0.2);
  });

  it('draws from the nucleus only', () => {
    expect(shares(1, 0.6)).toEqual([1, 0, 0]);
    expect(shares(1, 0.8)[2]).toBe(0);
  });
});

describe('the base models', () => {
  it('differ in size and in their answers', () => {
    const models = baseModels.map(({ slug }) => buildBaseModel(slug));
    expect(models.length).toBeGreaterThanOrEqual(4);
    expect(new Set(models.map(model => model.network.weights.length)).size).toBe(models.length);
    expect(new Set(models.map(model => say(model).text)).size).toBe(models.length);
  });

  it('answer the same for the same seed, and differently for another', () => {
    const model = buildBaseModel('benchtop/reader-large');
    expect(say(model)).toEqual(say(buildBaseModel('benchtop/reader-large')));
    expect(say(model, { seed: 8 }).text).not.toBe(say(model).text);
  });

  it('count the words they read and write, and stop at the limit', () => {
    const model = buildBaseModel('benchtop/reader-large');
    const answer = say(model, { max_tokens: 3 });
    expect(answer).toMatchObject({ prompt_tokens: 7, completion_tokens: answer.tokens.length });
    expect(answer.tokens.length).toBeLessThanOrEqual(3);
    expect(['stop', 'length']).toContain(answer.finish_reason);
    expect(answer.text).not.toMatch(/<\w+>/);
  });

  it('do not end before the minimum number of tokens', () => {
    const model = buildBaseModel('benchtop/tutor-base');
    const weights = Float32Array.from(model.network.weights);
    new Network(model.network.shape, weights).outputBias[model.end] = 50;
    const ending = model.withWeights(weights);
    expect([0, 2].map(min_tokens => say(ending, { min_tokens }).completion_tokens)).toEqual([0, 2]);
  });

  it('use trained weights', () => {
    const model = buildBaseModel('benchtop/tutor-base');
    const weights = Float32Array.from(model.network.weights);
    const changed = new Network(model.network.shape, weights);
    changed.outputBias[model.vocabulary.token('tea')] = 50;
    expect(say(model.withWeights(weights), { max_tokens: 3 }).text).toBe('tea tea tea');
  });
});

it('makes the same random numbers from the same seed', () => {
  const numbers = (seed: number) => Array.from({ length: 3 }, createPrng(seed).next);
  expect(numbers(1)).toEqual(numbers(1));
  expect(numbers(1)).not.toEqual(numbers(2));
  expect(hashOf('a')).not.toBe(hashOf('b'));
});
