import { describe, expect, it } from 'vitest';
import { createPrng } from '../../../src/base/prng.ts';
import { buildBaseModel } from '../../../src/local/model/base-models.ts';
import { unpackCheckpoint } from '../../../src/local/model/checkpoint-file.ts';
import { CorruptFileError, pack, unpack } from '../../../src/local/model/container.ts';
import { deserialise, serialise } from '../../../src/local/model/model-file.ts';
import type { PolicyModel } from '../../../src/local/model/policy.ts';

function trained(): PolicyModel {
  const base = buildBaseModel('benchtop/tutor-base');
  const { next } = createPrng(3);
  return base.withWeights(base.network.weights.map(weight => weight + next() - 0.5));
}

function say(model: PolicyModel): string {
  const turns = [{ role: 'user', content: 'tell me about the sea' }];
  return [...model.generate(turns, { temperature: 1, top_p: 0.9, max_tokens: 20, seed: 5 })]
    .map(({ text }) => text)
    .join('');
}

describe('a model file', () => {
  const model = trained();
  const bytes = serialise(model);

  it('contains the whole model', () => {
    const back = deserialise(bytes);
    expect(back.slug).toBe(model.slug);
    expect(back.network.weights).toEqual(model.network.weights);
    expect(say(back)).toBe(say(model));
    expect(say(back)).not.toBe(say(buildBaseModel(model.slug)));
    expect(serialise(back)).toEqual(bytes);
  });

  it('can be read at any offset of a buffer', () => {
    const buffer = new Uint8Array(bytes.length + 3);
    buffer.set(bytes, 3);
    expect(say(deserialise(buffer.subarray(3)))).toBe(say(model));
  });

  it('is refused if it is cut off anywhere', () => {
    for (const length of [0, 3, 11, 40, 1_000, bytes.length - 33, bytes.length - 1]) {
      expect(() => deserialise(bytes.subarray(0, length))).toThrow(CorruptFileError);
    }
  });

  it('is refused if a bit has changed', () => {
    for (const place of [0, 5, 9, 30, 5_000, bytes.length - 40, bytes.length - 1]) {
      const changed = Uint8Array.from(bytes);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect(() => deserialise(changed)).toThrow(CorruptFileError);
    }
  });

  it('is refused if it is intact but of another kind, or incomplete', () => {
    expect(() => deserialise(pack('trainer', {}, {}))).toThrow('The file is a trainer, not a model.');
    expect(() => deserialise(pack('model', {}, {}))).toThrow(CorruptFileError);
    const { about, counts } = unpack('model', bytes);
    const arrays = { unigrams: counts('unigrams'), bigrams: counts('bigrams'), trigrams: counts('trigrams') };
    expect(() => deserialise(pack('model', about, arrays))).toThrow('The model has no array weights.');
    const few = { ...arrays, unigrams: new Uint32Array(7), weights: model.network.weights };
    expect(() => deserialise(pack('model', about, few))).toThrow(/^The model knows \d+ words, but has counts of 7\.$/);
    expect(() => deserialise(pack('model', about, { ...arrays, weights: new Float32Array(7) }))).toThrow(
      CorruptFileError,
    );
  });
});

it('refuses a checkpoint with an incomplete header', () => {
  const weights = new Float32Array(1);
  expect(() => unpackCheckpoint(pack('checkpoint', { step: 1 }, { weights }))).toThrow(
    new CorruptFileError('The header of the checkpoint is incomplete.'),
  );
});
