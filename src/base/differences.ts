/** Finds the common items of two lists. */
import { diffArrays } from 'diff';

/** Indexes of equal items, in order. */
type Matched = readonly (readonly [left: number, right: number])[];

export interface Differences {
  /** A longest common subsequence. */
  readonly matched: Matched;
  /** False if the lists differ too much: then only their equal beginning and end are matched. */
  readonly isExact: boolean;
}

/** @param mostEdits gives up after this many edits; the time grows with this number times the length, and the memory with its square */
export function differencesOf<Item>(left: readonly Item[], right: readonly Item[], mostEdits: number): Differences {
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < shorter - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const [last, lastOther] = [left.length - end, right.length - end];
  const changes = diffArrays(left.slice(start, last), right.slice(start, lastOther), { maxEditLength: mostEdits });
  const matched: (readonly [left: number, right: number])[] = [];
  const match = (one: number, other: number, count: number): void => {
    for (let index = 0; index < count; index += 1) matched.push([one + index, other + index]);
  };
  match(0, 0, start);
  let [one, other] = [start, start];
  for (const { count, added, removed } of changes ?? []) {
    if (!added && !removed) match(one, other, count);
    if (!added) one += count;
    if (!removed) other += count;
  }
  match(last, lastOther, end);
  return { matched, isExact: changes !== undefined };
}
