/** The parts of a model, computed by hand: probabilities, updates, next words, and the end of an answer. */
import { describe, expect, it } from 'vitest';
import { createPrng, shuffled } from '../../../src/base/prng.ts';
import { adamStep, freshOptimizer } from '../../../src/local/model/adam.ts';
import { CorruptFileError, pack, unpack } from '../../../src/local/model/container.ts';
import { Network } from '../../../src/local/model/network.ts';
import { Ngram } from '../../../src/local/model/ngram.ts';
import { draw, PolicyModel } from '../../../src/local/model/policy.ts';
import { Vocabulary } from '../../../src/local/model/tokenizer.ts';

it('draws the numbers of mulberry32, which stored seeds depend on', () => {
  const { next } = createPrng(1);
  const [first, second, third] = [next(), next(), next()];
  expect([first, second, third]).toEqual([0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
});

describe('the optimizer', () => {
  it('is Adam, with gradients clipped to a norm of 1', () => {
    const weights = new Float32Array([1, 1, 1]);
    const first = adamStep(weights, new Float32Array([3, -4, 0]), 0.1, freshOptimizer(3));
    expect(first.gradientNorm).toBeCloseTo(5, 6);
    expect(first.state.step).toBe(1);
    expect([...first.state.first]).toEqual([0.06, -0.08, 0].map(each => expect.closeTo(each, 6)));
    expect([...first.state.second]).toEqual([0.0036, 0.0064, 0].map(each => expect.closeTo(each, 6)));
    expect([...weights]).toEqual([0.9, 1.1, 1].map(each => expect.closeTo(each, 6)));
    // The second step of a gradient that is short enough, after the means of the first.
    const second = adamStep(weights, new Float32Array([0.5, 0, 0]), 0.1, first.state);
    expect(second.gradientNorm).toBeCloseTo(0.5, 6);
    const mean = (0.9 * 0.06 + 0.1 * 0.5) / (1 - 0.9 ** 2);
    const square = (0.99 * 0.0036 + 0.01 * 0.25) / (1 - 0.99 ** 2);
    expect(weights[0]).toBeCloseTo(0.9 - (0.1 * mean) / Math.sqrt(square), 5);
    expect(weights[2]).toBe(1);
  });
});

describe('sampling', () => {
  const logits = Float64Array.from([0.2, 0.5, 0.3], Math.log);
  const drawn = (at: number, options = { temperature: 1, top_p: 1 }) => draw(logits, options, () => at);

  it('picks the word whose share contains the number', () => {
    expect([0, 0.19, 0.21, 0.69, 0.71, 0.999].map(at => drawn(at))).toEqual([0, 0, 1, 1, 2, 2]);
  });

  it('keeps the order of words if the nucleus leaves some out', () => {
    const nucleus = { temperature: 1, top_p: 0.75 };
    expect([0, 0.62, 0.63, 0.999].map(at => drawn(at, nucleus))).toEqual([1, 1, 2, 2]);
    expect([0, 0.999].map(at => drawn(at, { temperature: 1, top_p: 0.4 }))).toEqual([1, 1]);
  });

  it('leaves none out with a nucleus of everything, however unlikely', () => {
    const unlikely = Float64Array.from([0.5, 1e-17, 1], Math.log);
    expect(draw(unlikely, { temperature: 1, top_p: 1 }, () => 1 / 3)).toBe(1);
  });

  it('picks the likeliest word at temperature 0, the first of equals, and sharpens below 1', () => {
    expect(drawn(0.999, { temperature: 0, top_p: 1 })).toBe(1);
    expect(draw(Float64Array.from([1, 2, 2]), { temperature: 0, top_p: 1 }, () => 0.999)).toBe(1);
    // At 0.5 the shares are 4, 25 and 9 of 38.
    expect([0.1, 0.11, 0.75, 0.77].map(at => drawn(at, { temperature: 0.5, top_p: 1 }))).toEqual([0, 1, 1, 2]);
  });
});

describe('the next word', () => {
  const shares = { trigram: 0.4, bigram: 0.3, unigram: 0.2, cache: 0.1 };
  const ngram = Ngram.count(
    4,
    [
      [0, 1, 2],
      [0, 1, 2],
      [0, 1, 3],
      [3, 1, 3],
    ],
    shares,
  );
  const chances = (context: readonly number[], prompt: readonly number[]) =>
    [...ngram.logProbabilities(context, prompt)].map(Math.exp);
  const any = [3, 4, 2, 3].map(count => (count + 0.01) / 12.04);

  it('depends on the word before the last', () => {
    const after = Ngram.count(4, [[2, 1, 0], [3, 1, 2], [0], [0]], shares);
    const [first = 0, , second = 0] = after.logProbabilities([3, 1], []);
    expect(second).toBeGreaterThan(first);
  });

  it('is counted after one, two and three words', () => {
    expect([...ngram.counts.unigrams]).toEqual([3, 4, 2, 3]);
    expect([...ngram.counts.bigrams]).toEqual([0, 1, 3, 1, 2, 2, 1, 3, 2, 3, 1, 1]);
    expect([...ngram.counts.trigrams]).toEqual([0, 1, 2, 2, 0, 1, 3, 1, 3, 1, 3, 1]);
  });

  it.each([
    ['nothing', [], [], any],
    ['a word', [1], [], any.map((each, token) => ([0, 0, 0.5, 0.5][token] ?? 0) * 0.6 + each * 0.4)],
    [
      'two words',
      [0, 1],
      [],
      any.map(
        (each, token) =>
          (([0, 0, 2 / 3, 1 / 3][token] ?? 0) * 0.4 + ([0, 0, 0.5, 0.5][token] ?? 0) * 0.3 + each * 0.2) / 0.9,
      ),
    ],
    [
      'a prompt',
      [],
      [2, 2, 0],
      any.map((each, token) => (([1 / 3, 0, 2 / 3, 0][token] ?? 0) * 0.1 + each * 0.2) / 0.3),
    ],
    ['what was never seen', [2, 0], [], any.map((each, token) => (token === 1 ? 0.6 : 0) + each * 0.4)],
  ])('has the probability of its counts after %s', (_, context, prompt, wanted) => {
    expect(chances(context, prompt)).toEqual(wanted.map(each => expect.closeTo(each, 9)));
  });
});

describe('the network', () => {
  it('adds up the contributions of the prompt, the last word and its bias', () => {
    const network = new Network({ vocabulary: 3, hidden: 2 });
    expect(() => new Network({ vocabulary: 3, hidden: 2 }, new Float32Array(22))).toThrow(RangeError);
    network.prompt.set([0, 0, 0.5, 1, 0.25, 0]);
    network.context.set([0, 0, 0, 0, 0.5, -0.5]);
    network.bias.set([0.125, 0.25]);
    network.output.set([1, 0, 0, 2, 1, 1]);
    network.outputBias.set([0, 0.5, 0]);
    expect([...network.readPrompt([])]).toEqual([0, 0]);
    const read = network.readPrompt([1, 2, 1, 2]);
    expect([...read]).toEqual([0.75, 1]);
    const first = network.activate(read, undefined);
    expect([...first.hidden]).toEqual([Math.tanh(0.875), Math.tanh(1.25)]);
    const { hidden } = network.activate(read, 2);
    const [one, two] = [Math.tanh(1.375), Math.tanh(0.75)];
    expect([...hidden]).toEqual([one, two]);
    const logits = Float64Array.from([-1, 0, 1]);
    network.addLogits(logits, { last: 2, hidden });
    expect([...logits]).toEqual([-1 + one, 0.5 + 2 * two, 1 + one + two].map(each => expect.closeTo(each, 12)));
  });

  it('starts with zero output, and with inputs from -1 to 1', () => {
    const { prompt, context, bias, output, outputBias } = Network.initial({ vocabulary: 40, hidden: 8 }, 3);
    for (const part of [prompt, context]) {
      expect(Math.max(...part)).toBeGreaterThan(0.9);
      expect(Math.min(...part)).toBeLessThan(-0.9);
      expect(Math.max(...part.map(Math.abs))).toBeLessThanOrEqual(1);
    }
    for (const part of [bias, output, outputBias]) expect(part.every(each => each === 0)).toBe(true);
  });
});

describe('an answer', () => {
  /** Answers any question with these words in order. */
  function speaker(text: string): PolicyModel {
    const vocabulary = Vocabulary.of([text]);
    const said = vocabulary.encode(text);
    const ngram = Ngram.count(vocabulary.size, [said], { trigram: 0, bigram: 0, unigram: 1, cache: 0 });
    const model = new PolicyModel(
      'speaker',
      vocabulary,
      ngram,
      new Network({ vocabulary: vocabulary.size, hidden: 1 }),
    );
    let place = 0;
    model.predict = () => {
      const logits = new Float64Array(vocabulary.size);
      logits[said[place] ?? model.end] = 50;
      place += 1;
      return { base: logits, logits, activation: { last: undefined, hidden: new Float64Array(1) } };
    };
    return model;
  }
  const say = (text: string, stop: readonly string[] = [], max_tokens = 10) => {
    const words = speaker(text).generate([], { temperature: 0, top_p: 1, seed: 1, max_tokens, stop });
    const pieces: string[] = [];
    let word = words.next();
    for (; !word.done; word = words.next()) pieces.push(word.value.text);
    const { text: whole, finish_reason, completion_tokens } = word.value;
    expect(pieces.join('')).toBe(whole);
    return { pieces, finish_reason, completion_tokens };
  };

  it('streams word by word, and ends at the model’s end or at the limit', () => {
    expect(say('red, green')).toEqual({ pieces: ['red', ',', ' green'], finish_reason: 'stop', completion_tokens: 3 });
    expect(say('a b c', [], 2)).toEqual({ pieces: ['a', ' b'], finish_reason: 'length', completion_tokens: 2 });
  });

  it('ends before its first stop sequence, and never yields part of one', () => {
    expect(say('a b c d', ['d', 'c'])).toEqual({
      pieces: ['a', ' b', ' '],
      finish_reason: 'stop',
      completion_tokens: 3,
    });
    expect(say('a b c d', ['b c'])).toEqual({
      pieces: ['a', ' ', ''].slice(0, 2),
      finish_reason: 'stop',
      completion_tokens: 3,
    });
    expect(say('a b x', ['b c'])).toEqual({ pieces: ['a', ' ', 'b x'], finish_reason: 'stop', completion_tokens: 3 });
    expect(say('a b', ['b c'], 2)).toEqual({ pieces: ['a', ' ', 'b'], finish_reason: 'length', completion_tokens: 2 });
    expect(say('a b', ['a'])).toEqual({ pieces: [], finish_reason: 'stop', completion_tokens: 1 });
  });
});

describe('a file of numbers', () => {
  const bytes = pack('part', { a: 1 }, { some: new Float32Array([1, 2]), counts: new Uint32Array([3]) });
  const changed = (at: number, value: number) => {
    const other = Uint8Array.from(bytes);
    new DataView(other.buffer).setUint32(at, value, true);
    return other;
  };

  it('contains arrays by name and type', () => {
    const { about, floats, counts } = unpack('part', bytes);
    expect([about, [...floats('some')], [...counts('counts')]]).toEqual([{ a: 1 }, [1, 2], [3]]);
    expect(() => floats('counts')).toThrow(new CorruptFileError('The part has no array counts.'));
    expect(() => counts('some')).toThrow(new CorruptFileError('The part has no array some.'));
  });

  it('names its defects', () => {
    const said = (file: Uint8Array) => expect(() => unpack('part', file));
    said(bytes.subarray(0, 43)).toThrow('The file is cut off: 43 bytes are too few for a part.');
    said(bytes.subarray(0, 44)).toThrow('The part is damaged or cut off: its SHA-256 does not match.');
    said(changed(0, 7)).toThrow('The file is not a part: it begins with other bytes.');
    said(changed(4, 2)).toThrow('The file is a part of version 2; this program reads version 1.');
  });
});

it('shuffles into every order', () => {
  const orders = Array.from({ length: 200 }, (_, seed) => shuffled(['a', 'b', 'c'], seed).join(''));
  expect(new Set(orders)).toEqual(new Set(['abc', 'acb', 'bac', 'bca', 'cab', 'cba']));
});
