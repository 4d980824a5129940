/** Counts a search's matches by the rollouts' rewards and ends. Pure. */
import { maxOf, minOf } from '../base/many.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { counted, reward as rewardText } from '../text/numbers.ts';
import { errorClass } from './outcome-classes.ts';

/** The number of rollouts of a kind, and how many of them match. */
export interface Tally {
  readonly name: string;
  readonly found: number;
  readonly of: number;
}

type Ended = Pick<Trajectory, 'reward' | 'status' | 'error'>;
export type SearchedRow = Pick<Trajectory, 'trajectory_id'> & Ended;

/** How a rollout ended: its error's class, or else its status. */
export const endOf = ({ error, status }: Ended): string => (error ? errorClass(error) : '') || (status ?? 'no status');

/** Maximum number of distinct rewards listed individually. */
const maxRewards = 6;

/** Names for rewards: `none` first, then ascending. Many distinct rewards are divided into five ranges. */
function rewardNames(rows: readonly Ended[]): ReadonlyMap<number | undefined, string> {
  const rewards = new Set(rows.map(({ reward }) => reward ?? undefined));
  const values = [...rewards].filter(value => value !== undefined).sort((left, right) => left - right);
  const [low, width] = [minOf(values), (maxOf(values) - minOf(values)) / 5];
  const rangeOf = (value: number): string => {
    const bin = Math.min(4, Math.floor((value - low) / width));
    return `${rewardText(low + bin * width)}..${rewardText(low + (bin + 1) * width)}`;
  };
  const nameOf = values.length <= maxRewards ? rewardText : rangeOf;
  return new Map([
    ...(rewards.has(undefined) ? [[undefined, 'none'] as const] : []),
    ...values.map(value => [value, nameOf(value)] as const),
  ]);
}

/** @param names the names that come first */
function tallies(
  rows: readonly SearchedRow[],
  found: ReadonlySet<string>,
  nameOf: (row: SearchedRow) => string,
  names: Iterable<string> = [],
): Tally[] {
  const tallyOf = (name: string) => ({ name, found: 0, of: 0 });
  const named = new Map([...names].map(name => [name, tallyOf(name)]));
  for (const row of rows) {
    const name = nameOf(row);
    const tally = named.get(name) ?? tallyOf(name);
    tally.of += 1;
    if (found.has(row.trajectory_id)) tally.found += 1;
    named.set(name, tally);
  }
  return [...named.values()];
}

/** How many of the searched trajectories match, by reward and by end. */
export function countHits(rows: readonly SearchedRow[], hits: readonly Pick<Trajectory, 'trajectory_id'>[]) {
  const found = new Set(hits.map(({ trajectory_id }) => trajectory_id));
  const rewards = rewardNames(rows);
  return {
    by_reward: tallies(rows, found, ({ reward }) => rewards.get(reward ?? undefined) ?? '', rewards.values()),
    by_end: tallies(rows, found, endOf).sort((left, right) => right.found - left.found || right.of - left.of),
  };
}

/** How many kinds are named at most. */
const maxNamed = 8;

/** `0: 32 of 41, 1: 2 of 900, 3 others: 0 of 52`. After the first few, kinds without a match are added up. */
export function describeTally(all: readonly Tally[]): string {
  const shown = all.filter(({ found }, index) => found > 0 || index < 4).slice(0, maxNamed);
  const rest = all.filter(each => !shown.includes(each));
  const sumOf = (key: 'found' | 'of'): number => rest.reduce((sum, each) => sum + each[key], 0);
  const others = { name: counted(rest.length, 'other'), found: sumOf('found'), of: sumOf('of') };
  const named = rest.length > 0 ? [...shown, others] : shown;
  return named.map(({ name, found, of }) => `${name}: ${found} of ${of}`).join(', ');
}
