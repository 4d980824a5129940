/** The user's choices between two answers, and how often each of two models was chosen. Pure. */
import { createHash } from 'node:crypto';
import { perObject } from '../base/memo.ts';
import { answeringModel, isIncomplete, type Turn, turnText } from './conversation.ts';

/** In the order of the keys on screen. */
export const preferences = ['left', 'right', 'equal', 'both bad'] as const;
export type Preference = (typeof preferences)[number];

export interface Choice {
  /** Identifies the two answers, see `pairKey`. */
  readonly pair: string;
  readonly better: Preference;
  /** The models that gave the left and the right answer. */
  readonly models: readonly [left: string, right: string];
  /** When the user chose, in epoch milliseconds. */
  readonly at: number;
}

const hashOfTurn = perObject((turn: Turn) => createHash('sha256').update(JSON.stringify(turn)).digest('hex'));

/**
 * Identifies the answers at an index by the conversation up to them, so that branches share the choice for a turn they
 * share, and a regenerated answer needs a new choice.
 */
export function pairKey(left: readonly Turn[], right: readonly Turn[], index: number): string {
  const hash = createHash('sha256');
  for (const turns of [left, right]) for (const turn of turns.slice(0, index + 1)) hash.update(hashOfTurn(turn));
  return hash.digest('hex').slice(0, 32);
}

const isComplete = (turn: Turn): boolean => turnText(turn) !== '' && !isIncomplete(turn);

/** The models behind two complete answers at an index, or why the answers cannot be compared. */
export function answersAt(
  left: readonly Turn[],
  right: readonly Turn[],
  index: number,
): { readonly models: Choice['models'] } | { readonly why: string } {
  const [one, other] = [left[index], right[index]];
  if (one?.role !== 'assistant' || other?.role !== 'assistant') return { why: 'There are not two answers yet' };
  if (!isComplete(one) || !isComplete(other)) return { why: 'An answer is incomplete: generate it again first' };
  const models = [answeringModel(one) ?? '', answeringModel(other) ?? ''] as const;
  return models[0] === models[1] ? { why: 'Both answers are from the same model' } : { models };
}

/** Adds a choice, replacing an earlier one about the same answers. Making the same choice again removes it. */
export function withChoice(choices: readonly Choice[], choice: Choice): readonly Choice[] {
  const before = choices.find(({ pair }) => pair === choice.pair);
  const rest = choices.filter(each => each !== before);
  return before?.better === choice.better ? rest : [...rest, choice];
}

export type Counts = Readonly<Record<Preference, number>>;

/** Counts the choices between two models on either side. */
export function countChoices(choices: readonly Choice[], [left, right]: Choice['models']): Counts {
  const counts = { left: 0, right: 0, equal: 0, 'both bad': 0 };
  for (const { better, models } of choices) {
    if (models[0] === left && models[1] === right) counts[better] += 1;
    else if (models[0] === right && models[1] === left) counts[mirrored[better]] += 1;
  }
  return counts;
}

const mirrored: Readonly<Record<Preference, Preference>> = {
  left: 'right',
  right: 'left',
  equal: 'equal',
  'both bad': 'both bad',
};

export interface PairCounts {
  /** In alphabetical order. */
  readonly models: Choice['models'];
  readonly counts: Counts;
}

/** The counts for each pair of models, most choices first. Only the newest choice about the same answers counts. */
export function countPairs(choices: readonly Choice[]): readonly PairCounts[] {
  const newest = new Map(choices.toSorted((left, right) => left.at - right.at).map(choice => [choice.pair, choice]));
  const kept = [...newest.values()];
  const pairs = new Map(
    kept
      .map(({ models }) => models.toSorted() as unknown as Choice['models'])
      .map(models => [JSON.stringify(models), models]),
  );
  const total = ({ counts }: PairCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);
  return [...pairs.values()]
    .map(models => ({ models, counts: countChoices(kept, models) }))
    .toSorted((left, right) => total(right) - total(left));
}
