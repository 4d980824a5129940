import type { Purpose } from '../../tools/torture/shares.ts';

/** Sessions that once showed a failure, each with what it was: none of them may show one again. */
export const breadthSeeds: readonly (readonly [seed: string, was: string, keys: number])[] = [
  ['s1', 'a paste of 20,000 characters into a filter took ten seconds, and every key after it three', 600],
  ['A-81', 'a paste that the terminal did not mark was typed character by character, for thirteen seconds', 600],
  ['A-52', 'a paste that the terminal did not mark sorted and marked rows for minutes', 1_200],
  ['A-134', 'an Arabic number sign at the end of a cell made its line one cell shorter', 1_200],
  ['A-200', 'an option of a training run that is an object was shown as [object Object]', 1_200],
  ['A-213', 'so was a count of deployments', 1_200],
  ['calm1-76', 'an option of a training run that is too large for a number was shown as Infinity', 1_200],
  ['calm1-124', 'a count of steps that is too large for a number made a rate of Infinity steps', 1_200],
  ['calm1-195', 'so was a budget of steps in the list of training runs', 1_200],
  ['calm1-211', 'tags in the name of a benchmark were in the name that a form begins with', 700],
  ['calm1-210', 'a count of deployments in all that is too large was shown as Infinity', 1_200],
  ['last-57', 'so was a count of tasks below zero in the head of a benchmark', 1_200],
  ['last-106', 'so was one where the program may only read', 1_200],
  ['A-267', 'a line separator in the description of a training option reached the terminal', 1_000],
  [
    '5110-65',
    'a long paste into a search was an expression too large for V8, which says so only when it searches',
    1_200,
  ],
];

export interface DepthSeed {
  readonly seed: string;
  readonly was: string;
  readonly purpose?: Purpose;
}

export const depthSeeds: readonly DepthSeed[] = [
  { seed: 'd230', was: 'a paste whose end never came took every key for its text, ctrl-c as well' },
  { seed: 'd13', was: 'the screen stayed cut where the size had changed and changed back' },
  { seed: 'b8-3', was: 'what looks like an answer of the terminal was typed, and the screen waited for the next one' },
  { seed: 's1-1', was: 'a key that was typed where a command belongs was shown in the error', purpose: 'secrets' },
];

export const numberSeeds: readonly (readonly [seed: string, was: string])[] = [
  ['n2', 'a list of four runs of which one could not be read said that there were three'],
  ['n12', 'a checkpoint that could not be read was left out without a word'],
  ['S-47', 'half a run, below zero, was rounded to one'],
  ['n143', 'the mean of a run left out a reward that could not be read, without a word'],
];
