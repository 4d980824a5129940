/** Calls with one argument per item fail above about 100,000 items: these take any number. */

/** Appends items to a list. */
export function pushAll<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}

/** The largest of these numbers and `least`; without any, -Infinity. */
export function maxOf(values: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let max = least;
  for (const value of values) max = Math.max(max, value);
  return max;
}

/** The largest size among these items; without any, 0. */
export const largestOf = <Item>(items: Iterable<Item>, sizeOf: (item: Item) => number): number =>
  maxOf(
    Array.from(items, item => sizeOf(item)),
    0,
  );

/** The smallest of these numbers and `most`; without any, Infinity. */
export function minOf(values: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let min = most;
  for (const value of values) min = Math.min(min, value);
  return min;
}
