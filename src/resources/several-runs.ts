/** Starts several runs: one for each model and seed. Pure. */

import { seedOption } from '../present/start-name.ts';

/** Maximum number of runs to start at once. */
export const mostStarted = 100;

/** Parses seeds, e.g. `1`, `1,2,3` or `1-3`, dropping duplicates. Undefined for any other text, or for too many. */
export function seedsIn(text: string): readonly number[] | undefined {
  const seeds = new Set<number>();
  for (const part of text.split(',')) {
    const [, first, last = first] = /^\s*(\d{1,15})\s*(?:-\s*(\d{1,15})\s*)?$/.exec(part) ?? [];
    const [from, to] = [Number(first), Number(last)];
    // This comparison also fails for NaN.
    if (!(to >= from && to - from < mostStarted)) return undefined;
    for (let seed = from; seed <= to; seed += 1) seeds.add(seed);
  }
  return seeds.size > mostStarted ? undefined : [...seeds];
}

/** A run to start: its model, and its options including the seed. */
export interface ChosenRun<Option = unknown> {
  readonly model: string | undefined;
  readonly seed: number | undefined;
  readonly options: Readonly<Record<string, Option>>;
}

/** One run for each model and seed, grouped by model; at least one run. */
export function chosenRuns<Option>(
  models: readonly string[],
  seeds: readonly number[],
  options: Readonly<Record<string, Option>> = {},
): readonly ChosenRun<Option | number>[] {
  const each = <Value>(values: readonly Value[]): readonly (Value | undefined)[] =>
    values.length === 0 ? [undefined] : [...new Set(values)];
  return each(models).flatMap(model =>
    each(seeds).map(seed => ({
      model,
      seed,
      options: seed === undefined ? options : { ...options, [seedOption]: seed },
    })),
  );
}
