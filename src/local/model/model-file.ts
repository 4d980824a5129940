/** A model as a self-contained file: words, counts and weights. */
import * as z from 'zod/mini';
import { CorruptFileError, pack, unpack } from './container.ts';
import { Network } from './network.ts';
import { Ngram } from './ngram.ts';
import { PolicyModel } from './policy.ts';
import { Vocabulary } from './tokenizer.ts';

const kind = 'model';

const shareSchema = z.number().check(z.gte(0));
const aboutSchema = z.object({
  slug: z.string(),
  hidden: z.int().check(z.gte(1)),
  shares: z.object({
    trigram: shareSchema,
    bigram: shareSchema,
    unigram: z.number().check(z.gt(0)),
    cache: shareSchema,
  }),
  words: z.array(z.string()).check(z.minLength(1)),
});

/** The same model gives the same bytes. */
export function serialise(model: PolicyModel): Uint8Array<ArrayBuffer> {
  const { slug, vocabulary, ngram, network } = model;
  return pack(
    kind,
    { slug, hidden: network.shape.hidden, shares: ngram.weights, words: [...vocabulary.words] } satisfies z.input<
      typeof aboutSchema
    >,
    { ...ngram.counts, weights: network.weights },
  );
}

/** @throws CorruptFileError if the bytes are not a complete model */
export function deserialise(bytes: Uint8Array): PolicyModel {
  const file = unpack(kind, bytes);
  const read = aboutSchema.safeParse(file.about);
  if (!read.success) throw new CorruptFileError('The header of the model is incomplete.');
  const { slug, hidden, shares, words } = read.data;
  const unigrams = file.counts('unigrams');
  if (unigrams.length !== words.length)
    throw new CorruptFileError(`The model knows ${words.length} words, but has counts of ${unigrams.length}.`);
  const shape = { vocabulary: words.length, hidden };
  const weights = file.floats('weights');
  if (weights.length !== Network.size(shape))
    throw new CorruptFileError(`The model has ${weights.length} weights, not the ${Network.size(shape)} of its shape.`);
  const counts = { unigrams, bigrams: file.counts('bigrams'), trigrams: file.counts('trigrams') };
  return new PolicyModel(slug, new Vocabulary(words), new Ngram(counts, shares), new Network(shape, weights));
}
