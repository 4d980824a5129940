/** A sample's distinct values with their counts. Most rewards have one of only a few values. */
export interface Tally {
  /** Ascending. */
  readonly values: Float64Array;
  /** Positive, but not always integers: multiplying the counts by 1.5 represents 50% more of the same data. */
  readonly counts: Float64Array;
  /** The sum of the counts. */
  readonly size: number;
}

const emptyTally: Tally = { values: Float64Array.of(), counts: Float64Array.of(), size: 0 };

/** Tallies finite values. */
export function tallyOf(sample: readonly number[]): Tally {
  if (sample.length === 0) return emptyTally;
  const sorted = Float64Array.from(sample).sort();
  const values = new Float64Array(sorted.length);
  const counts = new Float64Array(sorted.length);
  let last = -1;
  for (const value of sorted) {
    if (last < 0 || values[last] !== value) {
      last += 1;
      values[last] = value;
    }
    counts[last] = (counts[last] ?? 0) + 1;
  }
  return { values: values.slice(0, last + 1), counts: counts.slice(0, last + 1), size: sorted.length };
}

/** `count` times the same value. */
export const tallyOfSame = (value: number, count: number): Tally =>
  count === 0 ? emptyTally : { values: Float64Array.of(value), counts: Float64Array.of(count), size: count };

/** Joins two samples. */
export function joinTallies(one: Tally, other: Tally): Tally {
  if (one.size === 0 || other.size === 0) return one.size === 0 ? other : one;
  const values = Float64Array.from(new Set([...one.values, ...other.values])).sort();
  const counts = new Float64Array(values.length);
  for (const sample of [one, other]) {
    let at = 0;
    for (const [index, value] of sample.values.entries()) {
      while (values[at] !== value) at += 1;
      counts[at] = (counts[at] ?? 0) + (sample.counts[index] ?? 0);
    }
  }
  return { values, counts, size: one.size + other.size };
}

/** The `size` lowest values in a sample, or all if there are fewer. */
export function lowestIn(sample: Tally, size: number): Tally {
  if (size >= sample.size) return sample;
  let left = size;
  const counts = sample.counts.map(count => {
    const taken = Math.min(count, left);
    left -= taken;
    return taken;
  });
  const kinds = counts.filter(count => count > 0).length;
  return { values: sample.values.slice(0, kinds), counts: counts.slice(0, kinds), size };
}

export function valuesBelow(sample: Tally, limit: number): Tally {
  const first = sample.values.findIndex(value => value >= limit);
  if (first < 0) return sample;
  const counts = sample.counts.slice(0, first);
  return { values: sample.values.slice(0, first), counts, size: counts.reduce((sum, count) => sum + count, 0) };
}

/** The lowest mean that the sample can have if any of the optional values are added to it. */
export function lowestMean(sample: Tally, optional: Tally): number {
  let [sum, size] = [sample.size === 0 ? 0 : tallyMean(sample) * sample.size, sample.size];
  for (const [index, value] of optional.values.entries()) {
    if (size > 0 && value >= sum / size) break;
    const count = optional.counts[index] ?? 0;
    sum += value * count;
    size += count;
  }
  return sum / size;
}

/** The sample with all counts multiplied by `times`. */
export function repeatTally({ values, counts, size }: Tally, times: number): Tally {
  return { values, counts: counts.map(count => count * times), size: size * times };
}

/** NaN for an empty sample. */
export function tallyMean({ values, counts, size }: Tally): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += ((values[index] ?? 0) * (counts[index] ?? 0)) / size;
  return sum;
}
