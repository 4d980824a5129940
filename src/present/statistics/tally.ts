/** The distinct values of a sample with their counts. Most rewards have one of a few values. */
export interface Tally {
  /** Ascending. */
  readonly values: Float64Array;
  /** Positive, but not always integers: one and a half times the sample stands for 50 % more of the same data. */
  readonly counts: Float64Array;
  /** The sum of the counts. */
  readonly size: number;
}

/** Tallies finite values. */
export function tallyOf(sample: readonly number[]): Tally {
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

/** The sample with `count` more of one value. */
export function withMore(sample: Tally, value: number, count: number): Tally {
  if (count === 0) return sample;
  const { values, counts, size } = sample;
  const after = values.findIndex(each => each >= value);
  const at = after < 0 ? values.length : after;
  const isNew = values[at] !== value;
  const spliced = (list: Float64Array, item: number): Float64Array =>
    Float64Array.from([...list.subarray(0, at), item, ...list.subarray(isNew ? at : at + 1)]);
  return {
    values: spliced(values, value),
    counts: spliced(counts, (isNew ? 0 : (counts[at] ?? 0)) + count),
    size: size + count,
  };
}

/** The sample with all counts multiplied by `times`. */
export function repeated({ values, counts, size }: Tally, times: number): Tally {
  return { values, counts: counts.map(count => count * times), size: size * times };
}

/** Negates every value: an upper limit is the negated lower limit of the mirrored sample. */
export function mirrored({ values, counts, size }: Tally): Tally {
  return { values: values.map(value => -value).reverse(), counts: counts.toReversed(), size };
}

/** NaN for an empty sample. */
export function tallyMean({ values, counts, size }: Tally): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += ((values[index] ?? 0) * (counts[index] ?? 0)) / size;
  return sum;
}
