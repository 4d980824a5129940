/** The base models: the text each was built from, its context length, and the size of its trainable part. */
import { hashOf } from '../../base/hash.ts';
import { sampleManifests } from '../samples/benchmarks.ts';
import { errands } from '../samples/corpus/errands.ts';
import { exercises } from '../samples/corpus/exercises.ts';
import { fables } from '../samples/corpus/fables.ts';
import { wonderland } from '../samples/corpus/wonderland.ts';
import { Network } from './network.ts';
import { Ngram, type NgramWeights } from './ngram.ts';
import { PolicyModel } from './policy.ts';
import { endToken, roleTokens, splitWords, Vocabulary } from './tokenizer.ts';

interface BaseModelSpec {
  readonly slug: string;
  readonly name: string;
  /** Dollars per million tokens. Only for display, because the local service is free. */
  readonly pricing: { readonly input: number; readonly output: number; readonly cached_input: number };
  readonly hidden: number;
  readonly weights: NgramWeights;
  readonly reads: readonly ('fables' | 'wonderland' | 'exercises' | 'errands')[];
}

export const baseModels: readonly BaseModelSpec[] = [
  {
    slug: 'benchtop/aesop-small',
    name: 'Aesop Small',
    pricing: { input: 0.05, output: 0.1, cached_input: 0.01 },
    hidden: 16,
    weights: { trigram: 0, bigram: 0.8, unigram: 0.2, cache: 0.05 },
    reads: ['fables'],
  },
  {
    slug: 'benchtop/wonderland-small',
    name: 'Wonderland Small',
    pricing: { input: 0.05, output: 0.1, cached_input: 0.01 },
    hidden: 16,
    weights: { trigram: 0.4, bigram: 0.45, unigram: 0.15, cache: 0.05 },
    reads: ['wonderland'],
  },
  {
    slug: 'benchtop/tutor-base',
    name: 'Tutor Base',
    pricing: { input: 0.1, output: 0.3, cached_input: 0.02 },
    hidden: 32,
    weights: { trigram: 0.2, bigram: 0.5, unigram: 0.3, cache: 0.1 },
    reads: ['exercises'],
  },
  {
    slug: 'benchtop/reader-large',
    name: 'Reader Large',
    pricing: { input: 0.2, output: 0.6, cached_input: 0.05 },
    hidden: 64,
    weights: { trigram: 0.35, bigram: 0.4, unigram: 0.25, cache: 0.1 },
    reads: ['fables', 'wonderland', 'exercises'],
  },
  {
    slug: 'benchtop/clerk-small',
    name: 'Clerk Small',
    pricing: { input: 0.05, output: 0.1, cached_input: 0.01 },
    hidden: 36,
    weights: { trigram: 0.2, bigram: 0.3, unigram: 0.02, cache: 0.5 },
    reads: ['errands'],
  },
];

const lines = (text: string): string[] => text.split('\n').filter(line => line.trim() !== '');

/** A model's training passages, as tokens of the chat template. */
function passagesOf({ reads }: BaseModelSpec, vocabulary: Vocabulary): number[][] {
  const role = (name: keyof typeof roleTokens): number => vocabulary.token(roleTokens[name]);
  const end = vocabulary.token(endToken);
  const prose = (text: string): number[][] =>
    lines(text).map(line => [role('assistant'), ...vocabulary.encode(line), end]);
  return reads.flatMap(source => {
    if (source === 'fables') return prose(fables);
    if (source === 'wonderland') return prose(wonderland);
    if (source === 'errands') return errands.flatMap(prose);
    return exercises.map(([question, answer]) => [
      role('user'),
      ...vocabulary.encode(question),
      role('assistant'),
      ...vocabulary.encode(answer),
      end,
    ]);
  });
}

/** The words used in tool calls and tool errors. */
const toolWords = ['look up times plus minus', 'there is no in the store', 'needs two numbers'];

/**
 * Every word in the sample benchmarks. All models know these words, so that they can be trained on any of the
 * benchmarks.
 */
function sharedWords(): string[] {
  const prompts = sampleManifests.flatMap(({ tasks }) =>
    tasks.flatMap(task => task.input_messages.map(({ content }) => content)),
  );
  const expected = sampleManifests.flatMap(({ tasks }) =>
    tasks.flatMap(({ grader }) => ('expected' in grader ? [String(grader.expected)] : [])),
  );
  const toolTexts = sampleManifests.flatMap(({ tasks }) =>
    tasks.flatMap(({ tools }) => Object.entries(tools?.store ?? {}).flat()),
  );
  return [...exercises.flat(), ...prompts, ...expected, ...toolTexts, ...toolWords];
}

/** Builds a base model from its training text, deterministically. @throws RangeError for an unknown slug */
export function buildBaseModel(slug: string): PolicyModel {
  const spec = baseModels.find(each => each.slug === slug);
  if (!spec) throw new RangeError(`There is no base model ${slug}`);
  const texts = { fables: lines(fables), wonderland: lines(wonderland), exercises: exercises.flat(), errands };
  const vocabulary = Vocabulary.of([
    ...spec.reads.flatMap(source => texts[source]),
    ...sharedWords().flatMap(splitWords),
  ]);
  const ngram = Ngram.count(vocabulary.size, passagesOf(spec, vocabulary), spec.weights);
  const network = Network.initial({ vocabulary: vocabulary.size, hidden: spec.hidden }, hashOf(slug));
  return new PolicyModel(slug, vocabulary, ngram, network);
}
