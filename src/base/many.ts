/**
 * Helpers for any number of items. Passing each item as an argument fails above about 100,000 items, and building long
 * strings exhausts memory.
 */

/** Appends items to a list. */
export function pushAll<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}

/** The largest of these numbers, or `least` if that is larger. */
export function maxOf(values: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let max = least;
  for (const value of values) max = Math.max(max, value);
  return max;
}

/** The largest size among these items; 0 if there are none. */
export const largestOf = <Item>(items: Iterable<Item>, sizeOf: (item: Item) => number): number =>
  maxOf(
    Array.from(items, item => sizeOf(item)),
    0,
  );

/** The smallest of these numbers, or `most` if that is smaller. */
export function minOf(values: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let min = most;
  for (const value of values) min = Math.min(min, value);
  return min;
}

/** Characters per batch. */
const batchLength = 64 * 1024;

/** Joins short pieces of text into batches, so that writing them takes few system calls. */
export function* inBatches(parts: Iterable<string>): Generator<string, void> {
  let batch = '';
  for (const part of parts) {
    batch += part;
    if (batch.length < batchLength) continue;
    yield batch;
    batch = '';
  }
  if (batch !== '') yield batch;
}
