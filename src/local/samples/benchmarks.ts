/** The sample organization's benchmarks. Test tasks are never train tasks. */
import { hashOf } from '../../base/hash.ts';
import { own } from '../../base/own-property.ts';
import type { GraderSpec } from '../../grading/graders.ts';
import { numberWord, type ToolSpec } from '../model/tools.ts';
import { goods } from './corpus/errands.ts';

/** A sample task, with every optional field that other manifests may have. */
type SampleTask = {
  readonly name: string;
  readonly split: 'train' | 'test';
  readonly input_messages: { readonly role: string; readonly content: string }[];
  readonly run_command: string;
  readonly grader: GraderSpec;
  readonly max_tokens: number;
  readonly tools?: ToolSpec;
  readonly environment?: { readonly name: string; readonly secret_name: string }[];
};

type SampleManifest = {
  readonly name: string;
  readonly family: string;
  readonly description: string;
  readonly tasks: SampleTask[];
};

interface Question {
  readonly ask: string;
  readonly grader: GraderSpec;
  readonly tools?: ToolSpec;
}

/** About three in ten questions go to the test split: chosen at random, but the same in every organization. */
function splitOf(ask: string): 'train' | 'test' {
  return hashOf(ask) % 10 < 3 ? 'test' : 'train';
}

interface Sample
  extends Pick<SampleManifest, 'name' | 'family' | 'description'>,
    Pick<SampleTask, 'max_tokens' | 'environment'> {
  readonly system: string;
  readonly questions: readonly Question[];
}

function manifestOf({ name, family, description, system, questions, ...more }: Sample): SampleManifest {
  const tasks = questions.map(
    ({ ask, grader, tools }, index): SampleTask => ({
      name: `${name}-${String(index + 1).padStart(3, '0')}`,
      split: splitOf(ask),
      input_messages: [
        { role: 'system', content: system },
        { role: 'user', content: ask },
      ],
      run_command: 'answer',
      grader,
      ...(tools && { tools }),
      ...more,
    }),
  );
  return { name, family, description, tasks };
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

const priceAsks = [
  'price of',
  'how much is',
  'what does the shop ask for',
  'tell me the price of',
  'ask for',
  'what is',
];
const billAsks = ['how much are', 'price of'];
const amounts = [2, 3, 4];
const days = ['monday', 'tuesday', 'wednesday'];
/** Prices whose multiples by each of the amounts are single words. */
const prices = [2, 3, 4, 5, 10];

/** A task's shop: its prices differ from task to task, so that they cannot be learned, only looked up. */
function shopOf(name: string): Readonly<Record<string, number>> {
  return Object.fromEntries(goods.map(good => [good, prices[hashOf(`${name} ${good}`) % prices.length] ?? 2]));
}

/**
 * A question about a price. Half of the reward is for the calls that lead to it, because early answers are hardly ever
 * right.
 */
function shopQuestion(ask: string, good: string, amount: number): Question {
  const shop = shopOf(ask);
  const price = own<number>(shop, good) ?? 0;
  const store = Object.fromEntries(Object.entries(shop).map(([each, of]) => [each, numberWord(of)]));
  const call = `times ${numberWord(amount)} ${numberWord(price)}`;
  const rewards = amount === 1 ? { [`look up ${good}`]: 0.4 } : { [`look up ${good}`]: 0.2, [call]: 0.3 };
  const grader = { kind: 'exact', expected: numberWord(price * amount) } as const;
  return { ask, grader, tools: { store, calculator: true, max_steps: 4, rewards } };
}

const pair = <Left, Right>(left: Left, right: Right) => [left, right] as const;

const counted = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];
const nextAsks = [
  'what comes after',
  'which number follows',
  'count on from',
  'the next number after',
  'add one to',
  'the number after',
];

export const sampleManifests = [
  {
    name: 't-words',
    family: 'style',
    description: 'Answer with as many words that begin with T as you can. The reward is the share of such words.',
    system: 'use words that begin with t',
    questions: combine(asks, topics, (ask, topic) => ({
      ask: `${ask} ${topic}`,
      grader: { kind: 'word_share', letter: 't' } as const,
    })),
    max_tokens: 12,
  },
  {
    name: 'letter-words',
    family: 'style',
    description: 'The prompt names a letter; the reward is the share of words that begin with it.',
    system: 'use words that begin with the letter',
    questions: combine(kinds, letters, (kind, letter) => ({
      ask: `${kind} with ${letter}`,
      grader: { kind: 'word_share', letter } as const,
    })),
    max_tokens: 8,
  },
  {
    name: 'small-sums',
    family: 'math',
    description: 'Add two numbers from 1 to 9. The reward falls with the distance from the sum.',
    system: 'answer with a number',
    questions: combine([1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9], (left, right) => ({
      ask: `what is ${left} plus ${right}?`,
      grader: { kind: 'number', expected: left + right, tolerance: 10 } as const,
    })),
    max_tokens: 4,
  },
  {
    name: 'opposites',
    family: 'knowledge',
    description: 'Name the opposite. The reward is 1 for the right answer, else 0.',
    system: 'answer with one word',
    questions: combine(oppositeAsks, opposites, (ask, [word, opposite]) => ({
      ask: `${ask} ${word}?`,
      grader: { kind: 'exact', expected: opposite } as const,
    })),
    max_tokens: 3,
  },
  {
    name: 'next-number',
    family: 'math',
    description: 'Name the number that comes next. The reward is 1 if the answer contains it, else 0.',
    system: 'answer with the number',
    questions: combine(nextAsks, counted.slice(0, -1), (ask, number) => ({
      ask: `${ask} ${number}?`,
      grader: { kind: 'contains', expected: counted[counted.indexOf(number) + 1] ?? '' } as const,
    })),
    max_tokens: 16,
  },
  {
    name: 'shop-prices',
    family: 'tools',
    description:
      'Call the tools of a shop, then answer. Half of the reward is for the calls. Train benchtop/clerk-small at a rate of 0.03.',
    system: 'use the tools',
    questions: [
      ...combine(days, combine(priceAsks, goods, pair), (day, [ask, good]) =>
        shopQuestion(`${day}, ${ask} the ${good}?`, good, 1),
      ),
      ...combine(amounts, combine(billAsks, goods, pair), (amount, [ask, good]) =>
        shopQuestion(`${ask} ${numberWord(amount)} of the ${good}?`, good, amount),
      ),
    ],
    max_tokens: 6,
  },
  {
    name: 'what-is-it',
    family: 'knowledge',
    description: 'Yes or no: is it an animal, a food, a tool? Its tasks need the secret QUIZ_API_KEY.',
    system: 'answer yes or no',
    questions: Object.keys(members).flatMap(kind =>
      Object.entries(members).flatMap(([other, names]) =>
        names.map(name => ({
          ask: `is a ${name} a ${kind}?`,
          grader: { kind: 'exact', expected: kind === other ? 'yes' : 'no' } as const,
        })),
      ),
    ),
    max_tokens: 3,
    environment: [{ name: 'QUIZ_API_KEY', secret_name: 'QUIZ_API_KEY' }],
  },
].map(manifestOf);
