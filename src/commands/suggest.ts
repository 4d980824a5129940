/** Suggests the known word closest to a mistyped one. */
import { minOf } from '../base/many.ts';
import { clean } from '../text/sanitise.ts';

/** The fewest edits that turn one word into the other: a letter added, left out, replaced, or swapped with the next. */
function edits(one: string, other: string): number {
  let before: readonly number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const [letter, wanted] = [one[row - 1], other[at - 1]];
      const replaced = (last[at - 1] ?? 0) + Number(letter !== wanted);
      const isSwap = letter === other[at - 2] && wanted === one[row - 2];
      const swapped = isSwap ? (before[at - 2] ?? 0) + 1 : replaced;
      current.push(Math.min(replaced, swapped, (last[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1));
    }
    [before, last] = [last, current];
  }
  return last.at(-1) ?? 0;
}

/** How far a known word is from the typed one; undefined if too far. */
function distance(typed: string, known: string): number | undefined {
  const [one = '', other = ''] = [typed, known].map(word => word.toLowerCase().replace(/^--/, ''));
  if (one.length < 3) return undefined;
  const most = Math.max(1, Math.floor(one.length / 4));
  const far = edits(one, other);
  if (far <= most) return far;
  // The typed word is a prefix of the known one.
  return other.startsWith(one) ? most + 1 : undefined;
}

/** A "did you mean" question for a word close to a known one; empty if none is close. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const near = [...new Set(known)].flatMap(word => {
    const far = distance(typed, word);
    return far === undefined ? [] : [{ word, far }];
  });
  const least = minOf(near.map(({ far }) => far));
  const [first, ...others] = near.filter(({ far }) => far === least).map(({ word }) => word);
  if (first === undefined) return '';
  return others.length === 0 ? clean`Did you mean ${first}?` : clean`Did you mean one of ${[first, ...others]}?`;
}
