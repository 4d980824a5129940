/**
 * The longest common subsequence of two lists, by E. W. Myers, "An O(ND) Difference Algorithm and Its Variations",
 * Algorithmica 1 (1986). Pure.
 */

/** Indexes of equal items, in order. */
type Matched = readonly (readonly [left: number, right: number])[];

export interface Differences {
  readonly matched: Matched;
  /** False if the lists differ too much: then only their equal beginning and end are matched. */
  readonly isExact: boolean;
}

/** @param mostEdits gives up after this many edits; time grows with it times the length, memory with its square */
export function differencesOf<Item>(left: readonly Item[], right: readonly Item[], mostEdits: number): Differences {
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < shorter - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const middle = matchedWithin(left.slice(start, left.length - end), right.slice(start, right.length - end), mostEdits);
  const [last, lastOther] = [left.length - end, right.length - end];
  return {
    matched: [
      ...Array.from({ length: start }, (_, index) => [index, index] as const),
      ...(middle ?? []).map(([one, other]) => [start + one, start + other] as const),
      ...Array.from({ length: end }, (_, index) => [last + index, lastOther + index] as const),
    ],
    isExact: middle !== undefined,
  };
}

/** Undefined if the lists differ by more edits than allowed. */
function matchedWithin<Item>(left: readonly Item[], right: readonly Item[], mostEdits: number): Matched | undefined {
  const most = Math.min(mostEdits, left.length + right.length);
  // The furthest index in `left` on each diagonal, from -most to most.
  const furthest = new Int32Array(2 * most + 3);
  const at = (diagonal: number): number => furthest[diagonal + most + 1] ?? 0;
  /** For each number of edits, the furthest indexes before it, on the diagonals that it could have reached. */
  const before: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits += 1) {
    before.push(furthest.slice(most - edits, most + edits + 3));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const isDown = diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1));
      let index = isDown ? at(diagonal + 1) : at(diagonal - 1) + 1;
      while (index < left.length && index - diagonal < right.length && left[index] === right[index - diagonal]) {
        index += 1;
      }
      furthest[diagonal + most + 1] = index;
      if (index >= left.length && index - diagonal >= right.length) return wayBack(left.length, right.length, before);
    }
  }
  return undefined;
}

function wayBack(leftLength: number, rightLength: number, before: readonly Int32Array[]): Matched {
  const matched: (readonly [number, number])[] = [];
  let [one, other] = [leftLength, rightLength];
  for (let edits = before.length - 1; edits >= 0; edits -= 1) {
    const furthest = before[edits];
    const at = (diagonal: number): number => furthest?.[diagonal + edits + 1] ?? 0;
    const diagonal = one - other;
    const isDown = diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1));
    const from = edits === 0 ? 0 : at(isDown ? diagonal + 1 : diagonal - 1);
    const fromOther = edits === 0 ? 0 : from - (isDown ? diagonal + 1 : diagonal - 1);
    const [least, leastOther] = edits === 0 ? [0, 0] : isDown ? [from, fromOther + 1] : [from + 1, fromOther];
    while (one > least && other > leastOther) {
      one -= 1;
      other -= 1;
      matched.push([one, other]);
    }
    [one, other] = [from, fromOther];
  }
  return matched.reverse();
}
