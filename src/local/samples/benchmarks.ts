/** The benchmarks of the sample organization. Test tasks are never train tasks. */
import { hashOf } from '../../base/hash.ts';
import type { GraderSpec } from '../grading/graders.ts';

/** A sample task, with every optional field of other manifests. */
export type SampleTask = {
  readonly name: string;
  readonly split: 'train' | 'test';
  readonly input_messages: { readonly role: string; readonly content: string }[];
  readonly run_command: string;
  readonly grader: GraderSpec;
  readonly max_tokens: number;
  readonly environment?: { readonly name: string; readonly secret_name: string }[];
};

export type SampleManifest = {
  readonly name: string;
  readonly label: string;
  readonly family: string;
  readonly description: string;
  readonly tasks: SampleTask[];
};

interface Question {
  readonly ask: string;
  readonly grader: GraderSpec;
}

/** About three in ten questions go to the test split: at random, but the same in every organization. */
function splitOf(ask: string): 'train' | 'test' {
  return hashOf(ask) % 10 < 3 ? 'test' : 'train';
}

function tasksOf(
  prefix: string,
  system: string,
  questions: readonly Question[],
  more: Pick<SampleTask, 'max_tokens' | 'environment'>,
): SampleTask[] {
  return questions.map(({ ask, grader }, index) => ({
    name: `${prefix}-${String(index + 1).padStart(3, '0')}`,
    split: splitOf(ask),
    input_messages: [
      { role: 'system', content: system },
      { role: 'user', content: ask },
    ],
    run_command: 'answer',
    grader,
    ...more,
  }));
}

function combine<Left, Right, Result>(
  left: readonly Left[],
  right: readonly Right[],
  join: (left: Left, right: Right) => Result,
): Result[] {
  return left.flatMap(first => right.map(second => join(first, second)));
}

const topics = [
  'the sea',
  'the town',
  'trees',
  'the night',
  'animals',
  'food',
  'tools',
  'places',
  'the winter',
  'a race',
  'the table',
  'a mouse',
  'the king',
  'a tree',
  'the wind',
  'tea',
];
const asks = ['tell me about', 'write about', 'talk about', 'say something about', 'name things of', 'sing about'];

const letters = ['b', 'c', 'm', 's', 't'];
const kinds = [
  'animals',
  'food',
  'tools',
  'places',
  'colours',
  'words',
  'things',
  'names',
  'sounds',
  'sights',
  'books',
  'games',
  'songs',
];

const opposites: readonly (readonly [string, string])[] = [
  ['hot', 'cold'],
  ['big', 'small'],
  ['up', 'down'],
  ['day', 'night'],
  ['left', 'right'],
  ['open', 'closed'],
  ['wet', 'dry'],
  ['early', 'late'],
  ['fast', 'slow'],
  ['hard', 'soft'],
  ['black', 'white'],
  ['high', 'low'],
  ['long', 'short'],
  ['old', 'young'],
  ['rich', 'poor'],
  ['strong', 'weak'],
];
const oppositeAsks = ['what is the opposite of', 'give the opposite of', 'the opposite of', 'opposite:'];

const members: Readonly<Record<string, readonly string[]>> = {
  animal: ['cat', 'tiger', 'mouse', 'duck', 'sheep', 'bear', 'toad', 'swan'],
  food: ['bread', 'cheese', 'soup', 'milk', 'corn', 'toast', 'rice', 'cake'],
  tool: ['hammer', 'saw', 'drill', 'brush', 'shovel', 'torch', 'chisel', 'bucket'],
};

export const sampleManifests: readonly SampleManifest[] = [
  {
    name: 't-words',
    label: 't-words',
    family: 'style',
    description: 'Answer with as many words that begin with T as you can. The reward is the share of such words.',
    tasks: tasksOf(
      't-words',
      'use words that begin with t',
      combine(asks, topics, (ask, topic) => ({
        ask: `${ask} ${topic}`,
        grader: { kind: 'word_share', letter: 't' } as const,
      })),
      { max_tokens: 12 },
    ),
  },
  {
    name: 'letter-words',
    label: 'letter-words',
    family: 'style',
    description: 'The prompt names a letter; the reward is the share of words that begin with it.',
    tasks: tasksOf(
      'letter-words',
      'use words that begin with the letter',
      combine(kinds, letters, (kind, letter) => ({
        ask: `${kind} with ${letter}`,
        grader: { kind: 'word_share', letter } as const,
      })),
      { max_tokens: 8 },
    ),
  },
  {
    name: 'small-sums',
    label: 'small-sums',
    family: 'math',
    description: 'Add two numbers from 1 to 9. The reward falls with the distance from the sum.',
    tasks: tasksOf(
      'small-sums',
      'answer with a number',
      combine([1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9], (left, right) => ({
        ask: `what is ${left} plus ${right}?`,
        grader: { kind: 'number', expected: left + right, tolerance: 10 } as const,
      })),
      { max_tokens: 4 },
    ),
  },
  {
    name: 'opposites',
    label: 'opposites',
    family: 'knowledge',
    description: 'Name the opposite. The reward is 1 where the answer is it, else 0.',
    tasks: tasksOf(
      'opposites',
      'answer with one word',
      combine(oppositeAsks, opposites, (ask, [word, opposite]) => ({
        ask: `${ask} ${word}?`,
        grader: { kind: 'exact', expected: opposite } as const,
      })),
      { max_tokens: 3 },
    ),
  },
  {
    name: 'what-is-it',
    label: 'what-is-it',
    family: 'knowledge',
    description: 'Yes or no: is it an animal, a food, a tool? Its tasks need the secret QUIZ_API_KEY.',
    tasks: tasksOf(
      'what-is-it',
      'answer yes or no',
      Object.keys(members).flatMap(kind =>
        Object.entries(members).flatMap(([other, names]) =>
          names.map(name => ({
            ask: `is a ${name} a ${kind}?`,
            grader: { kind: 'exact', expected: kind === other ? 'yes' : 'no' } as const,
          })),
        ),
      ),
      { max_tokens: 3, environment: [{ name: 'QUIZ_API_KEY', secret_name: 'QUIZ_API_KEY' }] },
    ),
  },
];
